import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(8_192);
let used = pool.length;

/** The place of this many fresh random bytes in the pool. */
function take(length: number): number {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += length;
  return used - length;
}

/** RFC 9562, version 7. */
export function uuidv7(): string {
  const at = take(10);
  pool[at] = ((pool[at] ?? 0) & 0x0f) | 0x70;
  pool[at + 2] = ((pool[at + 2] ?? 0) & 0x3f) | 0x80;
  const time = Date.now().toString(16).padStart(12, '0');
  const random = pool.toString('hex', at, at + 10);
  return `${time.slice(0, 8)}-${time.slice(8)}-${random.slice(0, 4)}-${random.slice(4, 8)}-${random.slice(8)}`;
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `XP-` and six characters of Crockford's base 32. */
export function shortId(): string {
  const at = take(6);
  let text = 'XP-';
  for (let i = at; i < at + 6; i++) text += alphabet.charAt((pool[i] ?? 0) & 31);
  return text;
}
