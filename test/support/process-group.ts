import { readdir, readFile, readlink } from 'node:fs/promises';

/** The processes that this one started and that live, by their pids, oldest first. Linux only. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text
    .trim()
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => Number.parseInt(part, 10));
}

/** How many connections to the local port the process holds. Linux only. */
export async function connectionsOf(pid: number, port: number): Promise<number> {
  const established = '01';
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  const sockets = new Set(
    rows
      .filter(([, address, , state]) => address?.endsWith(local) && state === established)
      .map((row) => `socket:[${row[9]}]`),
  );
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  return links.filter((link) => sockets.has(link)).length;
}
