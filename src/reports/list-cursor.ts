import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../errors.ts';
import type { VersionedKey } from '../partners/secret-key.ts';

/** What the keys of `ListCursors` are derived for. */
export const cursorPurpose = 'list cursors';

/** 128 bits. A forger has one guess for each request. */
const macBytes = 16;
const version = /^(\d{1,9})\./;

/**
 * Writes and reads the cursors of partners' lists. A cursor carries a place, and a MAC over the
 * place and over what it is bound to: the partner and the filters. It is useless anywhere else.
 */
export class ListCursors {
  readonly #keys: readonly VersionedKey[];

  /** @param keys newest first. Cursors under any of them are read; the first one writes. */
  constructor(keys: readonly VersionedKey[]) {
    this.#keys = keys;
  }

  write(bound: string, place: string): string {
    const [key] = this.#keys;
    if (!key) throw new Error('ListCursors needs at least one key');
    const text = Buffer.from(`${key.version}.${place}`);
    return Buffer.concat([text, mac(key, bound, text)]).toString('base64url');
  }

  /**
   * Returns the place of a cursor.
   *
   * @throws AppError invalid_cursor when this gateway did not write it for these filters and this
   * partner.
   */
  read(bound: string, cursor: string): string {
    const bytes = Buffer.from(cursor, 'base64url');
    const text = bytes.subarray(0, -macBytes);
    const named = version.exec(text.toString('latin1'));
    const key = this.#keys.find((each) => String(each.version) === named?.[1]);
    // Several texts stand for the same bytes, and only one of them was written.
    const isWhole = bytes.length > macBytes && bytes.toString('base64url') === cursor;
    if (!named || !key || !isWhole || !timingSafeEqual(mac(key, bound, text), bytes.subarray(-macBytes))) {
      throw new AppError('invalid_cursor', 'cursor is not one that this list gave for the same filters');
    }
    return text.toString('latin1').slice(named[0].length);
  }
}

function mac({ key }: VersionedKey, bound: string, text: Buffer): Buffer {
  return createHmac('sha256', key).update(`${bound.length}.${bound}.`).update(text).digest().subarray(0, macBytes);
}
