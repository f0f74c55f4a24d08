import { AppError } from '../../errors.ts';

/** Downloads of a partner that may be open in a process at the same time. */
const mostOpen = 4;
const retrySec = 10;

/**
 * Counts the downloads that are open. A client that reads a few bytes now and then keeps one open
 * for hours, with a page of rows in memory.
 */
export class Downloads {
  readonly #open = new Map<string, number>();

  /**
   * Counts a download of a partner until its parts have ended, or are not asked for any more.
   *
   * @throws AppError rate_limited when the partner has four of them open.
   */
  counted(partnerId: string, parts: AsyncIterable<string>): AsyncIterable<string> {
    const open = this.#open.get(partnerId) ?? 0;
    if (open >= mostOpen) {
      const detail = `${open} downloads of this partner are open already; let one of them end first`;
      throw new AppError('rate_limited', detail, { retryAfterSec: retrySec });
    }
    this.#open.set(partnerId, open + 1);
    return this.#counting(partnerId, parts);
  }

  async *#counting(partnerId: string, parts: AsyncIterable<string>): AsyncGenerator<string> {
    try {
      yield* parts;
    } finally {
      const left = (this.#open.get(partnerId) ?? 1) - 1;
      if (left > 0) this.#open.set(partnerId, left);
      else this.#open.delete(partnerId);
    }
  }
}
