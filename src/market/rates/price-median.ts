import type { Big } from '../../base/money.ts';

/** A coin's price at one exchange, in US dollars. */
export interface ExchangePrice {
  readonly source: string;
  readonly price: Big;
}

export interface MedianRules {
  /** Minimum number of exchanges that must report a price. */
  readonly minSources: number;
  /** Largest distance from the median, as a fraction. A price farther away does not count. */
  readonly outlier: string;
  /** Largest gap between the highest and the lowest counted price, as a fraction of the median. */
  readonly disagreement: string;
}

type MedianVerdict =
  | {
      readonly outcome: 'price';
      readonly price: Big;
      readonly counted: readonly string[];
      readonly dropped: readonly string[];
    }
  /** Too few exchanges report. The last price stays valid until it is too old. */
  | { readonly outcome: 'too_few' }
  /** The exchanges contradict each other. The price is unknown. */
  | { readonly outcome: 'disagreement'; readonly dropped: readonly string[] };

/** The middle value, or the mean of the two middle values. @throws Error without values. */
function median(values: readonly Big[]): Big {
  const sorted = [...values].sort((a, b) => a.cmp(b));
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (!upper || !lower) throw new Error('a median needs at least one value');
  return upper.plus(lower).div('2');
}

/**
 * Combines the exchanges' prices into the median, after dropping outliers. The rest must agree. At
 * least `minSources` prices must count, and more than half of those reported.
 */
export function medianPrice(opinions: readonly ExchangePrice[], rules: MedianRules): MedianVerdict {
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
