import type { Big } from '../money.ts';

/** What one exchange says a coin costs, in US dollars. */
export interface PriceOpinion {
  readonly source: string;
  readonly price: Big;
}

export interface MedianRules {
  /** So many exchanges must have a say. */
  readonly minSources: number;
  /** Farther from the median than this fraction, an opinion does not count. */
  readonly outlier: string;
  /** The highest that counts may be above the lowest by this fraction of the median. */
  readonly disagreement: string;
}

export type MedianVerdict =
  | {
      readonly outcome: 'price';
      readonly price: Big;
      readonly counted: readonly string[];
      readonly dropped: readonly string[];
    }
  /** Too few have a say: nothing is known against the last price but its age. */
  | { readonly outcome: 'too_few' }
  /** They contradict each other: nobody knows the price. */
  | { readonly outcome: 'disagreement'; readonly dropped: readonly string[] };

/** The middle one, or halfway between the two in the middle. */
export function median(values: readonly Big[]): Big {
  const sorted = [...values].sort((a, b) => a.cmp(b));
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (!upper || !lower) throw new Error('the median of nothing');
  return upper.plus(lower).div('2');
}

/**
 * One price out of several opinions: the median, once those far from it are left out and the rest agree. A price needs
 * `minSources` that count, and more than half of those that have a say.
 */
export function medianPrice(opinions: readonly PriceOpinion[], rules: MedianRules): MedianVerdict {
  if (opinions.length < rules.minSources || opinions.length === 0) return { outcome: 'too_few' };
  const middle = median(opinions.map(({ price }) => price));
  const counted = opinions.filter(({ price }) => price.minus(middle).abs().lte(middle.times(rules.outlier)));
  const dropped = opinions.filter((opinion) => !counted.includes(opinion)).map(({ source }) => source);
  if (counted.length < rules.minSources || counted.length * 2 <= opinions.length) {
    return { outcome: 'disagreement', dropped };
  }
  const prices = counted.map(({ price }) => price).sort((a, b) => a.cmp(b));
  const [lowest, highest] = [prices[0], prices.at(-1)];
  const price = median(prices);
  if (!lowest || !highest || highest.minus(lowest).gt(price.times(rules.disagreement))) {
    return { outcome: 'disagreement', dropped };
  }
  return { outcome: 'price', price, counted: counted.map(({ source }) => source), dropped };
}
