import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { JobQueue } from '../../src/base/jobs/job-queue.ts';
import { createLog } from '../../src/base/log.ts';
import type { ChainAdapter } from '../../src/chains/port/chain-adapter.ts';
import { ChainScanner } from '../../src/settlement/scan/chain-scanner.ts';
import { ChainLeases } from '../../src/settlement/turns/chain-lease.ts';
import {
  type BusyTron,
  type BusyTronOptions,
  busyUsdt,
  ownAddress,
  type RequestCounts,
} from '../support/chains/busy-tron.ts';
import { query } from '../support/database/database.ts';
import { RunningClock } from '../support/gateway/clock.ts';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.ts';
import { type CpuProfile, cpuByPart } from './profile.ts';
import { insertWaitingOrders } from './waiting-orders.ts';

/** The most requests that a block may take, in addition to those for the heads. */
const mostRequests = 3;
/** Blocks that are requested at once (`src/chains/tron/tron-block-source.ts`). */
const blocksAhead = 4;
/** Microseconds between two samples of the profile. */
const sampleUs = 2_000;
const leaseMs = 3_600_000;
/** Index of the first address, far above the addresses that the gateway gives out. */
const firstIndex = 1_000_000;

/**
 * Lets one worker catch up with a long chain of Tron from its first block, and prints how fast it
 * is and what takes the time. Throws when it takes more requests a block than it may, or misses a
 * deposit.
 */
export async function scanTron(options: BusyTronOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir, database: 'template_gateway' });
  process.env.TEST_POSTGRES_URL = postgres.url;
  const node = await startNode(options);
  const section = { nodes: [{ url: node.url }], genesis: node.genesis, start_height: 0, tokens: { USDT: busyUsdt } };
  const gateway = await startRealGateway({
    tron: true,
    isFunded: false,
    clock: new RunningClock(),
    networks: () => ({ tron: { ...section, internal_transfers: 'trace', poll_ms: 100_000 } }),
  });
  try {
    await gateway.settlement.worker.stop();
    await catchUp(gateway, node, options);
  } finally {
    await gateway.stop();
    node.process.disconnect();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Node extends Pick<BusyTron, 'url' | 'genesis'> {
  readonly process: ChildProcess;
}

async function startNode({ blocks, perBlock, ownPerBlock }: BusyTronOptions): Promise<Node> {
  process.stderr.write(`making ${blocks} blocks ...\n`);
  const file = fileURLToPath(new URL('busy-tron.ts', import.meta.url));
  const args = ['--blocks', `${blocks}`, '--per-block', `${perBlock}`, '--own', `${ownPerBlock}`];
  const child = fork(file, args, { execArgv: ['--import', 'tsx'] });
  const [told] = (await once(child, 'message')) as [Pick<BusyTron, 'url' | 'genesis'>];
  return { ...told, process: child };
}

async function countsOf({ process: child }: Node): Promise<RequestCounts> {
  child.send('counts');
  const [counts] = (await once(child, 'message')) as [RequestCounts];
  return counts;
}

async function catchUp(gateway: RealGateway, node: Node, options: BusyTronOptions): Promise<void> {
  const { orm } = gateway.app;
  const log = createLog('warn');
  const jobs = new JobQueue(gateway.databaseUrl, log);
  await jobs.start();
  const count = options.blocks * options.ownPerBlock;
  const addresses = Array.from({ length: count }, (_, index) => ownAddress(options.ownPerBlock + index));
  await insertWaitingOrders(gateway.databaseUrl, {
    ...{ chain: 'tron', from: 'TRX', to: 'LTC', addresses, first: firstIndex },
  });
  // What the gateway read at its start is read again.
  await query(gateway.databaseUrl, `update chain_state set cursor_blocks = '[]', head = 0 where chain = 'tron'`);
  await query(gateway.databaseUrl, 'analyze');
  const adapter = gateway.settlement.adapters.get('tron');
  if (!adapter) throw new Error('this gateway has no Tron');
  const timed = timedScans(adapter);
  const { tools } = gateway.settlement.settler;
  const scanner = new ChainScanner({ orm, clock: gateway.clock, log, tools, jobs, onCrashPoint: () => {} });
  const leases = new ChainLeases(orm, 'b0000000-0000-4000-8000-000000000000', leaseMs, ['tron']);
  const [lease] = await leases.renew();
  if (!lease) throw new Error('another worker holds tron');
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
  while ((await scanner.scan(timed.adapter, lease)) === 'more') scans += 1;
  const ms = performance.now() - began;
  const cpu = process.cpuUsage(cpuBefore);
  const { profile } = await session.post('Profiler.stop');
  const { polls, others } = await countsOf(node);
  await jobs.stop();

  const [row] = await query<{ height: number; deposits: number }>(
    gateway.databaseUrl,
    `select (cursor_blocks -> -1 ->> 'height')::int as height,
            (select count(*)::int from deposit where chain = 'tron') as deposits
       from chain_state where chain = 'tron'`,
  );
  if (row?.height !== options.blocks) throw new Error(`it ended at block ${row?.height}`);
  if (row.deposits !== count) throw new Error(`${row.deposits} of ${count} deposits were found`);
  const { blocks } = options;
  const transactions = blocks * (options.perBlock + options.ownPerBlock);
  const each = (value: number): string => (value / blocks).toFixed(1);
  const tell = (line: string): void => void process.stdout.write(`${line}\n`);
  tell(`${blocks} blocks of ${transactions / blocks} transactions, ${row.deposits} deposits, one worker`);
  tell(`${((1_000 * blocks) / ms).toFixed(1)} blocks/s, ${((1_000 * transactions) / ms).toFixed(0)} transactions/s`);
  tell(`${(others / blocks).toFixed(3)} requests a block, and ${polls} polls of the heads in ${scans} scans`);
  tell(
    `${each(ms)} ms a block, ${each(timed.ms())} of them for its node's blocks; ${each((cpu.user + cpu.system) / 1_000)} ms CPU`,
  );
  tell(`peak memory ${(process.resourceUsage().maxRSS / 1_024).toFixed(0)} MiB`);
  const parts = cpuByPart(profile as CpuProfile, partOf);
  const total = parts.reduce((sum, [, us]) => sum + us, 0);
  tell(parts.map(([part, us]) => `${part} ${((100 * us) / total).toFixed(0)} %`).join(', '));
  // A scan asks once whether the newest block that it knows is still on the chain. One that ends
  // because its time is over drops the blocks that it read ahead.
  if (others > mostRequests * (blocks + blocksAhead * scans) + scans)
    throw new Error(`a block took more than ${mostRequests} requests`);
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
