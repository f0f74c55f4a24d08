import type { BlockRef } from '../port/chain-adapter.ts';
import type { TronBlock, TronInfo } from './tron-answer.ts';

/** A transaction in a block, as a node told both. */
export interface Sighting {
  readonly ref: BlockRef;
  readonly info: TronInfo;
}

/** A block with the results of exactly its transactions. */
export interface WholeBlock {
  readonly block: TronBlock;
  readonly infos: ReadonlyMap<string, TronInfo>;
}

/** Transactions that are watched. The oldest ones are dropped. */
const maxWatched = 10_000;

/**
 * The transactions of ours that were seen in blocks, so that their status needs no query for each
 * of them. A sighting is a hint. The block may be off the chain by now, and no hash covers the
 * result, so that finality never rests on one.
 */
export class Sightings {
  readonly #seen = new Map<string, Sighting | null>();

  /** Looks for a transaction in the blocks that are read from now on. */
  watch(txid: string): void {
    if (this.#seen.has(txid)) return;
    this.#seen.set(txid, null);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > maxWatched && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** Null when no block that was read holds the transaction. */
  of(txid: string): Sighting | null {
    return this.#seen.get(txid) ?? null;
  }

  /** Drops what was seen of a transaction, and goes on watching it. */
  forget(txid: string): void {
    if (this.#seen.has(txid)) this.#seen.set(txid, null);
  }

  /** Notes the watched transactions of a block whose header proves its transactions. */
  note(whole: WholeBlock): void {
    const { hasRoot, transactions } = whole.block;
    if (!hasRoot) return;
    for (const { txid } of transactions) {
      if (!this.#seen.has(txid)) continue;
      const sighting = sightingIn(whole, txid);
      if (sighting) this.#seen.set(txid, sighting);
    }
  }
}

/**
 * A transaction in a block. Null when the block does not hold it, or its result contradicts the
 * block.
 */
export function sightingIn({ block, infos }: WholeBlock, txid: string): Sighting | null {
  const info = infos.get(txid);
  const tx = info && block.transactions.find((one) => one.txid === txid);
  if (!info || !tx || (tx.result === 'SUCCESS') !== isSuccess(info)) return null;
  return { ref: block.ref, info };
}

/** Whether the chain executed a transaction with its effect. */
export function isSuccess({ isFailed, result }: TronInfo): boolean {
  return !isFailed && (result === null || result === 'SUCCESS');
}
