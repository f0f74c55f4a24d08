import { Client } from 'pg';
import { ListCursors } from '../../../src/orders/read/list-cursor.ts';
import { mostAskedPerDay } from '../../../src/webhooks/allowance.ts';
import { DeliveryLog, mostReplaysOfEvent } from '../../../src/webhooks/delivery-log.ts';
import { copyOrder } from '../../support/gateway/order-pages.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

/** What a partner can ask for by replays: bounds in rows, and none that others pay for. */

const eventCount = 12;

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

interface Account {
  readonly id: string;
  readonly key: string;
  readonly endpointId: string;
  readonly path: string;
}

/** A partner with an endpoint, and with events from before it. */
async function account(): Promise<Account> {
  const { id, key } = await gateway.partner();
  // Tests move the clock by days.
  await gateway.app.prices.refresh(gateway.app.catalogue.coins());
  const { status, text, json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
  if (status !== 201) throw new Error(text);
  await copyOrder(gateway.query, json.id, eventCount - 1);
  await feedCatchesUp(gateway.query);
  return { id, key, ...(await endpoint(key)) };
}

async function endpoint(key: string): Promise<{ endpointId: string; path: string }> {
  const body = { url: 'https://hooks.example.com/' };
  const { json } = await gateway.call('POST', '/partner/webhook-endpoints', { key, body });
  return { endpointId: json.endpoint.id, path: `/partner/webhook-endpoints/${json.endpoint.id}` };
}

const replay = ({ path, key }: Pick<Account, 'path' | 'key'>, body: object = {}) =>
  gateway.call('POST', `${path}/replay`, { key, body });

const rows = async (endpointId: string, where = 'true'): Promise<number> => {
  const [row] = await gateway.query<{ count: number }>(
    `select count(*)::int as count from webhook_delivery where endpoint_id = $1 and ${where}`,
    [endpointId],
  );
  return row?.count ?? -1;
};

/** As if a quick receiver had got all that waits. */
const deliverAll = (endpointId: string) =>
  gateway.query(
    `update webhook_delivery set state = 'delivered', ended_at = now(), next_attempt_at = null
      where endpoint_id = $1 and state = 'pending'`,
    [endpointId],
  );

const asked = async (partnerId: string): Promise<number> => {
  const [row] = await gateway.query<{ made: number }>('select made from webhook_allowance where partner_id = $1', [
    partnerId,
  ]);
  return row?.made ?? 0;
};
const setAsked = (partnerId: string, made: number) =>
  gateway.query('update webhook_allowance set made = $2 where partner_id = $1', [partnerId, made]);

describe('a replay', () => {
  it('to a disabled endpoint is refused, and makes no row', async () => {
    const mine = await account();
    await gateway.call('PATCH', mine.path, { key: mine.key, body: { status: 'disabled' } });
    const refused = await replay(mine);
    expect([refused.status, refused.json.code]).toEqual([409, 'endpoint_disabled']);
    expect(await rows(mine.endpointId)).toBe(0);
    await gateway.call('PATCH', mine.path, { key: mine.key, body: { status: 'enabled' } });
    expect((await replay(mine)).json).toEqual({ count: eventCount, next_cursor: null });
  });

  it('waits for nothing once its endpoint is deleted, and the endpoint itself goes within hours', async () => {
    const mine = await account();
    expect((await replay(mine)).json.count).toBe(eventCount);
    await gateway.query(
      `update webhook_delivery set leased_until = 'infinity'
        where id = (select min(id) from webhook_delivery where endpoint_id = $1)`,
      [mine.endpointId],
    );
    await gateway.call('DELETE', mine.path, { key: mine.key });
    // One is under way, and ends by itself.
    expect(await rows(mine.endpointId)).toBe(1);
    const log = new DeliveryLog(gateway.app.orm, gateway.clock, new ListCursors([]));
    const left = async () =>
      (await gateway.query('select 1 from webhook_endpoint where id = $1', [mine.endpointId])).length;
    gateway.clock.advance(1_000);
    await log.forgetOld();
    expect([await rows(mine.endpointId), await left()]).toEqual([0, 1]);
    gateway.clock.advance(3_600_000);
    await log.forgetOld();
    expect(await left()).toBe(0);
  });

  it('sends an event to an endpoint at most ten times again', async () => {
    const mine = await account();
    const counts = [];
    for (let i = 0; i < mostReplaysOfEvent + 3; i++) {
      counts.push((await replay(mine)).json.count);
      await deliverAll(mine.endpointId);
    }
    // The first one sends events that were never sent.
    expect(counts).toEqual([...Array(mostReplaysOfEvent + 1).fill(eventCount), 0, 0]);
    expect(await rows(mine.endpointId)).toBe((mostReplaysOfEvent + 1) * eventCount);
    const { json } = await gateway.call('GET', `${mine.path}/deliveries?limit=1`, { key: mine.key });
    const named = await replay(mine, { event_ids: [json.data[0].event_id] });
    expect(named.json.count).toBe(0);
    // Another endpoint of the partner gets it.
    const other = { ...mine, ...(await endpoint(mine.key)) };
    expect((await replay(other, { event_ids: [json.data[0].event_id] })).json.count).toBe(1);
  });

  it('makes as many deliveries a day as the account may ask for, and goes on the next day', async () => {
    const mine = await account();
    const first = await replay(mine);
    expect([first.json.count, await asked(mine.id)]).toEqual([eventCount, eventCount]);
    await deliverAll(mine.endpointId);
    await setAsked(mine.id, mostAskedPerDay - 5);
    const cut = await replay(mine);
    expect([cut.json.count, typeof cut.json.next_cursor, await asked(mine.id)]).toEqual([5, 'string', mostAskedPerDay]);
    const rest = { cursor: cut.json.next_cursor };
    for (const refused of [
      await replay(mine, rest),
      await gateway.call('POST', `${mine.path}/test`, { key: mine.key }),
      await gateway.call('POST', '/partner/sandbox/webhooks/emit', { key: mine.key, body: { type: 'order.created' } }),
    ]) {
      expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
      const seconds = Number(refused.headers.get('retry-after'));
      const nextDay = new Date(gateway.clock.now().getTime() + seconds * 1000).toISOString();
      expect(nextDay).toMatch(/T00:00:0/);
    }
    expect(await rows(mine.endpointId, "state = 'pending'")).toBe(5);
    await deliverAll(mine.endpointId);
    // Another account has its own.
    expect((await replay(await account())).json.count).toBe(eventCount);
    gateway.clock.advance(86_400_000);
    expect((await replay(mine, rest)).json).toEqual({ count: eventCount - 5, next_cursor: null });
    expect(await asked(mine.id)).toBe(eventCount - 5);
  });

  it('of named events is refused as a whole when fewer deliveries are left', async () => {
    const mine = await account();
    await replay(mine);
    await deliverAll(mine.endpointId);
    const { json } = await gateway.call('GET', `${mine.path}/deliveries?limit=2`, { key: mine.key });
    const named = json.data.map(({ event_id }: { event_id: string }) => event_id);
    await setAsked(mine.id, mostAskedPerDay - 1);
    const refused = await replay(mine, { event_ids: named });
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
    expect((await replay(mine, { event_ids: [named[0], named[0]] })).json.count).toBe(1);
  });

  it('counts in the next day once a process has begun it, also by a clock that is behind', async () => {
    const mine = await account();
    await replay(mine);
    await deliverAll(mine.endpointId);
    await gateway.query('update webhook_allowance set day = day + 1 where partner_id = $1', [mine.id]);
    expect((await replay(mine)).json.count).toBe(eventCount);
    expect(await asked(mine.id)).toBe(2 * eventCount);
    gateway.clock.advance(86_400_000);
    await deliverAll(mine.endpointId);
    await replay(mine);
    expect(await asked(mine.id)).toBe(3 * eventCount);
  });

  it('counts with tests and samples, also those of staff', async () => {
    const mine = await account();
    const { ask } = await newMember(gateway, 'admin');
    const sent = await ask(`mutation { webhookTest(id: "${mine.endpointId}", reason: "a look") { eventId } }`);
    expect(sent.errors).toEqual([]);
    expect(await asked(mine.id)).toBe(1);
    await gateway.call('POST', '/partner/sandbox/webhooks/emit', { key: mine.key, body: { type: 'order.created' } });
    expect(await asked(mine.id)).toBe(2);
    const event = `evt_${(await gateway.query<{ id: string }>('select id from exchange_order where partner_id = $1', [mine.id]))[0]?.id.replaceAll('-', '')}_1`;
    const again = await ask(
      `mutation { webhookReplay(id: "${mine.endpointId}", eventIds: ["${event}"], reason: "a look") { count } }`,
    );
    expect(again.errors).toEqual([]);
    expect(await asked(mine.id)).toBe(3);
  });

  it('is one of its partner at a time, over all processes', async () => {
    const [mine, second] = [await account(), await account()];
    await replay(mine);
    const other = new Client({ connectionString: gateway.databaseUrl });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select 1 from webhook_allowance where partner_id = $1 for update', [mine.id]);
      const refused = await replay(mine);
      expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThan(60);
      expect((await replay(second)).status).toBe(200);
      await other.query('rollback');
      expect((await replay(mine)).status).toBe(200);
    } finally {
      await other.end();
    }
  });

  it('asked for many times at once is refused beyond five, and no other partner gets an error', async () => {
    const [mine, second] = [await account(), await account()];
    const work = Array.from({ length: 120 }, async () => (await replay(mine)).status);
    const others = Array.from(
      { length: 60 },
      async () => (await gateway.call('GET', '/partner/orders', { key: second.key })).status,
    );
    const seconds = replay(second);
    const statuses = await Promise.all(work);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(new Set(await Promise.all(others))).toEqual(new Set([200]));
    expect((await seconds).status).toBe(200);
  });
});
