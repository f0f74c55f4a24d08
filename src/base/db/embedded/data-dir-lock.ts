import { randomUUID } from 'node:crypto';
import { readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemMs } from '../../clock.ts';
import { errorCode, ignoreMissing } from '../error-code.ts';
import { processStart } from './process-start.ts';

/**
 * How long a lock is believed whose owner cannot be looked up from here, because it runs in another
 * container.
 */
const unseenOwnerMs = 30_000;

export interface DataDirLock {
  release(): Promise<void>;
}

interface Owner {
  readonly pid: number;
  readonly started: string;
  /** Where the process id is valid: one boot of one machine, seen from one PID namespace. */
  readonly place: string;
  readonly token: string;
}

/**
 * Takes the lock file, or throws `refusal` while its owner runs. The lock of an owner that ended by
 * SIGKILL or power loss is taken over.
 */
export async function takeDataDirLock(file: string, refusal: string): Promise<DataDirLock> {
  const started = await processStart(process.pid);
  const own: Owner = { pid: process.pid, started: started ?? '', place: await thisPlace(), token: randomUUID() };
  const text = JSON.stringify(own);
  for (;;) {
    try {
      await writeFile(file, text, { flag: 'wx', mode: 0o600 });
      return { release: () => removeIfSame(file, text) };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    const found = await readFile(file, 'utf8').catch(ignoreMissing);
    if (found === undefined) continue;
    const owner = parseOwner(found);
    if (owner?.place === own.place) {
      if ((await processStart(owner.pid)) === owner.started) throw new Error(refusal);
    } else if (await youngerThan(file, unseenOwnerMs)) {
      // The file is half written, or comes from another container. A later step asks the cluster's
      // socket whether a gateway owns the server.
      await sleep(100);
      continue;
    }
    await removeIfSame(file, found);
  }
}

async function thisPlace(): Promise<string> {
  if (process.platform !== 'linux') return hostname();
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`;
}

function parseOwner(text: string): Owner | null {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return null;
  }
}

/**
 * Removes the file if it still says `text`. Another process may have put its own lock there between
 * the read and the removal. So the file is first moved to a private name, and moved back if it is
 * not the one meant. A third process may slip in meanwhile; then PostgreSQL's own lock on its
 * cluster lets only one of them go on.
 */
async function removeIfSame(file: string, text: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    return ignoreMissing(error);
  }
  if ((await readFile(aside, 'utf8')) === text) await rm(aside);
  else await rename(aside, file);
}

async function youngerThan(file: string, ms: number): Promise<boolean> {
  const found = await stat(file).catch(ignoreMissing);
  return found !== undefined && systemMs() - found.mtimeMs < ms;
}
