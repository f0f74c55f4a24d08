import { Big, floorTo, storedDecimals } from '../../base/money.ts';
import type { PricePair, QuoteTerms } from './quote.ts';

/**
 * The parts of a quote, in units of coin_to, rounded down to 18 places. gross − serviceFee −
 * partnerMarkup − networkFee − rounding = amountTo, exactly.
 */
export interface QuoteParts {
  /** Units of coin_to for each unit of coin_from, before fees. */
  readonly mid: Big;
  readonly gross: Big;
  readonly serviceFee: Big;
  readonly partnerMarkup: Big;
  readonly networkFee: Big;
  /** What rounding down to the decimals of coin_to takes. Never negative. */
  readonly rounding: Big;
}

/** The service fee and the partner's markup together, as a fraction. */
export function feeWithMarkup(feeRate: string, markupBps: number): string {
  return markupBps === 0 ? feeRate : new Big(feeRate).plus(`${markupBps}e-4`).toFixed();
}

/**
 * The partner's part of the fees of an exchange, rounded down to 18 places. Fees and markup are
 * fractions of the same amount.
 *
 * @param fees the service fee and the markup together, in units of coin_to.
 * @param feeRate both together, as a fraction.
 */
export function markupPart(fees: Big, markupBps: number | null, feeRate: string): Big {
  if (!markupBps) return new Big('0');
  return floorTo(fees.times(feeWithMarkup('0', markupBps)).div(feeRate), storedDecimals);
}

/**
 * Splits the terms of an amount into parts.
 *
 * @param feeRate the service fee without the markup.
 * @param terms the terms at the service fee and the markup together.
 */
export function partsOf(amountFrom: Big, prices: PricePair, feeRate: string, terms: QuoteTerms): QuoteParts {
  const whole = amountFrom.times(prices.from).div(prices.to);
  const gross = floorTo(whole, storedDecimals);
  const serviceFee = floorTo(whole.times(feeRate), storedDecimals);
  const { amountTo, networkFee } = terms;
  return {
    mid: floorTo(prices.from.div(prices.to), storedDecimals),
    gross,
    serviceFee,
    partnerMarkup: terms.serviceFee.minus(serviceFee),
    networkFee,
    rounding: gross.minus(terms.serviceFee).minus(networkFee).minus(amountTo),
  };
}
