import { ChainError, type ScannedBlock } from '../chain-adapter.ts';
import type { BlockSource } from '../scan-blocks.ts';
import type { EvmHeader } from './evm-answer.ts';
import type { EvmNode } from './evm-node.ts';
import { transfersOf, type WatchedTokens } from './evm-transfers.ts';

export interface EvmBlockSourceOptions {
  readonly node: EvmNode;
  /** The newest block as the scan begins; it reads none above. */
  readonly head: EvmHeader;
  readonly tokens: WatchedTokens;
  /** Whether what contracts send on is looked for too. */
  readonly isTraced: boolean;
  /** No block above is read. */
  readonly maxHeight: number;
}

/** Blocks that are asked for at once; a node has much to do for the traces of one. */
const ahead = { plain: 8, traced: 2 } as const;
/** How often a block may change while it is read. */
const maxReads = 3;

/** The blocks of one node for one scan, read ahead so that catching up is fast. */
export class EvmBlockSource implements BlockSource {
  readonly #options: EvmBlockSourceOptions;
  readonly #last: number;
  readonly #ahead: number;
  readonly #reading = new Map<number, Promise<ScannedBlock | null>>();
  #read = 0;

  constructor(options: EvmBlockSourceOptions) {
    this.#options = options;
    this.#last = Math.min(options.head.ref.height, options.maxHeight);
    this.#ahead = options.isTraced ? ahead.traced : ahead.plain;
  }

  async headHeight(): Promise<number> {
    return this.#options.head.ref.height;
  }

  async hashAt(height: number): Promise<string | null> {
    // Whoever asks doubts what was read.
    this.#reading.clear();
    return (await this.#options.node.header(height))?.ref.hash ?? null;
  }

  /**
   * Null at the end of what this scan reads: above the head as it was, or where the node fails after some blocks were
   * read, so that a slow node loses none of its work.
   */
  async block(height: number): Promise<ScannedBlock | null> {
    const hasSome = this.#read > 0;
    if (height > this.#last) return null;
    for (let next = height; next <= Math.min(this.#last, height + this.#ahead - 1); next += 1) {
      if (this.#reading.has(next)) continue;
      const reading = readBlock(this.#options, next);
      // One that is never asked for fails unheard.
      reading.catch(() => {});
      this.#reading.set(next, reading);
    }
    const wanted = this.#reading.get(height);
    this.#reading.delete(height);
    try {
      const block = await wanted;
      this.#read += 1;
      return block ?? null;
    } catch (error) {
      if (hasSome && error instanceof ChainError) return null;
      throw error;
    }
  }
}

async function readBlock(options: EvmBlockSourceOptions, height: number): Promise<ScannedBlock | null> {
  const { node, tokens, isTraced } = options;
  for (let read = 1; ; read += 1) {
    const block = await node.block(height);
    if (block === null) return null;
    try {
      const [receipts, traces] = await Promise.all([
        node.receipts(block, tokens),
        isTraced ? node.traces(block) : new Map<string, never>(),
      ]);
      return { ref: block.ref, transfers: transfersOf(block, receipts, traces, tokens) };
    } catch (error) {
      if (!(error instanceof ChainError) || read === maxReads) throw error;
      // A node forgets the rest of a block that was reorganised away while it is read.
      if ((await node.header(height))?.ref.hash === block.ref.hash) throw error;
    }
  }
}
