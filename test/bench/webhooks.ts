// What webhooks cost: events that one worker dispatches a second, deliveries that it sends a second
// to a receiver of this machine, their statements, and what they add to settlement.
// Usage: npm run bench -- webhooks --help
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { WebhookWorker } from '../../src/webhooks/webhook-worker.ts';
import { wholeNumber } from '../support/command-line.ts';
import { seedOrders } from '../support/database/seed-orders.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { feedCatchesUp } from '../support/gateway/orders.ts';
import { startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { Receivers } from '../support/webhooks/receiver.ts';
import { StatementTally } from './statement-tally.ts';

const { values: options } = parseArgs({
  options: {
    settled: { type: 'string', default: '20' },
    orders: { type: 'string', default: '3000' },
    endpoints: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(`Usage: npm run bench -- webhooks [options]

  --settled <n>    orders to settle without an endpoint, and as many with one (20)
  --orders <n>     orders whose events are dispatched (3000)
  --endpoints <n>  partners that have one endpoint each (20)
  --seconds <n>    longest time of sending (10)
`);
  process.exit(0);
}

const [settledCount, orderCount] = [wholeNumber(options, 'settled'), wholeNumber(options, 'orders')];
const [endpointCount, seconds] = [wholeNumber(options, 'endpoints'), wholeNumber(options, 'seconds')];

// Before anything is connected.
const tally = new StatementTally();
const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir, database: 'template_gateway' });
process.env.TEST_POSTGRES_URL = postgres.url;
const receivers = await Receivers.start();
// Nothing runs by itself, so that each part is counted alone.
const gateway = await startSettledGateway({
  clock: new TestClock(new Date()),
  settings: receivers.settings,
  outside: { receivers: receivers.outside },
});
const { webhooks } = gateway.app;
if (!webhooks) throw new Error('this gateway sends no webhooks');

interface Counted {
  readonly statements: number;
  readonly commits: number;
  /** Statements that name a table of webhooks. */
  readonly ofWebhooks: number;
}

/** What was sent since the tally began again, without the sandbox's nodes. */
function counted(): Counted {
  const { own } = tally.report();
  const all = tally.top(Number.POSITIVE_INFINITY);
  const ofWebhooks = all.reduce((sum, [sql, times]) => (/webhook_/.test(sql) ? sum + times : sum), 0);
  return { ...own, ofWebhooks };
}

const line = (text: string): void => void process.stdout.write(`${text}\n`);
const each = (total: number, count: number, digits = 1): string => (total / count).toFixed(digits);

async function endpointOf(key: string, name: string): Promise<void> {
  const body = { url: receivers.url(name) };
  const { status, text } = await gateway.call('POST', '/partner/webhook-endpoints', { key, body });
  if (status !== 201) throw new Error(text);
}

/** Creates, pays and settles orders, one after the other. */
async function settled(): Promise<Counted> {
  tally.clear();
  for (let i = 0; i < settledCount; i++) {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.settle(order);
  }
  return counted();
}

process.stderr.write('settling without and with an endpoint ...\n');
await settled();
const without = await settled();
await endpointOf(gateway.key, 'settled');
const withEndpoint = await settled();
for (const [name, { statements, commits, ofWebhooks }] of [
  ['without an endpoint', without],
  ['with an endpoint', withEndpoint],
] as const) {
  line(
    `settlement ${name}: ${each(statements, settledCount)} statements and ${each(commits, settledCount)} commits per order, ${ofWebhooks} statements of webhooks`,
  );
}

process.stderr.write('making events ...\n');
await feedCatchesUp(gateway.query);
await webhooks.dispatcher.dispatch();
await gateway.query('delete from webhook_delivery');
for (let i = 0; i < endpointCount; i++) {
  const { id, key } = await gateway.partner();
  await endpointOf(key, `r${i}`);
  const count = Math.ceil(orderCount / endpointCount);
  await seedOrders(gateway.databaseUrl, { count, partners: [id], days: 1, lean: true });
}
await feedCatchesUp(gateway.query);

process.stderr.write('dispatching ...\n');
tally.clear();
const beganDispatch = performance.now();
const { events, deliveries } = await webhooks.dispatcher.dispatch();
const dispatchSec = (performance.now() - beganDispatch) / 1000;
const dispatched = counted();
line(
  `dispatch: ${events} events to ${deliveries} deliveries in ${dispatchSec.toFixed(2)} s, ${each(events, dispatchSec, 0)} events per second, ${each(dispatched.statements * 1000, events)} statements and ${each(dispatched.commits * 1000, events)} commits per 1,000 events`,
);

process.stderr.write('sending ...\n');
const failures: unknown[] = [];
const worker = new WebhookWorker({ ...webhooks, onFailure: (error) => failures.push(error) });
const cpuBefore = process.cpuUsage();
tally.clear();
const beganSending = performance.now();
worker.start();
const isOver = (): boolean => performance.now() - beganSending > seconds * 1000;
while (!isOver() && receivers.received.length < deliveries) await sleep(20);
const sendingSec = (performance.now() - beganSending) / 1000;
const sending = counted();
const sent = receivers.received.length;
const { user, system } = process.cpuUsage(cpuBefore);
await worker.stop();
line(
  `sending: ${sent} deliveries to ${endpointCount} endpoints in ${sendingSec.toFixed(1)} s, ${each(sent, sendingSec, 0)} deliveries per second per worker, ${each(sending.statements, sent, 2)} statements and ${each(sending.commits, sent, 2)} commits per delivery, ${each((user + system) / 1000, sent)} ms of CPU per delivery with the receiver's`,
);

const [row] = await gateway.query<{ failed: number }>(
  `select count(*)::int as failed from webhook_delivery where attempts > 0 and state <> 'delivered' and leased_until is null`,
);
const faults = [
  ...(without.ofWebhooks + withEndpoint.ofWebhooks > 0 ? ['settlement sends statements of webhooks'] : []),
  ...(row?.failed ? [`${row.failed} attempts failed`] : []),
  ...failures.map(String),
];
for (const fault of faults) line(`WRONG: ${fault}`);

await gateway.stop();
await receivers.stop();
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
process.exit(faults.length > 0 ? 1 : 0);
