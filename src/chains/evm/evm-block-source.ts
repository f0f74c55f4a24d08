import type { BlockSource } from '../nodes/scan-blocks.ts';
import { type BlockRef, ChainError, type ScannedBlock } from '../port/chain-adapter.ts';
import type { EvmHeader } from './evm-answer.ts';
import type { EvmNode } from './evm-node.ts';
import { transfersOf, type WatchedTokens } from './evm-transfers.ts';

export interface EvmBlockSourceOptions {
  readonly node: EvmNode;
  /** The newest block when the scan begins. The scan reads no block above it. */
  readonly head: EvmHeader;
  readonly tokens: WatchedTokens;
  /** Whether internal transfers of contracts are read too. */
  readonly isTraced: boolean;
  /** The scan reads no block above it. */
  readonly maxHeight: number;
}

/** Blocks that are requested at once. Tracing one block is much work for a node. */
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
    // The caller doubts the chain, so that blocks read ahead are dropped.
    this.#reading.clear();
    return (await this.#options.node.header(height))?.ref.hash ?? null;
  }

  /**
   * Reads the block above; null at the end of this scan. The scan ends above the head as it was
   * when the scan began. It also ends when the node fails after some blocks were read, so that a
   * slow node loses none of its work.
   */
  async blockAfter(ref: BlockRef): Promise<ScannedBlock | null> {
    const height = ref.height + 1;
    const hasSome = this.#read > 0;
    if (height > this.#last) return null;
    for (let next = height; next <= Math.min(this.#last, height + this.#ahead - 1); next += 1) {
      if (this.#reading.has(next)) continue;
      const reading = readBlock(this.#options, next);
      // The error of a block that is never asked for is dropped.
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
      // The node forgot the rest of a block that a reorg removed during the read.
      if ((await node.header(height))?.ref.hash === block.ref.hash) throw error;
    }
  }
}
