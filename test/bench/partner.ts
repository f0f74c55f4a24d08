// Measures the operations for partners that `rest` leaves out: assets, pairs, quotes, checks,
// lists, details and events, of a partner with many orders. Rates, look-ups and creates stand
// next to them, to compare with.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { onInterrupt, wholeNumber } from '../support/command-line.ts';
import { openBenchDatabase } from '../support/database/bench-database.ts';
import { startRedis } from '../support/database/redis.ts';
import { seededOrders, seedOrders } from '../support/database/seed-orders.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { costOf, PostgresCounter, RedisCounter } from './counting.ts';
import type { Requests } from './endpoints.ts';
import { hasWrk, type LoadOptions, load } from './load.ts';
import { describeProfile, monotonicUs } from './profile.ts';
import { type Cost, type Figures, median, shown } from './report.ts';
import { ask } from './requests.ts';
import { fillCatalogue, issueKey, type ServerEnvironment, startServer } from './servers.ts';
import { measure, warmUpSeconds } from './turns.ts';

const help = `Usage: npm run bench -- partner [options]

  --orders N         of the partner, which are made first; 1000000 unless given
  --seconds N        of each measurement; 3 unless given
  --rounds N         5 unless given
  --connections N    8 unless given
  --only LIST        ids of operations, as in the table; all unless given
  --profile          where the CPU time of each operation goes, instead of measuring

DATABASE_URL and DATA_DIR name a database to use again; without them there is one that ends with the benchmark.
`;

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
    only: { type: 'string' },
    profile: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}

const [orderCount, seconds, rounds, connections] = [
  wholeNumber(options, 'orders'),
  wholeNumber(options, 'seconds'),
  wholeNumber(options, 'rounds'),
  wholeNumber(options, 'connections'),
];
const only = options.only?.split(',') ?? null;
const generator = hasWrk() ? 'wrk' : 'autocannon';
const partnerName = 'Benchmark of lists';
const wide = '1000000';
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const interrupted = onInterrupt();

interface Seeded {
  /** UUIDs of some of the partner's orders. */
  readonly orderIds: readonly string[];
  /** A page of 100 orders, by their ids. */
  readonly ids: readonly string[];
}

/** The operations, each with the one that it is compared with. */
async function operationsOf(url: string, key: string, { orderIds, ids }: Seeded): Promise<Requests[]> {
  const keyed = { Authorization: `Bearer ${key}` };
  const json = { ...keyed, 'Content-Type': 'application/json' };
  const pair = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20' };
  const get = (id: string, name: string, paths: readonly string[], headers: Requests['headers'] = keyed): Requests => ({
    id,
    name: `GET ${name}`,
    method: 'GET',
    paths,
    headers,
  });
  const post = (id: string, name: string, path: string, body: object): Requests => ({
    id,
    name: `POST ${name}`,
    method: 'POST',
    paths: [path],
    headers: json,
    body: JSON.stringify(body),
  });
  const order = orderBody();
  const { amount_from: _, ...unpriced } = order;
  const assets = await tagOf(`${url}/partner/assets`, {});
  const found = `/partner/orders/${orderIds[0]}`;
  const lookup = await tagOf(`${url}${found}`, keyed);
  const quote = (await (
    await fetch(`${url}/partner/quotes`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ ...pair, rate_type: 'fixed', amount_from: 0.1 }),
    })
  ).json()) as { quote_id: string };
  const byId = (suffix: string): string[] => orderIds.map((id) => `/partner/orders/${id}${suffix}`);
  return [
    get('rates', '/partner/rates', ['/partner/rates?coin_from=BTC&coin_to=USDT&network_to=TRC20&amount=0.1']),
    post('quote', '/partner/quotes, fixed', '/partner/quotes', { ...pair, rate_type: 'fixed', amount_from: 0.1 }),
    post('reverse', '/partner/quotes, amount_to', '/partner/quotes', { ...pair, rate_type: 'fixed', amount_to: 5000 }),
    get('read-quote', '/partner/quotes/{quote_id}', [`/partner/quotes/${quote.quote_id}`]),
    get('assets', '/partner/assets', ['/partner/assets'], {}),
    get('assets-304', '/partner/assets, 304', ['/partner/assets'], { 'If-None-Match': assets }),
    get('pairs', '/partner/pairs', ['/partner/pairs?coin_from=BTC&network_from=BTC']),
    post('address', '/partner/addresses/validate', '/partner/addresses/validate', {
      coin: 'USDT',
      network: 'TRC20',
      address: addressExample('TRC20'),
    }),
    post('check', '/partner/orders/validate', '/partner/orders/validate', order),
    post('create', '/partner/orders', '/partner/orders', order),
    post('terms', '/partner/orders, metadata and markup', '/partner/orders', {
      ...unpriced,
      amount_from: order.amount_from,
      metadata: { user: 'u_17' },
      markup_bps: 40,
    }),
    get('lookup', '/partner/orders/{id}', byId('')),
    get('lookup-304', '/partner/orders/{id}, 304', [found], { ...keyed, 'If-None-Match': lookup }),
    get('details', '/partner/orders/{id}/details', byId('/details')),
    get('events', '/partner/orders/{id}/events', byId('/events')),
    get(
      'status',
      '/status/{uuid}',
      orderIds.map((id) => `/status/${id}`),
      {},
    ),
    get('list-20', '/partner/orders?limit=20', ['/partner/orders?limit=20']),
    get('list-100', '/partner/orders?limit=100', ['/partner/orders?limit=100']),
    get('by-status', '/partner/orders?status=completed&limit=20', ['/partner/orders?status=completed&limit=20']),
    get('by-ids', '/partner/orders?ids=, 100 of them', [`/partner/orders?ids=${ids.join(',')}&limit=100`]),
    get('updated-20', '/partner/orders?sort=updated&limit=20', ['/partner/orders?sort=updated&limit=20']),
    get('updated-100', '/partner/orders?sort=updated&limit=100', ['/partner/orders?sort=updated&limit=100']),
    get('included-20', '/partner/orders?include=details&limit=20', ['/partner/orders?include=details&limit=20']),
    get('included-100', '/partner/orders?include=details&limit=100', ['/partner/orders?include=details&limit=100']),
  ];
}

async function tagOf(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers: { ...headers, 'Accept-Encoding': 'identity' } });
  await response.arrayBuffer();
  return response.headers.get('etag') ?? '';
}

/** The partner, with this many orders of a year. */
async function seed(client: Client, url: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `with made as (
       insert into partner (id, name, status, require_signature, public_status, created_at, updated_at)
       select gen_random_uuid(), $1, 'active', false, true, now(), now()
        where not exists (select from partner where name = $1)
       returning id)
     select id from made union all select id from partner where name = $1`,
    [partnerName],
  );
  const id = rows[0]?.id ?? '';
  const missing = Math.max(0, orderCount - (await seededOrders(url)));
  const jobs = availableParallelism();
  await seedOrders(url, { count: missing, partners: [id], days: 365, jobs, onProgress: say });
  return id;
}

/** Runs an operation's requests once, so that the benchmark measures no refusals. */
async function refusalOf(url: string, operation: Requests): Promise<string | null> {
  const { status, body } = await ask(url, operation);
  return status < 400 ? null : `${operation.name}: ${status} ${body}`;
}

const stack = new AsyncDisposableStack();
async function run(): Promise<void> {
  say('preparing a database');
  const database = stack.adopt(await openBenchDatabase(), (one) => one.close());
  const redis = stack.adopt(await startRedis(), (one) => one.stop());
  const flusher = stack.adopt(new Redis(redis.url), async (one) => void (await one.quit()));
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'gateway-bench-logs-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const client = stack.adopt(new Client({ connectionString: database.url }), (one) => one.end());
  await client.connect();
  await fillCatalogue(database.url, 200);
  const partnerId = await seed(client, database.url);
  await client.query('vacuum analyze');
  const { rows: some } = await client.query<{ id: string }>(
    'select id from exchange_order where partner_id = $1 order by created_at desc, id desc limit 2000',
    [partnerId],
  );
  const orderIds = some.map(({ id }) => id);
  const seeded = { orderIds, ids: orderIds.filter((_, i) => i % 20 === 0).slice(0, 100) };
  const environment = { databaseUrl: database.url, dataDir: database.dataDir, redisUrl: redis.url, folder };
  const key = await issueKey(environment, partnerId);
  const settings = {
    RATE_LIMIT_QUOTES_PER_MIN: wide,
    RATE_LIMIT_LISTS_PER_MIN: wide,
    RATE_LIMIT_VALIDATIONS_PER_MIN: wide,
    FIXED_RATE_HOLD_SEC: '300',
    FIXED_RATE_WINDOW_SEC: '300',
  };

  if (options.profile) return profile(environment, key, seeded, settings);
  const costs = await countAll(environment, key, seeded, settings);
  const server = stack.adopt(await startServer('gateway', environment, { settings }), (one) => one.stop());
  const operations = (await operationsOf(server.url, key, seeded)).filter(({ id }) => only?.includes(id) ?? true);
  const how: LoadOptions = { generator, connections, seconds, folder, signal: interrupted };
  const taken = new Map<string, Figures[]>();
  for (const operation of operations) {
    await measure(server, operation, { ...how, seconds: warmUpSeconds, dataDir: database.dataDir });
  }
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    for (const operation of operations) {
      // A bucket holds a million.
      await flusher.flushall();
      const figures = await measure(server, operation, { ...how, dataDir: database.dataDir });
      if (figures.void) throw new Error(`${operation.name}: ${figures.void}`);
      taken.set(operation.id, [...(taken.get(operation.id) ?? []), figures]);
    }
  }
  process.stdout.write(
    `${availableParallelism()} cores, Node ${process.version}, ${connections} connections by ${generator}, ${rounds} rounds of ${seconds} s, a partner with ${orderCount.toLocaleString('en')} orders\n\n`,
  );
  process.stdout.write(table(operations, taken, costs));
}

/** A process for each operation, as a profile is of a whole process. */
async function profile(
  environment: ServerEnvironment,
  key: string,
  seeded: Seeded,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const { folder } = environment;
  const how: LoadOptions = { generator, connections, seconds, folder, signal: interrupted };
  const first = await startServer('gateway', environment, { settings });
  const chosen = (await operationsOf(first.url, key, seeded)).filter(({ id }) => only?.includes(id) ?? true);
  await first.stop();
  for (const operation of chosen) {
    const profiles = join(folder, `profile-${operation.id}`);
    await mkdir(profiles);
    const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
    const server = await startServer('gateway', environment, { settings, nodeOptions });
    await load(server.url, operation, { ...how, seconds: warmUpSeconds });
    const from = monotonicUs();
    const loaded = await load(server.url, operation, how);
    const to = monotonicUs();
    await server.stop();
    const heading = `## ${operation.name}: ${loaded.void ?? `${Math.round(loaded.perSecond)}/s while profiled`}`;
    process.stdout.write(`${heading}\n\n${await describeProfile(profiles, from, to)}\n`);
  }
}

async function countAll(
  environment: ServerEnvironment,
  key: string,
  seeded: Seeded,
  settings: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Cost>> {
  await using started = new AsyncDisposableStack();
  const proxy = started.adopt(await PostgresCounter.start(environment.databaseUrl), ({ counter }) => counter.stop());
  const redis = started.adopt(await RedisCounter.start(environment.redisUrl ?? ''), async (one) => one.stop());
  const server = started.adopt(
    await startServer('gateway', { ...environment, databaseUrl: proxy.url }, { settings }),
    (one) => one.stop(),
  );
  const costs = new Map<string, Cost>();
  for (const operation of await operationsOf(server.url, key, seeded)) {
    const refusal = await refusalOf(server.url, operation);
    if (refusal !== null) throw new Error(refusal);
    costs.set(operation.id, await costOf(server, operation, proxy.counter, redis));
  }
  return costs;
}

function table(
  operations: readonly Requests[],
  taken: ReadonlyMap<string, readonly Figures[]>,
  costs: ReadonlyMap<string, Cost>,
): string {
  const lines = [
    '| id | operation | requests/s | p50 ms | p99 ms | CPU ms / 1000 | PostgreSQL CPU ms / 1000 | statements | round trips | Redis |',
    '|---|---|---|---|---|---|---|---|---|---|',
  ];
  for (const { id, name } of operations) {
    const of = (member: keyof Omit<Figures, 'void'>): number | null =>
      median((taken.get(id) ?? []).map((figures) => figures[member]));
    const { statements, roundTrips, redisCommands } = costs.get(id) ?? {
      statements: 0,
      roundTrips: 0,
      redisCommands: 0,
    };
    const cells = [
      id,
      name,
      shown(of('perSecond')),
      shown(of('p50Ms'), 2),
      shown(of('p99Ms'), 2),
      shown(of('cpuMs')),
      shown(of('postgresCpuMs')),
      shown(statements),
      shown(roundTrips),
      shown(redisCommands),
    ];
    lines.push(`| ${cells.join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

try {
  await run();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await stack.disposeAsync();
}
process.exit();
