import { unsound } from '../nodes/node-answer.ts';
import { parseCoins } from './utxo-amount.ts';

// Numbers of a node's answers come as text, so that amounts pass through no binary float.

export function asText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw unsound(`no ${what}`);
  return value;
}

/** Reads the hash of a block or a transaction. */
export function asHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw unsound(`no ${what}`);
  return value;
}

/** Reads whole bytes in hexadecimal. They may be megabytes, which a repeated group cannot match. */
export function asHex(value: unknown, what: string): string {
  const isHex = typeof value === 'string' && value !== '' && value.length % 2 === 0 && !/[^0-9a-f]/.test(value);
  if (!isHex) throw unsound(`no ${what}`);
  return value;
}

/** Reads a whole number, which may be below 0. */
export function asInteger(value: unknown, what: string): number {
  if (typeof value !== 'string' || !/^-?\d{1,15}$/.test(value)) throw unsound(`no ${what}`);
  return Number.parseInt(value, 10);
}

/** Reads a whole number from 0. */
export function asCount(value: unknown, what: string): number {
  const number = asInteger(value, what);
  if (number < 0) throw unsound(`no ${what}`);
  return number;
}

/**
 * Reads the height of a block. The limit is above any chain, and fits the database's integer type.
 */
export function asHeight(value: unknown, what: string): number {
  const height = asCount(value, what);
  if (height > 2 ** 31 - 1) throw unsound(`a ${what} out of range`);
  return height;
}

/** Reads an amount, in the smallest unit. */
export function asCoins(value: unknown, what: string): bigint {
  const amount = parseCoins(value);
  if (amount === null) throw unsound(`no ${what}`);
  return amount;
}
