import { randomUUID } from 'node:crypto';
import { validate as isUuid } from 'uuid';

/** Crockford's base 32: no I, L, O or U, which are easily misread. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const shortIdForm = /^[A-Z][A-Z0-9]{0,7}-[A-Z0-9]{6}$/;

/**
 * Draws a random short id, `<PREFIX>-<6 characters>`. The database decides whether it is unique.
 */
export function randomShortId(prefix: string): string {
  let text = `${prefix}-`;
  // Node draws UUIDs from bytes that it fetches in advance. Their first 32 bits are random.
  let bits = Number.parseInt(randomUUID().slice(0, 8), 16);
  for (let i = 0; i < 6; i++, bits >>>= 5) text += alphabet[bits & 31];
  return text;
}

/** Brings a short id in either case into its stored form. Null when the text is none. */
function canonicalShortId(text: string): string | null {
  const upper = text.toUpperCase();
  return /^[\x21-\x7e]{8,15}$/.test(text) && shortIdForm.test(upper) ? upper : null;
}

/** Parses a short id or a UUID, in either case. Null when the text is neither. */
export function orderNamed(text: string): { shortId: string } | { id: string } | null {
  const shortId = canonicalShortId(text);
  if (shortId) return { shortId };
  return isUuid(text) ? { id: text.toLowerCase() } : null;
}
