import {
  Big,
  ceilTo,
  floorTo,
  fromScaled,
  maxOf,
  minOf,
  powerOfTen,
  rescale,
  roundToSignificant,
  type Scaled,
  storedDecimals,
  toScaled,
} from '../../base/money.ts';

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

/** The terms of an amount as whole numbers of units, before they become decimals. */
export interface TermUnits {
  /** In 10^-18. */
  readonly rate: bigint;
  /** In smallest units of coin_to. */
  readonly amountTo: bigint;
  /** In 10^-18 of coin_to. */
  readonly serviceFee: bigint;
}

/** Computes the terms of an amount other than zero. */
export type UnitTerms = (amount: Scaled) => TermUnits;

/** The gross amount of coin_to for an amount, rounded down to 40 places. */
export function grossUnits(amount: Big, prices: PricePair): Scaled {
  const [given, from, unit] = [toScaled(amount), toScaled(prices.from), toScaled(prices.to)];
  const numerator = given.units * from.units * powerOfTen(grossPlaces + unit.places);
  return { units: numerator / (unit.units * powerOfTen(from.places + given.places)), places: grossPlaces };
}

/** Precomputes `quoteTerms` at these prices, in whole numbers. */
export function unitTermsAt(prices: PricePair, to: QuotedCurrency, feeRate: Big): UnitTerms {
  const [from, unit, fee] = [toScaled(prices.from), toScaled(prices.to), toScaled(feeRate)];
  const network = toScaled(new Big(to.networkFee));
  // Decimal places of the network fee and of gross after the service fee.
  const places = Math.max(grossPlaces + fee.places, network.places);
  const networkUnits = rescale(network.units, network.places, places);
  const numerator = from.units * powerOfTen(grossPlaces + unit.places);
  return (given) => {
    const gross = (given.units * numerator) / (unit.units * powerOfTen(from.places + given.places));
    const service = gross * fee.units;
    const net = rescale(gross * powerOfTen(fee.places) - service, grossPlaces + fee.places, places) - networkUnits;
    const rate = rescale(net, places - given.places, storedDecimals) / given.units;
    return {
      rate,
      amountTo: rescale(given.units * rate, given.places + storedDecimals, to.decimals),
      serviceFee: rescale(service, grossPlaces + fee.places, storedDecimals),
    };
  };
}

/**
 * Precomputes `quoteTerms` at these prices. The returned function takes any amount other than zero.
 */
export function termsAt(prices: PricePair, to: QuotedCurrency, feeRate: Big): (amount: Big) => QuoteTerms {
  return decimalTerms(unitTermsAt(prices, to, feeRate), to);
}

/** The terms as decimals. */
export function decimalTerms(unitTerms: UnitTerms, to: QuotedCurrency): (amount: Big) => QuoteTerms {
  const networkFee = new Big(to.networkFee);
  return (amount) => {
    const { rate, amountTo, serviceFee } = unitTerms(toScaled(amount));
    return {
      rate: fromScaled(rate, storedDecimals),
      amountTo: fromScaled(amountTo, to.decimals),
      serviceFee: fromScaled(serviceFee, storedDecimals),
      networkFee,
    };
  };
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
