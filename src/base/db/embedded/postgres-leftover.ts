import { readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, ignoreMissing } from '../error-code.ts';
import { openSocketFolder, serverState, socketFile } from './postgres-cluster.ts';
import { processCommand, processGone, processStart } from './process-start.ts';

/**
 * Ends the server that a dead gateway left behind, and removes files that would block the next one.
 * Returns true when the last server did not end in order. The caller holds the lock of the data
 * folder.
 *
 * @throws Error with `refusal` when a gateway that cannot be seen from here, for example in another
 *   container, owns the server.
 */
export async function endLeftoverServer(
  cluster: string,
  password: string,
  refusal: string,
  onProgress: (line: string) => void,
): Promise<boolean> {
  const written = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(ignoreMissing);
  if (written === undefined) return false;
  const socket = openSocketFolder(cluster);
  const access = { host: socket.host, password };
  try {
    // The session of a gateway that was killed just now takes a moment to end.
    for (let attempt = 0; (await serverState(access)) === 'owned'; attempt++) {
      if (attempt >= 20) throw new Error(refusal);
      await sleep(50);
    }
    const pid = Number.parseInt(written, 10);
    const start = await processStart(pid);
    if (start !== null && (await isServerOf(cluster, pid))) {
      onProgress(`stopping the PostgreSQL that an earlier gateway left behind in ${cluster}`);
      await endProcess(pid, start);
    } else if ((await serverState(access)) !== 'none') {
      throw new Error(refusal);
    } else if (start !== null) {
      // PostgreSQL trusts the process id alone, so an unrelated process with the same id would
      // block the start.
      for (const name of ['postmaster.pid', `${socketFile}.lock`]) await rm(join(cluster, name), { force: true });
    }
  } finally {
    socket.close();
  }
  return true;
}

async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  const command = await processCommand(pid);
  if (!command || basename(command.args[0] ?? '') !== 'postgres') return false;
  if (command.text.includes(` -D ${cluster} `)) return true;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => null)) === cluster;
}

async function endProcess(pid: number, start: string): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGINT', 15_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error;
    }
    if (await processGone(pid, start, timeoutMs)) return;
  }
  throw new Error(`the PostgreSQL with process id ${pid}, left behind by an earlier gateway, does not end: stop it`);
}
