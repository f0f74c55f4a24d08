// Measures how long staff wait with many orders. Fills the database first, and then runs each query
// of the dashboards 200 times with different parameters. Reports whether a query scans the whole
// table of orders.
// Usage: npm run bench -- staff --help
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { StaffService } from '../../src/accounts/staff/staff-service.ts';
import { startApp } from '../../src/app/app.ts';
import { openHasher } from '../../src/app/bootstrap.ts';
import { systemClock } from '../../src/base/clock.ts';
import { OrderStats } from '../../src/operations/order-stats.ts';
import { wholeNumber } from '../support/command-line.ts';
import { openBenchDatabase } from '../support/database/bench-database.ts';
import { seededOrders, seedOrders } from '../support/database/seed-orders.ts';
import { testConfig, testSettings } from '../support/gateway/settings.ts';
import { type StaffClient, staffClient } from '../support/staff/staff-client.ts';

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000000' },
    calls: { type: 'string', default: '200' },
    plans: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(`Usage: npm run bench -- staff [options]

  --orders <n>  orders in the database, which is filled first (1000000)
  --calls <n>   calls of each query (200)
  --plans       write the plans of the queries to .data/staff-plans.md

DATABASE_URL and DATA_DIR name a database to use again; without them there is one that ends with the benchmark.
`);
  process.exit(0);
}
const orderCount = wholeNumber(options, 'orders');
const calls = wholeNumber(options, 'calls');
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const days = 365;
const dayMs = 86_400_000;

const database = await openBenchDatabase();
const sent: string[] = [];
const config = testConfig({
  DATA_DIR: database.dataDir,
  DATABASE_URL: database.url,
  // The seeded deposit addresses have no keys.
  ROLE: 'api',
  ...testSettings,
  LOG_LEVEL: 'warn',
  RATE_LIMIT_STAFF_PER_MIN: '1000000',
});
const app = await startApp({
  config,
  databaseUrl: database.url,
  embedded: true,
  outside: { background: false, onStatement: (sql) => sent.push(sql) },
});
const { orm } = app;
const staff = new StaffService(orm, await openHasher(config, orm), systemClock);
const { token } = await staff.create(`bench${Date.now()}@example.com`, 'operator');
const ask: StaffClient = staffClient(app.internalUrl, token);
const stats = new OrderStats(orm);
const client = new Client({ connectionString: database.url });
await client.connect();
// As the gateway's own connections, for the plans.
await client.query(
  "set random_page_cost = 1.1; set jit = off; set max_parallel_workers_per_gather = 0; set work_mem = '16MB'",
);

const missing = orderCount - (await seededOrders(database.url));
if (missing > 0) await seedOrders(database.url, { count: missing, partners: 20, days, onProgress: say });
say('summing up');
while ((await stats.rollUp({ batchSize: 20_000 })) > 0);
await client.query('vacuum (analyze) order_stat');

/** Parameters of the calls, taken from all over the table. */
interface Sample {
  readonly id: string;
  readonly short_id: string;
  readonly partner_id: string;
  readonly status: 'completed';
  readonly coin_from: string;
  readonly network_from: string;
  readonly coin_to: string;
  readonly network_to: string;
  readonly created_at: Date;
  readonly recipient_address: string;
  readonly deposit_txid: string;
}
const { rows: samples } = await client.query<Sample>(
  'select * from exchange_order tablesample bernoulli (5) where deposit_txid is not null order by random() limit $1',
  [calls],
);

const back = (sample: Sample, length: number): { from: Date; to: Date } => {
  const latest = Date.now() - length * dayMs;
  const from = new Date(Math.min(sample.created_at.getTime(), latest));
  return { from, to: new Date(from.getTime() + length * dayMs) };
};
const pairOf = (s: Sample): string => `${s.coin_from}/${s.network_from}-${s.coin_to}/${s.network_to}`;
const states = ['COMPLETED', 'REFUNDED', 'FAILED', 'EXPIRED', 'SENDING'] as const;

/** A page of fifty, as a dashboard shows it. */
const list = `query ($filter: OrderFilter, $orderBy: OrderOrder, $after: String) {
  orders(first: 50, after: $after, filter: $filter, orderBy: $orderBy) {
    edges { cursor node {
      id shortId status createdAt updatedAt coinFrom networkFrom coinTo networkTo amountFromExpected amountToExpected
      hold { reason } partner { id name }
    } }
    pageInfo { hasNextPage hasPreviousPage endCursor }
  }
}`;
const count = 'query ($filter: OrderFilter) { orders(first: 1, filter: $filter) { count { value isExact } } }';
const story = `query ($id: ID!) {
  order(id: $id) {
    id shortId status createdAt coinFrom coinTo amountFromExpected amountFromActual amountToActual recipientAddress
    depositAddress partner { name } terms { rate feeRate serviceFee networkFee }
    events { seq at fromStatus toStatus cause actor detail }
    deposits { txid amount state height }
    payments { kind leg amount state address attempts { attempt txid sentAt minedHeight } }
    trade { state amountFrom amountTo bought }
    ledgerLines { kind at account coin network amount }
    notes { text author { email } }
    actions { action state reason }
  }
}`;
const series = `query ($from: DateTime!, $to: DateTime!, $interval: StatsInterval!, $by: StatsDimension, $key: String) {
  stats(from: $from, to: $to, interval: $interval, by: $by, key: $key) {
    series { at key created completed expired refunded failed conversion volumeUsd revenueUsd }
  }
}`;
const part = (fields: string): string =>
  `query ($from: DateTime!, $to: DateTime!) { stats(from: $from, to: $to, interval: DAY) { ${fields} } }`;

type Call = readonly [query: string, variables?: Record<string, unknown>];
type Query = (sample: Sample, index: number) => Call;
const together =
  (interval: string, length: number): Query =>
  (s) => [series, { ...back(s, length), interval }];
const apart =
  (interval: string, length: number, by: string): Query =>
  (s) => [series, { ...back(s, length), interval, by }];
const ofPartner = (s: Sample, i: number) => ({
  filter: { partnerId: s.partner_id, statuses: [states[i % states.length]] },
});

const queries: [string, Query][] = [
  ['orders', () => [list]],
  ['orders, a page in the middle', (s) => [list, { after: cursorAt(s) }]],
  ['orders, by last change', () => [list, { orderBy: { field: 'UPDATED_AT', direction: 'DESC' } }]],
  ['orders of a partner in a status', (s, i) => [list, ofPartner(s, i)]],
  [
    'orders of a coin in a month',
    (s) => {
      const { from, to } = back(s, 30);
      return [list, { filter: { coin: s.coin_from, createdFrom: from, createdTo: to } }];
    },
  ],
  [
    'orders of a pair',
    (s) => {
      const pair = { coinFrom: s.coin_from, networkFrom: s.network_from, coinTo: s.coin_to, networkTo: s.network_to };
      return [list, { filter: pair }];
    },
  ],
  ['orders of a coin above an amount', (s) => [list, { filter: { coinFrom: s.coin_from, minAmount: '1000' } }]],
  ['orders that need attention', () => [list, { filter: { needsAttention: true } }]],
  ['count of all orders', () => [count]],
  ['count of a partner in a status', (s, i) => [count, ofPartner(s, i)]],
  ['search, transaction', (s) => [list, { filter: { search: s.deposit_txid } }]],
  ['search, beginning of an address', (s) => [list, { filter: { search: s.recipient_address.slice(0, 12) } }]],
  ['search, short id', (s) => [list, { filter: { search: s.short_id.slice(3) } }]],
  [
    'search, 4 characters of many',
    (s, i) => [list, { filter: { search: ['bc1q', s.id.slice(0, 4), '0x00', 'EX-A'][i % 4] } }],
  ],
  ['order detail', (s) => [story, { id: s.id }]],
  ['statistics by hour, 31 days', together('HOUR', 31)],
  ['statistics by day, 366 days', together('DAY', 366)],
  ['statistics by month, 10 years', together('MONTH', 3650)],
  ['by hour and partner, 7 days', apart('HOUR', 7, 'PARTNER')],
  ['by day and partner, 366 days', apart('DAY', 366, 'PARTNER')],
  ['by day and pair, 14 days', apart('DAY', 14, 'PAIR')],
  ['by month and pair, 366 days', apart('MONTH', 366, 'PAIR')],
  ['by day of one pair, 366 days', (s) => [series, { ...back(s, 366), interval: 'DAY', by: 'PAIR', key: pairOf(s) }]],
  ['time in status, 366 days', (s) => [part('timeInState { status count meanSeconds }'), back(s, 366)]],
  ['failures, 366 days', (s) => [part('failures { status cause count }'), back(s, 366)]],
  ['partners with usage', () => ['{ partners { id name usage { at created completed volumeUsd } } }']],
  ['attention', () => ['{ attention { id kind since detail order { shortId } } }']],
  [
    'system',
    () => ['{ system { chains { chain lag } queues { name waiting } overdueOrders statistics { eventsBehind } } }'],
  ],
];

/** One call, whole: over HTTP, with the proof of the member and its JSON. */
async function run([query, variables]: Call): Promise<void> {
  const { errors, text } = await ask(query, variables ?? {});
  if (errors.length > 0) throw new Error(text.slice(0, 500));
}

function cursorAt(sample: Sample): string {
  return Buffer.from(`c${sample.created_at.getTime()}000.${sample.id}`).toString('base64url');
}

/**
 * How often the table of orders was read from end to end so far, by this process and all others.
 */
async function tableScans(): Promise<number> {
  // Counters of another connection arrive with a delay, and at once after this one.
  await orm.em.fork().execute('select pg_stat_force_next_flush()');
  await orm.em.fork().execute('select 1');
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ scans: number }>(
    `select seq_scan::int as scans from pg_stat_user_tables where relname = 'exchange_order'`,
  );
  return rows[0]?.scans ?? 0;
}

const at = (times: readonly number[], share: number): string =>
  (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1);

/** What the gateway reads by itself now and then, and the proof of the member. */
const unrelated = /\b(from "(currency|staff_member|price_override)"|sandbox_price)/;

process.stdout.write(
  '| query | statements | p50 ms | p99 ms | sequential scan on exchange_order |\n|---|---|---|---|---|\n',
);
for (const [name, query] of queries) {
  const before = await tableScans();
  const times: number[] = [];
  sent.length = 0;
  for (const [index, sample] of samples.entries()) {
    const began = performance.now();
    await run(query(sample, index));
    times.push(performance.now() - began);
  }
  const statements = (sent.length / samples.length).toFixed(0);
  const scans = (await tableScans()) - before;
  times.sort((a, b) => a - b);
  process.stdout.write(
    `| ${name} | ${statements} | ${at(times, 0.5)} | ${at(times, 0.99)} | ${scans > 0 ? 'YES' : 'no'} |\n`,
  );
}

if (options.plans) {
  await mkdir('.data', { recursive: true });
  await writeFile('.data/staff-plans.md', await plans());
}

/** Lists of ids would fill the page. */
function shortened(line: string): string {
  return line.length <= 160 ? line : `${line.slice(0, 160)} ...`;
}

/** What PostgreSQL does for each statement of one call of each query, as Markdown. */
async function plans(): Promise<string> {
  const parts = [`# Plans at ${orderCount.toLocaleString('en')} orders\n`];
  for (const [name, query] of queries) {
    parts.push(`## ${name}\n`);
    const [sample] = samples;
    if (!sample) continue;
    sent.length = 0;
    await run(query(sample, 0));
    for (const statement of [...sent].filter((sql) => /^\s*(select|with)\b/i.test(sql) && !unrelated.test(sql))) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${statement}`);
      const plan = rows.map((row) => shortened(row['QUERY PLAN']));
      parts.push('```sql', ...statement.trim().split('\n').map(shortened), '```\n', '```', ...plan, '```\n');
    }
  }
  return parts.join('\n');
}

await client.end();
await app.stop();
await database.close();
process.exit(0);
