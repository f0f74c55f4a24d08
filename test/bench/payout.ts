// How long a payout takes from the block that makes its deposit final until a node has it. Orders
// between the two coins of a simulated Tron come at a steady rate. Gateway, worker and signer run.
// Usage: npm run bench -- payout --help
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { tronFinality } from '../support/chains/real-tron.ts';
import { blockMs } from '../support/chains/tron-node/blocks.ts';
import { wholeNumber } from '../support/command-line.ts';
import { RunningClock } from '../support/gateway/clock.ts';
import { type RealOrder, startRealGateway } from '../support/gateway/real-gateway.ts';
import { widePayouts } from '../support/gateway/settings.ts';

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '5' },
    blocks: { type: 'string', default: '20' },
    'delay-ms': { type: 'string', default: '20' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run bench -- payout [options]

  --rate <n>      orders a second, whose deposits come in blocks of three seconds (5)
  --blocks <n>    blocks with deposits (20)
  --delay-ms <n>  how late each node answers (20)

Needs anvil and litecoind. Prints p50 and p99 from the moment at which the gateway can see that a
deposit is final until a node has the payout. The wait for the poll of the chain is printed apart.
`);
  process.exit(0);
}
const rate = wholeNumber(values, 'rate');
const blockCount = wholeNumber(values, 'blocks');
const delayMs = wholeNumber(values, 'delay-ms', 0);
const perBlock = Math.round((rate * blockMs) / 1_000);
const goalMs = 2_000;
const timeoutMs = 60_000;
const pairs = [
  ['USDT-TRC20', 'TRX', 100],
  ['TRX', 'USDT-TRC20', 500],
] as const;
const wide = '1000000000';

const dataDir = await mkdtemp(join(tmpdir(), 'bench-payout-'));
const postgres = await startEmbeddedPostgres({ dataDir, database: 'template_gateway' });
process.env.TEST_POSTGRES_URL = postgres.url;
const gateway = await startRealGateway({
  tron: true,
  clock: new RunningClock(),
  // Polled as often as a network is unless its file says otherwise.
  networks: () => ({ tron: { poll_ms: 1_500 } }),
  settings: {
    ...widePayouts,
    MAX_OPEN_ORDERS: wide,
    MAX_FLOAT_EXPOSURE_USD: wide,
    MAX_FLOAT_ALL_USD: wide,
    LOG_LEVEL: 'warn',
  },
});
const { chain, nodes } = gateway.chains.tron;

/** When each final head was first told, and when a node first had each transaction. */
const toldAt = new Map<number, number>();
const sentAt = new Map<string, number>();
for (const node of nodes) {
  node.faults = {
    before: async () => {
      if (delayMs > 0) await sleep(delayMs);
    },
    rewrite: (path, answer) => {
      const now = gateway.clock.now().getTime();
      const told = answer as { txid?: string; block_header?: { raw_data: { number?: number } } };
      if (path === '/walletsolidity/getblock') {
        const number = told.block_header?.raw_data.number ?? 0;
        if (!toldAt.has(number)) toldAt.set(number, now);
      }
      if (path === '/wallet/broadcasthex' && told.txid && !sentAt.has(told.txid)) sentAt.set(told.txid, now);
      return answer;
    },
  };
}

/** When each step of a payout was stored. */
interface PayoutRow {
  readonly id: string;
  readonly txid: string;
  readonly confirmed_at: Date;
  readonly decided_at: Date;
  readonly prepared_at: Date;
  readonly signed_at: Date;
}

/** The time at which something was first true of a height or of one above it. */
function firstAtOrAbove(times: ReadonlyMap<number, number>, height: number): number {
  return Math.min(...[...times].flatMap(([at, time]) => (at >= height ? [time] : [])));
}

/** How far orders are, and why their payments wait. */
function states(): Promise<unknown[]> {
  return gateway.query(
    `select o.status, p.kind, p.state, p.problem, count(*)::int as count
       from exchange_order o left join payment p on p.order_id = o.id group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
  );
}

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

function tell(what: string, times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  process.stdout.write(`${what}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms\n`);
  return p99;
}

try {
  process.stderr.write(`creating ${perBlock * blockCount} orders ...\n`);
  const orders: RealOrder[] = [];
  for (let index = 0; index < perBlock * blockCount; index += 1) {
    const [from, to, amount] = pairs[index % pairs.length] ?? pairs[0];
    orders.push(await gateway.order(from, to, amount));
  }
  await gateway.settlement.worker.start();
  process.stderr.write('paying them ...\n');
  const deposits = new Map<string, string>();
  const finalAt = new Map<number, number>();
  const mine = async (): Promise<void> => {
    await chain.mine();
    finalAt.set(chain.solidNumber, gateway.clock.now().getTime());
  };
  for (let block = 0; block < blockCount; block += 1) {
    const began = performance.now();
    for (const order of orders.slice(block * perBlock, (block + 1) * perBlock)) {
      deposits.set(order.id, await gateway.pay(order));
    }
    await mine();
    await sleep(Math.max(0, blockMs - (performance.now() - began)));
  }
  const missing = `select 1 from payment where kind = 'payout' and sent_at is not null having count(*) >= $1`;
  for (let waited = 0; (await gateway.query(missing, [orders.length])).length === 0; waited += blockMs) {
    if (waited > timeoutMs) throw new Error(`not all payouts were sent: ${JSON.stringify(await states())}`);
    await mine();
    await sleep(blockMs);
  }
  const rows = await gateway.query<PayoutRow>(
    `select p.order_id as id, a.txid, a.prepared_at, a.signed_at,
            (select at from order_event e where e.order_id = p.order_id and e.to_status = 'exchanging') as confirmed_at,
            (select at from order_event e where e.order_id = p.order_id and e.to_status = 'sending') as decided_at
       from payment p join payment_attempt a on a.payment_id = p.id
      where p.kind = 'payout' and a.attempt = 1`,
  );
  const polls: number[] = [];
  const payouts: number[] = [];
  const stages = new Map<string, number[]>();
  for (const row of rows) {
    const height = chain.blockOf(deposits.get(row.id) ?? '')?.header.number;
    const sent = sentAt.get(row.txid);
    if (height === undefined || sent === undefined) throw new Error(`the order ${row.id} has no deposit or no payout`);
    const told = firstAtOrAbove(toldAt, height);
    polls.push(told - firstAtOrAbove(finalAt, height));
    payouts.push(sent - told);
    let before = told;
    const ends = {
      confirmed: row.confirmed_at,
      decided: row.decided_at,
      prepared: row.prepared_at,
      signed: row.signed_at,
    };
    for (const [stage, at] of [...Object.entries(ends), ['sent', new Date(sent)] as const]) {
      stages.set(stage, [...(stages.get(stage) ?? []), at.getTime() - before]);
      before = at.getTime();
    }
  }
  process.stdout.write(
    `${rows.length} payouts at ${rate} orders/s, deposits final after ${tronFinality} blocks, nodes answer after ${delayMs} ms\n`,
  );
  tell('from the block to the poll that tells it', polls);
  const p99 = tell('from this poll to the broadcast', payouts);
  for (const [stage, times] of stages) tell(`of it until ${stage}`, times);
  process.stdout.write(`p99 ${p99 <= goalMs ? 'holds' : 'misses'} the goal of ${goalMs} ms\n`);
} finally {
  await gateway.stop();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(0);
