import { setTimeout as sleep } from 'node:timers/promises';
import { inOtherCluster } from '../../support/gateway/order-pages.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import { endWindow, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import type { Reply } from '../../support/http/contract-client.ts';
import { StreamClient } from '../../support/http/event-stream.ts';

/** The events of a partner: pages, long polls and streams. */

let gateway: SettledGateway;
let polls = 0;
beforeAll(async () => {
  gateway = await startSettledGateway({
    outside: {
      keyRowMs: 500,
      streamTimes: { commentMs: 100, recheckMs: 300, endMs: 60_000 },
      onStatement: (sql) => {
        if (sql.includes('from order_event e join exchange_order o on o.id = e.order_id\n')) polls++;
      },
    },
  });
});
afterAll(() => gateway?.stop());

async function events(key: string, query = ''): Promise<Reply> {
  return gateway.call('GET', `/partner/events${query}`, { key });
}

async function create(key: string, changes: Record<string, unknown> = {}): Promise<{ id: string; short_id: string }> {
  const { status, text, json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody(changes) });
  if (status !== 201) throw new Error(text);
  return json;
}

/** The cursor behind everything that is committed. */
async function endOfFeed(key: string): Promise<string> {
  await feedCatchesUp(gateway.query);
  for (let cursor = ''; ; ) {
    const { json } = await events(key, `?limit=100${cursor}`);
    if (!json.has_more) return json.next_cursor;
    cursor = `&cursor=${json.next_cursor}`;
  }
}

const streamUrl = (query = ''): string => `${gateway.app.restUrl}/api/v1/partner/events/stream${query}`;
const stream = (key: string, query = '', headers: Record<string, string> = {}): StreamClient =>
  new StreamClient(streamUrl(query), { Authorization: `Bearer ${key}`, ...headers });

describe('a page of events', () => {
  it('tells the life of an order with facts that do not change', async () => {
    const order = await gateway.order({ external_id: 'life-1' });
    await gateway.deposit(order);
    await gateway.settle(order);
    await feedCatchesUp(gateway.query);
    const { json } = await events(gateway.key, '?limit=100');
    const mine = json.data.filter(({ data }: { data: { order_id: string } }) => data.order_id === order.id);
    const shown = await gateway.show(order);
    expect(mine.map(({ type }: { type: string }) => type)).toEqual([
      'order.created',
      'order.deposit_detected',
      'order.confirmed',
      'order.exchanged',
      'order.completed',
    ]);
    expect(mine.map(({ data }: { data: { seq: number } }) => data.seq)).toEqual([1, 2, 3, 4, 5]);
    expect(mine[0].data).toMatchObject({
      event_id: `evt_${order.id.replaceAll('-', '')}_1`,
      short_id: shown.short_id,
      external_id: 'life-1',
      status: 'waiting_deposit',
      previous_status: null,
      amount_to: null,
      payout_txid: null,
    });
    expect(mine[3].data).toMatchObject({ amount_from: order.amountFrom, payout_txid: null, status: 'sending' });
    expect(mine[4].data).toMatchObject({
      amount_from: order.amountFrom,
      amount_to: mine[3].data.amount_to,
      payout_txid: shown.payout_txid,
      previous_status: 'sending',
      refund_txid: null,
    });
    expect(Object.keys(mine[4].data)).not.toContain('recipient_address');
  });

  it('tells what was sent back', async () => {
    const order = await gateway.order();
    await endWindow(gateway, order);
    await gateway.tick();
    gateway.clock.advance(1);
    await gateway.deposit(order);
    await gateway.settle(order);
    await gateway.mine(order.networkFrom, 2);
    await gateway.settle(order);
    await feedCatchesUp(gateway.query);
    const { json } = await events(gateway.key, '?types=order.refunded&limit=100');
    const refunded = json.data.find(({ data }: { data: { order_id: string } }) => data.order_id === order.id);
    const [payment] = await gateway.query<{ amount: string }>(
      `select trim_scale(amount)::text as amount from payment where order_id = $1 and kind = 'refund'`,
      [order.id],
    );
    expect(refunded.data).toMatchObject({ status: 'refunded', refund_amount: payment?.amount, amount_to: null });
    expect(refunded.data.refund_txid).toMatch(/^[0-9a-f]{64}$/);
  });

  it('shows only events of the wanted types, also where they are rare', async () => {
    const { key } = await gateway.partner();
    for (let n = 0; n < 5; n++) await create(key);
    await feedCatchesUp(gateway.query);
    const none = await events(key, '?types=order.completed,order.refunded&limit=2');
    expect(none.json).toMatchObject({ data: [], has_more: false });
    const some = await events(key, '?types=order.created&types=order.completed&limit=2');
    expect(some.json.data).toHaveLength(2);
    expect(some.json.has_more).toBe(true);
    const rest = await events(key, `?types=order.completed,order.created&limit=4&cursor=${some.json.next_cursor}`);
    expect(rest.json.data).toHaveLength(3);
    expect(rest.json.has_more).toBe(false);
    const unknown = await events(key, '?types=order.exploded');
    expect([unknown.status, unknown.json.code]).toEqual([400, 'unknown_value']);
  });

  it('begins at a time, and refuses cursors that are not its own', async () => {
    const [mine, other] = [await gateway.partner(), await gateway.partner()];
    for (let n = 0; n < 4; n++) await create(mine.key);
    const cursor = await endOfFeed(mine.key);
    const later = new Date(gateway.clock.now().getTime() + 3_600_000).toISOString();
    // A place is a transaction, whose own events may come too.
    expect((await events(mine.key, `?since=${later}`)).json.data.length).toBeLessThanOrEqual(1);
    expect((await events(mine.key, '?since=2020-01-01T00:00:00Z')).json.data).toHaveLength(4);
    const orders = (await gateway.call('GET', '/partner/orders?sort=updated', { key: mine.key })).json.next_cursor;
    for (const [key, query] of [
      [other.key, `?cursor=${cursor}`],
      [mine.key, `?types=order.created&cursor=${cursor}`],
      [mine.key, `?cursor=${orders}`],
      [mine.key, `?cursor=${cursor.slice(0, -1)}`],
      [mine.key, '?cursor=nonsense'],
    ] as const) {
      const { status, json } = await events(key, query);
      expect([status, json.code]).toEqual([400, 'invalid_cursor']);
      const streamed = await gateway.call('GET', `/partner/events/stream${query}`, { key });
      expect([streamed.status, streamed.json.code]).toEqual([400, 'invalid_cursor']);
    }
  });

  it('says where to begin again after a restore', async () => {
    const { id, key } = await gateway.partner();
    await create(key);
    const cursor = await endOfFeed(key);
    const send = (old: string) => events(key, `?cursor=${old}`);
    const { status, json } = await inOtherCluster(gateway, id, cursor, send, 'events');
    expect([status, json.code]).toEqual([410, 'cursor_expired']);
    expect(json.detail).toContain(`since=${json.restart_from}`);
    expect((await events(key, `?since=${json.restart_from}`)).json.data).toHaveLength(1);
  });
});

describe('a request that waits', () => {
  it('is answered when an event comes, and with an empty page when none does', async () => {
    const { key } = await gateway.partner();
    const cursor = await endOfFeed(key);
    const empty = await events(key, `?wait=1&cursor=${cursor}`);
    expect(empty.json).toEqual({ data: [], has_more: false, next_cursor: cursor });
    const waiting = events(key, `?wait=30&cursor=${cursor}`);
    await sleep(50);
    const order = await create(key);
    const { json } = await waiting;
    expect(json.data.map(({ data }: { data: { order_id: string } }) => data.order_id)).toEqual([order.id]);
  });

  it('waits for the wanted types only', async () => {
    const { key } = await gateway.partner();
    const waiting = events(key, '?wait=2&types=order.completed');
    await create(key);
    expect((await waiting).json.data).toEqual([]);
  });

  it('shares one poll of the database with all that wait, and none is sent while nothing waits', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => gateway.partner()));
    await sleep(500);
    const before = polls;
    await sleep(500);
    expect(polls).toBe(before);
    const waiting = keys.flatMap(({ key }) => Array.from({ length: 5 }, () => events(key, '?wait=3')));
    await Promise.all(waiting);
    // One poll in 250 ms, however long the waits take here; 100 requests would send hundreds.
    expect(polls - before).toBeLessThan(100);
    expect(polls).toBeGreaterThan(before);
  });

  it('is refused beyond ten of a partner, and others are not', async () => {
    const [one, other] = [await gateway.partner(), await gateway.partner()];
    const waiting = Array.from({ length: 10 }, () => events(one.key, '?wait=30'));
    await sleep(300);
    const refused = await events(one.key, '?wait=30');
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await events(one.key)).status).toBe(200);
    const theirs = events(other.key, '?wait=1');
    expect((await theirs).status).toBe(200);
    await create(one.key);
    for (const { status, json } of await Promise.all(waiting)) expect([status, json.data.length]).toEqual([200, 1]);
    expect((await events(one.key, '?wait=1')).status).toBe(200);
  });

  it('gives its place back when the client goes away', async () => {
    const { key } = await gateway.partner();
    const url = `${gateway.app.restUrl}/api/v1/partner/events?wait=30`;
    for (let n = 0; n < 30; n++) {
      const signal = AbortSignal.timeout(40);
      await expect(fetch(url, { headers: { 'X-API-Key': key }, signal })).rejects.toThrow();
      await sleep(10);
    }
    expect((await events(key, '?wait=1')).status).toBe(200);
  });

  it('is answered 401 and no event when its key ended meanwhile', async () => {
    const { key, keyId } = await gateway.partner();
    const { key: second } = await gateway.partner();
    await gateway.query(
      'update api_key set partner_id = (select partner_id from api_key where key_id = $1) where key_id = $2',
      [keyId, second.split('.')[0]],
    );
    const waiting = events(key, '?wait=30');
    await sleep(200);
    await gateway.partners.revokeKey(keyId);
    // The row of a key may be as old as `keyRowMs`.
    const refused = async () => (await events(key)).status === 401;
    while (!(await refused())) await sleep(50);
    await create(second);
    expect((await waiting).status).toBe(401);
  });
});

describe('a stream', () => {
  it('sends old and new events with cursors, and goes on behind the last one', async () => {
    const { key } = await gateway.partner();
    const first = await create(key);
    await feedCatchesUp(gateway.query);
    const client = stream(key);
    await client.until(({ events: got }) => got.length === 1);
    const second = await create(key);
    await client.until(({ events: got }) => got.length === 2);
    await client.until(({ comments }) => comments.length >= 2);
    client.close();
    await client.ended;
    expect(client.retryMs).toBe(3_000);
    expect(client.events.map(({ event }) => event)).toEqual(['order.created', 'order.created']);
    const page = await events(key);
    expect(client.events.map(({ data }) => JSON.parse(data))).toEqual(page.json.data);
    expect(page.json.data.map(({ data }: { data: { order_id: string } }) => data.order_id)).toEqual([
      first.id,
      second.id,
    ]);
    const [one] = client.events;
    const byHeader = stream(key, '?cursor=ignored', { 'Last-Event-ID': one?.id ?? '' });
    await byHeader.until(({ events: got }) => got.length === 1);
    expect(JSON.parse(byHeader.events[0]?.data ?? '').data.order_id).toBe(second.id);
    byHeader.close();
    const byPoll = await events(key, `?cursor=${one?.id}`);
    expect(byPoll.json.data).toHaveLength(1);
  });

  it('has the head that the contract says', async () => {
    const { key } = await gateway.partner();
    const reply = await gateway.call('GET', '/partner/events/stream', { key });
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('x-accel-buffering')).toBe('no');
  });

  it('is refused beyond five of a partner', async () => {
    const { key } = await gateway.partner();
    const open = Array.from({ length: 5 }, () => stream(key));
    await Promise.all(open.map((client) => client.until(({ retryMs }) => retryMs !== null)));
    const { status, json } = await gateway.call('GET', '/partner/events/stream', { key });
    expect([status, json.code]).toEqual([429, 'rate_limited']);
    for (const client of open) client.close();
    await Promise.all(open.map(({ ended }) => ended));
    // A place is given back when the gateway has seen the end of the connection.
    let again = stream(key);
    while (again.retryMs === null) {
      await Promise.race([again.ended, sleep(50)]);
      if (again.status === 429) again = stream(key);
    }
    expect(again.status).toBe(200);
    again.close();
  });

  it('ends with a hint to come back when its partner is no longer active', async () => {
    const { id, key } = await gateway.partner();
    const client = stream(key);
    await client.until(({ retryMs }) => retryMs !== null);
    await gateway.partners.change(id, { status: 'inactive' });
    await client.ended;
    expect(client.events.at(-1)).toEqual({ id: null, event: 'reconnect', data: '{}' });
    expect((await gateway.call('GET', '/partner/events/stream', { key })).status).toBe(403);
  }, 30_000);
});
