import { createCipheriv, createDecipheriv, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { VersionedKey } from '../../accounts/partners/secret-key.ts';
import { AppError } from '../../base/errors.ts';

/** What the keys of `ListCursors` are derived for. */
export const cursorPurpose = 'list cursors';

/** 128 bits. A forger has one guess for each request. */
const macBytes = 16;
const version = /^(\d{1,9})\./;

/** The keys of one version: one for the MAC, one for the cipher. */
interface CursorKeys {
  readonly version: number;
  readonly mac: KeyObject;
  readonly cipher: Buffer;
}

/**
 * Writes and reads the cursors of partners' lists. A cursor carries a place, encrypted, and a MAC
 * over the place and over what it is bound to: the partner and the filters. It is useless anywhere
 * else. A place may count the transactions of all partners, so partners cannot read it.
 *
 * The MAC is the initial counter of AES-256-CTR, as in SIV (RFC 5297). Equal places have equal
 * cursors, and different places have different counters.
 */
export class ListCursors {
  readonly #keys: readonly CursorKeys[];

  /** @param keys newest first. Cursors under any of them are read; the first one writes. */
  constructor(keys: readonly VersionedKey[]) {
    this.#keys = keys.map(({ version, key }) => ({
      version,
      mac: key,
      cipher: createHmac('sha256', key).update('cipher').digest(),
    }));
  }

  write(bound: string, place: string): string {
    const [key] = this.#keys;
    if (!key) throw new Error('ListCursors needs at least one key');
    const text = Buffer.from(place);
    const mac = macOf(key, bound, text);
    const cipher = createCipheriv('aes-256-ctr', key.cipher, mac);
    const hidden = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([Buffer.from(`${key.version}.`), mac, hidden]).toString('base64url');
  }

  /**
   * Returns the place of a cursor.
   *
   * @throws AppError invalid_cursor when this gateway did not write it for these filters and this
   * partner.
   */
  read(bound: string, cursor: string): string {
    const bytes = Buffer.from(cursor, 'base64url');
    const named = version.exec(bytes.subarray(0, 10).toString('latin1'));
    const key = this.#keys.find((each) => String(each.version) === named?.[1]);
    // Several texts decode to the same bytes, and only one of them was written.
    const isWhole = bytes.toString('base64url') === cursor;
    const place = named && key && isWhole ? openPlace(key, bound, bytes.subarray(named[0].length)) : null;
    if (place !== null) return place;
    throw new AppError('invalid_cursor', 'cursor is not one that this list gave for the same filters');
  }
}

/** Null when these bytes are not of this key and these filters. */
function openPlace(key: CursorKeys, bound: string, sealed: Buffer): string | null {
  if (sealed.length < macBytes) return null;
  const mac = sealed.subarray(0, macBytes);
  const cipher = createDecipheriv('aes-256-ctr', key.cipher, mac);
  const text = Buffer.concat([cipher.update(sealed.subarray(macBytes)), cipher.final()]);
  return timingSafeEqual(macOf(key, bound, text), mac) ? text.toString() : null;
}

function macOf({ version, mac }: CursorKeys, bound: string, text: Buffer): Buffer {
  const head = `${version}.${bound.length}.${bound}.`;
  return createHmac('sha256', mac).update(head).update(text).digest().subarray(0, macBytes);
}
