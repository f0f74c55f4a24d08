import { Big, ceilTo, floorTo } from '../../base/money.ts';
import type { ImitatedBook } from '../../exchanges/sandbox/exchange-state.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';

/** Half of the distance between the best prices, as a fraction of the price: two basis points. */
const halfSpread = '0.0002';
/** The amount on each side of a book, in US dollars. */
const depthUsd = '50000000';
/** Digits of a price. */
const digits = 7;
const fewestDecimals = 2;
const mostDecimals = 12;
const dollar = new Big('1');

/** The order books of the sandbox venue: the gateway's own prices, a small spread, much depth. */
export class VenueBooks {
  readonly #prices: Pick<PriceBook, 'live'>;
  readonly #cash: string;
  /** By coin. Kept, because clients keep the rules of a market for minutes. */
  readonly #decimals = new Map<string, number>();

  constructor(prices: Pick<PriceBook, 'live'>, cash: string) {
    this.#prices = prices;
    this.#cash = cash;
  }

  /** US dollars for one unit of a coin; null while unknown. */
  price(coin: string): Big | null {
    return coin === 'USD' ? dollar : this.#prices.live(coin);
  }

  /** The books of coins against the cash coin, by symbol. One without a price is empty. */
  of(coins: readonly string[]): Record<string, ImitatedBook> {
    const cashPrice = this.price(this.#cash);
    const others = coins.filter((coin) => coin !== this.#cash);
    return Object.fromEntries(others.map((coin) => [`${coin}/${this.#cash}`, this.#book(coin, cashPrice)]));
  }

  #book(coin: string, cashPrice: Big | null): ImitatedBook {
    const price = this.price(coin);
    if (!price || !cashPrice) {
      const decimals = this.#decimals.get(coin);
      return { bid: '0', ask: '0', depth: '0', ...(decimals === undefined ? {} : { decimals }) };
    }
    const middle = price.div(cashPrice);
    const decimals = this.#decimalsOf(coin, middle);
    const half = middle.times(halfSpread);
    return {
      bid: floorTo(middle.minus(half), decimals).toFixed(),
      ask: ceilTo(middle.plus(half), decimals).toFixed(),
      depth: floorTo(new Big(depthUsd).div(price), 8).toFixed(),
      decimals,
    };
  }

  #decimalsOf(coin: string, price: Big): number {
    const known = this.#decimals.get(coin);
    if (known !== undefined) return known;
    const decimals = Math.min(Math.max(digits - 1 - price.e, fewestDecimals), mostDecimals);
    this.#decimals.set(coin, decimals);
    return decimals;
  }
}
