import { ReadAhead } from '../nodes/read-ahead.ts';
import type { BlockSource } from '../nodes/scan-blocks.ts';
import { type BlockRef, ChainError, type ScannedBlock } from '../port/chain-adapter.ts';
import type { EvmHeader } from './evm-answer.ts';
import type { EvmNode } from './evm-node.ts';
import { transfersOf, type WatchedTokens } from './evm-transfers.ts';

interface EvmBlockSourceOptions {
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

/** The blocks of one node for one scan. It ends at the head that the chain had then. */
export class EvmBlockSource implements BlockSource {
  readonly #options: EvmBlockSourceOptions;
  readonly #blocks: ReadAhead<ScannedBlock>;

  constructor(options: EvmBlockSourceOptions) {
    this.#options = options;
    this.#blocks = new ReadAhead({
      last: Math.min(options.head.ref.height, options.maxHeight),
      ahead: options.isTraced ? ahead.traced : ahead.plain,
      read: (height) => readBlock(options, height),
    });
  }

  async headHeight(): Promise<number> {
    return this.#options.head.ref.height;
  }

  async hashAt(height: number): Promise<string | null> {
    this.#blocks.forget();
    return (await this.#options.node.header(height))?.ref.hash ?? null;
  }

  async blockAfter({ height }: BlockRef): Promise<ScannedBlock | null> {
    return this.#blocks.at(height + 1);
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
