import { ceilTo, floorTo, one } from './decimals.ts';

// Amounts, prices and rates are whole numbers of 10⁻¹⁸; fees are millionths.

export interface Coin {
  readonly coin: string;
  readonly network: string;
  readonly decimals: number;
  readonly minAmount: bigint;
  readonly maxAmount: bigint;
  readonly networkFee: bigint;
  readonly minConfirmations: number;
  readonly contract: string | null;
  /** In US dollars, of this moment and of the window. */
  readonly price: bigint;
  readonly reference: bigint;
}

export interface Limits {
  readonly min: bigint;
  readonly max: bigint;
}

export interface Terms {
  readonly rate: bigint;
  readonly amountTo: bigint;
  readonly serviceFee: bigint;
}

const million = 1_000_000n;
/** More digits than any rounding looks at. */
const guard = 10n ** 22n;

/**
 * rate = (gross − service fee − network fee) / amount with gross = amount × price(from) /
 * price(to), in one division.
 */
export function terms(amount: bigint, from: Coin, to: Coin, fee: bigint): Terms {
  const gross = amount * from.price;
  const divisor = to.price * million;
  const rate = ((gross * (million - fee) - to.networkFee * divisor) * one) / (divisor * amount);
  return { rate, amountTo: floorTo((amount * rate) / one, to.decimals), serviceFee: (gross * fee) / divisor };
}

/**
 * The amounts of coin_from for which both coins' limits hold, those carried over to six significant
 * digits inwards.
 */
export function limits(from: Coin, to: Coin, fee: bigint): Limits {
  const amountFor = (amountTo: bigint): bigint =>
    ((amountTo + to.networkFee) * to.reference * million * guard) / (from.reference * (million - fee));
  const low = ceilTo(ceilDiv(significant(amountFor(to.minAmount), 'up'), guard), from.decimals);
  const high = floorTo(significant(amountFor(to.maxAmount), 'down') / guard, from.decimals);
  return {
    min: low > from.minAmount ? low : from.minAmount,
    max: high < from.maxAmount ? high : from.maxAmount,
  };
}

function significant(value: bigint, direction: 'up' | 'down'): bigint {
  const digits = value.toString().length;
  if (digits <= 6) return value;
  const step = 10n ** BigInt(digits - 6);
  const rest = value % step;
  if (rest === 0n) return value;
  return direction === 'up' ? value - rest + step : value - rest;
}

function ceilDiv(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}
