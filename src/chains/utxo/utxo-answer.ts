import { unsound } from '../node-answer.ts';
import { parseCoins } from './utxo-amount.ts';

// Numbers of a node's answers come as text, so that amounts pass through no binary float.

export function asText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw unsound(`no ${what}`);
  return value;
}

/** Of a block or a transaction. */
export function asHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw unsound(`no ${what}`);
  return value;
}

export function asHex(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^([0-9a-f]{2})+$/.test(value)) throw unsound(`no ${what}`);
  return value;
}

/** A whole number, which may be below 0. */
export function asInteger(value: unknown, what: string): number {
  if (typeof value !== 'string' || !/^-?\d{1,15}$/.test(value)) throw unsound(`no ${what}`);
  return Number.parseInt(value, 10);
}

/** A whole number from 0. */
export function asCount(value: unknown, what: string): number {
  const number = asInteger(value, what);
  if (number < 0) throw unsound(`no ${what}`);
  return number;
}

/** Of a block. No chain has as many, and the database counts no further in the numbers that are read back. */
export function asHeight(value: unknown, what: string): number {
  const height = asCount(value, what);
  if (height > 2 ** 31 - 1) throw unsound(`a ${what} beyond all measure`);
  return height;
}

/** In the smallest unit. */
export function asCoins(value: unknown, what: string): bigint {
  const amount = parseCoins(value);
  if (amount === null) throw unsound(`no ${what}`);
  return amount;
}
