import { addressOf, type Raw, rawOf } from './names.ts';

/** A refusal in the form of the index: a status, and a text as `error`. */
export class IndexError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The parameters of a query, as the index reads them. */
export class Params {
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  text(name: string): string | null {
    return this.#query.get(name);
  }

  /** @throws IndexError when it is no whole number. */
  whole(name: string): bigint | null {
    const text = this.text(name);
    if (text === null) return null;
    if (!/^-?\d{1,19}$/.test(text)) throw new IndexError(422, `failed to decode: schema: error converting ${name}`);
    return BigInt(text);
  }

  /** Accounts in any of their spellings. @throws IndexError */
  accounts(name: string): Raw[] {
    return this.#query.getAll(name).map((text) => accountOf(text));
  }

  /** A hash in base64, base64url or hexadecimal, as base64. @throws IndexError */
  hash(name: string): string | null {
    const text = this.text(name);
    if (text === null) return null;
    const bytes = Buffer.from(text.replace(/^0x/, ''), /^(0x)?[0-9a-fA-F]{64}$/.test(text) ? 'hex' : 'base64');
    if (bytes.length !== 32) throw new IndexError(422, `invalid hash type: ${text}`);
    return bytes.toString('base64');
  }

  get isDescending(): boolean {
    const sort = this.text('sort') ?? 'desc';
    if (sort !== 'asc' && sort !== 'desc') throw new IndexError(422, `wrong value for sort: ${sort}`);
    return sort === 'desc';
  }

  /** The part of a list that was asked for. */
  page<T>(all: readonly T[]): T[] {
    const [limit, offset] = [Number(this.whole('limit') ?? 100n), Number(this.whole('offset') ?? 0n)];
    if (limit > 1_000) throw new IndexError(422, `limit is not allowed: ${limit} > 1000`);
    return all.slice(Math.max(0, offset), Math.max(0, offset) + Math.max(1, limit));
  }
}

/** @throws IndexError */
export function accountOf(text: string): Raw {
  try {
    return rawOf(addressOf(text));
  } catch {
    throw new IndexError(422, `failed to decode: invalid address ${text}`);
  }
}
