// What staff wait for at so many orders: each query of the dashboards 200 times with different parameters, and whether it
// ever reads the table of orders from end to end. Fills up the database first.
// Usage: [DATABASE_URL=postgres://...] npm run bench:staff -- [--orders 1000000] [--calls 200] [--plans plans.md]
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { createOrm } from '../../src/db/orm.ts';
import { Order } from '../../src/orders/order.entity.ts';
import { OrderEvent } from '../../src/orders/order-event.entity.ts';
import { attention } from '../../src/reports/attention.ts';
import { countOrders, type OrderFilter, type OrderPaging, searchOrders } from '../../src/reports/order-search.ts';
import { OrderStats, type StatsRange } from '../../src/reports/order-stats.ts';
import { systemStatus } from '../../src/reports/system-status.ts';
import { Deposit } from '../../src/settlement/deposit.entity.ts';
import { Payment } from '../../src/settlement/payment.entity.ts';
import { PaymentAttempt } from '../../src/settlement/payment-attempt.entity.ts';
import { Trade } from '../../src/settlement/trade.entity.ts';
import { openBenchDatabase } from '../support/bench-database.ts';
import { seedOrders } from '../support/seed-orders.ts';

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000000' },
    calls: { type: 'string', default: '200' },
    plans: { type: 'string' },
  },
});
const orderCount = Number.parseInt(options.orders, 10);
const calls = Number.parseInt(options.calls, 10);
if (!(orderCount > 0) || !(calls > 0)) throw new Error('--orders and --calls are numbers from 1');
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const days = 365;
const dayMs = 86_400_000;

const database = await openBenchDatabase();
const sent: string[] = [];
const orm = await createOrm({ url: database.url, poolSize: 2, onStatement: (sql) => sent.push(sql) });
const stats = new OrderStats(orm);
const client = new Client({ connectionString: database.url });
await client.connect();
// As the gateway's own connections, for the plans.
await client.query(
  "set random_page_cost = 1.1; set jit = off; set max_parallel_workers_per_gather = 0; set work_mem = '16MB'",
);

const { rows: seeded } = await client.query<{ count: number }>(
  `select coalesce(max(index), 0)::int as count from deposit_address where keychain = 'bench'`,
);
const missing = orderCount - (seeded[0]?.count ?? 0);
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

const newestFirst = { field: 'created', direction: 'desc' } as const;
const first50: OrderPaging = { first: 50 };
const list =
  (filter: OrderFilter, page: OrderPaging = first50) =>
  (em: EntityManager) =>
    searchOrders(em, { filter, orderBy: newestFirst, page });
const back = (sample: Sample, length: number): { from: Date; to: Date } => {
  const latest = Date.now() - length * dayMs;
  const from = new Date(Math.min(sample.created_at.getTime(), latest));
  return { from, to: new Date(from.getTime() + length * dayMs) };
};
const pairOf = (s: Sample): string => `${s.coin_from}/${s.network_from}-${s.coin_to}/${s.network_to}`;
const states = ['completed', 'refunded', 'failed', 'expired', 'sending'] as const;

/** Everything that staff see of an order. */
async function detail(em: EntityManager, id: string): Promise<void> {
  await em.findOneOrFail(Order, { id }, { populate: ['depositAddress', 'partner'], strategy: 'joined' });
  await em.find(OrderEvent, { order: id }, { orderBy: { seq: 'asc' } });
  await em.find(Deposit, { orderId: id });
  const payments = await em.find(Payment, { orderId: id });
  await em.find(PaymentAttempt, { paymentId: { $in: payments.map((payment) => payment.id) } });
  await em.findOne(Trade, { orderId: id });
  await em.execute(
    `select t.kind, t.at, l.* from ledger_transaction t join ledger_line l on l.transaction_id = t.id
      where t.order_id = ? order by t.at, t.id, l.line`,
    [id],
  );
}

type Query = (em: EntityManager, sample: Sample, index: number) => Promise<unknown>;
const together =
  (interval: StatsRange['interval'], length: number): Query =>
  (_em, s) =>
    stats.stats({ ...back(s, length), interval, by: null });
const apart =
  (interval: StatsRange['interval'], length: number, by: 'partner' | 'pair'): Query =>
  (_em, s) =>
    stats.stats({ ...back(s, length), interval, by });

const queries: [string, Query][] = [
  ['orders', (em) => list({})(em)],
  ['orders, a page in the middle', async (em, s) => list({}, { first: 50, after: cursorAt(s) })(em)],
  [
    'orders, by last change',
    (em) => searchOrders(em, { filter: {}, orderBy: { field: 'updated', direction: 'desc' }, page: first50 }),
  ],
  [
    'orders of a partner in a status',
    (em, s, i) => list({ partnerId: s.partner_id, statuses: [states[i % states.length] ?? 'failed'] })(em),
  ],
  [
    'orders of a coin in a month',
    (em, s) => {
      const { from, to } = back(s, 30);
      return list({ coin: s.coin_from, createdFrom: from, createdTo: to })(em);
    },
  ],
  [
    'orders of a pair',
    (em, s) =>
      list({ coinFrom: s.coin_from, networkFrom: s.network_from, coinTo: s.coin_to, networkTo: s.network_to })(em),
  ],
  ['orders of a coin above an amount', (em, s) => list({ coinFrom: s.coin_from, minAmount: '1000' })(em)],
  ['orders that need attention', (em) => list({ needsAttention: true })(em)],
  ['count of all orders', (em) => countOrders(em, {})],
  [
    'count of a partner in a status',
    (em, s, i) => countOrders(em, { partnerId: s.partner_id, statuses: [states[i % states.length] ?? 'failed'] }),
  ],
  ['count of what needs attention', (em) => countOrders(em, { needsAttention: true })],
  ['search, transaction', (em, s) => list({ search: s.deposit_txid })(em)],
  ['search, beginning of an address', (em, s) => list({ search: s.recipient_address.slice(0, 12) })(em)],
  ['search, short id', (em, s) => list({ search: s.short_id.slice(3) })(em)],
  [
    'search, 4 characters of many',
    (em, s, i) => list({ search: ['bc1q', s.id.slice(0, 4), '0x00', 'EX-A'][i % 4] ?? '' })(em),
  ],
  ['order detail', (em, s) => detail(em, s.id)],
  ['statistics by hour, 31 days', together('hour', 31)],
  ['statistics by day, 366 days', together('day', 366)],
  ['statistics by month, 10 years', together('month', 3650)],
  ['by hour and partner, 7 days', apart('hour', 7, 'partner')],
  ['by day and partner, 366 days', apart('day', 366, 'partner')],
  ['by day and pair, 14 days', apart('day', 14, 'pair')],
  ['by month and pair, 92 days', apart('month', 92, 'pair')],
  [
    'by day of one pair, 366 days',
    (_em, s) => stats.stats({ ...back(s, 366), interval: 'day', by: 'pair', key: pairOf(s) }),
  ],
  ['time in status, 366 days', (_em, s) => stats.timeInState({ ...back(s, 366), interval: 'day', by: null })],
  ['failures, 366 days', (_em, s) => stats.failures({ ...back(s, 366), interval: 'day', by: null })],
  ['attention', (em) => attention(em, 100)],
  ['system', (em) => systemStatus(em)],
];

function cursorAt(sample: Sample): string {
  return Buffer.from(`c${sample.created_at.getTime()}000.${sample.id}`).toString('base64url');
}

/** How often the table of orders was read from end to end so far, by this process and all others. */
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

process.stdout.write(
  '| query | statements | p50 ms | p99 ms | sequential scan on exchange_order |\n|---|---|---|---|---|\n',
);
for (const [name, query] of queries) {
  const before = await tableScans();
  const times: number[] = [];
  sent.length = 0;
  for (const [index, sample] of samples.entries()) {
    const began = performance.now();
    await query(orm.em.fork(), sample, index);
    times.push(performance.now() - began);
  }
  const statements = (sent.length / samples.length).toFixed(0);
  const scans = (await tableScans()) - before;
  times.sort((a, b) => a - b);
  process.stdout.write(
    `| ${name} | ${statements} | ${at(times, 0.5)} | ${at(times, 0.99)} | ${scans > 0 ? 'YES' : 'no'} |\n`,
  );
}

if (options.plans !== undefined) await writeFile(options.plans, await plans());

/** What PostgreSQL does for each statement of one call of each query, as Markdown. */
async function plans(): Promise<string> {
  const parts = [`# Plans at ${orderCount.toLocaleString('en')} orders\n`];
  for (const [name, query] of queries) {
    parts.push(`## ${name}\n`);
    const [sample] = samples;
    if (!sample) continue;
    sent.length = 0;
    await query(orm.em.fork(), sample, 0);
    for (const statement of sent.filter((sql) => /^\s*(select|with)\b/i.test(sql))) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${statement}`);
      parts.push('```sql', statement.trim(), '```\n', '```', ...rows.map((row) => row['QUERY PLAN']), '```\n');
    }
  }
  return parts.join('\n');
}

await client.end();
await orm.close(true);
await database.close();
process.exit(0);
