import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Of a second, in which the kernel counts CPU time: USER_HZ, 100 on every Linux that Node runs on.
 */
const ticks = 100;

/** What the kernel says of a process from its state on, https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
async function statOf(pid: number): Promise<number[] | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return text === null
    ? null
    : text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
}

function inMs(...counted: readonly (number | undefined)[]): number {
  return (counted.reduce<number>((sum, some = 0) => sum + some, 0) * 1000) / ticks;
}

/** CPU time of a process since it began, in ms; null elsewhere than on Linux. */
export async function cpuMs(pid: number): Promise<number | null> {
  const stat = await statOf(pid);
  return stat && inMs(stat[11], stat[12]);
}

/** Memory of a process in MiB; null elsewhere than on Linux. */
export async function residentMiB(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1];
  return kib === undefined ? null : Number(kib) / 1024;
}

/**
 * CPU time of all processes of the embedded PostgreSQL, also of ended ones, in ms; null without
 * one.
 */
export async function postgresCpuMs(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const postmaster = Number.parseInt(text, 10);
  const own = postmaster > 0 ? await statOf(postmaster) : null;
  if (own === null) return null;
  let sum = inMs(own[11], own[12], own[13], own[14]);
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await statOf(Number(name)) : null;
    if (stat?.[1] === postmaster) sum += inMs(stat[11], stat[12]);
  }
  return sum;
}
