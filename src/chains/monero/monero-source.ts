import type { BlockSource } from '../nodes/scan-blocks.ts';
import type { BlockRef, ScannedBlock, Transfer } from '../port/chain-adapter.ts';
import type { MoneroDaemon } from './monero-daemon.ts';
import type { MinedTransfer } from './monero-transfers.ts';

interface SourceOptions {
  readonly daemon: MoneroDaemon;
  readonly head: number;
  /** The newest block that the wallet has read. */
  readonly readTo: number;
  readonly transfers: readonly MinedTransfer[];
  /** From this height on, blocks are read again; null for none. */
  readonly againFrom: number | null;
  /** The most blocks that the scan reads. */
  readonly maxBlocks: number;
}

/** Headers of a daemon, with the transfers that the wallet found in their blocks. */
export class MoneroSource implements BlockSource {
  readonly #options: SourceOptions;
  readonly #transfers = new Map<number, Transfer[]>();
  readonly #ahead = new Map<number, BlockRef>();

  constructor(options: SourceOptions) {
    this.#options = options;
    for (const { height, ...transfer } of options.transfers) {
      const found = this.#transfers.get(height) ?? [];
      this.#transfers.set(height, [...found, transfer]);
    }
  }

  async headHeight(): Promise<number> {
    return this.#options.head;
  }

  async hashAt(height: number): Promise<string | null> {
    const { daemon, againFrom } = this.#options;
    if (againFrom !== null && height >= againFrom) return null;
    return (await daemon.refAt(height))?.hash ?? null;
  }

  async blockAfter({ height: below }: BlockRef): Promise<ScannedBlock | null> {
    const height = below + 1;
    const last = Math.min(this.#options.readTo, this.#options.head);
    if (height > last) return null;
    if (!this.#ahead.has(height)) {
      const end = Math.min(last, height + this.#options.maxBlocks - 1);
      this.#ahead.clear();
      for (const ref of await this.#options.daemon.refsFrom(height, end)) this.#ahead.set(ref.height, ref);
    }
    const ref = this.#ahead.get(height);
    this.#ahead.delete(height);
    return ref === undefined ? null : { ref, transfers: this.#transfers.get(height) ?? [] };
  }
}
