import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemMs } from '../../clock.ts';

const run = promisify(execFile);

/**
 * The start time of a process, as text that is only good for comparing. A process id alone may
 * belong to another process by now. Null when the process no longer runs; a zombie does not run.
 */
export async function processStart(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') {
    const listed = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => null);
    return listed?.stdout.trim() || null;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The name in parentheses may hold any characters, also spaces and parentheses. The state follows
  // the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/**
 * The command, the arguments and the working folder of a process, as far as this user may see them.
 */
export async function processCommand(pid: number): Promise<{ args: string[]; text: string } | null> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
    return text ? { args: text.split('\0'), text: text.replaceAll('\0', ' ') } : null;
  }
  const listed = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => null);
  const text = listed?.stdout.trim();
  return text ? { args: text.split(' '), text } : null;
}

/**
 * Waits for the end of the process that began at `start`; false when it still runs after
 * `timeoutMs`.
 */
export async function processGone(pid: number, start: string, timeoutMs: number): Promise<boolean> {
  for (const deadline = systemMs() + timeoutMs; systemMs() < deadline; await sleep(20)) {
    if ((await processStart(pid)) !== start) return true;
  }
  return false;
}
