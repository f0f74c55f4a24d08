import { type ChildProcess, spawn } from 'node:child_process';
import { Redis } from 'ioredis';
import { freePort } from '../http/local-server.ts';

/** Whether this machine has a redis-server to test with. */
const hasRedis = process.env.TEST_HAS_REDIS === 'yes';

/**
 * `describe` where there is a redis-server; elsewhere the tests are reported as skipped, and the
 * run says why.
 */
export const describeWithRedis = hasRedis ? globalThis.describe : globalThis.describe?.skip;

export interface TestRedis {
  readonly url: string;
  /** Stops answering without closing a connection, as a hung machine does. */
  hang(): void;
  resume(): void;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A redis-server of one's own, in memory only. `more` arguments come first, such as a file. Throws
 * with the server's output when it ends before it answers.
 */
export async function startRedis(...more: readonly string[]): Promise<TestRedis> {
  const port = await freePort();
  // A part of a cluster takes a second port, by default 10,000 above the first, which a connection
  // may have.
  const bus = more.includes('--cluster-enabled') ? ['--cluster-port', String(await freePort())] : [];
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess;

  async function start(): Promise<void> {
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    child = spawn('redis-server', [...more, ...bus, ...own], { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout?.on('data', (text) => {
      output = `${output}${text}`.slice(-2_000);
    });
    const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    client.on('error', () => {});
    const ended = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('close', () => reject(new Error(`redis-server ended before it answered: ${output}`)));
    });
    try {
      await Promise.race([client.ping(), ended]);
    } finally {
      client.disconnect();
    }
  }

  // A run that fails half way leaves no server behind.
  process.once('exit', () => child.kill('SIGKILL'));

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  await start();
  return {
    url,
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    restart: start,
    stop: kill,
  };
}
