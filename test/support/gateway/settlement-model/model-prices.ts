import { Big, formatDecimal } from '../../../../src/base/money.ts';
import type { PriceSource, SourcePrice } from '../../../../src/market/rates/price-source.ts';
import { sandboxPrices } from '../../../../src/market/rates/sources/sandbox-prices.ts';
import type { TestClock } from '../clock.ts';
import { InjectedFault } from './injected-fault.ts';

/** The prices of the sandbox, each multiplied by a level that the model sets. */
export class ModelPrices implements PriceSource {
  readonly name = 'model';
  /** The factor of each coin, 1 when absent. */
  readonly levels = new Map<string, string>();
  isAway = false;
  readonly #clock: TestClock;

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  async fetch(coins: readonly string[]): Promise<ReadonlyMap<string, SourcePrice>> {
    if (this.isAway) throw new InjectedFault('no prices');
    const at = this.#clock.now();
    const known = coins.flatMap((coin): [string, SourcePrice][] => {
      const base = sandboxPrices[coin];
      if (base === undefined) return [];
      return [[coin, { price: formatDecimal(new Big(base).times(this.levels.get(coin) ?? '1')), at }]];
    });
    return new Map(known);
  }
}
