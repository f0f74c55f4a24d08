import type { BlockSource } from '../nodes/scan-blocks.ts';
import type { BlockRef, ScannedBlock } from '../port/chain-adapter.ts';
import type { SandboxChain } from './sandbox-chain.ts';
import type { SandboxRange } from './sandbox-reads.ts';

/** A stretch of a chain, read by one statement, so that its blocks join. */
export class SandboxSource implements BlockSource {
  readonly isFinal: boolean;
  readonly #node: SandboxChain;
  readonly #chain: string;
  readonly #behind: number;
  #from: number;
  #to: number;
  #range: SandboxRange | null = null;

  constructor(
    node: SandboxChain,
    chain: string,
    { height, ahead, behind }: { readonly height: number; readonly ahead: number; readonly behind: number },
  ) {
    this.isFinal = !node.rules.reorgs;
    this.#node = node;
    this.#chain = chain;
    this.#from = height;
    this.#to = height + ahead;
    this.#behind = behind;
  }

  async headHeight(): Promise<number> {
    return (await this.#read()).head;
  }

  async hashAt(height: number): Promise<string | null> {
    this.#include(height);
    return (await this.#read()).blocks.get(height)?.ref.hash ?? null;
  }

  async blockAfter({ height }: BlockRef): Promise<ScannedBlock | null> {
    for (let at = height + 1; ; at += 1) {
      this.#include(at);
      const { head, blocks } = await this.#read();
      const block = blocks.get(at);
      if (block || at > head) return block ?? null;
    }
  }

  /** The block at a height, or the nearest one below. Null above the newest block. */
  async newestAt(height: number): Promise<BlockRef | null> {
    for (let at = height; at >= 0; at -= 1) {
      this.#include(at);
      const { head, blocks } = await this.#read();
      const block = blocks.get(at);
      if (block || head < height) return block?.ref ?? null;
    }
    return null;
  }

  /** A height outside what was read: below it after a reorg, above it after empty heights. */
  #include(height: number): void {
    if (height >= this.#from && height <= this.#to) return;
    // Read again as far as a scan may need.
    if (height < this.#from) this.#from = height - this.#behind;
    else this.#to = height + this.#behind;
    this.#range = null;
  }

  async #read(): Promise<SandboxRange> {
    this.#range ??= await this.#node.range(this.#chain, this.#from, this.#to);
    return this.#range;
  }
}
