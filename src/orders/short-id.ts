import { randomInt } from 'node:crypto';
import { validate as isUuid } from 'uuid';

/** Crockford's base 32: no I, L, O or U, so that nobody misreads a letter. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const shortIdForm = /^[A-Z][A-Z0-9]{0,7}-[A-Z0-9]{6}$/;

/** A random short id, `<PREFIX>-<6 characters>`. Uniqueness is the database's to decide. */
export function randomShortId(prefix: string): string {
  return `${prefix}-${Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('')}`;
}

/** The stored form of a short id in either case; null when the text is not one. */
function canonicalShortId(text: string): string | null {
  const upper = text.toUpperCase();
  return /^[\x21-\x7e]{8,15}$/.test(text) && shortIdForm.test(upper) ? upper : null;
}

/** How the order is looked up that a text names, by short id or UUID in either case; null when it is neither. */
export function orderNamed(text: string): { shortId: string } | { id: string } | null {
  const shortId = canonicalShortId(text);
  if (shortId) return { shortId };
  return isUuid(text) ? { id: text.toLowerCase() } : null;
}
