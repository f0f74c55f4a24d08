import { NodeFault } from '../nodes/node-answer.ts';
import type { TonTransaction } from './ton-answer.ts';

/** How many ends of scans are remembered. */
const mostEnds = 64;

/**
 * Where scans of this process ended. An index that first leaves out a transaction, and shows it in
 * a block that was read before, would else have it skipped.
 */
export class SeenEnds {
  /** The logical times of the last transactions by account, by the height that was read. */
  readonly #ends = new Map<number, ReadonlyMap<string, bigint>>();

  /** Notes that all transactions up to a height are these, and perhaps earlier ones. */
  note(height: number, transactions: readonly TonTransaction[]): void {
    const last = new Map<string, bigint>();
    for (const tx of transactions) if (tx.height <= height) last.set(tx.account, tx.lt);
    this.#ends.delete(height);
    this.#ends.set(height, last);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > mostEnds && oldest !== undefined) this.#ends.delete(oldest);
  }

  /** @throws NodeFault for a transaction up to a height that was not there when it was read. */
  refuseLate(height: number, transactions: readonly TonTransaction[]): void {
    const end = this.#ends.get(height);
    if (end === undefined) return;
    const late = transactions.find((tx) => tx.height <= height && tx.lt > (end.get(tx.account) ?? 0n));
    if (late === undefined) return;
    throw new NodeFault('late_transaction', `shows a transaction in block ${late.height} that it left out before`);
  }
}
