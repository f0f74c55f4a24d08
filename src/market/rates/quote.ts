import { Big, ceilTo, floorTo, maxOf, minOf, roundToSignificant, storedDecimals } from '../../base/money.ts';

export type RateType = 'float' | 'fixed';

/**
 * The properties of a currency that a quote needs. Amounts are decimal strings in the coin's units.
 */
export interface QuotedCurrency {
  readonly decimals: number;
  readonly minAmount: string;
  readonly maxAmount: string;
  readonly networkFee: string;
}

/** Prices of both coins in the same unit of account. */
export interface PricePair {
  readonly from: Big;
  readonly to: Big;
}

export interface PairLimits {
  readonly minAmount: Big;
  readonly maxAmount: Big;
}

export interface QuoteTerms {
  /** Units of coin_to paid out for each unit of coin_from, rounded down to 18 places. */
  readonly rate: Big;
  /** floor(amount × rate) to the decimals of coin_to. */
  readonly amountTo: Big;
  /** In units of coin_to, rounded down to 18 places. */
  readonly serviceFee: Big;
  /** In units of coin_to. */
  readonly networkFee: Big;
}

/**
 * Significant digits of a limit that comes out of a division, so that people and doubles can hold
 * it.
 */
const limitDigits = 6;

/**
 * Decimal places of the gross amount, the only value that comes out of a division without an end.
 */
const grossPlaces = 40;

/**
 * Computes the terms of an exchange, so that they add up:
 *
 * - gross = amount × price(from) / price(to)
 * - The service fee is a fraction of gross. The network fee is the payout's own.
 * - rate = (gross − both fees) / amount
 *
 * The rate is zero or negative when the fees exceed gross: the caller refuses that.
 */
export function quoteTerms(amount: Big, prices: PricePair, to: QuotedCurrency, feeRate: Big): QuoteTerms {
  return termsAt(prices, to, feeRate)(amount);
}

/**
 * Precomputes `quoteTerms` at these prices. The returned function takes any amount other than zero.
 */
export function termsAt(prices: PricePair, to: QuotedCurrency, feeRate: Big): (amount: Big) => QuoteTerms {
  const [from, unit, fee] = [toScaled(prices.from), toScaled(prices.to), toScaled(feeRate)];
  const networkFee = new Big(to.networkFee);
  const network = toScaled(networkFee);
  // Decimal places of the network fee and of gross after the service fee.
  const places = Math.max(grossPlaces + fee.places, network.places);
  const networkUnits = rescale(network.units, network.places, places);
  const numerator = from.units * powerOfTen(grossPlaces + unit.places);
  return (amount) => {
    const given = toScaled(amount);
    const gross = (given.units * numerator) / (unit.units * powerOfTen(from.places + given.places));
    const service = gross * fee.units;
    const net = rescale(gross * powerOfTen(fee.places) - service, grossPlaces + fee.places, places) - networkUnits;
    const rate = rescale(net, places - given.places, storedDecimals) / given.units;
    return {
      rate: fromScaled(rate, storedDecimals),
      amountTo: fromScaled(rescale(given.units * rate, given.places + storedDecimals, to.decimals), to.decimals),
      serviceFee: fromScaled(rescale(service, grossPlaces + fee.places, storedDecimals), storedDecimals),
      networkFee,
    };
  };
}

/**
 * Finds the smallest amount of coin_from that the reverse formula gives for an amount of coin_to:
 * (amountTo + network fee) / (mid × (1 − fees) − 10⁻¹⁸), rounded up to the decimals of coin_from.
 * The 10⁻¹⁸ pays for the rate, which is rounded down to 18 places. So the forward terms of the
 * result never give less than `amountTo`. Null when the fees leave nothing.
 */
export function amountFromFor(
  amountTo: Big,
  prices: PricePair,
  from: Pick<QuotedCurrency, 'decimals'>,
  to: QuotedCurrency,
  feeRate: Big,
): Big | null {
  const wanted = toScaled(amountTo.plus(to.networkFee).times(prices.to));
  const unit = prices.to.times(new Big(`1e-${storedDecimals}`));
  const net = toScaled(prices.from.times(new Big('1').minus(feeRate)).minus(unit));
  if (net.units <= 0n) return null;
  const numerator = wanted.units * powerOfTen(net.places + from.decimals);
  const denominator = net.units * powerOfTen(wanted.places);
  return fromScaled((numerator + denominator - 1n) / denominator, from.decimals);
}

/**
 * The smallest and largest amount of coin_from that both currencies' own limits allow. The limits
 * of coin_to are converted at the rate. `mostUsd` is the largest value of one order in US dollars.
 * The minimum is rounded up and the maximum down. Null when no amount fits.
 */
export function pairLimits(
  from: QuotedCurrency,
  to: QuotedCurrency,
  prices: PricePair,
  feeRate: Big,
  mostUsd: Big | 'unlimited' = 'unlimited',
): PairLimits | null {
  const netPerUnit = prices.from.times(new Big('1').minus(feeRate));
  const amountFor = (amountTo: string): Big => new Big(amountTo).plus(to.networkFee).times(prices.to).div(netPerUnit);
  const minAmount = maxOf(new Big(from.minAmount), roundUp(amountFor(to.minAmount), from.decimals));
  const most = minOf(new Big(from.maxAmount), roundDown(amountFor(to.maxAmount), from.decimals));
  const maxAmount = mostUsd === 'unlimited' ? most : minOf(most, roundDown(mostUsd.div(prices.from), from.decimals));
  return minAmount.gt(maxAmount) ? null : { minAmount, maxAmount };
}

function roundUp(value: Big, decimals: number): Big {
  const rounded = roundToSignificant(value, limitDigits);
  const step = new Big(`1e${value.e - limitDigits + 1}`);
  return ceilTo(rounded.lt(value) ? rounded.plus(step) : rounded, decimals);
}

function roundDown(value: Big, decimals: number): Big {
  const rounded = roundToSignificant(value, limitDigits);
  const step = new Big(`1e${value.e - limitDigits + 1}`);
  return floorTo(rounded.gt(value) ? rounded.minus(step) : rounded, decimals);
}

/**
 * A decimal as `units` × 10^-`places`. Whole numbers multiply and divide many times faster than
 * decimals, and a quote is made for each order and each request of a rate.
 */
interface Scaled {
  readonly units: bigint;
  /** Zero or more. */
  readonly places: number;
}

function toScaled({ s, c, e }: Big): Scaled {
  const digits = BigInt(c.join(''));
  const places = c.length - 1 - e;
  const units = places < 0 ? digits * powerOfTen(-places) : digits;
  return { units: s < 0 ? -units : units, places: Math.max(0, places) };
}

function fromScaled(units: bigint, places: number): Big {
  return new Big(`${units}e-${places}`);
}

/** Converts `units` of 10^-`from` to units of 10^-`to`, rounded towards zero. */
function rescale(units: bigint, from: number, to: number): bigint {
  return to < from ? units / powerOfTen(from - to) : units * powerOfTen(to - from);
}

const powersOfTen = Array.from({ length: 128 }, (_, exponent) => 10n ** BigInt(exponent));

function powerOfTen(exponent: number): bigint {
  return powersOfTen[exponent] ?? 10n ** BigInt(exponent);
}
