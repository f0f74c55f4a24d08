// The cost of many small deposits in one block, to one order, to many or to none, and what orders
// of others notice of it. Usage: npm run bench -- dust --help
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startApp } from '../../src/app/app.ts';
import { createOrm } from '../../src/app/orm.ts';
import { systemClock } from '../../src/base/clock.ts';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { readTags } from '../../src/chains/addresses/deposit-addresses.ts';
import { SandboxChain } from '../../src/chains/sandbox/sandbox-chain.ts';
import { CrowdedChain, transfersTo } from '../support/chains/crowded-chain.ts';
import { wholeNumber } from '../support/command-line.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { testConfig, widePayouts } from '../support/gateway/settings.ts';
import { postgresCpuMs } from './usage.ts';

const { values: options } = parseArgs({
  options: {
    deposits: { type: 'string', default: '0,500,1000,2000,10000' },
    targets: { type: 'string', default: '1' },
    to: { type: 'string', default: 'orders' },
    orders: { type: 'string', default: '40' },
    'most-seconds': { type: 'string', default: '300' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(`Usage: npm run bench -- dust [options]

  --deposits <list>   small deposits in one block, one row for each number (0,500,1000,2000,10000)
  --targets <n>       orders that get them in turn (1)
  --to <whom>         orders; or, at the shared address of the XRP Ledger: none (without a tag),
                      funding (with the tag of funding) (orders)
  --orders <n>        orders of others, which are paid in the same block (40)
  --most-seconds <n>  when a row is given up (300)
`);
  process.exit(0);
}
const targetCount = wholeNumber(options, 'targets');
const orderCount = wholeNumber(options, 'orders');
const mostSeconds = wholeNumber(options, 'most-seconds');
const wide = '1000000';
const isTagged = options.to !== 'orders';
if (isTagged && options.to !== 'none' && options.to !== 'funding') throw new RangeError('--to is unknown');
/** Below the minimum of the pair. To an order it is worth more than the fee of its refund. */
const dust = isTagged ? 1n : 10_000n;
const paid = isTagged ? 500_000_000n : 1_000_000n;
const pair = isTagged
  ? { coin_from: 'XRP', network_from: 'XRP', amount_from: 500, refund_address: addressExample('XRP') }
  : { amount_from: 0.01, refund_address: addressExample('BTC') };
const chain = isTagged ? 'ripple' : 'bitcoin';

interface Made {
  readonly id: string;
  readonly deposit_address: string;
  readonly deposit_address_tag: string | null;
}

process.stdout.write(
  'deposits   others credited p50   p99   others done   all done   CPU of node   CPU of PostgreSQL\n',
);
for (const count of options.deposits.split(',').map(Number)) await measure(count);
process.exit(0);

async function measure(dustCount: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  const crowded = new CrowdedChain();
  const app = await startApp({
    config: testConfig({
      DATA_DIR: dataDir,
      DATABASE_URL: postgres.url,
      PORT: '0',
      INTERNAL_PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_GRACE_LOCAL_MS: '0',
      SANDBOX_BLOCK_MS: '0',
      CHAIN_POLL_MS: '10',
      RATE_LIMIT_PARTNER_PER_MIN: wide,
      RATE_LIMIT_ORDERS_PER_MIN: wide,
      MAX_OPEN_ORDERS: wide,
      MAX_FLOAT_EXPOSURE_USD: '1000000000',
      MAX_FLOAT_ALL_USD: '9000000000',
      ...(isTagged ? { SANDBOX_RULES: 'tagged' } : {}),
      ...widePayouts,
    }),
    databaseUrl: postgres.url,
    embedded: true,
    outside: { chain: (adapter) => crowded.wrap(adapter) },
  });
  const orm = await createOrm({
    url: `${postgres.url}${postgres.url.includes('?') ? '&' : '?'}application_name=users`,
    poolSize: 4,
  });
  const sandbox = new SandboxChain({ orm, clock: systemClock });
  const rows = async (sql: string, values: readonly unknown[] = []): Promise<number> =>
    (await orm.em.fork().execute<{ count: number }[]>(sql, [...values]))[0]?.count ?? 0;
  const create = async (): Promise<Made> => {
    const reply = await fetch(`${app.restUrl}/api/v1/partner/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${app.demo?.partnerKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(orderBody(pair)),
    });
    if (reply.status !== 201) throw new Error(await reply.text());
    return (await reply.json()) as Made;
  };
  const targets: Made[] = [];
  const others: Made[] = [];
  for (let index = 0; index < targetCount; index++) targets.push(await create());
  for (let index = 0; index < orderCount; index++) others.push(await create());
  const tag = options.to === 'funding' ? (await readTags(orm.em.fork())).fundingTag() : null;
  const sent = Array.from({ length: dustCount }, (_, index) => targets[index % targetCount]).flatMap((target, index) =>
    target === undefined ? [] : transfersTo({ address: target.deposit_address, tag }, [dust], `dust${index}n`),
  );
  for (const order of [...targets.slice(0, 1), ...others]) {
    const output = { to: order.deposit_address, tag: order.deposit_address_tag, contract: null, amount: paid };
    await sandbox.pay(chain, { ...output, busyBlocks: 0 });
  }
  crowded.add(chain, sent);
  const otherIds = JSON.stringify(others.map(({ id }) => id));
  const cpuBefore = process.cpuUsage();
  const postgresBefore = await postgresCpuMs(dataDir);
  const began = performance.now();
  const since = (): number => (performance.now() - began) / 1000;
  const creditedAt: number[] = [];
  let othersDone: number | null = null;
  let allDone: number | null = null;
  while (allDone === null && since() < mostSeconds) {
    const heads = await sandbox.heads();
    for (const each of [chain, 'tron']) {
      const read = await rows('select height::int as count from chain_state where chain = ?', [each]);
      // PostgreSQL ends a transaction that this process leaves waiting too long.
      if (read === heads.get(each)?.height) await sandbox.mine(each).catch(() => {});
    }
    if (creditedAt.length < others.length) {
      const credited = await rows(
        `select count(distinct order_id)::int as count from deposit
          where state = 'credited' and order_id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
        [otherIds],
      );
      while (creditedAt.length < credited) creditedAt.push(since());
    }
    if (othersDone === null) {
      const left = await rows(
        `select count(*)::int as count from exchange_order where status <> 'completed'
            and id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
        [otherIds],
      );
      if (left === 0) othersDone = since();
    }
    // A deposit of an order that still waits for its payment is decided with its window.
    const decided = await rows(
      `select count(*)::int as count from deposit d left join exchange_order o on o.id = d.order_id
        where d.state = 'credited' and d.amount < 0.001
          and (o.id is null or o.status = 'waiting_deposit' or d.problem is not null
               or exists (select from payment p where p.deposit_id = d.id))`,
    );
    if (othersDone !== null && decided === dustCount) allDone = since();
    await sleep(50);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const postgresAfter = await postgresCpuMs(dataDir);
  const shown = (seconds: number | null): string => (seconds === null ? `> ${mostSeconds}` : seconds.toFixed(1));
  const postgresSec = ((postgresAfter ?? 0) - (postgresBefore ?? 0)) / 1000;
  const share = (part: number): string => `${shown(creditedAt[Math.ceil(part * others.length) - 1] ?? null)} s`;
  process.stdout.write(
    `${String(dustCount).padStart(8)} ${share(0.5).padStart(21)} ${share(0.99).padStart(5)} ${`${shown(othersDone)} s`.padStart(13)} ${`${shown(allDone)} s`.padStart(10)} ${`${((user + system) / 1e6).toFixed(1)} s`.padStart(13)} ${`${postgresSec.toFixed(1)} s`.padStart(19)}\n`,
  );
  await app.stop().catch(() => {});
  await orm.close(true);
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
