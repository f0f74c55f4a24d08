import { mkdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { takeDataDirLock } from './data-dir-lock.ts';
import {
  type ClusterAccess,
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
import { closeLogins, isWrongPassword, openLogins, readPassword } from './postgres-password.ts';
import { type PostgresServerOptions, startPostgresServer } from './postgres-server.ts';

/**
 * How to connect; `url` says the same. `host` is a folder: the server listens on a Unix socket in
 * it and nowhere else.
 */
interface EmbeddedPostgresConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export interface EmbeddedPostgres {
  /**
   * For pg and MikroORM, in this process only: the path of a deep folder goes through a file
   * descriptor of this process.
   */
  readonly url: string;
  readonly connection: EmbeddedPostgresConnection;
  /**
   * Shuts the server down in order and ends every connection to it. Calling it again is safe, also
   * after the server has died.
   */
  stop(): Promise<void>;
}

interface EmbeddedPostgresOptions extends PostgresServerOptions {
  readonly dataDir: string;
  /** Created when missing; 'gateway' by default. */
  readonly database?: string;
  readonly onProgress?: (line: string) => void;
  /**
   * Called when the server died without `stop()`. It is not started again, and `stop()` must still
   * be called.
   */
  readonly onUnexpectedExit?: (detail: string) => void;
}

/**
 * Starts a PostgreSQL server in `dataDir`, and makes its cluster first when there is none. The
 * server ends with `stop()`, or at the latest with this process. Leftovers of an earlier process do
 * not block the start.
 *
 * @throws Error whose message says what to do, for example when a gateway already runs on the
 *   folder.
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
    // A server refuses a wrong password, and the client already an empty one.
    const unclean = await endLeftoverServer(cluster, readPassword(dataDir) || 'none', refusal, onProgress);
    await ensureCluster(cluster, launcher, ephemeral, onProgress);
    const { password, isOpen } = await openLogins(dataDir, cluster, launcher);
    const socket = openSocketFolder(cluster);
    cleanUp.push(socket.close);
    onProgress(`starting PostgreSQL ${launcher.major} in ${cluster}`);
    const access = { host: socket.host, password };
    const server = await startPostgresServer(launcher, cluster, access, unclean, options);
    cleanUp.push(server.stop);
    if (isOpen) await closeLogins(cluster, launcher, access);
    const owner = await holdOwnership(access, refusal);
    cleanUp.push(owner.end);
    await createDatabase(owner.client, database);
    void server.ended.then((how) => {
      if (cleanUp.length > 0)
        options.onUnexpectedExit?.(`PostgreSQL ended unexpectedly (${how})\n${server.lastLines()}`);
    });
    let stopped: Promise<void> | undefined;
    return {
      ...describe(access, database),
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
 * Finds the server of a gateway that runs on `dataDir` now, for command-line tools; null when none
 * does. The caller closes it.
 */
export async function findRunningEmbeddedPostgres(
  dataDir: string,
  database = 'gateway',
): Promise<{ url: string; connection: EmbeddedPostgresConnection; close: () => void } | null> {
  try {
    const folder = await realpath(dataDir);
    const socket = openSocketFolder(join(folder, 'postgres'));
    const access = { host: socket.host, password: readPassword(folder) };
    if ((await serverState(access)) === 'owned') return { ...describe(access, database), close: socket.close };
    socket.close();
    return null;
  } catch (error) {
    if (isNotServing(error)) return null;
    throw explained(error, dataDir);
  }
}

function describe(
  { host, password }: ClusterAccess,
  database: string,
): { url: string; connection: EmbeddedPostgresConnection } {
  const place = `${encodeURIComponent(host)}:${socketPort}/${encodeURIComponent(database)}`;
  const url = `postgres://${superuser}:${password}@${place}`;
  return { url, connection: { host, port: socketPort, user: superuser, password, database } };
}

/**
 * Makes the data folder. Under root, other users may pass through it, because PostgreSQL then runs
 * as another user. The files in the folder are private by their own modes.
 */
async function makeDataDir(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: process.geteuid?.() === 0 ? 0o711 : 0o700 });
    return await realpath(dataDir);
  } catch (error) {
    throw explained(error, dataDir);
  }
}

/** Adds the remedy to an error of the file system, which names only a path and a code. */
function explained(error: unknown, dataDir: string): unknown {
  if (isWrongPassword(error)) {
    return new Error(
      `the PostgreSQL in DATA_DIR ${dataDir} has another password than its file postgres-password: stop what runs there, remove the file, and the next start makes another`,
      { cause: error },
    );
  }
  if (typeof error !== 'object' || error === null || !('syscall' in error && 'message' in error)) return error;
  return new Error(
    `cannot use DATA_DIR ${dataDir}: ${error.message}; run as the user who made it, choose another folder, or ${otherDatabase}`,
    { cause: error },
  );
}

/**
 * Keeps a session that marks the server as owned by a gateway. If the session breaks while the
 * server runs, for example because an administrator ended it, it is opened again. The lock file
 * covers the gap.
 */
async function holdOwnership(
  access: ClusterAccess,
  refusal: string,
): Promise<{ client: Client; end: () => Promise<void> }> {
  let ending = false;
  const hold = async (): Promise<Client> => {
    const client = await connectToCluster(access);
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
