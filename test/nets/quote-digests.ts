import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The digests of quotes as they were when they were last renewed. */
export interface StoredDigests {
  readonly seed: number;
  readonly quotesOfBlock: number;
  /** SHA-256 of each block, in hexadecimal digits. */
  readonly digests: readonly string[];
}

export const storedDigestsPath = fileURLToPath(new URL('quotes.json', import.meta.url));

export function storedDigests(): StoredDigests {
  return JSON.parse(readFileSync(storedDigestsPath, 'utf8')) as StoredDigests;
}

/** The numbers of the blocks whose digest is not the expected one. */
export function differingBlocks(found: readonly string[], expected: readonly string[]): number[] {
  return found.flatMap((digest, block) => (digest === expected[block] ? [] : [block]));
}
