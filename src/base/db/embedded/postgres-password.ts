import { chown, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { createSecretFile, readSecretFile } from '../../secret-file.ts';
import { errorCode, ignoreMissing } from '../error-code.ts';
import { type ClusterAccess, connectToCluster, superuser } from './postgres-cluster.ts';
import type { PostgresLauncher } from './postgres-launcher.ts';

/** Who may log in, by the socket; PostgreSQL refuses all that no line names. */
const logins = (method: string): string => `local all all ${method}\nlocal replication all ${method}\n`;
const byPassword = logins('scram-sha-256');
const byAll = logins('trust');

const fileOf = (dataDir: string): string => join(dataDir, 'postgres-password');

/** The superuser's password; empty when the folder has none, as before the first start. */
export function readPassword(dataDir: string): string {
  return readSecretFile(fileOf(dataDir)) ?? '';
}

/**
 * The superuser's password, made when the folder has none, and whether the cluster must still learn
 * it: the cluster is new, or the password is. Until `closeLogins`, the server then lets
 * in all who reach its socket, and only its own user does.
 */
export async function openLogins(
  dataDir: string,
  cluster: string,
  launcher: PostgresLauncher,
): Promise<{ password: string; isOpen: boolean }> {
  const stored = readPassword(dataDir);
  const present = await readFile(join(cluster, 'pg_hba.conf'), 'utf8').catch(ignoreMissing);
  const isOpen = stored === '' || present !== byPassword;
  // Before the file: a start that ends in between leaves no password that the cluster never learns.
  if (isOpen) await writeLogins(cluster, launcher, byAll);
  return { password: stored === '' ? await makePassword(dataDir) : stored, isOpen };
}

/**
 * The file belongs to the owner of the folder, who may start the gateway without root the next
 * time.
 */
async function makePassword(dataDir: string): Promise<string> {
  const password = createSecretFile(fileOf(dataDir));
  const { uid, gid } = await stat(dataDir);
  if (process.geteuid?.() === 0 && uid !== 0) await chown(fileOf(dataDir), uid, gid);
  return password;
}

/** How long the server takes at most to read its file of logins again. */
const reloadMs = 10_000;

/**
 * Gives the superuser its password, and lets no session in without it from then on.
 *
 * @throws Error when the server reads its logins from a file elsewhere, or does not read them.
 */
export async function closeLogins(cluster: string, launcher: PostgresLauncher, access: ClusterAccess): Promise<void> {
  const client = await connectToCluster(access);
  try {
    await requireOwnFile(client, cluster);
    // One round of hashing is enough for 256 random bits, and each login pays for the rounds.
    await client.query('set scram_iterations = 1');
    await client.query(`alter role ${superuser} password ${client.escapeLiteral(access.password)}`);
    await writeLogins(cluster, launcher, byPassword);
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
  const endsMs = performance.now() + reloadMs;
  while (await letsIn({ host: access.host, password: 'wrong' })) {
    if (performance.now() > endsMs) {
      throw new Error(`the PostgreSQL in ${cluster} still lets in sessions without a password; see its pg_hba.conf`);
    }
    await sleep(20);
  }
}

/** @throws Error when the server takes its logins from another file than the cluster's own. */
async function requireOwnFile(client: Client, cluster: string): Promise<void> {
  const { rows } = await client.query<{ hba_file: string }>('show hba_file');
  const [used = '', own] = [rows[0]?.hba_file, join(cluster, 'pg_hba.conf')];
  if ((await realpath(used)) === (await realpath(own))) return;
  throw new Error(
    `the PostgreSQL in ${cluster} reads who may log in from ${used}, which the gateway does not write: remove hba_file from postgresql.conf and postgresql.auto.conf in that folder`,
  );
}

async function letsIn(access: ClusterAccess): Promise<boolean> {
  try {
    await (await connectToCluster(access)).end();
    return true;
  } catch (error) {
    if (isWrongPassword(error)) return false;
    throw error;
  }
}

async function writeLogins(cluster: string, { owner }: PostgresLauncher, text: string): Promise<void> {
  const file = join(cluster, 'pg_hba.conf');
  const draft = `${file}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  if (owner) await chown(draft, owner.uid, owner.gid);
  await rename(draft, file);
}

/** Whether the error says that the server wants another password. */
export function isWrongPassword(error: unknown): boolean {
  return errorCode(error) === '28P01';
}
