import { Big, ceilTo, floorTo, formatDecimal, storedDecimals } from '../../base/money.ts';
import { markupPart } from '../../market/rates/binding-terms.ts';

/** The terms of an exchange: as quoted, or as they were decided with the deposit. */
export interface TermsDetails {
  readonly isFinal: boolean;
  /** The price before fees that these terms amount to. */
  readonly mid: string;
  /** Without the partner's markup. */
  readonly serviceFee: string;
  readonly partnerMarkup: string;
  readonly networkFee: string;
  readonly rate: string;
  readonly amountFrom: string;
  readonly amountTo: string;
}

/** What an order stores of its terms. Amounts are decimal text. */
interface StoredTerms {
  readonly isFinal: boolean;
  readonly amountFrom: string;
  readonly amountTo: string;
  /** The service fee and the markup together, in units of coin_to. */
  readonly fees: string;
  readonly networkFee: string;
  readonly rateQuoted: string;
  readonly markupBps: number | null;
  /** The service fee and the markup together, as a fraction. */
  readonly feeRate: string;
  /** The decimals of coin_to. */
  readonly decimals: number;
}

/**
 * The terms as people and programs check them. Rounded down to the decimals of coin_to, both
 * `amountFrom` × `rate` and `amountFrom` × `mid` less all fees are exactly `amountTo`.
 *
 * The rate is the quoted one where the amounts follow from it. Otherwise, and for the price before
 * fees, it is a value from which they follow, with the fewest digits from 18 places on.
 */
export function shownTerms(terms: StoredTerms): TermsDetails {
  const { isFinal, fees, networkFee, rateQuoted, decimals } = terms;
  const [amountFrom, amountTo] = [new Big(terms.amountFrom), new Big(terms.amountTo)];
  const partnerMarkup = markupPart(new Big(fees), terms.markupBps, terms.feeRate);
  const allFees = new Big(fees).plus(networkFee);
  const gives = (price: Big, less: Big): boolean => floorTo(price.times(amountFrom).minus(less), decimals).eq(amountTo);
  const quoted = new Big(rateQuoted);
  const rate = gives(quoted, none) ? quoted : shortest(amountTo.div(amountFrom), (price) => gives(price, none));
  const mid = shortest(rate.plus(allFees.div(amountFrom)), (price) => gives(price, allFees));
  return {
    isFinal,
    mid: formatDecimal(mid),
    serviceFee: formatDecimal(new Big(fees).minus(partnerMarkup)),
    partnerMarkup: formatDecimal(partnerMarkup),
    networkFee,
    rate: formatDecimal(rate),
    amountFrom: terms.amountFrom,
    amountTo: terms.amountTo,
  };
}

const none = new Big('0');
/** An amount of 10^12 coins with 18 decimals needs 31. Divisions give 40. */
const mostPlaces = 40;

/**
 * The value with the fewest places that is next to `target` and fits. Where none does, because the
 * decimals of the coin were changed, it is `target` rounded down.
 */
function shortest(target: Big, fits: (value: Big) => boolean): Big {
  for (let places = storedDecimals; places <= mostPlaces; places++) {
    const value = [floorTo(target, places), ceilTo(target, places)].find(fits);
    if (value) return value;
  }
  return floorTo(target, storedDecimals);
}
