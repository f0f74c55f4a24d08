import { asObject, unsound } from '../nodes/node-answer.ts';

/** Amounts and counts of the chain have 64 bits. */
const mostUnits = (1n << 64n) - 1n;

/** Reads an amount of the smallest unit, which the transport leaves as text. */
export function amountOf(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^(0|[1-9]\d{0,19})$/.test(value)) throw unsound(`no ${what}`);
  const amount = BigInt(value);
  if (amount > mostUnits) throw unsound(`no ${what}`);
  return amount;
}

/** Reads a whole number from 0 that a float holds exactly. */
export function wholeOf(value: unknown, what: string): number {
  if (typeof value !== 'string' || !/^(0|[1-9]\d{0,14})$/.test(value)) throw unsound(`no ${what}`);
  return Number.parseInt(value, 10);
}

/** Reads 32 bytes in hex. */
export function hashOf(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw unsound(`no ${what}`);
  return value;
}

export function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw unsound(`no ${what}`);
  return value;
}

/** Reads bytes in hex, at least one. */
export function hexOf(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^([0-9a-f]{2})+$/.test(value)) throw unsound(`no ${what}`);
  return value;
}

export function flagOf(value: unknown, what: string): boolean {
  if (typeof value !== 'boolean') throw unsound(`no ${what}`);
  return value;
}

/** A place in the wallet: account and index. */
export interface SubaddressPlace {
  readonly major: number;
  readonly minor: number;
}

export function placeOf(value: unknown): SubaddressPlace {
  const { major, minor } = asObject(value, 'place of a subaddress');
  return { major: wholeOf(major, 'account of a subaddress'), minor: wholeOf(minor, 'index of a subaddress') };
}
