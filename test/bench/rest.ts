// Measures how near the gateway is to the machine's limit: requests a second, latencies and CPU
// time of each endpoint. In turns it measures `limit`, a server written by hand for the same work.
// Both run as their own processes on one PostgreSQL with durable commits and one Redis.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { onInterrupt, wholeNumber } from '../support/command-line.ts';
import { openBenchDatabase } from '../support/database/bench-database.ts';
import { startRedis } from '../support/database/redis.ts';
import { costOf, PostgresCounter, RedisCounter } from './counting.ts';
import { type Endpoint, endpointIds } from './endpoints.ts';
import { hasWrk, type LoadOptions, load } from './load.ts';
import { describeProfile, monotonicUs } from './profile.ts';
import { type Cost, type Measured, report } from './report.ts';
import { differences } from './requests.ts';
import {
  fillCatalogue,
  issueKey,
  makeEndpoints,
  type Server,
  type ServerEnvironment,
  type ServerOptions,
  startServer,
} from './servers.ts';
import { takeTurns, warmUpSeconds } from './turns.ts';

const help = `Usage: npm run bench -- [rest] [options]

  --seconds N        of each measurement; 5 unless given
  --rounds N         in which gateway and limit take turns; 5 unless given
  --connections N    32 unless given
  --only LIST        of ${endpointIds.join(', ')}; all unless given
  --generator NAME   wrk or autocannon; wrk where it is installed
  --json FILE        writes every round
  --profile gateway  or limit: where the CPU time of each endpoint goes, instead of measuring

DATABASE_URL and DATA_DIR name a database to use again; without them there is one that ends with the benchmark.
`;

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string' },
    generator: { type: 'string', default: hasWrk() ? 'wrk' : 'autocannon' },
    json: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}

function choice<T extends string>(name: 'generator' | 'profile', ...values: readonly T[]): T {
  const found = values.find((value) => value === options[name]);
  if (found === undefined) throw new Error(`--${name} is one of ${values.join(', ')}`);
  return found;
}

const seconds = wholeNumber(options, 'seconds');
const rounds = wholeNumber(options, 'rounds');
const connections = wholeNumber(options, 'connections');
const generator = choice('generator', 'wrk', 'autocannon');
const profiled = options.profile === undefined ? null : choice('profile', 'gateway', 'limit');
const only: readonly string[] = options.only?.split(',') ?? endpointIds;
const unknown = only.find((id) => !endpointIds.some((known) => known === id));
if (unknown !== undefined) throw new Error(`--only: '${unknown}' is none of ${endpointIds.join(', ')}`);
const currencyCount = 200;
const orderCount = 100;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const interrupted = onInterrupt();
/** What was started is ended in reverse order. */
const closing: (() => Promise<unknown>)[] = [];

async function keep<T>(started: Promise<T>, close: (one: T) => Promise<unknown>): Promise<T> {
  const one = await started;
  closing.push(() => close(one));
  interrupted.throwIfAborted();
  return one;
}

async function closeFrom(length: number): Promise<void> {
  for (const close of closing.splice(length).reverse()) {
    await close().catch((error: unknown) => say(`could not be ended: ${String(error)}`));
  }
}

/** A server that is ended with the benchmark, at the latest. */
const serve = (name: Server['name'], environment: ServerEnvironment, options: ServerOptions = {}): Promise<Server> =>
  keep(startServer(name, environment, options), (server) => server.stop());

/** Keys of its own for each request are sent by wrk only. */
const isChosen = ({ id, once }: Endpoint): boolean => only.includes(id) && (generator === 'wrk' || !once);

/** Refuses to measure servers whose answers differ; then counts what each request sends. */
async function compareAndCount(environment: ServerEnvironment, key: string, redisUrl: string | null) {
  const before = closing.length;
  const proxy = await keep(PostgresCounter.start(environment.databaseUrl), ({ counter }) => counter.stop());
  const redis = redisUrl === null ? null : await keep(RedisCounter.start(redisUrl), async (one) => one.stop());
  const proxied = { ...environment, databaseUrl: proxy.url };
  const gateway = await serve('gateway', proxied);
  const limit = await serve('limit', proxied);
  const endpoints = (await makeEndpoints(gateway.url, key, orderCount)).filter(isChosen);
  const costs = new Map<Endpoint, Measured['costs']>();
  const found: string[] = [];
  for (const endpoint of endpoints) {
    found.push(...(await differences(gateway.url, limit.url, endpoint)));
    const cost = (server: Server): Promise<Cost> => costOf(server, endpoint, proxy.counter, redis);
    costs.set(endpoint, { gateway: await cost(gateway), limit: await cost(limit) });
  }
  await closeFrom(before);
  if (found.length > 0) throw new Error(`the servers answer differently:\n${found.join('\n')}`);
  return costs;
}

async function run(): Promise<void> {
  say('preparing a database');
  const database = await keep(openBenchDatabase(), (one) => one.close());
  const redis = await startRedis().catch(() => null);
  if (redis) closing.push(() => redis.stop());
  else say('there is no redis-server here: both servers count limits in memory');
  const redisUrl = redis?.url ?? null;
  const folder = await keep(mkdtemp(join(tmpdir(), 'gateway-bench-logs-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  await fillCatalogue(database.url, currencyCount);
  const environment = { databaseUrl: database.url, dataDir: database.dataDir, redisUrl, folder };
  const key = await issueKey(environment);
  const flusher =
    redisUrl === null ? null : await keep(Promise.resolve(new Redis(redisUrl)), async (one) => one.quit());
  const load = { generator, connections, folder, signal: interrupted };

  say('comparing answers');
  const costs = await compareAndCount(environment, key, redisUrl);
  const endpoints = [...costs.keys()];
  if (profiled) return profile(profiled, environment, endpoints, { ...load, seconds });

  const gateway = await serve('gateway', environment);
  const limit = await serve('limit', environment);
  const measured: Measured[] = [];
  for (const endpoint of endpoints) {
    say(`${endpoint.name}: ${rounds} rounds`);
    const taken = await takeTurns(gateway, limit, endpoint, {
      ...load,
      seconds,
      rounds,
      dataDir: database.dataDir,
      // A bucket holds a million.
      beforeEach: async () => void (await flusher?.flushall()),
      say,
    });
    const { id, name, goal } = endpoint;
    const cost = costs.get(endpoint);
    if (cost) measured.push({ endpoint: { id, name, goal }, rounds: taken, costs: cost });
  }
  const machine = {
    cpu: cpus()[0]?.model,
    cores: availableParallelism(),
    node: process.version,
    generator,
    limits: redisUrl === null ? 'in memory' : 'in Redis',
  };
  process.stdout.write(
    `${machine.cores} cores, Node ${machine.node}, ${connections} connections by ${generator}, ${rounds} rounds of ${seconds} s, limits ${machine.limits}, durable commits\n\n`,
  );
  process.stdout.write(report(measured));
  if (options.json !== undefined) {
    await writeFile(options.json, `${JSON.stringify({ machine, seconds, connections, measured }, null, 2)}\n`);
  }
}

/** A process for each endpoint, as a profile is of a whole process. */
async function profile(
  name: Server['name'],
  environment: ServerEnvironment,
  endpoints: readonly Endpoint[],
  how: LoadOptions,
): Promise<void> {
  for (const endpoint of endpoints) {
    const before = closing.length;
    const profiles = join(environment.folder, endpoint.id);
    await mkdir(profiles);
    say(`${endpoint.name}: ${how.seconds} s`);
    const server = await serve(name, environment, {
      nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
    });
    await load(server.url, endpoint, { ...how, seconds: warmUpSeconds });
    const from = monotonicUs();
    const loaded = await load(server.url, endpoint, how);
    const to = monotonicUs();
    await closeFrom(before);
    const heading = `## ${endpoint.name}, ${name}: ${loaded.void ?? `${Math.round(loaded.perSecond)}/s while profiled`}`;
    process.stdout.write(`${heading}\n\n${await describeProfile(profiles, from, to)}\n`);
  }
}

try {
  await run();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await closeFrom(0);
}
process.exit();
