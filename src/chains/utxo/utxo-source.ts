import type { BlockSource } from '../nodes/scan-blocks.ts';
import type { BlockRef, ScannedBlock } from '../port/chain-adapter.ts';
import type { UtxoNode } from './utxo-node.ts';

/** The most outputs that are read at once, unless one block alone has more. */
const outputsAtOnce = 4_000;
const blocksAtOnce = 20;

/** The blocks of one node for one scan. Small blocks are read several at once. */
export class UtxoSource implements BlockSource {
  readonly #node: UtxoNode;
  readonly #ahead = new Map<number, ScannedBlock>();
  #head = 0;
  #left: number;
  #atOnce = 1;

  /** @param maxBlocks The most blocks that a scan reads. */
  constructor(node: UtxoNode, maxBlocks: number) {
    this.#node = node;
    this.#left = maxBlocks;
  }

  async headHeight(): Promise<number> {
    this.#head = await this.#node.headHeight();
    return this.#head;
  }

  hashAt(height: number): Promise<string | null> {
    return this.#node.hashAt(height);
  }

  /**
   * Each block that was read ahead is returned once, so that a second request sees what changed
   * meanwhile.
   */
  async blockAfter(ref: BlockRef): Promise<ScannedBlock | null> {
    const height = ref.height + 1;
    const known = this.#ahead.get(height);
    this.#ahead.delete(height);
    if (known) return known;
    this.#ahead.clear();
    const [first = null, ...others] = await this.#read(height);
    for (const block of others) this.#ahead.set(block.ref.height, block);
    return first;
  }

  async #read(height: number): Promise<ScannedBlock[]> {
    const count = Math.min(this.#atOnce, this.#left, this.#head - height + 1);
    const hashes = count > 1 ? await this.#node.hashesFrom(height, count) : [];
    if (hashes.length === 0) {
      const hash = await this.#node.hashAt(height);
      if (hash === null) return [];
      hashes.push(hash);
    }
    const blocks = await this.#node.blocks(hashes.map((hash, index) => ({ height: height + index, hash })));
    this.#left -= blocks.length;
    const outputs = blocks.reduce((sum, { transfers }) => sum + transfers.length, 0);
    const fitting = Math.floor(outputsAtOnce / Math.max(1, outputs / blocks.length));
    this.#atOnce = Math.max(1, Math.min(blocksAtOnce, fitting, 4 * blocks.length));
    return blocks;
  }
}
