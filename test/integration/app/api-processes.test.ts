import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { replacementDelayMs } from '../../../src/app/api-processes.ts';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../../support/database/redis.ts';
import { ask, steadyLoad } from '../../support/faults/steady-load.ts';
import { builtScript } from '../../support/gateway/built-process.ts';
import { childrenOf, connectionsOf } from '../../support/gateway/process-group.ts';
import { programEnvironment } from '../../support/gateway/program-environment.ts';
import { freePort } from '../../support/http/local-server.ts';

// A start is slow while other tests run, and here one waits for the other.
jest.setTimeout(180_000);

/** An api gateway of several processes, from its sources, as the build may be older. */
class Gateway {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  output = '';

  constructor(settings: Record<string, string>) {
    const { PATH = '', HOME = '' } = process.env;
    const own = { ROLE: 'api', API_PROCESSES: '2', LOG_LEVEL: 'error' };
    this.#child = spawn(process.execPath, [builtScript('main.js')], {
      env: programEnvironment({ PATH, HOME, NODE_ENV: 'production', ...own, ...settings }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const hear = (data: Buffer): void => {
      this.output += data;
    };
    this.#child.stdout?.on('data', hear);
    this.#child.stderr?.on('data', hear);
    this.ended = new Promise((resolve) => this.#child.once('close', resolve));
    running.add(this);
    void this.ended.then(() => running.delete(this));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (let i = 0; i < 3_000; i++) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.#child.exitCode !== null) break;
      await sleep(50);
    }
    throw new Error(`did not print ${pattern}:\n${this.output}`);
  }

  /** Two processes that are not among these, once they live. */
  async processes(before: readonly number[] = []): Promise<number[]> {
    for (let i = 0; i < 3_000; i++) {
      const pids = await childrenOf(this.pid);
      if (pids.length === 2 && pids.every((pid) => !before.includes(pid))) return pids;
      await sleep(50);
    }
    throw new Error(`the processes were not replaced:\n${this.output}`);
  }
}

const running = new Set<Gateway>();
const countOf = (text: string, part: string) => text.split(part).length - 1;

describeWithRedis('api processes behind one port', () => {
  let redis: TestRedis;
  let database: TestDatabase;
  let folder: string;
  let settings: Record<string, string>;
  let gateway: Gateway;
  let rest: string;
  let internal: string;

  beforeAll(async () => {
    redis = await startRedis();
    database = await createDatabase('empty');
    folder = await mkdtemp(join(tmpdir(), 'gateway-processes-'));
    settings = {
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      REQUIRE_DURABLE_COMMITS: 'false',
      PORT: '0',
      INTERNAL_PORT: '0',
      DRAIN_GRACE_LOCAL_MS: '300',
      RATE_LIMIT_PUBLIC_PER_MIN: '1000000',
      RATE_LIMIT_PARTNER_PER_MIN: '600',
    };
    // The probe of the last drain finds it in time on a busy machine too.
    gateway = new Gateway({ ...settings, DRAIN_GRACE_LOCAL_MS: '5000' });
    const [, restUrl, internalUrl] = await gateway.printed(/^ready rest=(\S+) internal=(\S+)$/m);
    rest = restUrl ?? '';
    internal = internalUrl ?? '';
  });

  afterAll(async () => {
    for (const left of running) left.signal('SIGTERM');
    await Promise.all([...running].map((left) => left.ended));
    await database?.drop();
    await redis?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  it('start once on an empty database, and say so in one line that ends the output', () => {
    expect(countOf(gateway.output, 'migrated the database')).toBe(1);
    expect(countOf(gateway.output, 'demo partner key, shown this once')).toBe(1);
    expect(countOf(gateway.output, 'ready rest=')).toBe(1);
    expect(gateway.output.trimEnd().split('\n').at(-1)).toMatch(/^ready /);
  });

  it('take connections in turn', async () => {
    const agents = Array.from({ length: 10 }, () => new Agent({ keepAlive: true }));
    for (const agent of agents) expect(await ask(`${rest}/currencies`, agent)).toBe(200);
    const port = Number.parseInt(new URL(rest).port, 10);
    const held = await Promise.all((await gateway.processes()).map((pid) => connectionsOf(pid, port)));
    expect(held).toEqual([5, 5]);
    for (const agent of agents) agent.destroy();
  });

  it('answer probes and WebSockets of staff on one internal port', async () => {
    const [, token = ''] = await gateway.printed(/staff token of \S+ \(admin\), shown this once: (\S+)/);
    const url = `${internal.replace('http', 'ws')}/graphql`;
    const sockets = Array.from(
      { length: 4 },
      () => new WebSocket(url, 'graphql-transport-ws', { headers: { Authorization: `Bearer ${token}` } }),
    );
    const replies = sockets.map(
      (socket) =>
        new Promise((resolve, reject) => {
          socket.once('error', reject);
          socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })));
          socket.once('message', (data) => resolve(JSON.parse(String(data)).type));
        }),
    );
    expect(await Promise.all(replies)).toEqual(sockets.map(() => 'connection_ack'));
    for (const socket of sockets) socket.terminate();
    for (let i = 0; i < 4; i++) expect((await fetch(`${internal}/readyz`)).status).toBe(200);
  });

  it('report the requests of all processes from each process', async () => {
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true }));
    const counted = async (): Promise<number[]> => {
      const texts = await Promise.all(agents.map(() => fetch(`${internal}/metrics`).then((reply) => reply.text())));
      const sample =
        /^http_server_request_duration_seconds_count\{method="GET",route="\/api\/v1\/currencies",status="200"\} (\d+)$/m;
      return texts.map((text) => Number(sample.exec(text)?.[1] ?? 0));
    };
    const [before = 0] = await counted();
    for (const agent of agents) for (let i = 0; i < 5; i++) await ask(`${rest}/currencies`, agent);
    expect(await counted()).toEqual(Array(4).fill(before + 20));
    for (const agent of agents) agent.destroy();
  });

  it("count a partner's limit together, exactly", async () => {
    const [, key] = await gateway.printed(/demo partner key, shown this once: (\S+)/);
    const headers = { Authorization: `Bearer ${key}` };
    const url = `${rest}/partner/rates?coin_from=BTC&coin_to=USDT&network_to=TRC20&amount=0.1`;
    const statuses: number[] = [];
    const client = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true });
      for (let i = 0; i < 100; i++) statuses.push(await ask(url, agent, headers));
      agent.destroy();
    };
    await Promise.all(Array.from({ length: 8 }, client));
    expect(statuses.filter((status) => status === 200)).toHaveLength(600);
    expect(statuses.filter((status) => status === 429)).toHaveLength(200);
  });

  it('are replaced when they are killed, while the others answer', async () => {
    const before = await gateway.processes();
    const [victim = 0, other = 0] = before;
    process.kill(victim, 'SIGKILL');
    while ((await childrenOf(gateway.pid)).includes(victim)) await sleep(10);
    const agent = new Agent();
    for (let i = 0; i < 20; i++) expect(await ask(`${rest}/currencies`, agent)).toBe(200);
    const [, replacement = ''] = await gateway.printed(/^api process (\d+) is ready$/m);
    expect(await gateway.processes([victim])).toEqual([other, Number.parseInt(replacement, 10)]);
    expect(gateway.output).toContain(`api process ${victim} ended (SIGKILL); another takes its place`);
  });

  it('are replaced one by one at SIGUSR2, without a failed request or an unready probe', async () => {
    const before = await gateway.processes();
    const load = steadyLoad(`${rest}/currencies`);
    const probes = steadyLoad(`${internal}/readyz`, 2);
    gateway.signal('SIGUSR2');
    await gateway.printed(/^replaced 2 api processes$/m);
    await Promise.all([load.stop(), probes.stop()]);
    expect(load.failures).toEqual([]);
    // On a busy machine PostgreSQL may answer a probe too late, which no replacement causes.
    expect(probes.failures.filter((failure) => !failure.includes('PostgreSQL does not answer'))).toEqual([]);
    expect(load.answered).toBeGreaterThan(100);
    await gateway.processes(before);
  });

  it('stay when no new one can start', async () => {
    const before = await gateway.processes();
    const [pepper] = await query<{ value: string }>(database.url, `select value from setting where name = 'pepper:1'`);
    await query(database.url, `update setting set value = 'of another' where name = 'pepper:1'`);
    gateway.signal('SIGUSR2');
    await gateway.printed(/is not the pepper that.*\napi process \d+ stays, as its replacement did not start/);
    expect(await gateway.processes()).toEqual(before);
    await query(database.url, `update setting set value = $1 where name = 'pepper:1'`, [pepper?.value]);
    const agent = new Agent();
    for (let i = 0; i < 4; i++) expect(await ask(`${rest}/currencies`, agent)).toBe(200);
  });

  it('are replaced when they are asked to end, all at once even, without a failed request', async () => {
    const before = await gateway.processes();
    const load = steadyLoad(`${rest}/currencies`);
    for (const pid of before) process.kill(pid, 'SIGTERM');
    await gateway.processes(before);
    await load.stop();
    expect(load.failures).toEqual([]);
  });

  it('drain together at SIGTERM: unready at once, requests still answered, exit 0', async () => {
    const pids = await gateway.processes();
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true }));
    for (const agent of agents) await ask(`${rest}/currencies`, agent);
    const begun = Date.now();
    gateway.signal('SIGTERM');
    while ((await fetch(`${internal}/readyz`)).status !== 503) await sleep(10);
    for (const agent of agents) expect(await ask(`${rest}/currencies`, agent)).toBe(200);
    expect(await gateway.ended).toBe(0);
    expect(Date.now() - begun).toBeLessThan(60_000);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    for (const agent of agents) agent.destroy();
  });

  it('end at SIGTERM while they start', async () => {
    const early = new Gateway(settings);
    while ((await childrenOf(early.pid)).length < 2) await sleep(10);
    early.signal('SIGTERM');
    expect(await early.ended).toBe(0);
    expect(early.output).not.toMatch(/cannot start|ready rest/);
  });

  it('say once why they cannot start, and end with 1', async () => {
    const holder = createServer();
    const taken = await freePort();
    await new Promise<void>((resolve) => holder.listen(taken, '127.0.0.1', resolve));
    const refused = new Gateway({ ...settings, PORT: String(taken) });
    expect(await refused.ended).toBe(1);
    expect(countOf(refused.output, 'cannot start')).toBe(1);
    expect(refused.output).toContain(`port ${taken} is in use`);
    await new Promise((resolve) => holder.close(resolve));
  });

  it('end with 1 when all were killed and no new one can start', async () => {
    const doomed = new Gateway(settings);
    await doomed.printed(/^ready /m);
    await query(database.url, `update setting set value = 'of another' where name = 'pepper:1'`);
    for (const pid of await doomed.processes()) process.kill(pid, 'SIGKILL');
    expect(await doomed.ended).toBe(1);
    expect(doomed.output).toMatch(/is not the pepper that.*\nno api process is left/);
  });

  it('refuse settings once, before any of them starts', async () => {
    const refused = new Gateway({ ...settings, REDIS_URL: '' });
    expect(await refused.ended).toBe(1);
    expect(refused.output.trim()).toBe(
      'cannot start, one setting is wrong:\n  - API_PROCESSES=2 starts several processes, which needs REDIS_URL (for example redis://127.0.0.1:6379), where they count the same limits; or set API_PROCESSES=1',
    );
  });
});

describe('the delay before a process is replaced', () => {
  it('is none at first, and grows to half a minute', () => {
    expect([1, 2, 3, 4, 100].map(replacementDelayMs)).toEqual([0, 250, 500, 1_000, 30_000]);
  });
});
