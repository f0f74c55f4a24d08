// Fills a database with orders that look lived in, for dashboards and benchmarks, and sums them up for the statistics.
// Usage: [DATABASE_URL=postgres://...] npm run seed:orders -- --count 1000000 [--partners 20] [--days 365]
import { parseArgs } from 'node:util';
import { createOrm } from '../../src/db/orm.ts';
import { OrderStats } from '../../src/reports/order-stats.ts';
import { openBenchDatabase } from '../support/bench-database.ts';
import { seedOrders } from '../support/seed-orders.ts';

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    partners: { type: 'string', default: '20' },
    days: { type: 'string', default: '365' },
  },
});
const [count = 0, partners = 0, days = 0] = [options.count, options.partners, options.days].map((text) => {
  const number = Number.parseInt(text, 10);
  if (!(number > 0)) throw new Error(`${text} is not a number from 1`);
  return number;
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const database = await openBenchDatabase();
const began = performance.now();
await seedOrders(database.url, { count, partners, days, onProgress: say });
const orm = await createOrm({ url: database.url, poolSize: 2 });
const stats = new OrderStats(orm);
say('summing up');
for (let events = -1, total = 0; events !== 0; ) {
  events = await stats.rollUp({ batchSize: 20_000, mostBatches: 10 });
  total += events;
  say(`${total.toLocaleString('en')} events`);
}
await orm.close(true);
say(`done in ${((performance.now() - began) / 1000).toFixed(0)} s`);
await database.close();
process.exit(0);
