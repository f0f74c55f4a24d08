import { ReadAhead } from '../nodes/read-ahead.ts';
import type { BlockSource } from '../nodes/scan-blocks.ts';
import type { BlockRef, ScannedBlock } from '../port/chain-adapter.ts';
import type { XrpNode } from './xrp-node.ts';
import { transfersOf } from './xrp-transfers.ts';

/** Ledgers that are requested at once. */
const ahead = 4;

interface XrpBlockSourceOptions {
  readonly node: XrpNode;
  /** Index of the newest validated ledger when the scan begins. */
  readonly head: number;
  /** The scan reads no ledger above it. */
  readonly maxHeight: number;
}

/** The validated ledgers of one server for one scan. Each costs one request. */
export class XrpBlockSource implements BlockSource {
  readonly isFinal = true;
  readonly #options: XrpBlockSourceOptions;
  readonly #ledgers: ReadAhead<ScannedBlock>;

  constructor(options: XrpBlockSourceOptions) {
    this.#options = options;
    const { node, head, maxHeight } = options;
    this.#ledgers = new ReadAhead({
      last: Math.min(head, maxHeight),
      ahead,
      read: (index) => readScanned(node, index),
    });
  }

  async headHeight(): Promise<number> {
    return this.#options.head;
  }

  async hashAt(height: number): Promise<string | null> {
    return (await this.#options.node.header(height))?.ref.hash ?? null;
  }

  blockAfter({ height }: BlockRef): Promise<ScannedBlock | null> {
    return this.#ledgers.at(height + 1);
  }
}

/** A ledger as a scan stores it; null when the network has none of this index yet. */
export async function readScanned(node: XrpNode, index: number): Promise<ScannedBlock | null> {
  const ledger = await node.ledger(index);
  return ledger && { ref: ledger.ref, transfers: transfersOf(ledger) };
}
