import type { Text58 } from './keys.ts';
import { idOf, type SolanaTransaction } from './transaction.ts';

/** A transaction on its way to a leader. No call of a node shows it. */
export interface Waiting {
  readonly tx: SolanaTransaction;
}

/** What the leaders got and no block holds. */
export class Pool {
  /** By their ids: no leader takes them. */
  readonly held = new Set<Text58>();
  /** In how many blocks a transaction is left out first. */
  readonly #delays = new Map<Text58, number>();
  #waiting: Waiting[] = [];

  get waiting(): readonly Waiting[] {
    return this.#waiting;
  }

  has(id: Text58): boolean {
    return this.#waiting.some(({ tx }) => idOf(tx) === id);
  }

  /** Takes a transaction, once. */
  add(tx: SolanaTransaction): void {
    if (!this.has(idOf(tx))) this.#waiting.push({ tx });
  }

  /** Puts a transaction before all others. */
  plant(tx: SolanaTransaction): void {
    this.#waiting.unshift({ tx });
  }

  drop(id: Text58): void {
    this.#waiting = this.#waiting.filter(({ tx }) => idOf(tx) !== id);
  }

  /** Leaves a transaction out of this many blocks. */
  delay(id: Text58, blocks: number): void {
    this.#delays.set(id, blocks);
  }

  /** What the next block tries, in order. */
  next(): readonly Waiting[] {
    return this.#waiting.filter(({ tx }) => {
      const id = idOf(tx);
      const left = this.#delays.get(id) ?? 0;
      if (left > 0) this.#delays.set(id, left - 1);
      return left === 0 && !this.held.has(id);
    });
  }
}
