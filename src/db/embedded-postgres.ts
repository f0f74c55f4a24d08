import { mkdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { takeDataDirLock } from './data-dir-lock.ts';
import {
  connectToCluster,
  ensureCluster,
  isNotServing,
  openSocketFolder,
  ownerLock,
  serverState,
  socketPort,
  superuser,
} from './postgres-cluster.ts';
import { findPostgresLauncher, otherDatabase } from './postgres-launcher.ts';
import { endLeftoverServer } from './postgres-leftover.ts';
import { type PostgresServerOptions, startPostgresServer } from './postgres-server.ts';

/** How to connect; the same in `url`. `host` is a folder: the server listens on a Unix socket in it and nowhere else. */
export interface EmbeddedPostgresConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string;
  readonly database: string;
}

export interface EmbeddedPostgres {
  /** For pg and MikroORM, in this process only: for a deep folder it goes through a descriptor of ours. */
  readonly url: string;
  readonly connection: EmbeddedPostgresConnection;
  /** Ends the server in order, with every connection to it. May be called again, also after the server has died. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions extends PostgresServerOptions {
  readonly dataDir: string;
  /** Created when missing; 'gateway' unless given. */
  readonly database?: string;
  readonly onProgress?: (line: string) => void;
  /** The server died although nobody stopped it; it is not started again. Calling stop() is still due. */
  readonly onUnexpectedExit?: (detail: string) => void;
}

/**
 * Starts a PostgreSQL of our own in `dataDir`, making its cluster first when there is none. It ends with stop(), or at
 * the latest with this process; what an earlier process left behind does not stand in the way.
 *
 * @throws Error whose message says what to do, among others when a gateway already runs on the folder.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database = 'gateway', onProgress = () => {}, ephemeral = false } = options;
  const dataDir = await makeDataDir(resolve(options.dataDir));
  const cluster = join(dataDir, 'postgres');
  const refusal = `DATA_DIR ${options.dataDir} is in use by another gateway; stop it, or set DATA_DIR to another folder`;
  const cleanUp: (() => void | Promise<void>)[] = [];
  const undo = async () => {
    const failures: unknown[] = [];
    for (const step of cleanUp.splice(0).reverse()) {
      await Promise.resolve()
        .then(step)
        .catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const lock = await takeDataDirLock(join(dataDir, 'postgres.lock'), refusal);
    cleanUp.push(() => lock.release());
    const launcher = await findPostgresLauncher(dataDir, cluster);
    const unclean = await endLeftoverServer(cluster, refusal, onProgress);
    await ensureCluster(cluster, launcher, ephemeral, onProgress);
    const socket = openSocketFolder(cluster);
    cleanUp.push(socket.close);
    onProgress(`starting PostgreSQL ${launcher.major} in ${cluster}`);
    const server = await startPostgresServer(launcher, cluster, socket.host, unclean, options);
    cleanUp.push(server.stop);
    const owner = await holdOwnership(socket.host, refusal);
    cleanUp.push(owner.end);
    await createDatabase(owner.client, database);
    void server.ended.then((how) => {
      if (cleanUp.length > 0)
        options.onUnexpectedExit?.(`PostgreSQL ended unexpectedly (${how})\n${server.lastLines()}`);
    });
    let stopped: Promise<void> | undefined;
    return {
      ...describe(socket.host, database),
      stop: () => {
        stopped ??= undo();
        return stopped;
      },
    };
  } catch (error) {
    await undo().catch(() => {});
    throw explained(error, options.dataDir);
  }
}

/**
 * The server of a gateway that runs on `dataDir` now, for command-line tools; null when none does. Close it at the end.
 */
export async function findRunningEmbeddedPostgres(
  dataDir: string,
  database = 'gateway',
): Promise<{ url: string; connection: EmbeddedPostgresConnection; close: () => void } | null> {
  try {
    const socket = openSocketFolder(join(await realpath(dataDir), 'postgres'));
    if ((await serverState(socket.host)) === 'owned')
      return { ...describe(socket.host, database), close: socket.close };
    socket.close();
    return null;
  } catch (error) {
    if (isNotServing(error)) return null;
    throw explained(error, dataDir);
  }
}

function describe(host: string, database: string): { url: string; connection: EmbeddedPostgresConnection } {
  const url = `postgres://${superuser}@${encodeURIComponent(host)}:${socketPort}/${encodeURIComponent(database)}`;
  return { url, connection: { host, port: socketPort, user: superuser, database } };
}

/** Only root lets others pass: PostgreSQL then runs as another user. What the folder holds is private by itself. */
async function makeDataDir(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: process.geteuid?.() === 0 ? 0o711 : 0o700 });
    return await realpath(dataDir);
  } catch (error) {
    throw explained(error, dataDir);
  }
}

/** Errors of the file system name a path and a code but no way out. */
function explained(error: unknown, dataDir: string): unknown {
  if (typeof error !== 'object' || error === null || !('syscall' in error && 'message' in error)) return error;
  return new Error(
    `cannot use DATA_DIR ${dataDir}: ${error.message}; run as the user who made it, choose another folder, or ${otherDatabase}`,
    { cause: error },
  );
}

/**
 * Keeps a session that says 'a gateway owns this server'. Should it break while the server runs, say because an
 * administrator ended it, it is opened again; the lock file guards the gap.
 */
async function holdOwnership(host: string, refusal: string): Promise<{ client: Client; end: () => Promise<void> }> {
  let ending = false;
  const hold = async (): Promise<Client> => {
    const client = await connectToCluster(host);
    const { rows } = await client.query('select pg_try_advisory_lock($1) as held', [ownerLock]);
    if (!rows[0]?.held) {
      await client.end();
      throw new Error(refusal);
    }
    client.once('end', () => void holdAgain());
    return client;
  };
  let current: Client | undefined = await hold();
  const holdAgain = async () => {
    current = undefined;
    while (!ending && !current) {
      await sleep(200, undefined, { ref: false });
      current = await hold().catch(() => undefined);
    }
    if (ending) await current?.end();
  };
  return {
    client: current,
    end: async () => {
      ending = true;
      await current?.end();
    },
  };
}

async function createDatabase(client: Client, name: string): Promise<void> {
  const found = await client.query('select from pg_database where datname = $1', [name]);
  if (!found.rowCount) await client.query(`create database ${client.escapeIdentifier(name)}`);
}
