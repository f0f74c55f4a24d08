// What a second api process behind the same port gives: requests a second of one process and of
// two, in turns, and whether two of them still count one limit. One PostgreSQL with durable commits
// and one Redis for both.
// Usage: npm run bench -- processes --help
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { wholeNumber } from '../support/command-line.ts';
import { openBenchDatabase } from '../support/database/bench-database.ts';
import { startRedis } from '../support/database/redis.ts';
import { hasWrk, load } from './load.ts';
import { issueKey, makeEndpoints, type Server, startServer } from './servers.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(`Usage: npm run bench -- processes [options]

  --seconds <n>      of each measurement (5)
  --rounds <n>       in which one process and two take turns (5)
  --connections <n>  of the load (32)
`);
  process.exit(0);
}
const seconds = wholeNumber(options, 'seconds');
const rounds = wholeNumber(options, 'rounds');
const connections = wholeNumber(options, 'connections');
const limit = 600;

const database = await openBenchDatabase();
const redis = await startRedis();
const flusher = new Redis(redis.url);
const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-logs-'));
const environment = { databaseUrl: database.url, dataDir: database.dataDir, redisUrl: redis.url, folder };
const servers: Server[] = [];

async function serve(processes: number, settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const server = await startServer('gateway', environment, {
    settings: { API_PROCESSES: String(processes), ...settings },
  });
  servers.push(server);
  return server;
}

/** Of requests sent at once, over many connections, how many were answered. */
async function answered(server: Server, key: string, requests: number): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: requests }, async () => {
      const response = await fetch(`${server.url}/partner/orders/XP-000000`, {
        headers: { Authorization: `Bearer ${key}`, Connection: 'close' },
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return statuses.filter((status) => status !== 429).length;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

try {
  const key = await issueKey(environment);
  const [one, two] = [await serve(1), await serve(2)];
  const endpoints = await makeEndpoints(one.url, key, 100);
  const how = {
    generator: hasWrk() ? ('wrk' as const) : ('autocannon' as const),
    connections,
    folder,
    signal: new AbortController().signal,
  };
  process.stdout.write('| endpoint | 1 process, requests/s | 2 processes | ratio | min–max |\n|---|---|---|---|---|\n');
  for (const endpoint of endpoints.filter(({ once }) => !once)) {
    const turn = async (server: Server, forSeconds: number): Promise<number> => {
      await flusher.flushall();
      const loaded = await load(server.url, endpoint, { ...how, seconds: forSeconds });
      if (loaded.void !== null) throw new Error(`${endpoint.name}: ${loaded.void}`);
      return loaded.perSecond;
    };
    for (const server of [one, two]) await turn(server, 2);
    const taken: [number, number][] = [];
    for (let round = 0; round < rounds; round++) taken.push([await turn(one, seconds), await turn(two, seconds)]);
    const ratios = taken.map(([alone, both]) => both / alone);
    const cells = [
      endpoint.name,
      Math.round(median(taken.map(([alone]) => alone))),
      Math.round(median(taken.map(([, both]) => both))),
      median(ratios).toFixed(2),
      `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    ];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
  await flusher.flushall();
  const tight = await serve(2, { RATE_LIMIT_PARTNER_PER_MIN: String(limit) });
  const counted = await answered(tight, await issueKey(environment), limit + 200);
  process.stdout.write(`\na limit of ${limit} over 2 processes: ${counted} of ${limit + 200} requests answered\n`);
  if (counted !== limit) process.exitCode = 1;
} finally {
  for (const server of servers) await server.stop();
  await flusher.quit();
  await redis.stop();
  await database.close();
  await rm(folder, { recursive: true, force: true });
}
