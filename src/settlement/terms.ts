import { Big, floorTo, maxOf, minOf, storedDecimals } from '../money.ts';
import type { Order } from '../orders/order.entity.ts';
import { type PricePair, type QuotedCurrency, quoteTerms } from '../rates/quote.ts';

/** What an order exchanges and what its user gets. */
export interface ExchangeTerms {
  /** Units of coin_from. */
  readonly amountFrom: Big;
  /** Units of coin_to. */
  readonly amountTo: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
}

type OrderTerms = Pick<
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
 * How much of what arrived is exchanged. Fixed terms hold up to the expected amount and float terms up to the pair's
 * maximum; the rest goes back. A float rest that is not worth its own fee is exchanged as well.
 */
export function exchangedAmount(order: OrderTerms, arrived: Big, refundFee: Big): Big {
  if (order.rateType === 'fixed') return minOf(arrived, new Big(order.amountFromExpected));
  const most = maxOf(new Big(order.maxAmount ?? arrived), new Big(order.amountFromExpected));
  return arrived.minus(most).gt(refundFee) ? most : arrived;
}

/**
 * The terms on which an amount is exchanged. Float: at the prices of this moment. Fixed: as quoted; less than the
 * expected amount keeps the quoted price and both fees, of which the network's does not shrink. Null when the fees eat
 * it all.
 */
export function exchangeTerms(
  order: OrderTerms,
  amountFrom: Big,
  to: QuotedCurrency,
  prices: PricePair,
): ExchangeTerms | null {
  const terms =
    order.rateType === 'fixed' ? fixedTerms(order, amountFrom, to) : floatTerms(order, amountFrom, to, prices);
  return terms.amountTo.gt('0') ? terms : null;
}

/** Whether the quoted price of a fixed order gives its user no more than these prices do, before fees. */
export function isNoBetterThan(order: OrderTerms, { from, to }: PricePair): boolean {
  const expected = new Big(order.amountFromExpected);
  return expected.times(from).gte(grossQuoted(order).times(to));
}

/** What the quote of an order gives for its expected amount, before fees. */
function grossQuoted(order: OrderTerms): Big {
  const net = new Big(order.amountFromExpected).times(order.rateQuoted);
  return net.plus(order.serviceFeeQuoted).plus(order.networkFeeQuoted);
}

function floatTerms(order: OrderTerms, amountFrom: Big, to: QuotedCurrency, prices: PricePair): ExchangeTerms {
  const { amountTo, serviceFee, networkFee } = quoteTerms(amountFrom, prices, to, new Big(order.feeRate));
  return { amountFrom, amountTo, serviceFee, networkFee };
}

function fixedTerms(order: OrderTerms, amountFrom: Big, to: QuotedCurrency): ExchangeTerms {
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

/** The least that the venue must give for an exchange. */
export function leastBought({ amountTo, serviceFee, networkFee }: ExchangeTerms, maxSlippage: string): Big {
  const gross = amountTo.plus(serviceFee).plus(networkFee);
  return floorTo(gross.times(new Big('1').minus(maxSlippage)), storedDecimals);
}
