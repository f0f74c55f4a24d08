import { Big, floorTo, fromScaled, powerOfTen, rescale, storedDecimals, toScaled } from '../../base/money.ts';
import { grossUnits, type PricePair, type QuotedCurrency, type QuoteTerms } from './quote.ts';

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

const one = new Big('1');
/** Basis points in a whole. */
const bpsPlaces = 4;

/** The service fee and the partner's markup together, as a fraction. */
export function feeWithMarkup(feeRate: string, markupBps: number): string {
  return markupBps === 0 ? feeRate : new Big(feeRate).plus(fromScaled(BigInt(markupBps), bpsPlaces)).toFixed();
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
  const { units, places } = grossUnits(amountFrom, prices);
  const fee = toScaled(new Big(feeRate));
  const gross = stored(units, places);
  const serviceFee = stored(units * fee.units, places + fee.places);
  const { amountTo, networkFee } = terms;
  const mid = grossUnits(one, prices);
  return {
    mid: stored(mid.units, mid.places),
    gross,
    serviceFee,
    partnerMarkup: terms.serviceFee.minus(serviceFee),
    networkFee,
    rounding: gross.minus(terms.serviceFee).minus(networkFee).minus(amountTo),
  };
}

/** Rounded down to the places that the database keeps. */
function stored(units: bigint, places: number): Big {
  return fromScaled(rescale(units, places, storedDecimals), storedDecimals);
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
  const net = toScaled(prices.from.times(one.minus(feeRate)).minus(unit));
  if (net.units <= 0n) return null;
  const numerator = wanted.units * powerOfTen(net.places + from.decimals);
  const denominator = net.units * powerOfTen(wanted.places);
  return fromScaled((numerator + denominator - 1n) / denominator, from.decimals);
}
