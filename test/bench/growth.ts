// Measures what a growing number of orders costs a lookup and a create: the gateway and `limit`, in
// turns, at each size. One database is filled further from size to size, in the order of time. Then
// it measures the size of each table and index.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { onInterrupt, wholeNumber, wholeNumbers } from '../support/command-line.ts';
import { openBenchDatabase } from '../support/database/bench-database.ts';
import { startRedis } from '../support/database/redis.ts';
import { seededOrders, seedOrders } from '../support/database/seed-orders.ts';
import { type Endpoint, endpointsOf } from './endpoints.ts';
import { hasWrk } from './load.ts';
import { type Figures, median, type Round, shown } from './report.ts';
import { differences } from './requests.ts';
import { fillCatalogue, issueKey, type Server, startServer } from './servers.ts';
import { takeTurns } from './turns.ts';

const help = `Usage: npm run bench -- growth [options]

  --sizes LIST       numbers of orders, ascending; 100000,1000000,10000000 unless given
  --seconds N        of each measurement; 5 unless given
  --rounds N         in which gateway and limit take turns; 5 unless given
  --connections N    of the clients; 32 unless given
  --jobs N           connections that seed; as many as there are cores unless given
  --json FILE        writes every round; sizes that were measured into it before are not measured again

10 million orders take 23 GB. DATABASE_URL and DATA_DIR name a database to use again, which is filled up to the sizes that
it does not have yet; without them there is one that ends with the benchmark.
`;

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000,10000000' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    json: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}

const sizes = wholeNumbers(options, 'sizes').sort((a, b) => a - b);
const seconds = wholeNumber(options, 'seconds');
const rounds = wholeNumber(options, 'rounds');
const connections = wholeNumber(options, 'connections');
const jobs = wholeNumber(options, 'jobs');
const largest = sizes.at(-1) ?? 0;
const days = 365;
const partnerCount = 20;
const currencyCount = 200;
/** This many that hardly one is asked for twice while it is still in a buffer of PostgreSQL. */
const lookedUp = 50_000;
const orderTables = ['exchange_order', 'deposit_address', 'order_event'];
const generator = hasWrk() ? 'wrk' : 'autocannon';
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const interrupted = onInterrupt();

interface SizeFigures {
  readonly size: number;
  readonly rounds: Readonly<Record<'lookup' | 'create', readonly Round[]>>;
  /** Bytes of the write-ahead log by create of either server. */
  readonly walPerCreate: number;
  /** Orders that there are, with those of the measurements before. */
  readonly orders: number;
  /** Bytes of tables and their indexes, by name. */
  readonly bytes: Readonly<Record<string, number>>;
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
  const client = new Client({ connectionString: database.url });
  await client.connect();
  stack.defer(() => client.end());
  await fillCatalogue(database.url, currencyCount);
  const partners = await partnersOf(client);
  const environment = { databaseUrl: database.url, dataDir: database.dataDir, redisUrl: redis.url, folder };
  const key = await issueKey(environment, partners[0]);

  const measured = await measuredBefore();
  for (const size of sizes) {
    if (measured.some((figures) => figures.size === size)) continue;
    await fill(database.url, size, partners);
    interrupted.throwIfAborted();
    await client.query('checkpoint');
    const bytes = await bytesOf(client);
    const orders = await orderCount(client);
    const orderIds = await someOrders(client, partners[0] ?? '');
    const [lookup, create] = ['lookup', 'create'].map((id) =>
      endpointsOf({ key, orderIds, currenciesEtag: '' }).find((endpoint) => endpoint.id === id),
    );
    if (!lookup || !create) throw new Error('lookup and create are no endpoints any more');
    await using servers = new AsyncDisposableStack();
    const start = async (name: Server['name']): Promise<Server> =>
      servers.adopt(await startServer(name, environment), (server) => server.stop());
    const gateway = await start('gateway');
    const limit = await start('limit');
    const found = (await Promise.all([lookup, create].map((each) => differences(gateway.url, limit.url, each)))).flat();
    if (found.length > 0) throw new Error(`the servers answer differently:\n${found.join('\n')}`);
    const turns = (endpoint: Endpoint): Promise<Round[]> => {
      say(`${size.toLocaleString('en')} orders, ${endpoint.name}: ${rounds} rounds`);
      return takeTurns(gateway, limit, endpoint, {
        generator,
        connections,
        seconds,
        rounds,
        folder,
        signal: interrupted,
        dataDir: database.dataDir,
        // A bucket holds a million.
        beforeEach: async () => void (await flusher.flushall()),
        say,
      });
    };
    const ofLookup = await turns(lookup);
    const before = { wal: await walBytes(client), orders: await orderCount(client) };
    const ofCreate = await turns(create);
    const walPerCreate = ((await walBytes(client)) - before.wal) / ((await orderCount(client)) - before.orders);
    measured.push({ size, rounds: { lookup: ofLookup, create: ofCreate }, walPerCreate, orders, bytes });
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(measured, null, 2)}\n`);
  }
  const { rows } = await client.query<{ settings: string }>(
    `select string_agg(name || ' ' || current_setting(name), ', ' order by name) as settings from pg_settings
      where name in ('shared_buffers', 'max_wal_size', 'synchronous_commit', 'server_version')`,
  );
  process.stdout.write(
    `${availableParallelism()} cores, Node ${process.version}, ${connections} connections by ${generator}, ${rounds} rounds of ${seconds} s; PostgreSQL: ${rows[0]?.settings}\n\n`,
  );
  process.stdout.write(`${speedTable(measured)}\n\n${sizeTable(measured)}\n\n`);
}

async function measuredBefore(): Promise<SizeFigures[]> {
  const text = options.json === undefined ? '' : await readFile(options.json, 'utf8').catch(() => '');
  return text === '' ? [] : (JSON.parse(text) as SizeFigures[]);
}

/** Who made the orders; the first one made more than a fifth of them. */
async function partnersOf(client: Client): Promise<string[]> {
  const find = async (): Promise<string[]> => {
    const { rows } = await client.query<{ id: string }>(
      "select id from partner where name like 'Growth %' order by id",
    );
    return rows.map(({ id }) => id);
  };
  const known = await find();
  if (known.length > 0) return known;
  await client.query(
    `insert into partner (id, name, status, require_signature, created_at, updated_at)
     select id, 'Growth ' || no, 'active', false, now(), now() from unnest($1::uuid[]) with ordinality as p (id, no)`,
    [Array.from({ length: partnerCount }, () => randomUUID())],
  );
  return find();
}

/**
 * Adds orders until this many were seeded, made after those before: the largest size is what a year
 * brought.
 */
async function fill(url: string, size: number, partners: readonly string[]): Promise<void> {
  const missing = Math.max(0, size - (await seededOrders(url)));
  const began = performance.now();
  await seedOrders(url, {
    count: missing,
    partners,
    days: (days * missing) / largest,
    until: new Date(Date.now() - days * (1 - size / largest) * 86_400_000),
    lean: true,
    jobs,
    onProgress: say,
  });
  say(`${size.toLocaleString('en')} orders after ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

async function someOrders(client: Client, partnerId: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'select id from (select id from exchange_order where partner_id = $1) as own order by random() limit $2',
    [partnerId, lookedUp],
  );
  return rows.map(({ id }) => id);
}

async function orderCount(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>('select count(*) from exchange_order');
  return Number(rows[0]?.count);
}

async function walBytes(client: Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>("select pg_current_wal_lsn() - '0/0' as bytes");
  return Number(rows[0]?.bytes);
}

async function bytesOf(client: Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select t.name, pg_table_size(t.name::regclass) as bytes, t.no, 0 as part
       from unnest($1::text[]) with ordinality as t (name, no)
     union all
     select '– ' || indexrelid::regclass::text, pg_relation_size(indexrelid), t.no, 1
       from unnest($1::text[]) with ordinality as t (name, no) join pg_index on indrelid = t.name::regclass
      order by no, part, bytes desc`,
    [orderTables],
  );
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

const middle = (taken: readonly Round[], name: Server['name'], member: keyof Omit<Figures, 'void'>): number | null =>
  median(taken.flatMap((round) => (round[name].void === null ? [round[name][member]] : [])));

/** CPU time of the server and of PostgreSQL, which other work on the machine hardly changes. */
function cpuOf(taken: readonly Round[], name: Server['name']): number | null {
  return median(
    taken.flatMap(({ [name]: { void: why, cpuMs, postgresCpuMs } }) =>
      why !== null || cpuMs === null || postgresCpuMs === null ? [] : [cpuMs + postgresCpuMs],
    ),
  );
}

function ratio(taken: readonly Round[]): number | null {
  const valid = taken.filter(({ gateway, limit }) => gateway.void === null && limit.void === null);
  return median(valid.map(({ gateway, limit }) => gateway.perSecond / limit.perSecond));
}

/** Medians at each size, and how they change from the first to the last. */
function speedTable(measured: readonly SizeFigures[]): string {
  const lines = [
    '| request | orders | gateway/s | limit/s | ratio | p99 ms, gateway | limit | CPU ms / 1000, gateway | limit | of it PostgreSQL, gateway | limit | WAL bytes |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|',
  ];
  for (const id of ['lookup', 'create'] as const) {
    for (const { size, rounds: taken, walPerCreate } of measured) {
      const cells = [
        id,
        size.toLocaleString('en'),
        shown(middle(taken[id], 'gateway', 'perSecond')),
        shown(middle(taken[id], 'limit', 'perSecond')),
        shown(ratio(taken[id]), 2),
        shown(middle(taken[id], 'gateway', 'p99Ms'), 1),
        shown(middle(taken[id], 'limit', 'p99Ms'), 1),
        shown(cpuOf(taken[id], 'gateway')),
        shown(cpuOf(taken[id], 'limit')),
        shown(middle(taken[id], 'gateway', 'postgresCpuMs')),
        shown(middle(taken[id], 'limit', 'postgresCpuMs')),
        id === 'create' ? shown(walPerCreate) : '',
      ];
      lines.push(`| ${cells.join(' | ')} |`);
    }
    const [first, last] = [measured[0]?.rounds[id] ?? [], measured.at(-1)?.rounds[id] ?? []];
    const change = (from: number | null, to: number | null): string =>
      from === null || to === null ? '–' : `${to < from ? '' : '+'}${((to / from - 1) * 100).toFixed(0)} %`;
    const rate = (name: Server['name']): string =>
      change(middle(first, name, 'perSecond'), middle(last, name, 'perSecond'));
    const [gateway, limit] = (['gateway', 'limit'] as const).map((name) => [cpuOf(first, name), cpuOf(last, name)]);
    const cells = [rate('gateway'), rate('limit'), change(ratio(first), ratio(last)), '', ''];
    const cpu = [gateway, limit].map(([from = null, to = null] = []) => change(from, to));
    lines.push(`| ${[id, 'first to last', ...cells, ...cpu].join(' | ')} | | | |`);
  }
  return lines.join('\n');
}

/** Bytes by order of each table without its indexes, and of each index. */
function sizeTable(measured: readonly SizeFigures[]): string {
  const names = Object.keys(measured.at(-1)?.bytes ?? {});
  const row = (name: string, of: (figures: SizeFigures) => number): string =>
    `| ${[name, ...measured.map((figures) => (of(figures) / figures.orders).toFixed(0))].join(' | ')} |`;
  const sum = ({ bytes }: SizeFigures): number => Object.values(bytes).reduce((total, each) => total + each, 0);
  return [
    `| bytes by order, at | ${measured.map(({ size }) => size.toLocaleString('en')).join(' | ')} |`,
    `|---|${measured.map(() => '---|').join('')}`,
    ...names.map((name) => row(name, ({ bytes }) => bytes[name] ?? 0)),
    row('all', sum),
  ].join('\n');
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
