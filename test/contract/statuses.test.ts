import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/db/embedded-postgres.ts';
import { generateKey } from '../../src/partners/secret-key.ts';
import { readContract } from '../../src/rest/contract.ts';
import type { CallOptions, Reply } from '../support/contract-client.ts';
import { query } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { orderBody } from '../support/orders.ts';

/** Every operation with each status that the contract documents for it. */
const documented = Object.entries(readContract().paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, { operationId: string; responses: object }>).flatMap(([method, operation]) =>
    Object.keys(operation.responses).map((status) => ({ path, method, id: operation.operationId, status })),
  ),
);

/** An icon is read from memory, and nothing outside the process can make that fail. */
const beyondReach = new Set(['getCoinIcon 500']);
const reachable = documented.filter(({ id, status }) => !beyondReach.has(`${id} ${status}`));

let gateway: TestGateway;
let tight: TestGateway;
let broken: TestGateway;
let away: TestGateway;
let cluster: EmbeddedPostgres;
let clusterDir: string;
let partner: { id: string; key: string };
let orderId: string;

beforeAll(async () => {
  gateway = await startGateway();
  partner = await gateway.partner();
  orderId = (await gateway.call('POST', '/partner/orders', { key: partner.key, body: orderBody() })).json.id;
  tight = await startGateway({
    settings: {
      RATE_LIMIT_PUBLIC_PER_MIN: '1',
      RATE_LIMIT_PARTNER_PER_MIN: '1',
      RATE_LIMIT_ICONS_PER_MIN: '1',
    },
  });
  broken = await startGateway();
  await query(broken.databaseUrl, 'alter table api_key rename to api_key_gone');
  clusterDir = await mkdtemp(join(tmpdir(), 'gateway-away-'));
  cluster = await startEmbeddedPostgres({ dataDir: clusterDir, ephemeral: true });
  away = await startGateway({ databaseUrl: cluster.url, settings: { DATA_DIR: clusterDir } });
  await cluster.stop();
});

afterAll(async () => {
  await Promise.all([gateway, tight, broken, away].map((each) => each?.stop()));
  await rm(clusterDir, { recursive: true, force: true });
});

const anyKey = () => generateKey('xp_test_').whole;
const icon = '/coin-icons/btc.svg';
const pair = '/partner/rates?coin_from=BTC&coin_to=ETH';
const paths: Record<string, [method: string, path: string]> = {
  listCurrencies: ['GET', '/currencies'],
  getRate: ['GET', pair],
  createOrder: ['POST', '/partner/orders'],
  getOrder: ['GET', `/partner/orders/${randomUUID()}`],
  getCoinIcon: ['GET', icon],
  getDocument: ['GET', '/openapi.json'],
};

function at(id: string): [string, string] {
  const found = paths[id];
  if (!found) throw new Error(`no path for ${id}`);
  return found;
}

/** Calls an operation in its plainest valid form. */
function plain(where: TestGateway, id: string, options: CallOptions): Promise<Reply> {
  const [method, path] = at(id);
  return where.call(method, path, { ...(id === 'createOrder' ? { body: orderBody() } : {}), ...options });
}

async function spent(id: string): Promise<Reply> {
  const { key } = await tight.partner();
  const options = id === 'createOrder' || id === 'getOrder' ? { key } : {};
  await plain(tight, id, options);
  return plain(tight, id, options);
}

async function unchanged(id: string): Promise<Reply> {
  const first = await plain(gateway, id, {});
  return plain(gateway, id, { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } });
}

async function inactive(id: string): Promise<Reply> {
  const other = await gateway.partner();
  await gateway.partners.change(other.id, { status: 'inactive' });
  return plain(gateway, id, { key: other.key });
}

/** How each documented status is brought about, by operation or for all of them. */
const scenarios: Record<string, (id: string) => Promise<Reply>> = {
  '200': (id) =>
    id === 'getOrder'
      ? gateway.call('GET', `/partner/orders/${orderId}`, { key: partner.key })
      : plain(gateway, id, {}),
  '201': (id) => plain(gateway, id, { key: partner.key }),
  '304': unchanged,
  '400': (id) =>
    id === 'createOrder'
      ? gateway.call('POST', '/partner/orders', { key: partner.key, raw: '{"coin_from":' })
      : gateway.call('GET', '/partner/rates?coin_from=BTC'),
  '401': (id) => plain(gateway, id, {}),
  '403': inactive,
  '404': (id) =>
    id === 'getCoinIcon' ? gateway.call('GET', '/coin-icons/nope.svg') : plain(gateway, id, { key: partner.key }),
  '405': (id) => gateway.call('PATCH', at(id)[1]),
  '409': async (id) => {
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
      return await plain(gateway, id, options);
    } finally {
      await client.end();
    }
  },
  '413': (id) => plain(gateway, id, { key: partner.key, body: orderBody({ recipient_address: 'x'.repeat(17_000) }) }),
  '415': (id) => plain(gateway, id, { key: partner.key, headers: { 'Content-Type': 'text/plain' } }),
  '422': (id) =>
    id === 'createOrder'
      ? plain(gateway, id, { key: partner.key, body: orderBody({ amount_from: 0.00000001 }) })
      : gateway.call('GET', '/partner/rates?coin_from=BTC&coin_to=NOPE'),
  '429': spent,
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
