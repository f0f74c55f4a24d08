import { existsSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { processesOn } from '../gateway/processes.ts';

const readable = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/**
 * What PostgreSQL servers hold outside their cluster: files in /dev/shm, System V memory and
 * sockets. Notes it while the servers run, so that servers which other programs run do not count.
 * Linux only.
 */
export class PostgresLeftovers {
  readonly #files = new Set<string>();
  readonly #segments = new Set<string>();

  /** Notes what the processes hold that work in or below the folder. */
  async note(folder: string): Promise<void> {
    for (const { pid } of await processesOn(folder)) {
      const maps = await readable(`/proc/${pid}/maps`);
      for (const [, path = ''] of maps.matchAll(/ (\/dev\/shm\/\S+)/g)) this.#files.add(path);
      // The column before the name is the number of the segment.
      for (const [, id = ''] of maps.matchAll(/ (\d+) +\/SYSV/g)) this.#segments.add(id);
      for (const path of await socketsOf(pid)) if (!path.startsWith(folder)) this.#files.add(path);
    }
  }

  /** What was noted and is still there. */
  async left(): Promise<string[]> {
    const segments = (await readable('/proc/sysvipc/shm')).split('\n').slice(1);
    const ids = new Set(segments.map((line) => line.trim().split(/\s+/)[1] ?? ''));
    return [
      ...[...this.#files].filter((path) => existsSync(path)),
      ...[...this.#segments].filter((id) => ids.has(id)).map((id) => `segment ${id}`),
    ];
  }

  /** How much was noted. Each server has a segment, so that a test sees that noting works. */
  get segments(): number {
    return this.#segments.size;
  }
}

/**
 * Where a process listens by a name in the file system; a name relative to its cluster is left out.
 */
async function socketsOf(pid: number): Promise<string[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  const inodes = new Set(targets.map((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1]));
  const rows = (await readable('/proc/net/unix')).split('\n').map((row) => row.trim().split(/\s+/));
  return rows.flatMap(([, , , , , , inode, path]) => (inodes.has(inode) && path?.startsWith('/') ? [path] : []));
}
