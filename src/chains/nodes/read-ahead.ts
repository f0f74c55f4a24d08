import { ChainError } from '../port/chain-adapter.ts';

interface ReadAheadOptions<Block> {
  /** No block above this height is read. */
  readonly last: number;
  /** Blocks that are requested at once. */
  readonly ahead: number;
  /** Null when the chain has no block at the height. */
  readonly read: (height: number) => Promise<Block | null>;
}

/** The blocks of one node for one scan, read ahead so that catching up is fast. */
export class ReadAhead<Block> {
  readonly #options: ReadAheadOptions<Block>;
  readonly #reading = new Map<number, Promise<Block | null>>();
  #hasSome = false;

  constructor(options: ReadAheadOptions<Block>) {
    this.#options = options;
  }

  /** Whether a block was given out. */
  get hasSome(): boolean {
    return this.#hasSome;
  }

  /** Drops the blocks that were read ahead, because the chain may have changed. */
  forget(): void {
    this.#reading.clear();
  }

  /**
   * The block at a height; null at the end of the scan. The scan also ends when the node fails
   * after some blocks were read, so that a slow node loses none of its work.
   */
  async at(height: number): Promise<Block | null> {
    const { last, ahead, read } = this.#options;
    if (height > last) return null;
    for (let next = height; next <= Math.min(last, height + ahead - 1); next += 1) {
      if (this.#reading.has(next)) continue;
      const reading = read(next);
      // The error of a block that is never asked for is dropped.
      reading.catch(() => {});
      this.#reading.set(next, reading);
    }
    const wanted = this.#reading.get(height);
    this.#reading.delete(height);
    try {
      const block = (await wanted) ?? null;
      this.#hasSome = true;
      return block;
    } catch (error) {
      if (this.#hasSome && error instanceof ChainError) return null;
      throw error;
    }
  }
}
