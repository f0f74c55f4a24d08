import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemMs } from '../../clock.ts';
import { type ClusterAccess, connectToCluster, isNotServing, keepLastLines, socketPort } from './postgres-cluster.ts';
import type { PostgresLauncher } from './postgres-launcher.ts';

/**
 * Recovery after a crash replays at most `max_wal_size`, which takes seconds; this limit is far
 * beyond.
 */
const readyTimeoutMs = 300_000;

export interface PostgresServerOptions {
  /** For tests: commits may be lost with the machine. */
  readonly ephemeral?: boolean;
  readonly maxConnections?: number;
}

/** A running server process. */
interface PostgresServer {
  /** Resolves with how the server ended, at any time. */
  readonly ended: Promise<string>;
  readonly lastLines: () => string;
  readonly stop: () => Promise<void>;
}

/**
 * Runs the server and waits until it answers.
 *
 * @param unclean the last server did not end in order, so that a first failed start is retried
 */
export async function startPostgresServer(
  launcher: PostgresLauncher,
  cluster: string,
  access: ClusterAccess,
  unclean: boolean,
  options: PostgresServerOptions,
): Promise<PostgresServer> {
  // After a server was killed, its child processes may hold the shared memory for a moment, which
  // makes the next server end.
  const retryUntil = systemMs() + (unclean ? 5_000 : 0);
  for (;;) {
    const server = runServer(launcher, cluster, options);
    const how = await Promise.race([server.ended, whenServing(access, server)]).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    if (how === 'serving') return server;
    if (systemMs() >= retryUntil) throw new Error(`PostgreSQL did not start (${how})\n${server.lastLines()}`);
    await sleep(250);
  }
}

function runServer(launcher: PostgresLauncher, cluster: string, options: PostgresServerOptions): PostgresServer {
  const durable = options.ephemeral ? 'off' : 'on';
  const settings = {
    listen_addresses: '',
    // Relative to the cluster, so that the limit on a socket's path does not apply; the folder is
    // private.
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    port: socketPort,
    max_connections: options.maxConnections ?? 100,
    shared_buffers: '64MB',
    fsync: durable,
    synchronous_commit: durable,
    full_page_writes: durable,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // In files of the cluster, so that a killed server leaves nothing in /dev/shm.
    dynamic_shared_memory_type: 'mmap',
    logging_collector: 'off',
    log_destination: 'stderr',
    // Logs the life of the server only. Failed statements are reported to their callers, and their
    // text may hold secrets.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = launcher.spawn('postgres', ['-D', cluster, ...args]);
  const lastLines = keepLastLines(child.stderr);
  let running = true;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      running = false;
      resolve(error.message);
    });
    child.once('exit', async (code, signal) => {
      running = false;
      // Waits for the last log lines; a process that the server left behind may keep the stream
      // open.
      await Promise.race([once(child, 'close'), sleep(500)]);
      resolve(signal ?? `exit code ${code}`);
    });
  });
  const stop = async () => {
    for (const [signal, timeoutMs] of [
      ['SIGINT', 30_000],
      ['SIGQUIT', 5_000],
      ['SIGKILL', 5_000],
    ] as const) {
      if (!running) break;
      child.kill(signal);
      const timer = new AbortController();
      await Promise.race([ended, sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => {})]);
      timer.abort();
    }
    await ended;
  };
  return { ended, lastLines, stop };
}

async function whenServing(access: ClusterAccess, server: PostgresServer): Promise<'serving'> {
  let ended = false;
  void server.ended.then(() => {
    ended = true;
  });
  for (const deadline = systemMs() + readyTimeoutMs; !ended && systemMs() < deadline; await sleep(20)) {
    try {
      await (await connectToCluster(access)).end();
      return 'serving';
    } catch (error) {
      if (!isNotServing(error)) throw error;
    }
  }
  throw new Error(`PostgreSQL is not ready after ${readyTimeoutMs / 1000} seconds\n${server.lastLines()}`);
}
