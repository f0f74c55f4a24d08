import type { Pending, Transfer } from '../port/chain-adapter.ts';
import type { UtxoNode } from './utxo-node.ts';

interface WaitingLimits {
  /** The most transactions in one call. */
  readonly perCall: number;
  /**
   * The most transactions that are remembered. Further ones are not reported until others have
   * left.
   */
  readonly remembered: number;
}

/**
 * The transfers in the mempool. Each transaction is requested once, and remembered while it waits.
 */
export class WaitingTransfers {
  readonly #limits: WaitingLimits;
  readonly #known = new Map<string, readonly Transfer[]>();

  constructor(limits: WaitingLimits = { perCall: 2_000, remembered: 50_000 }) {
    this.#limits = limits;
  }

  /** @param known As in `ChainAdapter`. */
  async read(node: UtxoNode, known: readonly string[]): Promise<Pending> {
    const waiting = new Set(await node.mempool());
    for (const txid of this.#known.keys()) {
      if (!waiting.has(txid)) this.#known.delete(txid);
    }
    const room = Math.min(this.#limits.perCall, this.#limits.remembered - this.#known.size);
    const unknown = [...waiting].filter((txid) => !this.#known.has(txid)).slice(0, room);
    for (const [txid, transfers] of await node.waitingTransfers(unknown)) this.#known.set(txid, transfers);
    return {
      transfers: [...this.#known.values()].flat(),
      left: new Set(known.filter((txid) => !waiting.has(txid))),
    };
  }
}
