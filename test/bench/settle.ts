// How many orders one worker settles a second, and what an order costs in SQL: all deposits are
// made at once, then blocks as fast as the worker reads them. Usage: npm run bench -- settle --help
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startApp } from '../../src/app/app.ts';
import { createOrm } from '../../src/app/orm.ts';
import { systemClock } from '../../src/base/clock.ts';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { toUnits } from '../../src/base/money.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { networkById } from '../../src/chains/networks/networks.ts';
import { SandboxChain } from '../../src/chains/sandbox/sandbox-chain.ts';
import { wholeNumber } from '../support/command-line.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { testConfig, widePayouts } from '../support/gateway/settings.ts';
import { StatementTally } from './statement-tally.ts';
import { postgresCpuMs } from './usage.ts';

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '300' },
    top: { type: 'string', default: '0' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(`Usage: npm run bench -- settle [options]

  --orders <n>  orders to settle (300)
  --top <n>     show the statements that are sent most often (0)
`);
  process.exit(0);
}
const orderCount = wholeNumber(options, 'orders');

const wide = '1000000';
const timeoutMs = 300_000;
/**
 * From, to and amount; four chains, so that the worker has as many available as it works on at a
 * time.
 */
const pairs = [
  ['BTC', 'BTC', 'USDT', 'TRC20', '0.01'],
  ['USDT', 'TRC20', 'LTC', 'LTC', '500'],
  ['LTC', 'LTC', 'XRP', 'XRP', '5'],
  ['XRP', 'XRP', 'BTC', 'BTC', '1000'],
] as const;
const chains = [...new Set(pairs.map(([, network]) => networkById(network)?.chain ?? ''))];

// Before anything is connected.
const tally = new StatementTally();
const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir });
const app = await startApp({
  config: testConfig({
    DATA_DIR: dataDir,
    DATABASE_URL: postgres.url,
    PORT: '0',
    INTERNAL_PORT: '0',
    LOG_LEVEL: 'warn',
    DRAIN_GRACE_LOCAL_MS: '0',
    SANDBOX_BLOCK_MS: '0',
    CHAIN_POLL_MS: '10',
    RATE_LIMIT_PARTNER_PER_MIN: wide,
    RATE_LIMIT_ORDERS_PER_MIN: wide,
    MAX_OPEN_ORDERS: wide,
    MAX_FIXED_EXPOSURE_USD: '1000000000',
    MAX_FIXED_DAY_USD: '1000000000',
    MAX_FIXED_ALL_USD: '9000000000',
    MAX_FLOAT_EXPOSURE_USD: '1000000000',
    MAX_FLOAT_ALL_USD: '9000000000',
    ...widePayouts,
  }),
  databaseUrl: postgres.url,
  embedded: true,
});
// Users and miners have their own connections, so that only the worker's statements are counted.
const usersUrl = `${postgres.url}${postgres.url.includes('?') ? '&' : '?'}application_name=users`;
const orm = await createOrm({ url: usersUrl, poolSize: 4 });
const sandbox = new SandboxChain({ orm, clock: systemClock });

interface Made {
  readonly deposit_address: string;
  readonly deposit_address_tag: string | null;
}

async function createAndPay(index: number): Promise<void> {
  const [coinFrom, networkFrom, coinTo, networkTo, amount] = pairs[index % pairs.length] ?? pairs[0];
  const reply = await fetch(`${app.restUrl}/api/v1/partner/orders`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${app.demo?.partnerKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(
      orderBody({
        coin_from: coinFrom,
        network_from: networkFrom,
        coin_to: coinTo,
        network_to: networkTo,
        amount_from: Number(amount),
        recipient_address: addressExample(networkTo),
      }),
    ),
  });
  if (reply.status !== 201) throw new Error(await reply.text());
  const order = (await reply.json()) as Made;
  const currency = app.catalogue.find(coinFrom, networkFrom);
  if (!currency) throw new Error(`there is no ${coinFrom} on ${networkFrom}`);
  await sandbox.pay(networkById(networkFrom)?.chain ?? '', {
    to: order.deposit_address,
    tag: order.deposit_address_tag,
    contract: currency.contract,
    amount: toUnits(amount, currency.decimals),
    busyBlocks: 0,
  });
}

async function concurrently(count: number, workers: number, work: (index: number) => Promise<void>): Promise<void> {
  const left = Array.from({ length: count }, (_, index) => index).values();
  const worker = async (): Promise<void> => {
    for (const index of left) await work(index);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

async function count(where: string): Promise<number> {
  const [row] = await orm.em
    .fork()
    .execute<{ count: number }[]>(`select count(*)::int as count from exchange_order where ${where}`);
  return row?.count ?? 0;
}

/** How much PostgreSQL has written to its log since it was made. */
async function loggedBytes(): Promise<number> {
  const sql = `select pg_current_wal_insert_lsn() - '0/0' as bytes`;
  const [row] = await orm.em.fork().execute<{ bytes: string }[]>(sql);
  return Number(row?.bytes);
}

async function until(done: () => Promise<boolean>, everyMs: number): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await done()); await sleep(everyMs)) {
    if (Date.now() > deadline) throw new Error(`not finished after ${timeoutMs / 1000} s`);
  }
}

process.stderr.write(`creating and paying ${orderCount} orders ...\n`);
await concurrently(orderCount, 8, createAndPay);
await until(async () => (await count(`status = 'confirming'`)) === orderCount, 100);

process.stderr.write('settling them ...\n');
tally.clear();
const cpuBefore = process.cpuUsage();
const postgresBefore = await postgresCpuMs(dataDir);
const logBefore = await loggedBytes();
const began = performance.now();
await until(async () => {
  // A block only where the worker has read the last one: more would not make it faster.
  const heads = await sandbox.heads();
  const scanned = await orm.em
    .fork()
    .execute<{ chain: string; height: number }[]>('select chain, height::int as height from chain_state');
  const read = new Map(scanned.map(({ chain, height }) => [chain, height]));
  await Promise.all(
    chains.filter((chain) => read.get(chain) === heads.get(chain)?.height).map((chain) => sandbox.mine(chain)),
  );
  return (await count(`status = 'completed'`)) === orderCount;
}, 25);
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
const postgresAfter = await postgresCpuMs(dataDir);
const logged = (await loggedBytes()) - logBefore;
const { steps, all, own } = tally.report();
const perOrder = (total: number): string => (total / orderCount).toFixed(1);
for (const [step, { statements, commits }] of [...steps].sort(
  ([, one], [, other]) => other.statements - one.statements,
)) {
  process.stdout.write(
    `${step.padEnd(36)} ${perOrder(statements).padStart(6)} statements ${perOrder(commits).padStart(5)} commits\n`,
  );
}
for (const [sql, times] of tally.top(wholeNumber(options, 'top', 0)))
  process.stdout.write(`${perOrder(times).padStart(6)} ${sql.slice(0, 150)}\n`);
const postgresMs =
  postgresBefore === null || postgresAfter === null
    ? ''
    : ` and ${perOrder(postgresAfter - postgresBefore)} of PostgreSQL's`;
process.stdout.write(
  `${orderCount} orders on ${chains.length} chains in ${seconds.toFixed(1)} s: ${(orderCount / seconds).toFixed(1)} orders settled per second per worker, ${perOrder(all.statements)} SQL statements and ${perOrder(all.commits)} durable commits per order, of them ${perOrder(own.statements)} and ${perOrder(own.commits)} of the gateway, ${perOrder((user + system) / 1000)} ms of CPU${postgresMs} and ${perOrder(logged / 1000)} KB of its log per order\n`,
);

await app.stop();
await orm.close(true);
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
process.exit(0);
