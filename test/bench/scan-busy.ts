import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { JobQueue } from '../../src/base/jobs/job-queue.ts';
import { createLog } from '../../src/base/log.ts';
import type { ChainAdapter } from '../../src/chains/port/chain-adapter.ts';
import { ChainScanner } from '../../src/settlement/scan/chain-scanner.ts';
import { ChainLeases } from '../../src/settlement/turns/chain-lease.ts';
import { busyFirstSlot, busyUsdc, ownSolanaAddress, slotOf } from '../support/chains/busy-solana.ts';
import {
  type BusyNode,
  type BusyOptions,
  busyUsdt,
  ownAddress,
  type RequestCounts,
} from '../support/chains/busy-tron.ts';
import { query } from '../support/database/database.ts';
import { RunningClock } from '../support/gateway/clock.ts';
import { type RealCoin, type RealGateway, startRealGateway } from '../support/gateway/real-gateway.ts';
import { type CpuProfile, cpuByPart } from './profile.ts';
import { insertWaitingOrders } from './waiting-orders.ts';

/** What the two chains that can be long differ in. */
interface LongChain {
  /** Its section in the file of networks, without its nodes and its genesis. */
  readonly section: Readonly<Record<string, unknown>>;
  readonly coin: RealCoin;
  readonly ownAddress: (number: number) => string;
  /** The height of a block by its number. */
  readonly heightOf: (block: number) => number;
  /** The most requests that a block may take, in addition to those for the heads. */
  readonly mostRequests: number;
  /** Between two scans, where blocks come at a pace. */
  readonly pollMs: number;
}

const limit = { per_payment: '1000', per_day: '10000' };

export const longChains = {
  tron: {
    section: { start_height: 0, tokens: { USDT: busyUsdt }, internal_transfers: 'trace' },
    coin: 'TRX',
    ownAddress,
    heightOf: (block) => block,
    mostRequests: 3,
    pollMs: 3_000,
  },
  solana: {
    section: {
      start_height: busyFirstSlot,
      tokens: { USDC: busyUsdc },
      sweep_from: {},
      limits: { SOL: limit, USDC: limit },
    },
    coin: 'SOL',
    ownAddress: ownSolanaAddress,
    heightOf: slotOf,
    mostRequests: 1.1,
    pollMs: 1_000,
  },
} as const satisfies Readonly<Record<string, LongChain>>;
export type LongChainName = keyof typeof longChains;

/** Blocks that are requested at once (`src/chains/<family>/*-block-source.ts`). */
const blocksAhead = 4;
/** Microseconds between two samples of the profile. */
const sampleUs = 2_000;
const leaseMs = 3_600_000;
/** Index of the first address, far above the addresses that the gateway gives out. */
const firstIndex = 1_000_000;

/**
 * Lets one worker catch up with a long chain from its first block, or follow one whose blocks come
 * at a pace. Prints how fast it is and what takes the time. Throws when it takes more requests than
 * it may, or misses a deposit.
 */
export async function scanBusy(chain: LongChainName, options: BusyOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir, database: 'template_gateway' });
  process.env.TEST_POSTGRES_URL = postgres.url;
  const node = await startNode(chain, options);
  const section = { ...longChains[chain].section, nodes: [{ url: node.url }], genesis: node.genesis };
  const gateway = await startRealGateway({
    [chain]: true,
    isFunded: false,
    clock: new RunningClock(),
    networks: () => ({ [chain]: { ...section, poll_ms: 100_000 } }),
  });
  try {
    await gateway.settlement.worker.stop();
    await catchUp(gateway, chain, node, options);
  } finally {
    await gateway.stop();
    node.process.disconnect();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Node extends Pick<BusyNode, 'url' | 'genesis'> {
  readonly process: ChildProcess;
}

async function startNode(
  chain: LongChainName,
  { blocks, perBlock, ownPerBlock, pace = 0 }: BusyOptions,
): Promise<Node> {
  process.stderr.write(`making ${blocks} blocks ...\n`);
  const file = fileURLToPath(new URL('busy-node.ts', import.meta.url));
  const given = { chain, blocks, 'per-block': perBlock, own: ownPerBlock, pace };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const child = fork(file, args, { execArgv: ['--import', 'tsx'] });
  const [told] = (await once(child, 'message')) as [Pick<BusyNode, 'url' | 'genesis'>];
  return { ...told, process: child };
}

async function countsOf({ process: child }: Node): Promise<RequestCounts> {
  child.send('counts');
  const [counts] = (await once(child, 'message')) as [RequestCounts];
  return counts;
}

async function catchUp(gateway: RealGateway, chain: LongChainName, node: Node, options: BusyOptions): Promise<void> {
  const { coin, ownAddress: ownOf, heightOf, mostRequests, pollMs } = longChains[chain];
  const { orm } = gateway.app;
  const log = createLog('warn');
  const jobs = new JobQueue(gateway.databaseUrl, log);
  await jobs.start();
  const count = options.blocks * options.ownPerBlock;
  const addresses = Array.from({ length: count }, (_, index) => ownOf(options.ownPerBlock + index));
  await insertWaitingOrders(gateway.databaseUrl, {
    ...{ chain, from: coin, to: 'LTC', addresses, first: firstIndex },
  });
  // What the gateway read at its start is read again.
  await query(gateway.databaseUrl, `update chain_state set cursor_blocks = '[]', head = 0 where chain = $1`, [chain]);
  await query(gateway.databaseUrl, 'analyze');
  const adapter = gateway.settlement.adapters.get(chain);
  if (!adapter) throw new Error(`this gateway has no ${chain}`);
  const timed = timedScans(adapter);
  const { tools } = gateway.settlement.settler;
  const scanner = new ChainScanner({ orm, clock: gateway.clock, log, tools, jobs, onCrashPoint: () => {} });
  const leases = new ChainLeases(orm, 'b0000000-0000-4000-8000-000000000000', leaseMs, [chain]);
  const [lease] = await leases.renew();
  if (!lease) throw new Error(`another worker holds ${chain}`);
  await countsOf(node);
  process.stderr.write('reading them ...\n');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: sampleUs });
  await session.post('Profiler.start');
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  let scans = 1;
  const scanned = async (): Promise<number | null> => {
    while ((await scanner.scan(timed.adapter, lease)) === 'more') scans += 1;
    return cursorOf(gateway.databaseUrl, chain);
  };
  while ((await scanned()) !== heightOf(options.blocks) && options.pace) {
    scans += 1;
    await sleep(pollMs);
  }
  const ms = performance.now() - began;
  const cpu = process.cpuUsage(cpuBefore);
  const { profile } = await session.post('Profiler.stop');
  const { polls, others, bytes } = await countsOf(node);
  await jobs.stop();

  const [row] = await query<{ deposits: number }>(
    gateway.databaseUrl,
    'select count(*)::int as deposits from deposit where chain = $1',
    [chain],
  );
  const height = await cursorOf(gateway.databaseUrl, chain);
  if (height !== heightOf(options.blocks)) throw new Error(`it ended at block ${height}`);
  if (row?.deposits !== count) throw new Error(`${row?.deposits} of ${count} deposits were found`);
  const { blocks } = options;
  const transactions = blocks * (options.perBlock + options.ownPerBlock);
  const each = (value: number): string => (value / blocks).toFixed(1);
  const tell = (line: string): void => void process.stdout.write(`${line}\n`);
  tell(`${blocks} blocks of ${transactions / blocks} transactions, ${row.deposits} deposits, one worker`);
  tell(`${((1_000 * blocks) / ms).toFixed(1)} blocks/s, ${((1_000 * transactions) / ms).toFixed(0)} transactions/s`);
  tell(`${(others / blocks).toFixed(3)} requests a block, and ${polls} polls of the heads in ${scans} scans`);
  tell(`${(bytes / blocks / 1_024).toFixed(0)} KiB a block of its node's answers`);
  tell(
    `${each(ms)} ms a block, ${each(timed.ms())} of them for its node's blocks; ${each((cpu.user + cpu.system) / 1_000)} ms CPU`,
  );
  tell(`${((cpu.user + cpu.system) / ms / 10).toFixed(0)} % of one core over ${(ms / 1_000).toFixed(0)} s`);
  tell(`peak memory ${(process.resourceUsage().maxRSS / 1_024).toFixed(0)} MiB`);
  const parts = cpuByPart(profile as CpuProfile, partOf);
  const total = parts.reduce((sum, [, us]) => sum + us, 0);
  tell(parts.map(([part, us]) => `${part} ${((100 * us) / total).toFixed(0)} %`).join(', '));
  // A scan asks once whether the newest block that it knows is still on the chain. One that ends
  // because its time is over drops the blocks that it read ahead.
  if (others > mostRequests * (blocks + blocksAhead * scans) + scans)
    throw new Error(`a block took more than ${mostRequests} requests`);
}

/** The height of the newest block that was read; null before the first one. */
async function cursorOf(databaseUrl: string, chain: LongChainName): Promise<number | null> {
  const [row] = await query<{ height: number | null }>(
    databaseUrl,
    `select (cursor_blocks -> -1 ->> 'height')::int as height from chain_state where chain = $1`,
    [chain],
  );
  return row?.height ?? null;
}

/** The adapter, with the time that its scans take. */
function timedScans(target: ChainAdapter): { readonly adapter: ChainAdapter; readonly ms: () => number } {
  let ms = 0;
  const scan: ChainAdapter['scan'] = async (...args) => {
    const began = performance.now();
    const result = await target.scan(...args);
    ms += performance.now() - began;
    return result;
  };
  const get = (adapter: ChainAdapter, name: string | symbol): unknown => {
    if (name === 'scan') return scan;
    const value = Reflect.get(adapter, name, adapter);
    return typeof value === 'function' ? value.bind(adapter) : value;
  };
  return { adapter: new Proxy(target, { get }), ms: () => ms };
}

/** Which part of a scan a function belongs to; null for one that works for its caller. */
function partOf(name: string, url: string): string | null {
  if (name === '(garbage collector)') return 'garbage collection';
  if (/nodes\/http-node\.ts$/.test(url)) return /answer|parse|keepSource/i.test(name) ? 'parse' : 'fetch';
  if (/undici|node:net|node:internal\/(streams|stream_base)|node:_http/.test(url)) return 'fetch';
  if (/\/src\/chains\//.test(url)) return 'checks';
  if (/mikro-orm|\/pg|postgres|kysely|\/src\/(settlement|base\/db|base\/jobs|orders)\//.test(url)) return 'database';
  return null;
}
