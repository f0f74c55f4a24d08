import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerService } from '../../src/accounts/partners/partner-service.ts';
import { generateKey } from '../../src/accounts/partners/secret-key.ts';
import { openHasher } from '../../src/app/bootstrap.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { gatewayTerms } from '../../src/config/fixed-rates.ts';
import { cursorPurpose, ListCursors } from '../../src/orders/read/list-cursor.ts';
import { type OperationId, readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { operationRows } from '../../src/surfaces/rest/partner/operations.ts';
import { query } from '../support/database/database.ts';
import { askAbout } from '../support/gateway/asked-orders.ts';
import { openMonth } from '../support/gateway/commission-months.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { inOtherCluster } from '../support/gateway/order-pages.ts';
import { orderBody, type Rows } from '../support/gateway/orders.ts';
import type { CallOptions, Reply } from '../support/http/contract-client.ts';
import { rawExchange } from '../support/http/raw-http.ts';

/** Every operation with each status that the contract documents for it. */
const documented = Object.entries(readContract().paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, { operationId: string; responses: object }>).flatMap(([method, operation]) =>
    Object.keys(operation.responses).map((status) => ({ path, method, id: operation.operationId, status })),
  ),
);

const operationIds = [...new Set(documented.map(({ id }) => id))];

/** An icon is read from memory, and nothing outside the process can make that fail. */
const beyondReach = new Set(['getCoinIcon 500']);
const reachable = documented.filter(({ id, status }) => !beyondReach.has(`${id} ${status}`));

let gateway: TestGateway;
let tight: TestGateway;
let broken: TestGateway;
let away: TestGateway;
let proxied: TestGateway;
let cluster: EmbeddedPostgres;
let clusterDir: string;
let partner: { id: string; key: string };
let orderId: string;
let quoteId: string;

beforeAll(async () => {
  gateway = await startGateway();
  partner = await gateway.partner();
  await gateway.partners.change(partner.id, { publicStatus: true, orderPage: true, displayName: 'Test Wallet' });
  orderId = (await gateway.call('POST', '/partner/orders', { key: partner.key, body: orderBody() })).json.id;
  const asked = await gateway.call('POST', '/partner/quotes', { key: partner.key, body: quoteBody });
  quoteId = asked.json.quote_id;
  tight = await startGateway({
    settings: {
      RATE_LIMIT_PUBLIC_PER_MIN: '1',
      RATE_LIMIT_PARTNER_PER_MIN: '1',
      RATE_LIMIT_ICONS_PER_MIN: '1',
      RATE_LIMIT_QUOTES_PER_MIN: '1',
    },
  });
  proxied = await startGateway({ settings: { TRUSTED_PROXIES: '127.0.0.1/32' } });
  broken = await startGateway();
  await query(broken.databaseUrl, 'alter table api_key rename to api_key_gone');
  clusterDir = await mkdtemp(join(tmpdir(), 'gateway-away-'));
  cluster = await startEmbeddedPostgres({ dataDir: clusterDir, ephemeral: true });
  away = await startGateway({ databaseUrl: cluster.url, settings: { DATA_DIR: clusterDir } });
  await cluster.stop();
});

afterAll(async () => {
  await Promise.all([gateway, tight, proxied, broken, away].map((each) => each?.stop()));
  await rm(clusterDir, { recursive: true, force: true });
});

const anyKey = () => generateKey('xp_test_').whole;
const icon = '/coin-icons/btc.svg';
const pair = '/partner/rates?coin_from=BTC&coin_to=ETH';
const quoteBody = { coin_from: 'BTC', coin_to: 'ETH', rate_type: 'fixed', amount_from: 0.1 };
/** Paths of operations that need a query, or a value of a parameter that is no id. */
const ownPaths: Record<string, string> = {
  getRate: pair,
  listPairs: '/partner/pairs?coin_from=BTC',
  getQuote: '/partner/quotes/qt_AAAA',
  getStatement: '/partner/statements/2026-01',
  getCoinIcon: icon,
};

function at(id: string): [method: string, path: string] {
  const found = documented.find((one) => one.id === id);
  if (!found) throw new Error(`the contract has no operation ${id}`);
  return [found.method.toUpperCase(), ownPaths[id] ?? found.path.replace(/\{\w+\}/, () => randomUUID())];
}

/** Whether the operation's row demands a key. */
function needsKey(id: string): boolean {
  return operationRows[id as OperationId].scope !== 'public';
}

/** The plainest valid bodies. */
const bodies: Record<string, (changes?: Record<string, unknown>) => Record<string, unknown>> = {
  createOrder: orderBody,
  createQuote: (changes) => ({ ...quoteBody, ...changes }),
  validateOrder: orderBody,
  changeOrder: (changes) => ({ metadata: { a: 'b' }, ...changes }),
  actOnOrder: (changes) => ({ action_id: 'act_3', action: 'refund', ...changes }),
  setRefundAddress: (changes) => ({ refund_address: addressExample('BTC'), ...changes }),
  createWebhookEndpoint: (changes) => ({ url: 'https://hooks.example.com/', ...changes }),
  updateWebhookEndpoint: (changes) => ({ status: 'enabled', ...changes }),
  rotateWebhookSecret: (changes) => ({ old_secret_hours: 1, ...changes }),
  replayWebhookEvents: (changes) => ({ failed_only: true, ...changes }),
  makeSandboxDeposits: (changes) => ({ blocks: 1, ...changes }),
  forceSandboxOutcome: (changes) => ({ outcome: 'hold', ...changes }),
  emitSandboxEvent: (changes) => ({ type: 'order.created', ...changes }),
  validateAddress: (changes) => ({ coin: 'BTC', network: 'BTC', address: addressExample('BTC'), ...changes }),
};

/** The operation at a webhook endpoint of the partner that was just made; at its path otherwise. */
async function atOwn(id: string): Promise<[string, string]> {
  const [method, path] = at(id);
  if (!path.startsWith('/partner/webhook-endpoints/')) return [method, path];
  const { key, id: partnerId } = partner;
  const body = { url: 'https://hooks.example.com/' };
  await query(
    gateway.databaseUrl,
    `update webhook_endpoint set status = 'deleted', disabled_reason = null, disabled_at = null where partner_id = $1`,
    [partnerId],
  );
  const { json } = await gateway.call('POST', '/partner/webhook-endpoints', { key, body });
  return [method, path.replace(/[0-9a-f-]{36}/, json.endpoint.id)];
}

/** A method that no operation has at the path of this one. */
const otherMethod = (id: string): string => (/Webhook|OrderPage/.test(id) ? 'PUT' : 'DELETE');

/** Calls an operation in its plainest valid form. */
function plain(where: TestGateway, id: string, options: CallOptions): Promise<Reply> {
  const [method, path] = at(id);
  const body = bodies[id];
  return where.call(method, path, { ...(body ? { body: body() } : {}), ...options });
}

async function spent(id: string): Promise<Reply> {
  const { key } = await tight.partner();
  const options = needsKey(id) ? { key } : {};
  await plain(tight, id, options);
  return plain(tight, id, options);
}

async function unchanged(id: string): Promise<Reply> {
  if (id === 'getOrder') return unchangedOrder();
  const first = await plain(gateway, id, {});
  return plain(gateway, id, { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } });
}

async function unchangedOrder(): Promise<Reply> {
  const path = `/partner/orders/${orderId}`;
  const first = await gateway.call('GET', path, { key: partner.key });
  const headers = { 'If-None-Match': first.headers.get('etag') ?? '' };
  return gateway.call('GET', path, { key: partner.key, headers });
}

async function inactive(id: string): Promise<Reply> {
  const other = await gateway.partner();
  await gateway.partners.change(other.id, { status: 'inactive' });
  return plain(gateway, id, { key: other.key });
}

/** Sends an order whose external id another order has. */
async function named(id: string): Promise<Reply> {
  const body = orderBody({ external_id: randomUUID() });
  await gateway.call('POST', '/partner/orders', { key: partner.key, body });
  return plain(gateway, id, { key: partner.key, body });
}

/** The operations that change an order. */
const changing = new Set([
  'changeOrder',
  'setRefundAddress',
  'cancelOrder',
  'renewOrderPage',
  'renewOrderPage',
  'revokeOrderPage',
  'actOnOrder',
  'makeSandboxDeposits',
  'expireSandboxOrder',
  'reorgSandboxDeposit',
  'forceSandboxOutcome',
]);

/** Makes an order that the operation can change. */
async function made(id: string): Promise<{ id: string }> {
  const body = orderBody(id === 'actOnOrder' ? { refund_address: addressExample('BTC') } : {});
  const { json } = await gateway.call('POST', '/partner/orders', { key: partner.key, body });
  if (id === 'actOnOrder') await askAbout((sql, values) => query(gateway.databaseUrl, sql, values), json.id);
  return json;
}

/** Changes an order that was just made, or the named one. */
async function change(id: string, name?: string, options: CallOptions = {}): Promise<Reply> {
  const [method, path] = at(id);
  const orderName = name ?? (await made(id)).id;
  const target = path.replace(/[0-9a-f-]{36}/, orderName);
  const body = bodies[id] ? { body: bodies[id]() } : {};
  return gateway.call(method, target, { key: partner.key, ...body, ...options });
}

/** Changes an order in a way that its state forbids. */
async function tooLate(id: string): Promise<Reply> {
  const body = orderBody({ refund_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' });
  const { json } = await gateway.call('POST', '/partner/orders', { key: partner.key, body });
  if (id === 'cancelOrder' || id === 'expireSandboxOrder') await change('cancelOrder', json.id);
  if (id === 'forceSandboxOutcome') await change(id, json.id);
  if (id === 'makeSandboxDeposits') {
    for (let sent = 0; sent < 100; sent += 10) await change(id, json.id, { body: { count: 10 } });
  }
  if (id !== 'renewOrderPage') return change(id, json.id);
  await gateway.partners.change(partner.id, { orderPage: false });
  const reply = await change(id, json.id);
  await gateway.partners.change(partner.id, { orderPage: true });
  return reply;
}

/** Drops a deposit, once the gateway has seen it. */
async function dropped(): Promise<Reply> {
  const { id } = await made('makeSandboxDeposits');
  await change('makeSandboxDeposits', id);
  for (;;) {
    const reply = await change('reorgSandboxDeposit', id);
    if (reply.status !== 409) return reply;
    await sleep(100);
  }
}

/** Asks for a sample of an event with a key that was made where coins are money. */
async function withLiveKey(id: string): Promise<Reply> {
  const { config, app } = gateway;
  const ofValue = new PartnerService(
    app.orm,
    await openHasher(config, app.orm),
    systemClock,
    true,
    gatewayTerms(config),
    async () => {},
  );
  return plain(gateway, id, { key: (await ofValue.issueKey(partner.id, { scopes: ['sandbox'] })).key });
}

/** The operations that refuse no value, but a key. */
const reusedOnly = new Set([
  'cancelOrder',
  'renewOrderPage',
  'testWebhookEndpoint',
  'expireSandboxOrder',
  'reorgSandboxDeposit',
  'forceSandboxOutcome',
  'emitSandboxEvent',
]);

/** Sends a request under the idempotency key of another one. */
async function reused(id: string): Promise<Reply> {
  const options = { key: partner.key, headers: { 'Idempotency-Key': randomUUID() } };
  await change('cancelOrder', undefined, options);
  if (changing.has(id)) return change(id, undefined, options);
  const [method, path] = id.includes('Webhook') ? await atOwn(id) : at(id);
  return gateway.call(method, path, { ...options, ...(bodies[id] ? { body: bodies[id]() } : {}) });
}

/** Sends bytes; the answer is not checked here. */
async function raw(id: string, rest: string): Promise<{ status: number }> {
  const [method, path] = at(id);
  const { statuses } = await rawExchange(gateway.app.restUrl ?? '', `${method} /api/v1${path} HTTP/1.1\r\n${rest}`);
  return { status: statuses[0] ?? 0 };
}

/**
 * Requests that never end, one for each operation, begun together because each takes as long as the
 * server's patience.
 */
let slow: Map<string, Promise<{ status: number }>> | undefined;
function tooSlow(id: string): Promise<{ status: number }> {
  slow ??= new Map(operationIds.map((each) => [each, raw(each, 'Host: x\r\n')]));
  return slow.get(id) ?? raw(id, 'Host: x\r\n');
}

function plainly(id: string): Promise<Reply> {
  return plain(proxied, id, { headers: { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'http' } });
}

/** Sends a cursor of a replay that the gateway wrote in another cluster of PostgreSQL. */
async function expiredReplay(id: string): Promise<Reply> {
  const [method, path] = await atOwn(id);
  const cursors = new ListCursors((await openHasher(gateway.config, gateway.app.orm)).derivedKeys(cursorPurpose));
  const endpoint = path.split('/')[3] ?? '';
  const place = `7.${endpoint}.1.1795252000000.7000000000000000000-00000002`;
  const cursor = cursors.write(`${partner.id} replay ${endpoint}   false`, place);
  return gateway.call(method, path, { key: partner.key, body: { cursor } });
}

/** Sends a value of the right shape that is refused. */
async function wrongWebhook(id: string): Promise<Reply> {
  const [method, path] = await atOwn(id);
  const { key } = partner;
  if (id === 'listWebhookDeliveries') return gateway.call(method, `${path}?limit=101`, { key });
  const body =
    id === 'rotateWebhookSecret'
      ? { old_secret_hours: 169 }
      : id === 'replayWebhookEvents'
        ? { event_ids: ['evt_x'], failed_only: true }
        : { url: 'https://127.0.0.1/' };
  return gateway.call(method, path, { key, body });
}

/** A member that is well formed and refused. */
function wrongValue(id: string): Record<string, unknown> {
  if (id === 'changeOrder') return { metadata: { a: 'x'.repeat(501) } };
  if (id === 'setRefundAddress') return { refund_address: 'x'.repeat(300) };
  if (id === 'actOnOrder') return { amount_to: 1 };
  if (id === 'makeSandboxDeposits') return { coin: 'NOPE' };
  return id === 'validateAddress' ? { coin: 'NOPE' } : { amount_from: 0.00000001 };
}

/** How each documented status is brought about, by operation or for all of them. */
const scenarios: Record<string, (id: string) => Promise<{ status: number }>> = {
  '200': async (id) => {
    if (id.includes('Webhook')) {
      const [method, path] = await atOwn(id);
      return gateway.call(method, path, { key: partner.key, ...(bodies[id] ? { body: bodies[id]?.() } : {}) });
    }
    if (id === 'getQuote') return gateway.call('GET', `/partner/quotes/${quoteId}`, { key: partner.key });
    if (id === 'getStatement') {
      const rows: Rows = (text, values) => query(gateway.databaseUrl, text, values);
      const month = await openMonth(rows, partner.id, new Date());
      return gateway.call('GET', `/partner/statements/${month}`, { key: partner.key });
    }
    const [method, path] = at(id);
    if (bodies[id] && !path.includes('/orders/')) return plain(gateway, id, { key: partner.key });
    if (id === 'validateOrder') return plain(gateway, id, { key: partner.key });
    if (id === 'reorgSandboxDeposit') return dropped();
    if (changing.has(id)) return change(id);
    const known = path.replace(/[0-9a-f-]{36}/, orderId);
    return gateway.call(method, known, needsKey(id) ? { key: partner.key } : {});
  },
  '201': (id) => plain(gateway, id, { key: partner.key }),
  '304': unchanged,
  '400': (id) =>
    bodies[id]
      ? plain(gateway, id, { key: partner.key, raw: '{"coin_from":' })
      : id === 'getRate'
        ? gateway.call('GET', '/partner/rates?coin_from=BTC')
        : raw(id, 'Host: x\r\nContent-Length: 0x5\r\n\r\nhello'),
  '401': (id) => plain(gateway, id, {}),
  '403': (id) => (needsKey(id) ? inactive(id) : plainly(id)),
  '404': (id) =>
    id === 'getCoinIcon'
      ? gateway.call('GET', '/coin-icons/nope.svg')
      : id === 'emitSandboxEvent'
        ? withLiveKey(id)
        : plain(gateway, id, { key: partner.key }),
  '405': (id) => gateway.call(otherMethod(id), at(id)[1]),
  '408': tooSlow,
  '409': async (id) => {
    if (id === 'validateOrder') return named(id);
    if (changing.has(id)) return tooLate(id);
    if (id === 'testWebhookEndpoint') {
      const [method, path] = await atOwn(id);
      const { key } = partner;
      await gateway.call('PATCH', path.replace('/test', ''), { key, body: { status: 'disabled' } });
      return gateway.call(method, path, { key });
    }
    const key = randomUUID();
    // Another create under the same key is under way in a transaction that is not over.
    const options = { key: partner.key, headers: { 'Idempotency-Key': key } };
    const { Client } = await import('pg');
    const client = new Client({ connectionString: gateway.databaseUrl });
    await client.connect();
    try {
      await client.query('begin');
      await client.query(
        `insert into idempotency_key values ($1, $2, decode(repeat('00', 32), 'hex'), $3, 201, '{}', now())`,
        [partner.id, key, orderId],
      );
      if (id !== 'replayWebhookEvents') return await plain(gateway, id, options);
      const [method, path] = await atOwn(id);
      return await gateway.call(method, path, { ...options, body: bodies[id]?.() ?? {} });
    } finally {
      await client.end();
    }
  },
  '410': async (id) => {
    if (id === 'replayWebhookEvents') return expiredReplay(id);
    if (id === 'listOrderReport') {
      const { json } = await plain(gateway, id, { key: partner.key });
      const again = (cursor: string) => gateway.call('GET', `${at(id)[1]}?cursor=${cursor}`, { key: partner.key });
      return inOtherCluster(gateway, partner.id, json.next_cursor, again, 'report');
    }
    const isOfEvents = id !== 'listOrders';
    const list = isOfEvents ? '/partner/events?limit=1' : '/partner/orders?sort=updated';
    const { json } = await gateway.call('GET', list, { key: partner.key });
    const path = isOfEvents ? `${at(id)[1]}?since=2026-01-01T00:00:00Z` : list;
    const send = (cursor: string) => gateway.call('GET', `${path}&cursor=${cursor}`, { key: partner.key });
    return inOtherCluster(gateway, partner.id, json.next_cursor, send, isOfEvents ? 'events' : 'orders');
  },
  '413': (id) => plain(gateway, id, { key: partner.key, body: bodies[id]?.({ address: 'x'.repeat(17_000) }) }),
  '415': (id) => plain(gateway, id, { key: partner.key, headers: { 'Content-Type': 'text/plain' } }),
  '417': (id) => raw(id, 'Host: x\r\nExpect: 200-ok\r\nContent-Length: 0\r\n\r\n'),
  '422': async (id) =>
    reusedOnly.has(id)
      ? reused(id)
      : id.includes('Webhook')
        ? wrongWebhook(id)
        : id === 'makeSandboxDeposits'
          ? change(id, undefined, { body: bodies[id]?.(wrongValue(id)) ?? {} })
          : id === 'getCoinIcon'
            ? gateway.call('GET', `${icon}?v=${'x'.repeat(65)}`)
            : bodies[id]
              ? plain(gateway, id, { key: partner.key, body: bodies[id]?.(wrongValue(id)) })
              : ['listOrders', 'listCommissionEntries', 'listOrderReport'].includes(id)
                ? gateway.call('GET', `${at(id)[1]}?limit=101`, { key: partner.key })
                : needsKey(id)
                  ? gateway.call('GET', `${at(id)[1]}?since=2026-02-30T00:00:00Z`, { key: partner.key })
                  : gateway.call('GET', at(id)[1].replace(/BTC.*$/, 'NOPE&coin_to=NOPE')),
  '429': spent,
  '431': (id) => plain(gateway, id, { headers: { 'X-Big': 'x'.repeat(20_000) } }),
  '500': (id) => plain(broken, id, { key: anyKey() }),
  '503': (id) => plain(away, id, { key: anyKey() }),
};

describe('each operation gives each status that the contract documents for it', () => {
  it.each(reachable)('$id answers $status', async ({ id, status }) => {
    const scenario = scenarios[status];
    if (!scenario) throw new Error(`no scenario for ${status}`);
    const reply = await scenario(id);
    expect(reply.status).toBe(Number.parseInt(status, 10));
  });
});

describe('each operation answers only statuses that the contract documents for it', () => {
  const long = 'x'.repeat(9_000);
  const listed = ['status', 'ids', 'created_from', 'sort', 'updated_since', 'include', 'limit', 'cursor'];
  const queries = ['v', 'coin_from', 'network_from', 'amount', 'rate_type', 'unknown', ...listed];
  /** Requests with each fault. The client throws at an answer that is not documented. */
  const troubles: [string, (id: string) => Promise<Reply>][] = [
    ['nothing', (id) => plain(gateway, id, {})],
    ['an unknown key', (id) => plain(gateway, id, { key: anyKey() })],
    ['a key of no form', (id) => plain(gateway, id, { key: 'nonsense' })],
    ['two keys', (id) => plain(gateway, id, { key: anyKey(), headers: { 'X-API-Key': anyKey() } })],
    ['a key of an inactive partner', inactive],
    ['a wrong signature', (id) => plain(gateway, id, { key: partner.key, headers: { 'X-Signature': long } })],
    ['no HTTPS', plainly],
    ['another method', (id) => gateway.call(otherMethod(id), at(id)[1])],
    ['a long If-None-Match', (id) => plain(gateway, id, { headers: { 'If-None-Match': long } })],
    ['a long Idempotency-Key', (id) => plain(gateway, id, { key: partner.key, headers: { 'Idempotency-Key': long } })],
    ['an unknown form of amounts', (id) => plain(gateway, id, { key: partner.key, headers: { Amounts: 'text' } })],
    ['a body of another type', (id) => plain(gateway, id, { key: partner.key, headers: { 'Content-Type': 'x/y' } })],
    ['a spent limit', spent],
    ['a database that fails', (id) => plain(broken, id, { key: anyKey() })],
    ['a database that is away', (id) => plain(away, id, { key: anyKey() })],
    ...queries.flatMap((name): [string, (id: string) => Promise<Reply>][] =>
      [`${name}=a&${name}=b`, `${name}=${long}`, `${name}=`, `${name}=%00`].map((query) => [
        `the query ${query.slice(0, 20)}`,
        (id) => {
          const [method, path] = at(id);
          const target = `${path}${path.includes('?') ? '&' : '?'}${query}`;
          return gateway.call(method, target, {
            key: partner.key,
            ...(bodies[id] ? { body: bodies[id]?.() } : {}),
          });
        },
      ]),
    ),
  ];
  it.each(operationIds)('%s', async (id) => {
    const codes = documented.filter((each) => each.id === id).map(({ status }) => status);
    for (const [trouble, send] of troubles) {
      const { status } = await send(id);
      expect([trouble, codes.includes(String(status))]).toEqual([trouble, true]);
    }
  });
});
