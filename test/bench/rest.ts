// What each endpoint costs: requests a second and p99 at 32 connections beside a bare node:http answer, in one run on
// one machine, and the SQL statements and Redis commands of one request. Usage: npm run bench [-- seconds]
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { Redis } from 'ioredis';
import { startApp } from '../../src/app.ts';
import { openHasher } from '../../src/bootstrap.ts';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config.ts';
import { startEmbeddedPostgres } from '../../src/db/embedded-postgres.ts';
import { PartnerService } from '../../src/partners/partner-service.ts';
import { listen } from '../support/local-server.ts';
import { orderBody } from '../support/orders.ts';
import { startRedis } from '../support/redis.ts';

const connections = 32;
const seconds = Number.parseInt(process.argv[2] ?? '5', 10);
const wide = '1000000';

const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir });
const redis = await startRedis().catch(() => null);
const config = loadConfig({
  DATA_DIR: dataDir,
  DATABASE_URL: postgres.url,
  ...(redis ? { REDIS_URL: redis.url } : {}),
  PORT: '0',
  INTERNAL_PORT: '0',
  LOG_LEVEL: 'error',
  DRAIN_GRACE_MS: '0',
  RATE_LIMIT_PUBLIC_PER_MIN: wide,
  RATE_LIMIT_PARTNER_PER_MIN: wide,
  RATE_LIMIT_ORDERS_PER_MIN: wide,
});

/** Statements of the request that is being counted. */
let statements: string[] = [];

async function start(counting: boolean) {
  return startApp({
    config,
    databaseUrl: postgres.url,
    embedded: true,
    surroundings: counting ? { onStatement: (sql) => statements.push(sql) } : {},
  });
}

async function redisCommands(client: Redis | null): Promise<number> {
  if (!client) return 0;
  const info = await client.info('commandstats');
  return [...info.matchAll(/cmdstat_(eval|evalsha|script\S*):calls=(\d+)/g)].reduce(
    (sum, match) => sum + Number.parseInt(match[2] ?? '0', 10),
    0,
  );
}

const counted = await start(true);
const hasher = await openHasher(config, counted.orm);
const partners = new PartnerService(counted.orm, hasher, systemClock);
const partner = await partners.create('Bench');
const { key } = await partners.issueKey(partner.id);
const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
const body = JSON.stringify(orderBody());
const created = (await (
  await fetch(`${counted.restUrl}/api/v1/partner/orders`, { method: 'POST', headers, body })
).json()) as { id: string };

const endpoints = [
  { name: 'GET /currencies', method: 'GET', path: '/currencies', keyed: false },
  {
    name: 'GET /partner/rates',
    method: 'GET',
    path: '/partner/rates?coin_from=BTC&coin_to=USDT&network_to=TRC20&amount=0.1',
    keyed: false,
  },
  { name: 'POST /partner/orders', method: 'POST', path: '/partner/orders', keyed: true },
  { name: 'GET /partner/orders/{id}', method: 'GET', path: `/partner/orders/${created.id}`, keyed: true },
] as const;

const client = redis ? new Redis(redis.url) : null;
const costs = new Map<string, { sql: number; redis: number }>();
for (const { name, method, path, keyed } of endpoints) {
  const send = async () => {
    const response = await fetch(`${counted.restUrl}/api/v1${path}`, {
      method,
      ...(keyed ? { headers } : {}),
      ...(method === 'POST' ? { body } : {}),
    });
    await response.text();
    if (!response.ok) throw new Error(`${name} answered ${response.status}`);
  };
  await send();
  const rounds = 20;
  statements = [];
  const before = await redisCommands(client);
  for (let i = 0; i < rounds; i++) await send();
  // Statements that timers send meanwhile (catalogue, pools) are few; the median of whole requests hides them.
  costs.set(name, { sql: statements.length / rounds, redis: ((await redisCommands(client)) - before) / rounds });
}
await counted.stop();

const app = await start(false);
const bare = createServer((_req, res) => {
  res.setHeader('Content-Type', 'application/json');
  res.end('{"status":"ok"}');
});
const barePort = await listen(bare);

interface Row {
  readonly name: string;
  readonly perSecond: number;
  readonly p99: number;
}

async function load(name: string, url: string, method: 'GET' | 'POST', keyed: boolean): Promise<Row> {
  process.stderr.write(`${name}: ${seconds} s ...\n`);
  const options = {
    url,
    method,
    connections,
    duration: seconds,
    workers: 1,
    ...(keyed ? { headers } : {}),
    ...(method === 'POST' ? { body } : {}),
  };
  await autocannon({ ...options, duration: 1 });
  const result = await autocannon(options);
  if (result.non2xx + result.errors > 0) throw new Error(`${name}: ${result.non2xx} refused, ${result.errors} failed`);
  return { name, perSecond: result.requests.average, p99: result.latency.p99 };
}

const floor = await load('bare node:http', `http://127.0.0.1:${barePort}/`, 'GET', false);
const rows: Row[] = [];
for (const { name, method, path, keyed } of endpoints)
  rows.push(await load(name, `${app.restUrl}/api/v1${path}`, method, keyed));

process.stdout.write(
  `\n${connections} connections, ${seconds} s each, ${redis ? 'limits in Redis' : 'limits in memory'}, embedded PostgreSQL with durable commits\n\n`,
);
process.stdout.write('| endpoint | requests/s | of bare | p99 ms | SQL | Redis |\n|---|---|---|---|---|---|\n');
process.stdout.write(`| bare node:http | ${Math.round(floor.perSecond)} | 1.00 | ${floor.p99} | 0 | 0 |\n`);
for (const { name, perSecond, p99 } of rows) {
  const cost = costs.get(name);
  process.stdout.write(
    `| ${name} | ${Math.round(perSecond)} | ${(perSecond / floor.perSecond).toFixed(2)} | ${p99} | ${cost?.sql} | ${cost?.redis} |\n`,
  );
}

await app.stop();
bare.close();
client?.disconnect();
await redis?.stop();
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
