import { Big, floorTo, maxOf, minOf, storedDecimals } from '../base/money.ts';
import { type PricePair, type QuotedCurrency, quoteTerms } from '../market/rates/quote.ts';
import type { Order } from './order.entity.ts';

/**
 * Computes the gross amount of an exchange, in units of coin_to: the user's amount plus both fees.
 */
export function grossOf({
  amountTo,
  serviceFee,
  networkFee,
}: { readonly [Part in 'amountTo' | 'serviceFee' | 'networkFee']: Big | string }): Big {
  return new Big(amountTo).plus(serviceFee).plus(networkFee);
}

/** The amount that an order exchanges and the amount that its user receives. */
export interface ExchangeTerms {
  /** Units of coin_from. */
  readonly amountFrom: Big;
  /** Units of coin_to. */
  readonly amountTo: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
}

/** What an order agreed on, from which the terms of its exchange follow. */
export type AgreedRate = Pick<
  Order,
  | 'rateType'
  | 'amountFromExpected'
  | 'amountToExpected'
  | 'rateQuoted'
  | 'feeRate'
  | 'serviceFeeQuoted'
  | 'networkFeeQuoted'
  | 'maxAmount'
>;

/**
 * Computes how much of the arrived amount is exchanged. Fixed terms hold up to the expected amount
 * and float terms up to the pair's maximum; the rest is refunded. A float rest below its refund's
 * fee is exchanged as well.
 */
export function exchangedAmount(order: AgreedRate, arrived: Big, refundFee: Big): Big {
  if (order.rateType === 'fixed') return minOf(arrived, new Big(order.amountFromExpected));
  const most = maxOf(new Big(order.maxAmount), new Big(order.amountFromExpected));
  return arrived.minus(most).gt(refundFee) ? most : arrived;
}

/**
 * Computes the terms of an exchange. Float: at current prices. Fixed: as quoted. For less than the
 * expected amount the quoted price and both fees hold, and the network fee does not shrink. Null
 * when the fees exceed the amount.
 */
export function exchangeTerms(
  order: AgreedRate,
  amountFrom: Big,
  to: QuotedCurrency,
  prices: PricePair,
): ExchangeTerms | null {
  const terms =
    order.rateType === 'fixed' ? fixedTerms(order, amountFrom, to) : floatTerms(order, amountFrom, to, prices);
  return terms.amountTo.gt('0') ? terms : null;
}

/**
 * Computes the terms of an exchange that the order's window does not cover: at these prices, with
 * the order's own fee rate, for both rate types. Null when the fees exceed the amount.
 */
export function marketTerms(
  order: AgreedRate,
  amountFrom: Big,
  to: QuotedCurrency,
  prices: PricePair,
): ExchangeTerms | null {
  const terms = floatTerms(order, amountFrom, to, prices);
  return terms.amountTo.gt('0') ? terms : null;
}

/**
 * Whether the quoted price of a fixed order gives its user no more than these prices, before fees.
 */
export function isNoBetterThan(order: AgreedRate, { from, to }: PricePair): boolean {
  const expected = new Big(order.amountFromExpected);
  return expected.times(from).gte(grossQuoted(order).times(to));
}

/** The gross amount that an order's quote gives for its expected amount. */
function grossQuoted(order: AgreedRate): Big {
  const amountTo = new Big(order.amountFromExpected).times(order.rateQuoted);
  return grossOf({ amountTo, serviceFee: order.serviceFeeQuoted, networkFee: order.networkFeeQuoted });
}

function floatTerms(order: AgreedRate, amountFrom: Big, to: QuotedCurrency, prices: PricePair): ExchangeTerms {
  const { amountTo, serviceFee, networkFee } = quoteTerms(amountFrom, prices, to, new Big(order.feeRate));
  return { amountFrom, amountTo, serviceFee, networkFee };
}

function fixedTerms(order: AgreedRate, amountFrom: Big, to: QuotedCurrency): ExchangeTerms {
  const expected = new Big(order.amountFromExpected);
  const serviceFee = new Big(order.serviceFeeQuoted);
  const networkFee = new Big(order.networkFeeQuoted);
  if (amountFrom.eq(expected)) return { amountFrom, amountTo: new Big(order.amountToExpected), serviceFee, networkFee };
  const gross = grossQuoted(order).times(amountFrom).div(expected);
  const partFee = floorTo(gross.times(order.feeRate), storedDecimals);
  return {
    amountFrom,
    amountTo: floorTo(gross.minus(partFee).minus(networkFee), to.decimals),
    serviceFee: partFee,
    networkFee,
  };
}

/** The smallest amount that the venue must give for an exchange. */
export function leastBought(terms: ExchangeTerms, maxSlippage: string): Big {
  return floorTo(grossOf(terms).times(new Big('1').minus(maxSlippage)), storedDecimals);
}
