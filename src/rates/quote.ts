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
  storedDecimals,
  toScaled,
} from '../money.ts';

export type RateType = 'float' | 'fixed';

/** What a quote needs to know of a currency. Amounts are decimal strings in the coin's units. */
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

/** Limits that come out of a division keep so many significant digits, so that people and doubles can hold them. */
const limitDigits = 6;

/** Digits after the point of gross, which alone comes out of a division that does not end. */
const grossPlaces = 40;

/**
 * The terms of an exchange, so that they add up: gross = amount × price(from) / price(to); the service fee is a
 * fraction of gross; the network fee is the payout's own; rate = (gross − both fees) / amount. The rate may come out
 * zero or negative when the fees eat the amount: the caller refuses that.
 */
export function quoteTerms(amount: Big, prices: PricePair, to: QuotedCurrency, feeRate: Big): QuoteTerms {
  return termsAt(prices, to, feeRate)(amount);
}

/** The terms at these prices for any amount other than zero: `quoteTerms` with all that does not depend on the amount. */
export function termsAt(prices: PricePair, to: QuotedCurrency, feeRate: Big): (amount: Big) => QuoteTerms {
  const [from, unit, fee] = [toScaled(prices.from), toScaled(prices.to), toScaled(feeRate)];
  const networkFee = new Big(to.networkFee);
  const network = toScaled(networkFee);
  // Of the network fee and of what is left of gross.
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
 * The smallest and largest amount of coin_from for which both currencies' own limits hold: the destination's limits
 * are carried over through the rate. `mostUsd` is the most that one order may be worth, in US dollars. The minimum is rounded
 * up and the maximum down. Returns null when nothing fits between them.
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
