import { NodeFault } from '../nodes/node-answer.ts';
import { ReadAhead } from '../nodes/read-ahead.ts';
import type { BlockSource } from '../nodes/scan-blocks.ts';
import { type BlockRef, ChainError, type ScannedBlock } from '../port/chain-adapter.ts';
import type { RootDoubts } from './root-doubts.ts';
import type { TronHeader } from './tron-answer.ts';
import type { TronNode } from './tron-node.ts';
import type { Sightings, WholeBlock } from './tron-sightings.ts';
import { type TransfersOptions, transfersOf } from './tron-transfers.ts';

export interface BlockReading extends TransfersOptions {
  readonly node: TronNode;
  /** Shared by the nodes of the chain. */
  readonly doubts: RootDoubts;
  readonly sightings: Sightings;
}

export interface TronBlockSourceOptions extends BlockReading {
  /** The newest block when the scan begins. The scan reads no block above it. */
  readonly head: TronHeader;
  /** The scan reads no block above it. */
  readonly maxHeight: number;
}

/** Blocks that are requested at once. */
const ahead = 4;
/** How often a block may change while it is read. */
const maxReads = 3;

/** The blocks of one node for one scan. It ends at the head that the chain had then. */
export class TronBlockSource implements BlockSource {
  readonly #options: TronBlockSourceOptions;
  readonly #blocks: ReadAhead<ReadBlock>;
  /** Whether the head was read just before. */
  #isFresh = true;

  constructor(options: TronBlockSourceOptions) {
    this.#options = options;
    this.#blocks = new ReadAhead({
      last: Math.min(options.head.ref.height, options.maxHeight),
      ahead,
      read: (height) => readScannedBlock(options, height),
    });
  }

  async headHeight(): Promise<number> {
    return this.#options.head.ref.height;
  }

  /** The first time, the head itself tells its id and its parent's, without a request. */
  async hashAt(height: number): Promise<string | null> {
    this.#blocks.forget();
    const { ref: head } = this.#options.head;
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    if (isFresh && height === head.height) return head.hash;
    if (isFresh && height === head.height - 1) return head.parent;
    return (await this.#options.node.header(height))?.ref.hash ?? null;
  }

  /**
   * Reads the block above; null at the end of this scan. A block whose transactions do not give
   * the root of its header ends a scan that has blocks. Nothing is noted then: the next scan begins
   * with it.
   */
  async blockAfter({ height }: BlockRef): Promise<ScannedBlock | null> {
    const { hasSome } = this.#blocks;
    const block = await this.#blocks.at(height + 1);
    if (block === null || block.hasRoot) return block?.scanned ?? null;
    if (hasSome) return null;
    refuseRoot(this.#options, block.scanned);
    return block.scanned;
  }
}

interface ReadBlock {
  readonly scanned: ScannedBlock;
  readonly hasRoot: boolean;
}

/**
 * Reads a block and its results. Results are asked for by height, so that the block's id is read
 * again afterwards. Null when the chain has no such block.
 *
 * @throws ChainError when the block keeps changing, or when an answer of the node is invalid.
 */
export async function readWholeBlock(node: TronNode, height: number): Promise<WholeBlock | null> {
  for (let read = 1; read <= maxReads; read += 1) {
    const block = await node.block(height);
    if (block === null) return null;
    // A block without transactions has no results to ask for.
    if (block.transactions.length === 0) return { block, infos: new Map() };
    const infos = await node.infos(block).catch((error: unknown) => {
      if (error instanceof ChainError) return error;
      throw error;
    });
    if ((await node.header(height))?.ref.hash !== block.ref.hash) continue;
    if (infos instanceof ChainError) throw infos;
    return { block, infos };
  }
  throw new NodeFault('unsound_answer', `changed block ${height} ${maxReads} times while it was read`);
}

/**
 * Reads a block with its transfers, and notes the transactions of ours.
 *
 * @throws ChainError as `readWholeBlock`, and when the results contradict the block.
 */
export async function readScannedBlock(options: BlockReading, height: number): Promise<ReadBlock | null> {
  const whole = await readWholeBlock(options.node, height);
  if (whole === null) return null;
  const { block, infos } = whole;
  options.sightings.note(whole);
  return { scanned: { ref: block.ref, transfers: transfersOf(block, infos, options) }, hasRoot: block.hasRoot };
}

function refuseRoot({ doubts }: BlockReading, { ref }: ScannedBlock): void {
  if (!doubts.refuses(ref.hash)) return;
  throw new NodeFault('root_mismatch', `gives transactions that are not those of block ${ref.height}`);
}
