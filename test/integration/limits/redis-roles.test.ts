import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Limiter } from '../../../src/base/limits/limiter.ts';
import { createLog } from '../../../src/base/log.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../../support/database/redis.ts';
import { FaultProxy } from '../../support/faults/fault-proxy.ts';
import { startGateway } from '../../support/gateway/gateway.ts';

const bucket = { bucket: 'partner', key: 'a', limit: 1_000 } as const;
const place = (redis: TestRedis): { port: number; host: string } => ({
  port: Number(new URL(redis.url).port),
  host: '127.0.0.1',
});

describeWithRedis('a Redis in another role', () => {
  let servers: TestRedis[];
  let limiter: Limiter | undefined;
  let lines: string[];
  const admins: Redis[] = [];

  beforeEach(() => {
    servers = [];
    lines = [];
  });
  afterEach(async () => {
    limiter?.close();
    for (const admin of admins.splice(0)) admin.disconnect();
    for (const server of servers) await server.stop();
  });

  async function start(...args: string[]): Promise<[TestRedis, Redis]> {
    const server = await startRedis(...args);
    servers.push(server);
    const admin = new Redis(server.url);
    admins.push(admin);
    return [server, admin];
  }

  async function limits(redisUrl: string): Promise<Limiter> {
    const log = createLog('warn', { write: (line) => void lines.push(line) });
    limiter = new Limiter({ redisUrl, nodeCount: 1, log, replyMs: 5_000 });
    await limiter.ready(5_000);
    return limiter;
  }

  const logged = (): { event: string; code?: string; msg: string }[] => lines.map((line) => JSON.parse(line));

  it('counts at the new master once the old one has become its replica', async () => {
    const [first, firstAdmin] = await start();
    const [second, secondAdmin] = await start();
    const proxy = await FaultProxy.open(place(first));
    const counting = await limits(`redis://127.0.0.1:${proxy.port}`);
    await counting.consume(bucket);
    expect(await firstAdmin.get('xp:partner:a')).toBe('1');
    proxy.takeTurns(place(second));
    await firstAdmin.replicaof('127.0.0.1', place(second).port);
    let requests = 1;
    while ((await secondAdmin.get('xp:partner:a')) === null) {
      await counting.consume(bucket);
      requests++;
      await sleep(20);
    }
    expect(requests).toBeGreaterThan(2);
    expect(logged()).toEqual([
      expect.objectContaining({
        event: 'redis_away',
        code: 'READONLY',
        msg: 'Redis refuses to count; limits count in memory',
      }),
    ]);
    await proxy.close();
  });

  it('stays in memory while there is no master, and asks for new connections rarely', async () => {
    const [first, firstAdmin] = await start();
    const counting = await limits(first.url);
    await firstAdmin.replicaof('127.0.0.1', 1);
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await firstAdmin.info('stats'))?.[1]);
    const before = await connections();
    const began = performance.now();
    const verdicts: boolean[] = [];
    for (let request = 0; request < 100; request++) {
      verdicts.push((await counting.consume(bucket)).allowed);
      await sleep(5);
    }
    const seconds = Math.ceil((performance.now() - began) / 1000);
    expect(verdicts.every(Boolean)).toBe(true);
    expect((await connections()) - before).toBeGreaterThan(0);
    expect((await connections()) - before).toBeLessThanOrEqual(seconds);
  });

  it.each([
    ['OOM', (admin: Redis) => admin.config('SET', 'maxmemory', '1')],
    ['NOAUTH', (admin: Redis) => admin.config('SET', 'requirepass', 'secret')],
    ['NOPERM', (admin: Redis) => admin.acl('SETUSER', 'default', '-evalsha')],
  ])('is named in the log by its reply: %s', async (code, refuse) => {
    const [server, admin] = await start();
    const counting = await limits(server.url);
    await refuse(admin);
    if (code === 'NOAUTH') await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    while (logged().every((line) => line.code !== code)) {
      await counting.consume(bucket);
      await sleep(20);
    }
    expect(lines.join('')).not.toContain('secret');
  });

  it('is refused at the start when it is a part of a cluster', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'redis-cluster-'));
    const [cluster] = await start('--cluster-enabled', 'yes', '--dir', folder);
    await expect(startGateway({ settings: { REDIS_URL: cluster.url } })).rejects.toThrow(
      /^REDIS_URL leads to a server of Redis Cluster \(cluster_enabled:1\), which the gateway cannot use: name the address/,
    );
    await rm(folder, { recursive: true });
  });

  it('is refused at the start when it is a sentinel', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'redis-sentinel-'));
    const file = join(folder, 'sentinel.conf');
    await writeFile(file, '');
    const [sentinel] = await start(file, '--sentinel');
    await expect(startGateway({ settings: { REDIS_URL: sentinel.url } })).rejects.toThrow(
      /^REDIS_URL leads to a Redis Sentinel, which the gateway cannot use: name the address/,
    );
    await rm(folder, { recursive: true });
  });
});
