import { ReadAhead } from '../nodes/read-ahead.ts';
import type { BlockSource } from '../nodes/scan-blocks.ts';
import type { BlockRef, ScannedBlock } from '../port/chain-adapter.ts';
import type { StellarNode } from './stellar-node.ts';
import { type CreditRules, transfersOf } from './stellar-transfers.ts';

/** Ledgers that are requested at once. Each is up to a few megabytes. */
const ahead = 2;

interface StellarBlockSourceOptions {
  readonly node: StellarNode;
  /** The newest ledger when the scan begins. */
  readonly head: BlockRef;
  /** The scan reads no ledger above it. */
  readonly maxHeight: number;
  readonly rules: CreditRules;
}

/** The closed ledgers of one server for one scan. Each costs one request. */
export class StellarBlockSource implements BlockSource {
  readonly isFinal = true;
  readonly #options: StellarBlockSourceOptions;
  readonly #ledgers: ReadAhead<ScannedBlock>;
  /** A ledger that was read to learn the hash of the one below. */
  #next: ScannedBlock | null = null;

  constructor(options: StellarBlockSourceOptions) {
    this.#options = options;
    const { head, maxHeight } = options;
    this.#ledgers = new ReadAhead({
      last: Math.min(head.height, maxHeight),
      ahead,
      read: (index) => readScanned(options, index),
    });
  }

  async headHeight(): Promise<number> {
    return this.#options.head.height;
  }

  /** A server tells no header without its ledger. The next ledger tells it, and is read anyway. */
  async hashAt(height: number): Promise<string | null> {
    const { head } = this.#options;
    if (height >= head.height) return height === head.height ? head.hash : null;
    this.#next ??= await this.#ledgers.at(height + 1);
    if (this.#next?.ref.height === height + 1) return this.#next.ref.parent;
    return (await this.#options.node.header(height))?.ref.hash ?? null;
  }

  async blockAfter({ height }: BlockRef): Promise<ScannedBlock | null> {
    const next = this.#next;
    this.#next = null;
    return next?.ref.height === height + 1 ? next : this.#ledgers.at(height + 1);
  }
}

/** A ledger as a scan stores it; null when the server has none of this index yet. */
export async function readScanned(
  { node, rules }: Pick<StellarBlockSourceOptions, 'node' | 'rules'>,
  index: number,
): Promise<ScannedBlock | null> {
  const { wallet, channels } = rules.accounts;
  const ledger = await node.ledger(index, new Set([wallet, ...channels]));
  return ledger && { ref: ledger.ref, transfers: transfersOf(ledger, rules) };
}
