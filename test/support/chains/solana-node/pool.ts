import type { Text58 } from './keys.ts';
import { idOf, type SolanaTransaction } from './transaction.ts';

/** Transactions on their way to a leader. No call of a node shows them. */
export class Pool {
  /** By their ids: no leader takes them. */
  readonly held = new Set<Text58>();
  /** In how many blocks a transaction is left out first. */
  readonly #delays = new Map<Text58, number>();
  #waiting: SolanaTransaction[] = [];

  get waiting(): readonly SolanaTransaction[] {
    return this.#waiting;
  }

  /** Takes a transaction, once. */
  add(tx: SolanaTransaction): void {
    if (!this.#waiting.some((one) => idOf(one) === idOf(tx))) this.#waiting.push(tx);
  }

  /** Puts a transaction before all others. */
  plant(tx: SolanaTransaction): void {
    this.#waiting.unshift(tx);
  }

  drop(id: Text58): void {
    this.#waiting = this.#waiting.filter((tx) => idOf(tx) !== id);
  }

  /** Leaves a transaction out of this many blocks. */
  delay(id: Text58, blocks: number): void {
    this.#delays.set(id, blocks);
  }

  /** What the next block tries, in order. */
  next(): readonly SolanaTransaction[] {
    return this.#waiting.filter((tx) => {
      const id = idOf(tx);
      const left = this.#delays.get(id) ?? 0;
      if (left > 0) this.#delays.set(id, left - 1);
      return left === 0 && !this.held.has(id);
    });
  }
}
