// What one partner can take from the others: rows and WAL of replays, and how long another partner
// waits during many replays, and during many reads.
// Usage: npm run bench -- replays --help
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { wholeNumber } from '../support/command-line.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { copyOrder } from '../support/gateway/order-pages.ts';
import { feedCatchesUp, orderBody } from '../support/gateway/orders.ts';
import { startSettledGateway } from '../support/gateway/settled-gateway.ts';

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    replays: { type: 'string', default: '120' },
    reads: { type: 'string', default: '400' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(`Usage: npm run bench -- replays [options]

  --events <n>   events of the partner that replays them (10000)
  --seconds <n>  how long endpoints are made, replayed to and deleted (60)
  --replays <n>  replays at once, beside the reads of another partner (120)
  --reads <n>    reads at once, beside the reads of another partner (400)
`);
  process.exit(0);
}
const [eventCount, seconds] = [wholeNumber(options, 'events'), wholeNumber(options, 'seconds')];
const [replayCount, readCount] = [wholeNumber(options, 'replays'), wholeNumber(options, 'reads')];

const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir, database: 'template_gateway' });
process.env.TEST_POSTGRES_URL = postgres.url;
// Nothing is dispatched or sent, so that all work is that of the requests.
const gateway = await startSettledGateway({ clock: new TestClock(new Date()) });
const { query } = gateway;
const base = `${gateway.app.restUrl}/api/v1`;
const [busy, other] = [await gateway.partner(), await gateway.partner()];

async function ask(method: string, path: string, key: string, body?: unknown) {
  const beganMs = performance.now();
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const response = await fetch(`${base}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: JSON.parse(text), ms: performance.now() - beganMs };
}

async function order(key: string): Promise<string> {
  return (await ask('POST', '/partner/orders', key, orderBody())).json.id;
}

const endpointsPath = '/partner/webhook-endpoints';
async function endpoint(): Promise<string> {
  return (await ask('POST', endpointsPath, busy.key, { url: 'https://hooks.example.com/in' })).json.endpoint.id;
}

const walBytes = async (): Promise<number> =>
  Number((await query<{ at: string }>("select pg_current_wal_lsn() - '0/0' as at"))[0]?.at);

function tally(statuses: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Reads one order of the other partner again and again until the work has ended. */
async function run(name: string, work: () => Promise<readonly number[]>): Promise<void> {
  const reads: { status: number; ms: number }[] = [];
  let isOver = false;
  const readers = [0, 1].map(async () => {
    while (!isOver) reads.push(await ask('GET', `/partner/orders/${others}/details`, other.key));
  });
  const beganMs = performance.now();
  const statuses = await work().finally(() => {
    isOver = true;
  });
  const ms = Math.round(performance.now() - beganMs);
  await Promise.all(readers);
  const waits = reads.map((read) => read.ms).sort((one, two) => one - two);
  const at = (part: number): number => Math.round(waits[Math.floor((waits.length - 1) * part)] ?? 0);
  report(name, {
    ms,
    own: tally(statuses),
    others: tally(reads.map(({ status }) => status)),
    othersP50Ms: at(0.5),
    othersP95Ms: at(0.95),
    othersMaxMs: at(1),
  });
}

const report = (name: string, figures: object): void =>
  void process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);

await copyOrder(query, await order(busy.key), eventCount - 1);
const others = await order(other.key);
await feedCatchesUp(query);
await query('vacuum analyze');

// The others first, with nothing else running.
await run('alone', async () => {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return [];
});

const [beforeBytes, endMs] = [await walBytes(), performance.now() + seconds * 1_000];
const churned: number[] = [];
let rows = 0;
while (performance.now() < endMs) {
  const id = await endpoint();
  const { status, json } = await ask('POST', `${endpointsPath}/${id}/replay`, busy.key, {});
  churned.push(status);
  rows += json.count ?? 0;
  await ask('DELETE', `${endpointsPath}/${id}`, busy.key);
}
const left = await query<{ count: number }>('select count(*)::int as count from webhook_delivery');
const walMb = Math.round(((await walBytes()) - beforeBytes) / 1e5) / 10;
report('churn', { seconds, replays: tally(churned), rows, rowsLeft: left[0]?.count, walMb });

const endpoints = await Promise.all(Array.from({ length: 10 }, endpoint));
// As on the next day, and on a gateway that counts nothing.
await query('do $$ begin update webhook_allowance set made = 0; exception when undefined_table then end $$');
const walAtMs = await walBytes();
await run('replays', () =>
  Promise.all(
    Array.from({ length: replayCount }, async (_, i) => {
      const path = `${endpointsPath}/${endpoints[i % endpoints.length]}/replay`;
      return (await ask('POST', path, busy.key, {})).status;
    }),
  ),
);
report('replays', { walMb: Math.round(((await walBytes()) - walAtMs) / 1e5) / 10 });
await run('reads', () =>
  Promise.all(
    Array.from({ length: readCount }, async () => (await ask('GET', '/partner/orders?limit=100', busy.key)).status),
  ),
);

await gateway.stop();
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
