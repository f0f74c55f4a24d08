import { type Big, formatScaled, powerOfTen, storedDecimals, toScaled } from '../base/money.ts';

/** US dollars in the smallest unit that the database stores, 10^-18. Caps are counted in it. */
export type Usd = bigint;

/** Rounds up, so that no order counts less than its worth. */
export function usdOf(value: Big): Usd {
  const { units, places } = toScaled(value);
  if (places <= storedDecimals) return units * powerOfTen(storedDecimals - places);
  const unit = powerOfTen(places - storedDecimals);
  const usd = units / unit;
  return units > usd * unit ? usd + 1n : usd;
}

/** The units of whole dollars. */
export function dollars(whole: number): Usd {
  return BigInt(whole) * powerOfTen(storedDecimals);
}

/** Plain decimal text of an amount that is not negative. */
export function usdText(usd: Usd): string {
  return formatScaled({ units: usd, places: storedDecimals });
}
