import type { Clock } from '../../../src/base/clock.ts';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';

/** A market of one's own: sandbox prices that stand still, except for what the test sets. */
export class Market implements PriceSource {
  readonly name = 'market';
  readonly prices: Record<string, string> = { ...sandboxPrices };
  readonly #clock: Clock;

  constructor(clock: Clock, changes: Record<string, string> = {}) {
    this.#clock = clock;
    Object.assign(this.prices, changes);
  }

  async fetch(coins: readonly string[]) {
    return new Map(coins.map((coin) => [coin, { price: this.prices[coin] ?? '1', at: this.#clock.now() }]));
  }
}
