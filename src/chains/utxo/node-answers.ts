import { ChainError } from '../chain-adapter.ts';
import { parseCoins } from './utxo-amount.ts';

/** Reads the members of a node's answers. Numbers come as text, so that amounts pass through no binary float. */
export class NodeAnswers {
  readonly #node: string;

  constructor(node: string) {
    this.#node = node;
  }

  unsound(what: string): ChainError {
    return new ChainError('unsound_answer', `the node at ${this.#node} gives ${what}`);
  }

  object(value: unknown, what: string): Readonly<Record<string, unknown>> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.unsound(`no ${what}`);
    return value as Readonly<Record<string, unknown>>;
  }

  list(value: unknown, what: string): readonly unknown[] {
    if (!Array.isArray(value)) throw this.unsound(`no ${what}`);
    return value;
  }

  text(value: unknown, what: string): string {
    if (typeof value !== 'string') throw this.unsound(`no ${what}`);
    return value;
  }

  /** Of a block or a transaction. */
  hash(value: unknown, what: string): string {
    if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw this.unsound(`no ${what}`);
    return value;
  }

  hex(value: unknown, what: string): string {
    if (typeof value !== 'string' || !/^([0-9a-f]{2})+$/.test(value)) throw this.unsound(`no ${what}`);
    return value;
  }

  /** A whole number, which may be below 0. */
  integer(value: unknown, what: string): number {
    if (typeof value !== 'string' || !/^-?\d{1,15}$/.test(value)) throw this.unsound(`no ${what}`);
    return Number.parseInt(value, 10);
  }

  /** A whole number from 0. */
  count(value: unknown, what: string): number {
    const number = this.integer(value, what);
    if (number < 0) throw this.unsound(`no ${what}`);
    return number;
  }

  /** In the smallest unit. */
  coins(value: unknown, what: string): bigint {
    const amount = parseCoins(value);
    if (amount === null) throw this.unsound(`no ${what}`);
    return amount;
  }
}
