import { NodeFault } from '../nodes/node-answer.ts';
import { ReadAhead } from '../nodes/read-ahead.ts';
import type { BlockSource } from '../nodes/scan-blocks.ts';
import type { BlockRef, ScannedBlock } from '../port/chain-adapter.ts';
import type { SolanaHeader } from './solana-answer.ts';
import type { SolanaNode } from './solana-node.ts';
import { transfersOf } from './solana-transfers.ts';

/** Blocks that are requested at once. Each is about a megabyte. */
const ahead = 4;
/** Slots that one question asks for. */
const slotsAtOnce = 1_000;

interface SolanaBlockSourceOptions {
  readonly node: SolanaNode;
  /** The newest final block when the scan begins. */
  readonly head: SolanaHeader;
  readonly maxBlocks: number;
  /** The tokens that are exchanged. */
  readonly mints: ReadonlySet<string>;
}

/** A block, with the slot of the one below it. */
interface ReadBlock {
  readonly scanned: ScannedBlock;
  readonly parentSlot: number;
}

/**
 * The final blocks of one node for one scan.
 *
 * A slot is empty only because the next block names an earlier parent. A node that lists no block
 * in a slot, or refuses to tell it, may lack the block.
 */
export class SolanaBlockSource implements BlockSource {
  readonly isFinal = true;
  readonly #options: SolanaBlockSourceOptions;
  /** The slots above the first block that was asked for, in ascending order. */
  #slots: readonly number[] | null = null;
  #blocks: ReadAhead<ReadBlock> | null = null;
  /** A block that was read to learn the hash of the one below. */
  #next: ReadBlock | null = null;

  constructor(options: SolanaBlockSourceOptions) {
    this.#options = options;
  }

  async headHeight(): Promise<number> {
    return this.#options.head.ref.height;
  }

  /** The next block tells it, and is read anyway. */
  async hashAt(height: number): Promise<string | null> {
    const { head, node } = this.#options;
    if (height >= head.ref.height) return height === head.ref.height ? head.ref.hash : null;
    this.#next ??= await this.#readAbove(height);
    if (this.#next?.parentSlot === height) return this.#next.scanned.ref.parent;
    return (await node.header(height)).ref.hash;
  }

  /** @throws ChainError when the node leaves out a block on the way to its newest one. */
  async blockAfter({ height }: BlockRef): Promise<ScannedBlock | null> {
    const next = this.#next ?? (await this.#readAbove(height));
    this.#next = null;
    if (next === null || next.parentSlot === height) return next?.scanned ?? null;
    const { height: slot } = next.scanned.ref;
    throw new NodeFault('inconsistent_chain', `leaves out blocks between slots ${height} and ${slot}`);
  }

  /** The lowest block above a slot; null at the end of the scan. */
  async #readAbove(height: number): Promise<ReadBlock | null> {
    if (height >= this.#options.head.ref.height) return null;
    this.#slots ??= await this.#listAbove(height);
    const slots = this.#slots;
    const place = slots.findIndex((slot) => slot > height);
    if (place === -1) return null;
    // Read ahead by place in the list, since slots have gaps.
    this.#blocks ??= new ReadAhead({ last: slots.length - 1, ahead, read: (index) => this.#read(slots[index] ?? 0) });
    return this.#blocks.at(place);
  }

  /** At least one slot, and as many as the scan reads, up to the head. */
  async #listAbove(height: number): Promise<number[]> {
    const { node, head, maxBlocks } = this.#options;
    const last = head.ref.height;
    const found: number[] = [];
    for (let first = height + 1; first <= last && found.length < maxBlocks; first += slotsAtOnce) {
      found.push(...(await node.slots(first, Math.min(last, first + slotsAtOnce - 1))));
    }
    const reachesHead = found.length >= maxBlocks || found.at(-1) === last;
    if (!reachesHead) throw new NodeFault('inconsistent_chain', `does not list its newest block ${last}`);
    return found.slice(0, maxBlocks);
  }

  async #read(slot: number): Promise<ReadBlock> {
    return readScanned(this.#options, slot);
  }
}

/** The block in a slot as a scan stores it. */
export async function readScanned(
  { node, mints }: Pick<SolanaBlockSourceOptions, 'node' | 'mints'>,
  slot: number,
): Promise<ReadBlock> {
  const block = await node.block(slot);
  return { scanned: { ref: block.ref, transfers: transfersOf(block, mints) }, parentSlot: block.parentSlot };
}
