// Measures how long a start takes until it is ready, with its parts, and the memory two seconds
// later. Starts an api process on an existing database, an embedded gateway on an empty folder, and
// an embedded gateway on the same folder again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../support/command-line.ts';
import { startRedis } from '../support/database/redis.ts';

const { values: given } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    runs: { type: 'string', default: '5' },
    main: { type: 'string', default: 'dist/main.js' },
    flags: { type: 'string', default: '--enable-source-maps' },
  },
});
if (given.help) {
  process.stdout.write(`Usage: npm run bench -- start [--runs 5] [--main dist/main.js] [--flags '--enable-source-maps']

Starts the built gateway so many times each way, one after the other, and prints Markdown tables.
--main   the program; that of another checkout, to compare
--flags  what Node is started with, separated by spaces
`);
  process.exit(0);
}

interface Start {
  readonly readyMs: number;
  /**
   * Of all its threads, until it was ready; what other programs do to the machine changes it
   * little.
   */
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly parts: ReadonlyMap<string, number>;
}

const redis = await startRedis();
const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'));

/**
 * One start, which ends before this returns. Its memory is that of the gateway alone, without
 * PostgreSQL.
 */
async function start(settings: Record<string, string>): Promise<Start> {
  const { PATH = '', HOME = '' } = process.env;
  const flags = given.flags.split(' ').filter((flag) => flag !== '');
  const env = { PATH, HOME, NODE_ENV: 'production', PORT: '0', INTERNAL_PORT: '0' };
  const begin = performance.now();
  const child = spawn(process.execPath, [...flags, resolve(given.main)], {
    cwd: folder,
    env: { ...env, LOG_LEVEL: 'debug', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  try {
    const log = { text: '' };
    child.stderr.on('data', (data) => {
      log.text += data;
    });
    await ready(child, log);
    const readyMs = performance.now() - begin;
    const cpuMs = await cpuTime(child);
    await sleep(2_000);
    return { readyMs, cpuMs, rssMb: await residentMb(child), parts: partsIn(log.text) };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

function ready(child: ChildProcess, log: { readonly text: string }): Promise<void> {
  return new Promise((done, fail) => {
    let output = '';
    child.stdout?.on('data', (data) => {
      output += data;
      if (/^ready /m.test(output)) done();
    });
    child.once('close', () => fail(new Error(`it did not start:\n${output}${log.text}`)));
  });
}

/** User and system time, which Linux counts in hundredths of a second. */
async function cpuTime(child: ChildProcess): Promise<number> {
  const fields = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(' ');
  return (Number.parseInt(fields[13] ?? '', 10) + Number.parseInt(fields[14] ?? '', 10)) * 10;
}

async function residentMb(child: ChildProcess): Promise<number> {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1];
  return Number.parseInt(kb ?? '', 10) / 1024;
}

function partsIn(log: string): Map<string, number> {
  const lines = log.split('\n').filter((line) => line.includes('"start_part"'));
  return new Map(lines.map((line) => JSON.parse(line)).map(({ detail, ms }) => [detail, ms]));
}

function spread(figures: readonly number[]): string {
  const sorted = figures.toSorted((a, b) => a - b).map(Math.round);
  return `${sorted[Math.floor(sorted.length / 2)]} | ${sorted[0]} | ${sorted.at(-1)}`;
}

function report(name: string, starts: readonly Start[]): void {
  const parts = [...new Set(starts.flatMap((each) => [...each.parts.keys()]))];
  const rows = [
    ['ready, ms', starts.map((each) => each.readyMs)],
    ['CPU until ready, ms', starts.map((each) => each.cpuMs)],
    ['memory after 2 s, MB', starts.map((each) => each.rssMb)],
    ...parts.map((part) => [`- ${part}, ms`, starts.map((each) => each.parts.get(part) ?? 0)] as const),
  ] as const;
  process.stdout.write(`\n| ${name} | median | min | max |\n|---|---|---|---|\n`);
  for (const [what, figures] of rows) process.stdout.write(`| ${what} | ${spread(figures)} |\n`);
}

try {
  const runs = wholeNumber(given, 'runs');
  const first: Start[] = [];
  const second: Start[] = [];
  const api: Start[] = [];
  for (let i = 0; i < runs; i++) {
    process.stderr.write(`${i + 1} of ${runs} ...\n`);
    const embedded = { DATA_DIR: join(folder, String(i)) };
    first.push(await start(embedded));
    second.push(await start(embedded));
    if (process.env.DATABASE_URL === undefined) continue;
    const { DATABASE_URL } = process.env;
    const served = { DATABASE_URL, REDIS_URL: redis.url, DATA_DIR: join(folder, 'api'), KEY_PEPPER: 'p'.repeat(32) };
    // The first start fills the database.
    if (i === 0) await start({ ...served, ROLE: 'api' });
    api.push(await start({ ...served, ROLE: 'api' }));
  }
  if (api.length > 0) report('api', api);
  else process.stdout.write('\nDATABASE_URL names no PostgreSQL: no api process was started\n');
  report('embedded, first start', first);
  report('embedded, after that', second);
} finally {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
}
