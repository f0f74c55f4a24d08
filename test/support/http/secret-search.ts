import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Something that must not be found, in one of the forms that a program may hold it in. */
export interface Needle {
  readonly name: string;
  readonly bytes: Buffer;
}

const chunkBytes = 4 * 2 ** 20;
const prefixBytes = 4;
const pageBytes = 4096;

/**
 * The forms of secret bytes: as they are, as V8 keeps a BigInt of them, and as texts of either
 * width.
 */
export function formsOf(name: string, secret: Uint8Array): Needle[] {
  const bytes = Buffer.from(secret);
  return [
    { name: `${name} as bytes`, bytes },
    { name: `${name} as a BigInt`, bytes: Buffer.from(bytes.toReversed()) },
    ...formsOfText(`${name} in hex`, bytes.toString('hex')),
    ...formsOfText(`${name} in base64`, bytes.toString('base64').replace(/=+$/, '')),
  ];
}

export function formsOfText(name: string, text: string): Needle[] {
  return [
    { name, bytes: Buffer.from(text, 'latin1') },
    { name: `${name}, wide`, bytes: Buffer.from(text, 'utf16le') },
  ];
}

/** Looks for many needles in one pass. */
export class SecretSearch {
  readonly #needles: readonly Needle[];
  readonly #byPrefix = new Map<number, Needle[]>();
  /** Which first two bytes any needle has. */
  readonly #starts = new Uint8Array(0x10000);
  readonly #longest: number;

  constructor(needles: readonly Needle[]) {
    this.#needles = needles;
    this.#longest = Math.max(...needles.map(({ bytes }) => bytes.length));
    for (const needle of needles) {
      if (needle.bytes.length <= prefixBytes) throw new Error(`${needle.name} is too short to look for`);
      const prefix = needle.bytes.readUInt32LE(0);
      this.#byPrefix.set(prefix, [...(this.#byPrefix.get(prefix) ?? []), needle]);
      this.#starts[needle.bytes.readUInt16LE(0)] = 1;
    }
  }

  get names(): readonly string[] {
    return this.#needles.map(({ name }) => name);
  }

  inBytes(bytes: Buffer, found: Set<string> = new Set()): Set<string> {
    // Locals, as this loop sees each byte of a process.
    const starts = this.#starts;
    const byPrefix = this.#byPrefix;
    const end = bytes.length - prefixBytes;
    let pair = bytes[0] ?? 0;
    for (let place = 0; place < end; place++) {
      const next = bytes[place + 1] as number;
      if (starts[pair | (next << 8)] === 1) {
        for (const { name, bytes: needle } of byPrefix.get(bytes.readUInt32LE(place)) ?? []) {
          if (bytes.compare(needle, 0, needle.length, place, Math.min(place + needle.length, bytes.length)) === 0) {
            found.add(name);
          }
        }
      }
      pair = next;
    }
    return found;
  }

  /**
   * In everything that a process can write to: its heap, its stacks and what lies outside the heap.
   * Linux only.
   */
  inMemory(pid: number): { found: Set<string>; bytes: number } {
    const memory = openSync(`/proc/${pid}/mem`, 'r');
    const pagemap = openSync(`/proc/${pid}/pagemap`, 'r');
    const chunk = Buffer.alloc(chunkBytes + this.#longest);
    const found = new Set<string>();
    let bytes = 0;
    try {
      for (const [from, to] of writableRegions(pid).flatMap((region) => usedParts(pagemap, region))) {
        for (let at = from; at < to; at += chunkBytes) {
          const length = readRegion(memory, chunk, at, Math.min(to - at, chunk.length));
          this.inBytes(chunk.subarray(0, length), found);
          bytes += Math.min(length, chunkBytes);
        }
      }
    } finally {
      closeSync(memory);
      closeSync(pagemap);
    }
    return { found, bytes };
  }

  inFile(path: string): Promise<Set<string>> {
    return readFile(path).then((bytes) => this.inBytes(bytes));
  }

  async inFolder(dir: string): Promise<Set<string>> {
    const found = new Set<string>();
    const entries = await readdir(dir, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((one) => one.isFile())) {
      this.inBytes(await readFile(join(entry.parentPath, entry.name)), found);
    }
    return found;
  }
}

function writableRegions(pid: number): [number, number][] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    return from && to ? [[Number.parseInt(from, 16), Number.parseInt(to, 16)]] : [];
  });
}

/** The runs of pages that were ever written: most of a region is only set aside. */
function usedParts(pagemap: number, [from, to]: [number, number]): [number, number][] {
  const pages = (to - from) / pageBytes;
  const entries = Buffer.alloc(pages * 8);
  const known = readSync(pagemap, entries, 0, entries.length, (from / pageBytes) * 8) / 8;
  const parts: [number, number][] = [];
  for (let page = 0; page < known; page++) {
    // Present in memory, or swapped out. https://docs.kernel.org/admin-guide/mm/pagemap.html
    if (((entries[page * 8 + 7] ?? 0) & 0xc0) === 0) continue;
    const at = from + page * pageBytes;
    const last = parts.at(-1);
    if (last?.[1] === at) last[1] = at + pageBytes;
    else parts.push([at, at + pageBytes]);
  }
  return parts;
}

/** What of a region can be read; memory may be given back at any moment. */
function readRegion(memory: number, chunk: Buffer, at: number, length: number): number {
  try {
    return readSync(memory, chunk, 0, length, at);
  } catch {
    return 0;
  }
}
