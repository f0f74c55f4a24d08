import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { chmod, chown, lchown, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Client } from 'pg';
import { errorCode, ignoreMissing } from './error-code.ts';
import { hasName, otherDatabase, type PostgresLauncher } from './postgres-launcher.ts';
import { processCommand, processGone, processStart } from './process-start.ts';

export const superuser = 'gateway';

/** Only names the socket: nothing listens on TCP. */
export const socketPort = 5432;
export const socketFile = `.s.PGSQL.${socketPort}`;

/** A Unix socket's path must fit into `sun_path` with its closing zero. */
const longestSocketPath = process.platform === 'linux' ? 107 : 103;

/** The advisory lock in the database 'postgres' that the gateway which serves a cluster holds as long as it lives. */
export const ownerLock = 7_310_010;

const initPrefix = 'postgres.init-';

/**
 * Makes the cluster if there is none. It is made aside and renamed when complete, so that whatever ends us meanwhile,
 * there is a whole cluster or none. The caller holds the lock of the data folder.
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
    if (launcher.owner) await chown(draft, launcher.owner.uid, launcher.owner.gid);
    await runInitdb(draft, launcher, ephemeral);
    await rename(draft, cluster);
  } catch (error) {
    await removeFolder(draft);
    throw error;
  }
  if (!ephemeral) await syncFolder(dataDir);
}

/**
 * After initdb was killed, the server that it fed still ends in order, and frees its shared memory. Were its files gone
 * first, it would crash and leave that memory behind.
 */
async function waitForInitdbServer(draft: string): Promise<void> {
  const written = await readFile(join(draft, 'postmaster.pid'), 'utf8').catch(ignoreMissing);
  // A server without a postmaster writes its number as a negative one.
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
    // Both locales are part of PostgreSQL, so that no index depends on the C library of the machine.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--data-checksums',
    '--auth-local=trust',
    '--auth-host=reject',
    // When initdb is interrupted, its server goes on to its own end, which it must not lose its files before.
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

/** A cluster that root has copied here, say from a backup, belongs to root, whom PostgreSQL does not run as. */
async function giveAway(cluster: string, { owner }: PostgresLauncher): Promise<void> {
  if (!owner || (await stat(cluster)).uid === owner.uid) return;
  for (const name of await readdir(cluster, { recursive: true })) {
    await lchown(join(cluster, name), owner.uid, owner.gid);
  }
  await chmod(cluster, 0o700);
  await chown(cluster, owner.uid, owner.gid);
}

/** The folder of the socket, as a host that pg understands. Close it when nothing connects any more. */
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

/** A connection to the maintenance database, outside any pool. */
export async function connectToCluster(host: string): Promise<Client> {
  const client = new Client({
    host,
    port: socketPort,
    user: superuser,
    database: 'postgres',
    ssl: false,
    application_name: 'gateway owner',
    connectionTimeoutMillis: 10_000,
  });
  // Without a listener, PostgreSQL's end would be an uncaught exception of the gateway.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** True when the error says that nothing serves there now: no socket, nobody behind it, or starting or stopping. */
export function isNotServing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === '57P03' || code === 'EPIPE';
}

/** What is behind the socket: nobody, a server that lets nobody in now, one that a gateway owns, or one that none does. */
export async function serverState(host: string): Promise<'none' | 'closed' | 'owned' | 'orphan'> {
  let client: Client;
  try {
    client = await connectToCluster(host);
  } catch (error) {
    const code = errorCode(error);
    // Starting or stopping; and without a code, frozen until the time was over.
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

/** Reads a stream to its end and remembers its last lines, for error messages. */
export function keepLastLines(stream: Readable): () => string {
  const lines: string[] = [];
  createInterface({ input: stream }).on('line', (line) => {
    lines.push(line.slice(0, 500));
    if (lines.length > 50) lines.shift();
  });
  return () => lines.slice(-12).join('\n');
}

/** A program that is about to end may still put files into the folder. */
async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  await handle.sync().finally(() => handle.close());
}
