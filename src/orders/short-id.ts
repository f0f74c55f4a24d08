import { randomInt } from 'node:crypto';

/** Crockford's base 32: no I, L, O or U, so that nobody misreads a letter. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const shortIdForm = /^[A-Z][A-Z0-9]{0,7}-[A-Z0-9]{6}$/;

/** A random short id, `<PREFIX>-<6 characters>`. Uniqueness is the database's to decide. */
export function randomShortId(prefix: string): string {
  return `${prefix}-${Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('')}`;
}

/** The stored form of a short id in either case; null when the text is not one. */
export function canonicalShortId(text: string): string | null {
  const upper = text.toUpperCase();
  return /^[\x21-\x7e]{8,15}$/.test(text) && shortIdForm.test(upper) ? upper : null;
}
