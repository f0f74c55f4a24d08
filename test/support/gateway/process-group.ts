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
  const sockets = await socketsOf(pid, 'tcp', established);
  return sockets.filter((address) => address.endsWith(local)).length;
}

/**
 * Where the process listens, as `127.0.0.1:8080`; an address of IPv6 as hexadecimal digits. Linux
 * only.
 */
export async function listenersOf(pid: number): Promise<string[]> {
  const listening = '0A';
  const sockets = await Promise.all([socketsOf(pid, 'tcp', listening), socketsOf(pid, 'tcp6', listening)]);
  const shown = sockets.flat().map((local) => {
    const [address = '', port = ''] = local.split(':');
    const host = address.length === 8 ? Buffer.from(address, 'hex').reverse().join('.') : address;
    return `${host}:${Number.parseInt(port, 16)}`;
  });
  return shown.sort();
}

/** The local addresses of a process's sockets in a state, as the kernel writes them. */
async function socketsOf(pid: number, protocol: 'tcp' | 'tcp6', wanted: string): Promise<string[]> {
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  const own = new Set(links);
  const rows = (await readFile(`/proc/net/${protocol}`, 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  return rows.flatMap(([, local = '', , state, , , , , , inode]) =>
    state === wanted && own.has(`socket:[${inode}]`) ? [local] : [],
  );
}
