import { PartnerError } from './partner-error.ts';

/** A page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  /** Cursor of the page that follows; null at the end. */
  readonly next_cursor: string | null;
}

/**
 * A list of the gateway, which is read as it is walked: `for await (const item of list)`. Each walk
 * begins again.
 */
export class List<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  /** @param read reads the page at a cursor; without a cursor, the first page. */
  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read;
  }

  /** Walks the pages. Throws a PartnerError when one cannot be read. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.#read(cursor);
      yield page;
      if (!page.has_more) return;
      if (page.next_cursor === null || page.next_cursor === cursor) {
        throw new PartnerError('invalid_answer', 'The list goes on and has no further cursor.');
      }
      cursor = page.next_cursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }

  /** Collects all items. Throws a RangeError for more than `max` items, 10,000 unless given. */
  async toArray(max = 10_000): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) {
      if (items.length >= max) throw new RangeError(`The list has more than ${max} items.`);
      items.push(item);
    }
    return items;
  }
}
