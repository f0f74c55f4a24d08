import type { RateType } from '../market/rates/quote.ts';
import { whole } from './exposure.ts';
import type { Usd } from './usd.ts';

/** An order that is being created. */
export interface Pending {
  readonly repeatKey: string | null;
  readonly rateType: RateType;
  /** What it counts against the caps. */
  readonly usd: Usd;
  /** Whether it counts more than its value, as the market has left its quote. */
  readonly isSurcharged: boolean;
  hasFailed: boolean;
}

/** US dollars: the total at the last database read, and what this process admitted since. */
interface Sum {
  read: Usd;
  admitted: Usd;
}

/**
 * Open orders of one partner or of all partners: the last database read, and what this process
 * admitted since.
 */
export interface Tally {
  /** Null for all partners together. */
  readonly partnerId: string | null;
  /** Null until the first read. */
  readAtMs: number | null;
  orders: number;
  /** Orders of the last deposit window that the partner cancelled. */
  cancelled: number;
  readonly usd: Record<RateType, Sum>;
  /** What remains of the partner's fixed caps. Less while its fixed-rate orders lose money. */
  fixedPercent: bigint;
  readonly pending: Set<Pending>;
  /** The database read in progress. */
  reading: Promise<void> | null;
}

/**
 * Whether the tally counts an order from its creation. Otherwise it counts once its deposit is in a
 * block.
 */
export function countsUnpaid(tally: Tally, rateType: RateType): boolean {
  return tally.partnerId !== null || rateType === 'fixed';
}

export function newTally(partnerId: string | null): Tally {
  return {
    partnerId,
    readAtMs: null,
    orders: 0,
    cancelled: 0,
    usd: { fixed: { read: 0n, admitted: 0n }, float: { read: 0n, admitted: 0n } },
    fixedPercent: whole,
    pending: new Set(),
    reading: null,
  };
}

/** Waits while one of the tallies is read. */
export async function readingsEnd(tallies: readonly Tally[]): Promise<void> {
  while (tallies.some(({ reading }) => reading)) await Promise.all(tallies.map(({ reading }) => reading));
}

export function sumOf(amounts: readonly Usd[]): Usd {
  return amounts.reduce((sum, one) => sum + one, 0n);
}

export function pendingUsd(pending: readonly Pending[], rateType: RateType): Usd {
  return sumOf(pending.filter((one) => one.rateType === rateType).map(({ usd }) => usd));
}
