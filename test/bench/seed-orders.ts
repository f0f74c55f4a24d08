// Fills a database with orders that look lived in, for dashboards and benchmarks, and sums them up
// for the statistics.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createOrm } from '../../src/app/orm.ts';
import { OrderStats } from '../../src/operations/order-stats.ts';
import { wholeNumber } from '../support/command-line.ts';
import { openBenchDatabase } from '../support/database/bench-database.ts';
import { seededOrders, seedOrders } from '../support/database/seed-orders.ts';

const help = `Usage: npm run bench -- seed-orders [options]

  --orders N    that there shall be; 100000 unless given. Adds what is missing to what was seeded before
  --lean        only orders, their events and deposit addresses, 2.2 KB an order instead of 6.3, and no statistics
  --partners N  20 unless given
  --days N      over which they were made, up to now; 365 unless given
  --jobs N      connections that write; as many as there are cores unless given

DATABASE_URL and DATA_DIR name the database; without DATABASE_URL it is the embedded one in DATA_DIR.
`;

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '100000' },
    lean: { type: 'boolean', default: false },
    partners: { type: 'string', default: '20' },
    days: { type: 'string', default: '365' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}

const [orders, partners, days, jobs] = [
  wholeNumber(options, 'orders'),
  wholeNumber(options, 'partners'),
  wholeNumber(options, 'days'),
  wholeNumber(options, 'jobs'),
];
const { lean } = options;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const database = await openBenchDatabase();
const began = performance.now();
const missing = Math.max(0, orders - (await seededOrders(database.url)));
await seedOrders(database.url, { count: missing, partners, days, lean, jobs, onProgress: say });
if (!lean) {
  const orm = await createOrm({ url: database.url, poolSize: 2 });
  const stats = new OrderStats(orm);
  say('summing up');
  for (let events = -1, total = 0; events !== 0; ) {
    events = await stats.rollUp({ batchSize: 20_000, mostBatches: 10 });
    total += events;
    say(`${total.toLocaleString('en')} events`);
  }
  await orm.close(true);
}
say(`done in ${((performance.now() - began) / 1000).toFixed(0)} s`);
await database.close();
process.exit(0);
