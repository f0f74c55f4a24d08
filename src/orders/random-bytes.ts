import { randomFillSync } from 'node:crypto';

/** How many bytes are requested from the system at a time: a call costs far more than its bytes. */
const block = Buffer.alloc(4_096);
let used = block.length;

/** Random bytes for ids and nonces, at most 64. No two calls share a byte. */
export function randomBytesAhead(length: number): Buffer {
  if (used + length > block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += length;
  return Buffer.from(block.subarray(used - length, used));
}
