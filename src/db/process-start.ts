import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * When a process began, as text that is only good for comparing: a number alone may since belong to another process.
 * Null when it no longer runs; a zombie does not run.
 */
export async function processStart(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') {
    const listed = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => null);
    return listed?.stdout.trim() || null;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The name in parentheses may hold anything, also spaces and parentheses; the state follows the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** The command and arguments of a process as far as we may see them, and the folder it works in. */
export async function processCommand(pid: number): Promise<{ args: string[]; text: string } | null> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
    return text ? { args: text.split('\0'), text: text.replaceAll('\0', ' ') } : null;
  }
  const listed = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => null);
  const text = listed?.stdout.trim();
  return text ? { args: text.split(' '), text } : null;
}

/** True once the process that began at `start` is gone; false when it still runs after `timeoutMs`. */
export async function processGone(pid: number, start: string, timeoutMs: number): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(20)) {
    if ((await processStart(pid)) !== start) return true;
  }
  return false;
}
