import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { chmod, chown, lchown, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Client } from 'pg';
import { errorCode, ignoreMissing } from '../error-code.ts';
import { SessionClient } from '../session-client.ts';
import { hasName, otherDatabase, type PostgresLauncher } from './postgres-launcher.ts';
import { processCommand, processGone, processStart } from './process-start.ts';

export const superuser = 'gateway';

/** Names the socket only: the server listens on no TCP port. */
export const socketPort = 5432;
export const socketFile = `.s.PGSQL.${socketPort}`;

/** A Unix socket's path must fit into `sun_path` with its terminating zero byte. */
const longestSocketPath = process.platform === 'linux' ? 107 : 103;

/**
 * The advisory lock in the database 'postgres'. The gateway that runs the cluster's server holds it
 * for its whole life.
 */
export const ownerLock = 7_310_010;

const initPrefix = 'postgres.init-';

/**
 * Makes the cluster if there is none. It is made under a draft name and renamed when complete. So a
 * crash at any moment leaves a whole cluster or none. The caller holds the lock of the data folder.
 */
export async function ensureCluster(
  cluster: string,
  launcher: PostgresLauncher,
  ephemeral: boolean,
  onProgress: (line: string) => void,
): Promise<void> {
  const dataDir = dirname(cluster);
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(initPrefix)) continue;
    await waitForInitdbServer(join(dataDir, name));
    await removeFolder(join(dataDir, name));
  }
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(ignoreMissing);
  if (version !== undefined) {
    if (version.trim() !== launcher.major) {
      throw new Error(
        `${cluster} was made by PostgreSQL ${version.trim()} and this gateway brings ${launcher.major}: move its data over with pg_dump, or ${otherDatabase}`,
      );
    }
    await giveAway(cluster, launcher);
    return;
  }
  if ((await readdir(cluster).catch(ignoreMissing))?.length) {
    throw new Error(`${cluster} holds something that is not a PostgreSQL cluster: move it away`);
  }
  onProgress(`initialising PostgreSQL ${launcher.major} in ${cluster}`);
  const draft = join(dataDir, `${initPrefix}${randomUUID().slice(0, 8)}`);
  await mkdir(draft, { mode: 0o700 });
  try {
    if (launcher.initdbOwner) await chown(draft, launcher.initdbOwner.uid, launcher.initdbOwner.gid);
    await runInitdb(draft, launcher, ephemeral);
    await giveAway(draft, launcher);
    await rename(draft, cluster);
  } catch (error) {
    await removeFolder(draft);
    throw error;
  }
  if (!ephemeral) await syncFolder(dataDir);
}

/**
 * Waits for the server of a killed initdb, which still ends in order and frees its shared memory.
 * If its files were removed first, it would crash and leave that memory behind.
 */
async function waitForInitdbServer(draft: string): Promise<void> {
  const written = await readFile(join(draft, 'postmaster.pid'), 'utf8').catch(ignoreMissing);
  // A server without a postmaster writes its process id as a negative number.
  const pid = Math.abs(Number.parseInt(written ?? '', 10));
  if (!pid) return;
  const start = await processStart(pid);
  const command = await processCommand(pid);
  if (start && basename(command?.args[0] ?? '') === 'postgres') await processGone(pid, start, 10_000);
}

async function runInitdb(folder: string, launcher: PostgresLauncher, ephemeral: boolean): Promise<void> {
  const child = launcher.spawn('initdb', [
    `--pgdata=${folder}`,
    `--username=${superuser}`,
    '--encoding=UTF8',
    // Both locales are part of PostgreSQL, so that no index depends on the C library of the
    // machine.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--data-checksums',
    '--auth-local=reject',
    '--auth-host=reject',
    // When initdb is interrupted, its server runs on until it ends. It must keep its files until
    // then.
    '--no-clean',
    ...(ephemeral ? ['--no-sync'] : []),
  ]);
  const lastLines = keepLastLines(child.stderr);
  const how = await once(child, 'close').then(
    ([code, signal]) => (code === 0 ? null : (signal ?? `exit code ${code}`)),
    (error: Error) => error.message,
  );
  if (how === null) return;
  const hint = hasName()
    ? `choose another DATA_DIR, or ${otherDatabase}`
    : `the user ${process.geteuid?.()} has no entry in /etc/passwd, which initdb needs: give it one, or ${otherDatabase}`;
  throw new Error(`initdb failed in ${dirname(folder)} (${how}): ${hint}\n${lastLines()}`);
}

/**
 * Gives the files of a cluster to the user that PostgreSQL runs as. A cluster that root copied
 * here, for example from a backup, belongs to root.
 */
async function giveAway(cluster: string, { owner }: PostgresLauncher): Promise<void> {
  if (!owner || (await stat(cluster)).uid === owner.uid) return;
  for (const name of await readdir(cluster, { recursive: true })) {
    await lchown(join(cluster, name), owner.uid, owner.gid);
  }
  await chmod(cluster, 0o700);
  await chown(cluster, owner.uid, owner.gid);
}

/**
 * Opens the socket's folder as a host that pg accepts. Close it when no connection needs it any
 * more.
 */
export function openSocketFolder(cluster: string): { host: string; close: () => void } {
  if (Buffer.byteLength(join(cluster, socketFile)) <= longestSocketPath) return { host: cluster, close: () => {} };
  if (process.platform !== 'linux') {
    throw new Error(
      `DATA_DIR is too deep for a socket, whose path is limited to ${longestSocketPath} bytes: choose a shorter one`,
    );
  }
  const descriptor = openSync(cluster, constants.O_RDONLY | constants.O_DIRECTORY);
  let open = true;
  return {
    host: `/proc/self/fd/${descriptor}`,
    close: () => {
      if (open) closeSync(descriptor);
      open = false;
    },
  };
}

/** Where a cluster's server listens, and its superuser's password; empty when there is none. */
export interface ClusterAccess {
  readonly host: string;
  readonly password: string;
}

/** Connects to the maintenance database, outside any pool. */
export async function connectToCluster({ host, password }: ClusterAccess): Promise<Client> {
  const client = new SessionClient({
    host,
    password,
    port: socketPort,
    user: superuser,
    database: 'postgres',
    application_name: 'gateway owner',
    connectionTimeoutMillis: 10_000,
  });
  // Without a listener, the end of PostgreSQL would be an uncaught exception in the gateway.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/**
 * Whether the error says that no server answers at the socket. The socket is missing, no process
 * listens on it, or the server is starting or stopping.
 */
export function isNotServing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === '57P03' || code === 'EPIPE';
}

/**
 * The state behind the socket.
 * - `none`: no server listens.
 * - `closed`: a server accepts no connection now.
 * - `owned`: a gateway owns the server.
 * - `orphan`: a server runs that no gateway owns.
 */
export async function serverState(access: ClusterAccess): Promise<'none' | 'closed' | 'owned' | 'orphan'> {
  let client: Client;
  try {
    client = await connectToCluster(access);
  } catch (error) {
    const code = errorCode(error);
    // The server is starting or stopping. Without a code, it was frozen until the timeout.
    if (code === '57P03' || code === undefined) return 'closed';
    if (isNotServing(error)) return 'none';
    throw error;
  }
  try {
    const held = await client.query(
      `select from pg_locks where locktype = 'advisory' and objid = $1 and objsubid = 1 and granted`,
      [ownerLock],
    );
    return held.rowCount ? 'owned' : 'orphan';
  } catch {
    return 'closed';
  } finally {
    await client.end();
  }
}

/** Reads a stream to its end and keeps its last lines, for error messages. */
export function keepLastLines(stream: Readable): () => string {
  const lines: string[] = [];
  createInterface({ input: stream }).on('line', (line) => {
    lines.push(line.slice(0, 500));
    if (lines.length > 50) lines.shift();
  });
  return () => lines.slice(-12).join('\n');
}

/** Removes a folder, with retries: a program that is about to end may still write files into it. */
async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  await handle.sync().finally(() => handle.close());
}
