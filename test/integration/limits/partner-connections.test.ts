import { Client, type Pool } from 'pg';
import { cabinetPeople } from '../../../src/app/services.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { OperationId } from '../../../src/surfaces/rest/partner/contract.ts';
import { operationRows } from '../../../src/surfaces/rest/partner/operations.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings } from '../../support/cabinet/cabinet-client.ts';
import { copyOrder } from '../../support/gateway/order-pages.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

/** A partner holds a quarter of the connections of requests at most, by any operation. */

const poolSize = 24;
const quarter = poolSize / 4;
/** A quarter, connections on their way back to the pool, and those of tasks of the process. */
const bound = quarter + 4;
const atOnce = 40;

let gateway: SettledGateway;
let pool: Pool;
let key: string;
let partnerId: string;
let orderId: string;
let endpointId: string;
let quoteId: string;
let holder: Client;
beforeAll(async () => {
  gateway = await startSettledGateway({
    settings: { DATABASE_POOL_SIZE: String(poolSize), RATE_LIMIT_SIGN_IN_PER_MIN: '100000', ...cabinetSettings },
  });
  pool = await gateway.app.orm.em.getConnection().getNativeClient();
  ({ id: partnerId, key } = await gateway.partner());
  await gateway.query('update partner set public_status = true where id = $1', [partnerId]);
  const made = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
  orderId = made.json.id;
  const endpoint = { url: 'https://hooks.example.com/' };
  endpointId = (await gateway.call('POST', '/partner/webhook-endpoints', { key, body: endpoint })).json.endpoint.id;
  const quote = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'ETH', network_to: 'ETH' };
  quoteId = (
    await gateway.call('POST', '/partner/quotes', { key, body: { ...quote, rate_type: 'float', amount_from: 0.01 } })
  ).json.quote_id;
  holder = new Client({ connectionString: gateway.databaseUrl });
  await holder.connect();
});
afterAll(async () => {
  await holder?.end();
  await gateway?.stop();
});

/** How often work took a connection of requests, and how many were held at the same time. */
async function counted(work: () => Promise<unknown>): Promise<{ taken: number; most: number }> {
  let [held, most, taken] = [0, 0, 0];
  const take = (): void => {
    held++;
    taken++;
    most = Math.max(most, held);
  };
  const give = (): void => void held--;
  pool.on('acquire', take).on('release', give);
  try {
    await work();
  } finally {
    pool.off('acquire', take).off('release', give);
  }
  return { taken, most };
}

type Request = readonly [method: string, path: string, body?: unknown];
const order = (rest = ''): string => `/partner/orders/${orderId}${rest}`;
const endpoint = (rest = ''): string => `/partner/webhook-endpoints/${endpointId}${rest}`;
const sandbox = (rest: string): string => `/partner/sandbox/orders/${orderId}/${rest}`;

/** A request of each operation that takes a connection. */
const requests: Readonly<Partial<Record<OperationId, () => Request>>> = {
  getQuote: () => ['GET', `/partner/quotes/${quoteId}`],
  validateAddress: () => [
    'POST',
    '/partner/addresses/validate',
    { coin: 'BTC', network: 'BTC', address: addressExample('BTC') },
  ],
  validateOrder: () => ['POST', '/partner/orders/validate', orderBody({ external_id: 'mine' })],
  createOrder: () => ['POST', '/partner/orders', orderBody()],
  getOrder: () => ['GET', order()],
  listOrders: () => ['GET', '/partner/orders?limit=100'],
  getOrderDetails: () => ['GET', order('/details')],
  listOrderEvents: () => ['GET', order('/events')],
  changeOrder: () => ['PATCH', order(), { metadata: { a: 'b' } }],
  setRefundAddress: () => ['PUT', order('/refund-address'), { refund_address: addressExample('BTC') }],
  actOnOrder: () => ['POST', order('/actions'), { action_id: 'act_3', action: 'refund' }],
  cancelOrder: () => ['POST', order('/cancel')],
  renewOrderPage: () => ['POST', order('/page')],
  revokeOrderPage: () => ['DELETE', order('/page')],
  listEvents: () => ['GET', '/partner/events'],
  listWebhookEndpoints: () => ['GET', '/partner/webhook-endpoints'],
  createWebhookEndpoint: () => ['POST', '/partner/webhook-endpoints', { url: 'https://hooks.example.com/' }],
  getWebhookEndpoint: () => ['GET', endpoint()],
  updateWebhookEndpoint: () => ['PATCH', endpoint(), { status: 'enabled' }],
  rotateWebhookSecret: () => ['POST', endpoint('/rotate-secret'), {}],
  listWebhookDeliveries: () => ['GET', endpoint('/deliveries')],
  replayWebhookEvents: () => ['POST', endpoint('/replay'), {}],
  makeSandboxDeposits: () => ['POST', sandbox('deposits'), {}],
  reorgSandboxDeposit: () => ['POST', sandbox('reorg')],
  forceSandboxOutcome: () => ['POST', sandbox('force'), { outcome: 'hold' }],
  emitSandboxEvent: () => ['POST', '/partner/sandbox/webhooks/emit', { type: 'order.created' }],
  expireSandboxOrder: () => ['POST', sandbox('expire')],
  getCommissionBalance: () => ['GET', '/partner/commission/balance'],
  listCommissionEntries: () => ['GET', '/partner/commission/entries'],
  listStatements: () => ['GET', '/partner/statements'],
  getStatement: () => ['GET', '/partner/statements/2026-01?format=csv'],
  listOrderReport: () => ['GET', '/partner/reports/orders'],
  getPublicStatus: () => ['GET', `/status/${orderId}`],
  // Of an endpoint that does not exist, as a test waits for its result.
  testWebhookEndpoint: () => ['POST', `/partner/webhook-endpoints/${partnerId}/test`],
  deleteWebhookEndpoint: () => ['DELETE', endpoint()],
};

it('has a request of each operation that takes a connection', () => {
  const taking = Object.entries(operationRows).filter(([id, { turn }]) => turn !== 'none' || id === 'getOrder');
  // A stream reads as the list of events does, and does not end.
  const found = taking.map(([id]) => id).filter((id) => id !== 'streamEvents');
  expect(Object.keys(requests).sort()).toEqual(found.sort());
});

it.each(Object.entries(requests))('forty of %s at once hold a quarter at most', async (_id, request) => {
  const [method, path, body] = request();
  const statuses: number[] = [];
  const { taken, most } = await counted(() =>
    Promise.all(
      Array.from({ length: atOnce }, async () => {
        const { status } = await gateway.call(method, path, { key, ...(body === undefined ? {} : { body }) });
        statuses.push(status);
      }),
    ),
  );
  expect(taken).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(bound);
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
});

it('operations that take no turn take no connection', async () => {
  const paths = ['/currencies', '/assets', '/pairs?coin_from=BTC', '/rate?coin_from=BTC&coin_to=ETH&amount=1'];
  const { taken } = await counted(() =>
    Promise.all(paths.flatMap((path) => Array.from({ length: 10 }, () => gateway.call('GET', path, { key })))),
  );
  // Tasks of the process take a few.
  expect(taken).toBeLessThan(5);
});

it('pages of orders hold a quarter at most for each address', async () => {
  const url = `${gateway.app.restUrl}/o/${'a'.repeat(43)}`;
  const { most } = await counted(() =>
    Promise.all(Array.from({ length: atOnce }, () => fetch(url).then((r) => r.text()))),
  );
  expect(most).toBeLessThanOrEqual(bound);
});

it('members in the cabinet take none of the connections of requests', async () => {
  const { members } = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin);
  const member = new CabinetClient(gateway.app.restUrl ?? '');
  const { link } = await members.invite(partnerId, { name: 'Owner', role: 'owner' }, null);
  expect((await member.accept(link)).status).toBe(200);
  const at = `/partner/orders/${orderId}`;
  const shared = ['/partner/orders', at, `${at}/details`, `${at}/events`, '/partner/webhook-endpoints'];
  const paths = [...shared, '/home', '/limits', '/partner/statements', '/keys'];
  const { taken } = await counted(() =>
    Promise.all(
      paths.flatMap((path) =>
        // On a busy machine some wait too long, for their turn or for a connection.
        [1, 2, 3].map(async () => expect([200, 429, 503]).toContain((await member.call('GET', path)).status)),
      ),
    ),
  );
  // Each request would take one at least. Tasks of the process take a few, as a member's requests
  // are answered one after the other.
  expect(taken).toBeLessThan(3 * paths.length);
});

it('another partner is answered while all requests of one wait for a lock', async () => {
  const other = (await gateway.partner()).key;
  await holder.query('begin');
  await holder.query('select 1 from exchange_order where id = $1 for update', [orderId]);
  let ended = 0;
  const stuck = Array.from({ length: atOnce }, async () => {
    const { status } = await gateway.call('PATCH', order(), { key, body: { metadata: { a: 'c' } } });
    ended++;
    return status;
  });
  const held = async (): Promise<number> => pool.totalCount - pool.idleCount;
  while ((await held()) < quarter) await new Promise((resolve) => setTimeout(resolve, 10));
  const statuses = await Promise.all(
    Array.from({ length: 30 }, async () => (await gateway.call('GET', '/partner/orders', { key: other })).status),
  );
  const endedBefore = ended;
  await holder.query('rollback');
  expect(new Set(statuses)).toEqual(new Set([200]));
  // Each is given up after two seconds. The others of the partner still waited for their turn.
  expect(endedBefore).toBeLessThan(atOnce);
  await Promise.all(stuck);
});

it('a request whose client goes away before its turn changes nothing', async () => {
  const { json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
  await holder.query('begin');
  await holder.query('select 1 from exchange_order where id = $1 for update', [orderId]);
  const change = () => gateway.call('PATCH', order(), { key, body: { metadata: { a: 'd' } } });
  const stuck = Array.from({ length: quarter }, change);
  while (pool.totalCount - pool.idleCount < quarter) await new Promise((resolve) => setTimeout(resolve, 10));
  const gone = new AbortController();
  const waiting = fetch(`${gateway.app.restUrl}/api/v1/partner/orders/${json.id}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { a: 'b' } }),
    signal: gone.signal,
  }).catch(() => 'gone');
  for (const step of [() => gone.abort(), () => undefined]) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    step();
  }
  expect(await waiting).toBe('gone');
  await holder.query('rollback');
  await Promise.all(stuck);
  // Its turn comes after that of the one that went away.
  expect((await change()).status).toBe(200);
  const changed = 'select 1 from order_terms where order_id = $1 and metadata is not null';
  expect(await gateway.query(changed, [json.id])).toEqual([]);
});

it('a replay takes a connection of requests for its look at the endpoint alone', async () => {
  const created = await gateway.call('POST', '/partner/webhook-endpoints', {
    key,
    body: { url: 'https://hooks.example.com/' },
  });
  const path = `/partner/webhook-endpoints/${created.json.endpoint.id}/replay`;
  const made = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
  await copyOrder(gateway.query, made.json.id, 20);
  await feedCatchesUp(gateway.query);
  await holder.query('begin');
  await holder.query('select 1 from webhook_endpoint where id = $1 for update', [created.json.endpoint.id]);
  // The rows that it makes refer to the endpoint, and so it waits for the lock.
  let isOver = false;
  const replay = gateway.call('POST', path, { key, body: {} }).finally(() => {
    isOver = true;
  });
  const waits = async () =>
    (
      await holder.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
    ).rowCount;
  while ((await waits()) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect([isOver, pool.totalCount - pool.idleCount]).toEqual([false, 0]);
  await holder.query('rollback');
  expect((await replay).json.count).toBeGreaterThan(20);
});
