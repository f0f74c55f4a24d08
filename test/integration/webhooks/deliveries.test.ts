import { createSecretKey, randomBytes } from 'node:crypto';
import { ListCursors } from '../../../src/orders/read/list-cursor.ts';
import { DeliveryLog } from '../../../src/webhooks/delivery-log.ts';
import { EndpointService } from '../../../src/webhooks/endpoint-service.ts';
import { recordPartnerEvent } from '../../../src/webhooks/partner-events.ts';
import { retryPausesMs } from '../../../src/webhooks/retries.ts';
import { SecretBox } from '../../../src/webhooks/secret-box.ts';
import { WebhookEndpoint } from '../../../src/webhooks/webhook-endpoint.entity.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';
import { accept, answer, answerWith, hang, isVerified, Receivers } from '../../support/webhooks/receiver.ts';

/** Deliveries of webhooks: from an event to a receiver, with every way to fail. */

let receivers: Receivers;
let gateway: SettledGateway;
const log = new LogSink();
beforeAll(async () => {
  receivers = await Receivers.start();
  // The verifier looks at the clock of this machine.
  const clock = new TestClock();
  clock.advance(Date.now() - clock.now().getTime());
  gateway = await startSettledGateway({
    clock,
    settings: { ...receivers.settings, LOG_LEVEL: 'debug' },
    outside: { logStream: log, receivers: { ...receivers.outside, totalMs: 3_000, connectMs: 2_500 } },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await receivers?.stop();
});

let names = 0;
interface Endpoint {
  readonly name: string;
  readonly id: string;
  readonly key: string;
  readonly secret: string;
  readonly path: string;
}

async function endpoint(changes: Record<string, unknown> = {}, key?: string): Promise<Endpoint> {
  const name = `r${++names}`;
  const own = key ?? (await gateway.partner()).key;
  const body = { url: receivers.url(name, '/hook'), ...changes };
  const { status, text, json } = await gateway.call('POST', '/partner/webhook-endpoints', { key: own, body });
  if (status !== 201) throw new Error(text);
  const { id } = json.endpoint;
  return { name, id, key: own, secret: json.secret, path: `/partner/webhook-endpoints/${id}` };
}

/** Prices of the clock's time, which tests move by days. */
const refreshPrices = () => gateway.app.prices.refresh(gateway.app.catalogue.coins());

async function create(key: string, changes: Record<string, unknown> = {}): Promise<string> {
  await refreshPrices();
  const { status, text, json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody(changes) });
  if (status !== 201) throw new Error(text);
  return json.id;
}

/** Dispatches what is committed, and sends all that is due now. */
async function send(): Promise<void> {
  const { webhooks } = gateway.app;
  await feedCatchesUp(gateway.query);
  await webhooks?.dispatcher.dispatch();
  for (;;) {
    const begun = await webhooks?.sender.begin();
    await webhooks?.sender.idle();
    if (begun === 0) return;
  }
}

const shown = async ({ path, key }: Endpoint) => (await gateway.call('GET', path, { key })).json;
const deliveries = async ({ path, key }: Endpoint, query = '') =>
  (await gateway.call('GET', `${path}/deliveries${query}`, { key })).json.data;
const replay = ({ path, key }: Endpoint, body: Record<string, unknown>) =>
  gateway.call('POST', `${path}/replay`, { key, body });

describe('a delivery', () => {
  it('carries the event of the feed, and is accepted by an independent verifier', async () => {
    const mine = await endpoint({}, gateway.key);
    const order = await gateway.order({ external_id: 'hook-1' });
    await gateway.deposit(order);
    await gateway.settle(order);
    await send();
    const got = receivers.of(mine.name).filter(({ event }) => event.data.order_id === order.id);
    const feed = (await gateway.call('GET', '/partner/events?limit=100', { key: gateway.key })).json.data;
    expect(got.map(({ event }) => event)).toEqual(
      feed.filter(({ data }: { data: { order_id: string } }) => data.order_id === order.id),
    );
    expect(got).toHaveLength(5);
    for (const delivery of got) {
      expect(delivery.path).toBe('/hook');
      expect(delivery.headers['content-type']).toBe('application/json');
      expect(delivery.id).toBe(delivery.event.data.event_id);
      expect(isVerified(delivery, mine.secret)).toBe(true);
      for (let place = 0; place < delivery.body.length; place += 7) {
        const changed = delivery.body.slice(0, place) + String.fromCharCode(delivery.body.charCodeAt(place) ^ 1);
        expect(isVerified({ ...delivery, body: changed + delivery.body.slice(place + 1) }, mine.secret)).toBe(false);
      }
      const headers = { ...delivery.headers, 'webhook-id': `${delivery.id}1` };
      expect(isVerified({ ...delivery, headers }, mine.secret)).toBe(false);
    }
    expect(await shown(mine)).toMatchObject({ failures: 0, last_failure_at: null });
    expect((await shown(mine)).last_success_at).not.toBeNull();
  });

  it('writes amounts as numbers with all their digits for an endpoint that asks for them', async () => {
    const mine = await endpoint({ amounts: 'number', types: ['order.completed'] }, gateway.key);
    await refreshPrices();
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.settle(order);
    await send();
    const [got] = receivers.of(mine.name);
    expect(got?.body).toContain(`"amount_from":${order.amountFrom},`);
    expect(got?.event.data).toMatchObject({ refund_amount: null, status: 'completed' });
    expect(got && isVerified(got, mine.secret)).toBe(true);
  });

  it('is sent for the wanted types and coins only, and for events after the endpoint', async () => {
    const { key } = await gateway.partner();
    await create(key);
    await send();
    const all = await endpoint({}, key);
    const completed = await endpoint({ types: ['order.completed'] }, key);
    const fromLitecoin = await endpoint({ coin_from: 'LTC' }, key);
    const other = await endpoint();
    const id = await create(key);
    const fromLtc = await create(key, { coin_from: 'LTC', network_from: 'LTC', amount_from: 1 });
    await send();
    const ids = (name: string) => receivers.of(name).map(({ event }) => event.data.order_id);
    expect(ids(all.name).sort()).toEqual([id, fromLtc].sort());
    expect(ids(completed.name)).toEqual([]);
    expect(ids(fromLitecoin.name)).toEqual([fromLtc]);
    expect(ids(other.name)).toEqual([]);
  });
});

describe('a rotation', () => {
  it('signs with the new and the old secret until the old one ends', async () => {
    const mine = await endpoint();
    const rotate = (body: object) => gateway.call('POST', `${mine.path}/rotate-secret`, { key: mine.key, body });
    const { json } = await rotate({ old_secret_hours: 2 });
    expect(json.secret).not.toBe(mine.secret);
    await create(mine.key);
    await send();
    const [both] = receivers.of(mine.name);
    expect(both && [isVerified(both, mine.secret), isVerified(both, json.secret)]).toEqual([true, true]);
    expect(String(both?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    await gateway.query('update webhook_endpoint set old_secret_until = $2 where id = $1', [
      mine.id,
      gateway.clock.now(),
    ]);
    await create(mine.key);
    await send();
    const after = receivers.of(mine.name)[1];
    expect(after && [isVerified(after, mine.secret), isVerified(after, json.secret)]).toEqual([false, true]);
    const last = (await rotate({ old_secret_hours: 0 })).json;
    expect(last.endpoint.old_secret_until).toBeNull();
    await create(mine.key);
    await send();
    const at = receivers.of(mine.name)[2];
    expect(at && [isVerified(at, json.secret), isVerified(at, last.secret)]).toEqual([false, true]);
    const refused = await rotate({ old_secret_hours: 169 });
    expect([refused.status, refused.json.code]).toEqual([422, 'invalid_value']);
  });

  it('of the pepper encrypts all secrets that open, and names the others', async () => {
    const [first, second] = [1, 2].map((version) => ({ version, key: createSecretKey(randomBytes(32)) }));
    if (!first || !second) throw new Error('there are two keys');
    const [good, lost] = [await endpoint(), await endpoint()];
    const store = async ({ id }: Endpoint, owner: string): Promise<void> => {
      const { bytes, version } = new SecretBox([first]).seal(owner, randomBytes(24));
      const values = [id, bytes, version];
      await gateway.query('update webhook_endpoint set secret = $2, secret_version = $3 where id = $1', values);
    };
    await store(good, good.id);
    await store(lost, good.id);
    const rules = { ports: [443], denyCidrs: [], denyHosts: [], allowLoopback: false };
    const secrets = new SecretBox([second, first]);
    const service = new EndpointService({ orm: gateway.app.orm, clock: gateway.clock, secrets, rules });
    await expect(service.resealOld()).rejects.toThrow(lost.id);
    const stored = await gateway.query(
      'select id, secret_version as version from webhook_endpoint where id = any($1) order by 2',
      [[good.id, lost.id]],
    );
    expect(stored).toEqual([
      { id: lost.id, version: 1 },
      { id: good.id, version: 2 },
    ]);
  });

  it('signs with the new secret, also when the id came in capitals', async () => {
    const mine = await endpoint();
    const path = `/partner/webhook-endpoints/${mine.id.toUpperCase()}/rotate-secret`;
    const sent = { key: mine.key, body: { old_secret_hours: 0 }, headers: { 'Idempotency-Key': 'capitals' } };
    const { json } = await gateway.call('POST', path, sent);
    await create(mine.key);
    await send();
    const [delivered] = receivers.of(mine.name);
    expect(delivered && isVerified(delivered, json.secret)).toBe(true);
    expect((await gateway.call('POST', path, sent)).json.secret).toBe(json.secret);
  });

  it('stores no secret that a copy of the database could read', async () => {
    const mine = await endpoint();
    const [row] = await gateway.query<{ text: string }>(
      `select encode(secret, 'hex') || ' ' || w::text as text from webhook_endpoint w where id = $1`,
      [mine.id],
    );
    const secret = Buffer.from(mine.secret.slice('whsec_'.length), 'base64');
    expect(secret).toHaveLength(32);
    for (const form of [mine.secret, secret.toString('hex'), secret.toString('base64')]) {
      expect(row?.text).not.toContain(form);
    }
  });
});

describe('an event without an order', () => {
  const paid = { coin: 'USDC', network: 'ERC20', amount: '131.150000000000000001', fee: '1.5', txid: '0xab' };
  const record = (mine: Endpoint, month: string) =>
    gateway.app.orm.em.fork().transactional(async (em) => {
      const { partner } = await em.findOneOrFail(WebhookEndpoint, { id: mine.id });
      const at = gateway.clock.now();
      return recordPartnerEvent(em, {
        partnerId: partner.id,
        type: 'commission.paid',
        data: { month, ...paid },
        at,
      });
    });

  it('goes to the endpoints that want its type, with one id and amounts as each asks', async () => {
    const mine = await endpoint();
    const numbers = await endpoint({ amounts: 'number', types: ['commission.paid'] }, mine.key);
    const others = await Promise.all([
      endpoint({ types: ['order.created', 'commission.statement'] }, mine.key),
      endpoint({ coin_to: 'USDC' }, mine.key),
      endpoint({ status: 'disabled' }, mine.key),
      endpoint(),
    ]);
    const timestamp = gateway.clock.now().toISOString();
    const eventId = await record(mine, '2026-10');
    await send();
    const [got, ...more] = receivers.of(mine.name);
    expect(more).toEqual([]);
    expect(got?.event).toEqual({
      type: 'commission.paid',
      timestamp,
      data: { event_id: eventId, month: '2026-10', ...paid },
    });
    expect(got?.id).toBe(eventId);
    expect(got && isVerified(got, mine.secret)).toBe(true);
    const [inNumbers] = receivers.of(numbers.name);
    expect(inNumbers?.id).toBe(eventId);
    expect(inNumbers?.body).toContain('"amount":131.150000000000000001,');
    expect(inNumbers?.body).toContain('"fee":1.5');
    for (const other of others) expect(receivers.of(other.name)).toEqual([]);
    const [shownDelivery] = await deliveries(mine);
    expect(shownDelivery).toMatchObject({ event_id: eventId, type: 'commission.paid', order_id: null });
    expect(shownDelivery).toMatchObject({ state: 'delivered', is_replay: false });
    const feed = await gateway.call('GET', '/partner/events', { key: mine.key });
    expect(feed.json.data).toEqual([]);
    const filtered = await gateway.call('GET', '/partner/events?types=commission.paid', { key: mine.key });
    expect(filtered.status).toBe(400);
  });

  it('is tried again with the same bytes, holds back the first attempts of later ones, and counts', async () => {
    const mine = await endpoint();
    receivers.behave(mine.name, answer(500));
    const [first, second] = [await record(mine, '2026-09'), await record(mine, '2026-10')];
    await gateway.app.webhooks?.sender.begin();
    await gateway.app.webhooks?.sender.idle();
    expect(receivers.of(mine.name).map(({ id }) => id)).toEqual([first]);
    await send();
    expect(receivers.of(mine.name).map(({ id }) => id)).toEqual([first, second]);
    expect(await shown(mine)).toMatchObject({ failures: 2 });
    receivers.behave(mine.name, accept);
    gateway.clock.advance(6_000);
    await send();
    const bodies = receivers.of(mine.name).filter(({ id }) => id === first);
    expect(bodies).toHaveLength(2);
    expect(new Set(bodies.map(({ body }) => body)).size).toBe(1);
    const states = (await deliveries(mine)).map(({ state }: { state: string }) => state);
    expect(states).toEqual(['delivered', 'delivered']);
  });

  it('holds back no test, and is no test that is under way', async () => {
    const mine = await endpoint();
    receivers.behave(mine.name, answer(500));
    await record(mine, '2026-10');
    await send();
    receivers.behave(mine.name, accept);
    const [tested] = await Promise.all([
      gateway.call('POST', `${mine.path}/test`, { key: mine.key }),
      (async () => {
        while ((await deliveries(mine)).length < 2) await new Promise((done) => setTimeout(done, 20));
        await send();
      })(),
    ]);
    expect(tested.json).toMatchObject({ state: 'delivered' });
  });

  it('is sent again by its id, to any endpoint of its partner', async () => {
    const mine = await endpoint();
    const eventId = await record(mine, '2026-10');
    await send();
    const later = await endpoint({}, mine.key);
    const foreign = await endpoint();
    const body = { event_ids: [eventId, eventId, 'evt_0199c0de7a117c3e9a4e5d2f6b7c8d90'] };
    expect((await replay(mine, body)).json.count).toBe(1);
    expect((await replay(mine, body)).json.count).toBe(0);
    expect((await replay(later, body)).json.count).toBe(1);
    expect((await replay(foreign, body)).json.count).toBe(0);
    await send();
    const [first, again] = receivers.of(mine.name);
    expect(again?.body).toBe(first?.body);
    expect(receivers.of(later.name).map(({ body: sent }) => sent)).toEqual([first?.body]);
    const [newest] = await deliveries(mine);
    expect(newest).toMatchObject({ event_id: eventId, is_replay: true });
    gateway.clock.advance(31 * 86_400_000);
    expect((await replay(mine, body)).json.count).toBe(0);
  });

  it('has a sample', async () => {
    const mine = await endpoint({ types: ['commission.statement'] });
    const body = { type: 'commission.statement' };
    const emitted = await gateway.call('POST', '/partner/sandbox/webhooks/emit', { key: mine.key, body });
    const [sample] = emitted.json.data;
    await send();
    const [got] = receivers.of(mine.name);
    expect(got?.id).toBe(sample?.event_id);
    expect(got?.event).toMatchObject({ type: 'commission.statement', data: { event_id: got?.id, state: 'payable' } });
  });
});

describe('a failed delivery', () => {
  it('is tried again in growing pauses, with the same id and body, and then fails', async () => {
    const mine = await endpoint();
    receivers.behave(mine.name, answer(500));
    await create(mine.key);
    await send();
    for (const pauseMs of retryPausesMs) {
      const before = receivers.of(mine.name).length;
      gateway.clock.advance(Math.floor(pauseMs * 0.79));
      await send();
      expect(receivers.of(mine.name)).toHaveLength(before);
      gateway.clock.advance(Math.ceil(pauseMs * 0.42) + 61_000);
      await send();
      expect(receivers.of(mine.name)).toHaveLength(before + 1);
    }
    gateway.clock.advance(40 * 3_600_000);
    await send();
    const got = receivers.of(mine.name);
    expect(got).toHaveLength(1 + retryPausesMs.length);
    expect(new Set(got.map(({ id }) => id)).size).toBe(1);
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    expect(new Set(got.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(got.length);
    const [delivery] = await deliveries(mine, '?state=failed');
    expect(delivery).toMatchObject({ state: 'failed', next_attempt_at: null });
    expect(delivery.attempts.map(({ attempt }: { attempt: number }) => attempt)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    expect(delivery.attempts[0]).toMatchObject({ status: 500, error: 'status' });
  });

  it('waits as long as the receiver asks, up to a day', async () => {
    const hour = 3_600_000;
    for (const [asked, seconds] of [
      ['7200', 7_200],
      [new Date(Date.now() + hour).toUTCString(), 3_600],
      ['999999999', 86_400],
      ['soon', 5],
    ] as const) {
      const mine = await endpoint();
      receivers.behave(mine.name, answer(503, { 'Retry-After': asked }));
      await create(mine.key);
      await send();
      const [delivery] = await deliveries(mine);
      const waitMs = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.attempts[0].at);
      expect(waitMs).toBeGreaterThan(seconds * 1_000 * 0.79);
      expect(waitMs).toBeLessThan(seconds * 1_000 * 1.21 + 5_000);
    }
  });

  it.each([
    ['a redirect', answer(302, { Location: 'https://elsewhere.hooks.test/' }), { status: 302, error: 'redirect' }],
    ['another status', answer(404), { status: 404, error: 'status' }],
    ['no answer', hang, { status: null, error: 'timeout' }],
    [
      'a cut connection',
      (_: unknown, res: import('node:http').ServerResponse) => void res.destroy(),
      { status: null, error: 'reset' },
    ],
  ])('tells of %s', async (_what, behaviour, told) => {
    const mine = await endpoint();
    receivers.behave(mine.name, behaviour);
    await create(mine.key);
    await send();
    const [delivery] = await deliveries(mine);
    expect(delivery.attempts).toMatchObject([told]);
    expect(await shown(mine)).toMatchObject({ failures: 1, status: 'enabled' });
    expect(receivers.of('elsewhere')).toEqual([]);
  });

  it('does not hold back later events of its order, whose first attempts come in order', async () => {
    const mine = await endpoint({}, gateway.key);
    const states: string[] = [];
    receivers.behave(mine.name, ({ event }, res) => {
      states.push(event.data.status);
      res.writeHead(event.data.seq === 2 ? 500 : 204).end();
    });
    await refreshPrices();
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.settle(order);
    await send();
    expect(states).toEqual(['waiting_deposit', 'confirming', 'exchanging', 'sending', 'completed']);
    gateway.clock.advance(7_000);
    await send();
    expect(states.at(-1)).toBe('confirming');
  });
});

describe('an endpoint', () => {
  it('is disabled by a 410 at once, and goes on where it was enabled', async () => {
    const mine = await endpoint();
    receivers.behave(mine.name, answer(410));
    await create(mine.key);
    await send();
    expect(await shown(mine)).toMatchObject({ status: 'disabled', disabled_reason: 'gone', failures: 1 });
    await create(mine.key);
    await send();
    expect(receivers.of(mine.name)).toHaveLength(1);
    receivers.behave(mine.name, accept);
    const enabled = await gateway.call('PATCH', mine.path, { key: mine.key, body: { status: 'enabled' } });
    expect(enabled.json).toMatchObject({ status: 'enabled', disabled_reason: null, failures: 0 });
    gateway.clock.advance(10_000);
    await send();
    // The one that waited; the event of the meantime was not sent.
    expect(receivers.of(mine.name)).toHaveLength(2);
    const { json } = await replay(mine, {});
    expect(json).toEqual({ count: 2, next_cursor: null });
    await send();
    expect(new Set(receivers.of(mine.name).map(({ id }) => id)).size).toBe(2);
  });

  it('gets one attempt a minute after ten failures in a row, and is disabled after five days', async () => {
    const mine = await endpoint();
    receivers.behave(mine.name, answer(500));
    for (let n = 0; n < 30; n++) await create(mine.key);
    await send();
    for (let n = 0; n < 20; n++) await send();
    expect(receivers.of(mine.name)).toHaveLength(10);
    gateway.clock.advance(59_000);
    await send();
    expect(receivers.of(mine.name)).toHaveLength(10);
    gateway.clock.advance(2_000);
    await send();
    await send();
    expect(receivers.of(mine.name)).toHaveLength(11);
    gateway.clock.advance(4.9 * 86_400_000);
    await send();
    expect(await shown(mine)).toMatchObject({ status: 'enabled', failures: 12 });
    gateway.clock.advance(0.1 * 86_400_000);
    await send();
    expect(await shown(mine)).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
  });

  it('recovers with all that waits after one success', async () => {
    const mine = await endpoint();
    receivers.behave(mine.name, answer(500));
    for (let n = 0; n < 15; n++) await create(mine.key);
    await send();
    receivers.behave(mine.name, accept);
    gateway.clock.advance(61_000);
    await send();
    gateway.clock.advance(10 * 60_000);
    await send();
    const ok = (await deliveries(mine, '?state=delivered&limit=100')).length;
    expect(ok).toBe(15);
    expect(await shown(mine)).toMatchObject({ failures: 0, failing_since: null });
  });

  it('gets nothing more when it is deleted, disabled, or its partner is not active', async () => {
    const { id: partnerId, key } = await gateway.partner();
    const [deleted, disabled, active] = [await endpoint({}, key), await endpoint({}, key), await endpoint({}, key)];
    expect((await gateway.call('DELETE', deleted.path, { key })).status).toBe(200);
    expect((await gateway.call('GET', deleted.path, { key })).status).toBe(404);
    await gateway.call('PATCH', disabled.path, { key, body: { status: 'disabled' } });
    await create(key);
    await gateway.partners.change(partnerId, { status: 'inactive' });
    await send();
    for (const { name } of [deleted, disabled, active]) expect(receivers.of(name)).toEqual([]);
    await gateway.partners.change(partnerId, { status: 'active' });
    await send();
    expect(receivers.of(active.name)).toHaveLength(1);
    expect(receivers.of(disabled.name)).toEqual([]);
  });
});

describe('a test', () => {
  it('is sent once and answers what happened', async () => {
    const mine = await endpoint();
    const tested = async () => {
      const asked = gateway.call('POST', `${mine.path}/test`, { key: mine.key });
      let isAnswered = false;
      void asked.finally(() => {
        isAnswered = true;
      });
      while (!isAnswered) {
        await send();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return (await asked).json;
    };
    expect(await tested()).toMatchObject({ state: 'delivered', status: 204, error: null });
    const [got] = receivers.of(mine.name);
    expect(got?.event).toMatchObject({ type: 'endpoint.test', data: { endpoint_id: mine.id, event_id: got?.id } });
    expect(got && isVerified(got, mine.secret, gateway.clock.now())).toBe(true);
    expect(got && isVerified(got, mine.secret)).toBe(false);
    receivers.behave(mine.name, answer(418));
    expect(await tested()).toMatchObject({ state: 'failed', status: 418, error: 'status' });
    gateway.clock.advance(86_400_000);
    await send();
    expect(receivers.of(mine.name)).toHaveLength(2);
    expect(await shown(mine)).toMatchObject({ failures: 0 });
    await gateway.call('PATCH', mine.path, { key: mine.key, body: { status: 'disabled' } });
    const refused = await gateway.call('POST', `${mine.path}/test`, { key: mine.key });
    expect([refused.status, refused.json.code]).toEqual([409, 'endpoint_disabled']);
  });
});

describe('the deliveries of one partner', () => {
  it('use at most fifteen senders, and those of others begin concurrently', async () => {
    const { key } = await gateway.partner();
    const busy = await Promise.all([1, 2, 3, 4].map(() => endpoint({}, key)));
    const other = await endpoint();
    for (const one of [key, other.key]) await create(one);
    await send();
    // Each answers quickly once, and then hangs.
    for (const { name } of busy) receivers.behave(name, hang);
    for (let n = 0; n < 6; n++) await create(key);
    await create(other.key);
    await feedCatchesUp(gateway.query);
    await gateway.app.webhooks?.dispatcher.dispatch();
    let begun = 0;
    for (let more = -1; more !== 0; begun += more) more = (await gateway.app.webhooks?.sender.begin()) ?? 0;
    expect(begun).toBe(15 + 1);
    await gateway.app.webhooks?.sender.idle();
    const [tried] = await deliveries(other);
    expect(tried.attempts).toHaveLength(1);
    for (const { name } of busy) receivers.behave(name, accept);
    await send();
  });
});

describe('a replay', () => {
  it('sends named events, ranges, and only what failed', async () => {
    const mine = await endpoint({ types: ['order.created'] });
    const other = await endpoint();
    receivers.behave(
      mine.name,
      ({ event }, res) => void res.writeHead(event.data.amount_to === null ? 204 : 500).end(),
    );
    const ids = [await create(mine.key), await create(mine.key), await create(mine.key)];
    const foreign = await create(other.key);
    await send();
    const event = (id: string | undefined) => `evt_${id?.replaceAll('-', '')}_1`;
    expect(
      (await replay(mine, { event_ids: [event(ids[0]), event(ids[0]), event(foreign), 'evt_x'] })).json.count,
    ).toBe(1);
    expect((await replay(mine, { event_ids: [event(foreign)] })).json.count).toBe(0);
    await send();
    expect(receivers.of(mine.name).filter(({ id }) => id === event(ids[0]))).toHaveLength(2);
    expect((await replay(mine, { failed_only: true })).json.count).toBe(0);
    const later = new Date(gateway.clock.now().getTime() + 3_600_000).toISOString();
    expect((await replay(mine, { from: '2020-01-01T00:00:00Z', to: later })).json.count).toBe(3);
    await gateway.query(
      `update webhook_delivery set state = 'failed', ended_at = now(), next_attempt_at = null where endpoint_id = $1`,
      [mine.id],
    );
    expect((await replay(mine, { failed_only: true })).json.count).toBe(3);
    expect((await replay(mine, { failed_only: true })).json.count).toBe(0);
    await send();
    const list = await deliveries(mine, '?limit=100');
    expect(list.filter(({ is_replay }: { is_replay: boolean }) => is_replay).length).toBeGreaterThanOrEqual(4);
    for (const [body, code] of [
      [{ event_ids: [event(ids[0])], failed_only: true }, 'invalid_value'],
      [{ from: '2026-02-30T00:00:00Z' }, 'invalid_value'],
      [{ from: later, to: '2020-01-01T00:00:00Z' }, 'invalid_value'],
      [{ cursor: 'nonsense' }, 'invalid_cursor'],
    ] as const) {
      expect((await replay(mine, body)).json.code).toBe(code);
    }
  });

  it('adds nothing that waits already, however often it is asked for', async () => {
    const mine = await endpoint();
    await create(mine.key);
    await send();
    expect((await replay(mine, {})).json.count).toBe(1);
    const again = await Promise.all([1, 2, 3, 4, 5].map(() => replay(mine, {})));
    expect(again.map(({ json }) => json.count)).toEqual([0, 0, 0, 0, 0]);
    const [event] = receivers.of(mine.name);
    expect((await replay(mine, { event_ids: [event?.id] })).json.count).toBe(0);
    await send();
    expect((await replay(mine, {})).json.count).toBe(1);
  });

  it('of a deleted endpoint is forgotten with it', async () => {
    const mine = await endpoint();
    await create(mine.key);
    await send();
    await replay(mine, {});
    await gateway.call('DELETE', mine.path, { key: mine.key });
    gateway.clock.advance(1_000);
    await new DeliveryLog(gateway.app.orm, gateway.clock, new ListCursors([])).forgetOld();
    const left = await gateway.query('select 1 from webhook_delivery where endpoint_id = $1', [mine.id]);
    expect(left).toEqual([]);
  });

  it('goes through a long range by cursor, and forgets what is older than 30 days', async () => {
    const mine = await endpoint();
    await create(mine.key);
    await send();
    const [before] = await gateway.query<{ count: number }>('select count(*)::int as count from webhook_delivery');
    expect(before?.count).toBeGreaterThan(0);
    gateway.clock.advance(31 * 86_400_000);
    expect((await replay(mine, {})).json.count).toBe(0);
  });
});

describe('the log of deliveries', () => {
  it('is read page by page, newest first', async () => {
    const mine = await endpoint();
    for (let n = 0; n < 7; n++) await create(mine.key);
    await send();
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await gateway.call('GET', `${mine.path}/deliveries?limit=3${cursor}`, { key: mine.key });
      seen.push(...json.data.map(({ event_id }: { event_id: string }) => event_id));
      if (!json.has_more) break;
      cursor = `&cursor=${json.next_cursor}`;
    }
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
  });

  it('keeps the beginning of each answer as safe text, for people of the partner and staff only', async () => {
    const { id: partnerId, key } = await gateway.partner();
    const mine = await endpoint({}, key);
    const staff = await newMember(gateway, 'viewer');
    receivers.behave(mine.name, answerWith(500, `<b>no stock</b>\0\u202E${'x'.repeat(200_000)}`));
    await create(mine.key);
    await send();
    receivers.behave(mine.name, answerWith(200, 'taken'));
    gateway.clock.advance(10_000);
    await send();
    receivers.behave(mine.name, hang);
    await create(mine.key);
    await send();
    const rows = await gateway.query<{ log: { answer: string | null }[] }>(
      'select log from webhook_delivery where endpoint_id = $1 order by id',
      [mine.id],
    );
    const [failed, taken, none] = rows.flatMap(({ log: attempts }) => attempts.map((attempt) => attempt.answer));
    expect(failed).toMatch(/^<b>no stock<\/b>\uFFFD\uFFFDx+$/);
    expect(Buffer.byteLength(failed ?? '')).toBeLessThanOrEqual(1_024);
    expect([taken, none]).toEqual(['taken', null]);
    // The contract of programs has no place for it.
    const { text } = await gateway.call('GET', `${mine.path}/deliveries`, { key });
    expect(text).not.toMatch(/no stock|taken|"answer"/);
    const data = await staff.data(
      `{ webhookEndpoints(partnerId: "${partnerId}") { deliveries(first: 5) { log { attempt answer } } } }`,
    );
    const [{ deliveries: shownToStaff }] = data.webhookEndpoints;
    expect(shownToStaff.at(-1).log).toEqual([
      { attempt: 1, answer: failed },
      { attempt: 2, answer: 'taken' },
    ]);
    expect(log.lines().length).toBeGreaterThan(0);
    expect(log.lines().join('')).not.toMatch(/no stock|taken/);
  });
});
