// Measures the cost of scanning real chains, with many waiting orders. Either blocks of foreign
// transactions and blocks of deposits on anvil and on litecoind, or a long chain of Tron or Solana.
// Usage: npm run bench -- scan --help
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bech32 } from '@scure/base';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { JobQueue } from '../../src/base/jobs/job-queue.ts';
import { createLog } from '../../src/base/log.ts';
import { toChecksumAddress } from '../../src/chains/addresses/evm.ts';
import type { ChainAdapter } from '../../src/chains/port/chain-adapter.ts';
import { ChainScanner } from '../../src/settlement/scan/chain-scanner.ts';
import { type ChainLease, ChainLeases } from '../../src/settlement/turns/chain-lease.ts';
import { call, quantity } from '../support/chains/anvil.ts';
import { findLitecoind } from '../support/chains/litecoind.ts';
import { wholeNumber } from '../support/command-line.ts';
import { query } from '../support/database/database.ts';
import { type RealChain, type RealCoin, startRealGateway } from '../support/gateway/real-gateway.ts';
import { type LongChainName, longChains, scanBusy } from './scan-busy.ts';
import { insertWaitingOrders } from './waiting-orders.ts';

const { values } = parseArgs({
  options: {
    chain: { type: 'string', default: 'nodes' },
    addresses: { type: 'string', default: '20000' },
    blocks: { type: 'string' },
    'per-block': { type: 'string' },
    own: { type: 'string', default: '1' },
    pace: { type: 'string', default: '0' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run bench -- scan [options]

  --chain <name>   nodes for anvil and litecoind, tron or solana for a long chain (nodes)
  --blocks <n>     of each kind (5), of Tron (10000), of Solana (1000)
  --per-block <n>  payments in a block (200); transactions of strangers in one of Tron (350), of Solana (1200)

Of anvil and litecoind:
  --addresses <n>  deposit addresses with a waiting order each (20000)
  --trace          internal transfers are read from traces, not from balances

Of Tron and Solana:
  --own <n>        deposits in a block, each of a waiting order (1)

Of Solana:
  --pace <n>       blocks that come in a second, as tenths: 45 for 4.5; all are there from the start (0)

Needs anvil and litecoind.
`);
  process.exit(0);
}
if (findLitecoind() === null) throw new Error('litecoind is needed; on Debian: apt-get install litecoind');
if (Object.hasOwn(longChains, values.chain)) {
  const usual = { tron: ['10000', '350'], solana: ['1000', '1200'] } as const;
  const chain = values.chain as LongChainName;
  const { blocks = usual[chain][0], 'per-block': each = usual[chain][1], own, pace } = values;
  const given = { blocks, each, own, pace };
  await scanBusy(chain, {
    blocks: wholeNumber(given, 'blocks'),
    perBlock: wholeNumber(given, 'each'),
    ownPerBlock: wholeNumber(given, 'own', 0),
    pace: wholeNumber(given, 'pace', 0) / 10,
  });
  process.exit(0);
}
if (values.chain !== 'nodes') throw new Error('--chain must be nodes, tron or solana');
const { blocks = '5', 'per-block': each = '200', addresses } = values;
const given = { blocks, each, addresses };
const addressCount = wholeNumber(given, 'addresses');
const blockCount = wholeNumber(given, 'blocks');
const perBlock = wholeNumber(given, 'each');
/** Index of the first address, far above the addresses that the gateway gives out. */
const firstIndex = 1_000_000;

const newAddress: Readonly<Record<RealChain, () => string>> = {
  ethereum: () => toChecksumAddress(randomBytes(20).toString('hex')),
  litecoin: () => bech32.encode('rltc', [0, ...bech32.toWords(randomBytes(20))]),
};

const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir, database: 'template_gateway' });
process.env.TEST_POSTGRES_URL = postgres.url;
let statements = 0;
const gateway = await startRealGateway({
  isFunded: false,
  networks: () => ({ ethereum: { internal_transfers: values.trace ? 'trace' : 'balances' } }),
  outside: {
    onStatement: () => {
      statements += 1;
    },
  },
});
const { anvil, litecoind, token } = gateway.chains;
const log = createLog('warn');
const jobs = new JobQueue(gateway.databaseUrl, log);
await jobs.start();
// This process reads the chains by itself from here on.
await gateway.settlement.worker.stop();
const { orm } = gateway.app;
const { tools } = gateway.settlement.settler;
const scanner = new ChainScanner({ orm, clock: gateway.clock, log, tools, jobs, onCrashPoint: () => {} });
const leases = await openLeases();

async function openLeases(): Promise<ReadonlyMap<string, ChainLease>> {
  const all = new ChainLeases(orm, 'b0000000-0000-4000-8000-000000000000', 3_600_000, ['ethereum', 'litecoin']);
  return new Map((await all.renew()).map((lease) => [lease.chain, lease]));
}

async function ordersOf(
  chain: RealChain,
  from: RealCoin,
  to: RealCoin,
  count: number,
  first: number,
): Promise<string[]> {
  const addresses = Array.from({ length: count }, newAddress[chain]);
  await insertWaitingOrders(gateway.databaseUrl, { chain, from, to, addresses, first });
  return addresses;
}

/** A block of payments; on anvil each is a separate transaction. */
const fill: Readonly<Record<string, (to: readonly string[]) => Promise<void>>> = {
  ETH: async (to) => {
    const [from] = anvil.accounts;
    await sendAll(to.map((address) => ({ from, to: address, value: quantity(10n ** 16n), gas: quantity(21_000) })));
    await anvil.mine();
  },
  USDT: async (to) => {
    const [from] = anvil.accounts;
    const data = to.map((address) => call('transfer', address, 50_000_000n));
    await sendAll(data.map((each) => ({ from, to: token, data: each, gas: quantity(100_000) })));
    await anvil.mine();
  },
  LTC: async (to) => {
    // Several payments each, as exchanges do: a chain of transactions that wait has at most 25.
    for (let start = 0; start < to.length; start += 10) {
      await litecoind.payMany(to.slice(start, start + 10).map((address) => [address, 30_000_000n]));
    }
    await litecoind.mine(1);
  },
};

async function sendAll(transactions: readonly object[]): Promise<void> {
  const used = Number(await anvil.rpc<string>('eth_getTransactionCount', anvil.accounts[0], 'pending'));
  for (const [index, tx] of transactions.entries()) {
    await anvil.rpc('eth_sendTransaction', { ...tx, nonce: quantity(used + index) });
  }
}

/** Follows a chain to its head. */
async function read(chain: RealChain): Promise<void> {
  const adapter = gateway.settlement.adapters.get(chain) as ChainAdapter;
  const lease = leases.get(chain);
  if (!lease) throw new Error(`another worker holds ${chain}`);
  while ((await scanner.scan(adapter, lease)) === 'more');
}

async function depositCount(): Promise<number> {
  const [row] = await query<{ count: number }>(gateway.databaseUrl, 'select count(*)::int as count from deposit');
  return row?.count ?? 0;
}

interface Cost {
  readonly deposits: number;
  readonly seconds: number;
  readonly cpuMs: number;
  readonly statements: number;
}

/** Reads blocks one by one, as they come. */
async function measure(chain: RealChain, coin: string, recipients: () => string[]): Promise<Cost> {
  const total = { deposits: 0, seconds: 0, cpuMs: 0, statements: 0 };
  for (let block = 0; block < blockCount; block += 1) {
    await fill[coin]?.(recipients());
    const known = await depositCount();
    statements = 0;
    const cpu = process.cpuUsage();
    const began = performance.now();
    await read(chain);
    total.seconds += (performance.now() - began) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    total.cpuMs += (user + system) / 1_000;
    total.statements += statements;
    total.deposits += (await depositCount()) - known;
  }
  return total;
}

function tell(what: string, { deposits, seconds, cpuMs, statements: made }: Cost): void {
  const each = (value: number): string => (value / blockCount).toFixed(value / blockCount < 10 ? 1 : 0);
  const rate = deposits === 0 ? '' : `, ${Math.round(deposits / seconds)} deposits detected and stored a second`;
  process.stdout.write(
    `${what}: ${each(cpuMs)} ms CPU, ${each(seconds * 1_000)} ms and ${each(made)} statements a block${rate}\n`,
  );
}

try {
  process.stderr.write(`inserting ${addressCount} orders that wait ...\n`);
  const third = Math.floor(addressCount / 3);
  if (third < blockCount * perBlock) throw new Error('too few --addresses for so many deposits');
  const waiting = {
    ETH: await ordersOf('ethereum', 'ETH', 'LTC', third, firstIndex),
    USDT: await ordersOf('ethereum', 'USDT', 'LTC', third, firstIndex + third),
    LTC: await ordersOf('litecoin', 'LTC', 'ETH', addressCount - 2 * third, firstIndex + 2 * third),
  };
  await query(gateway.databaseUrl, 'analyze');
  await read('ethereum');
  await read('litecoin');
  const cases = [
    ['anvil', 'ethereum', 'ETH'],
    ['anvil, a token', 'ethereum', 'USDT'],
    ['litecoind', 'litecoin', 'LTC'],
  ] as const;
  process.stdout.write(
    `${addressCount} leased addresses, each of a waiting order; blocks of ${perBlock} payments, ${blockCount} of a kind\n`,
  );
  for (const [name, chain, coin] of cases) {
    const strangers = await measure(chain, coin, () => Array.from({ length: perBlock }, newAddress[chain]));
    if (strangers.deposits > 0) throw new Error('a payment to a stranger counted as a deposit');
    tell(`${name}, foreign payments`, strangers);
    const own = await measure(chain, coin, () => waiting[coin].splice(0, perBlock));
    if (own.deposits !== blockCount * perBlock) throw new Error(`${own.deposits} deposits were found`);
    tell(`${name}, deposits`, own);
  }
} finally {
  await jobs.stop();
  await gateway.stop();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(0);
