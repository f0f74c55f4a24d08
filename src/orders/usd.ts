import { type Big, ceilTo, fromUnits, storedDecimals, toUnits } from '../base/money.ts';

/** US dollars in the smallest unit that the database stores, 10^-18. Caps are counted in it. */
export type Usd = bigint;

/** Rounds up, so that no order counts less than its worth. */
export function usdOf(value: Big): Usd {
  return toUnits(ceilTo(value, storedDecimals), storedDecimals);
}

/** The units of whole dollars. */
export function dollars(whole: number): Usd {
  return BigInt(whole) * 10n ** BigInt(storedDecimals);
}

/** Plain decimal text. */
export function usdText(usd: Usd): string {
  return fromUnits(usd, storedDecimals);
}
