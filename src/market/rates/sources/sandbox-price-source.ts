import { createHash } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { Big, formatDecimal, roundToSignificant } from '../../../base/money.ts';
import type { PriceSource, SourcePrice } from '../price-source.ts';
import { sandboxPrices } from './sandbox-prices.ts';

/** Seconds for which a sandbox price stays the same. */
const tickSec = 5;
/**
 * Prices move at most this far from the table, in hundredths of a percent. Two coins thus never
 * drift apart by FIXED_MAX_DRIFT, and fixed rates of the sandbox hold for their window.
 */
const amplitudeBasisPoints = 4;

/** Prices set by command, by coin. They do not move. */
type PriceOverrides = () => Promise<ReadonlyMap<string, string>>;

const noOverrides: PriceOverrides = async () => new Map();

/**
 * Gives plausible prices that move a little. The movement depends on the seed and the time alone:
 * all processes see the same price at the same moment, and a test can predict it. An overridden
 * coin has exactly the price that was set.
 */
export class SandboxPriceSource implements PriceSource {
  readonly name = 'sandbox';
  readonly #clock: Clock;
  readonly #seed: string;
  readonly #overrides: PriceOverrides;

  constructor(clock: Clock, seed: string, overrides: PriceOverrides = noOverrides) {
    this.#clock = clock;
    this.#seed = seed;
    this.#overrides = overrides;
  }

  async fetch(coins: readonly string[]): Promise<ReadonlyMap<string, SourcePrice>> {
    const at = this.#clock.now();
    const tick = Math.floor(at.getTime() / 1000 / tickSec);
    const overrides = await this.#overrides();
    const prices = new Map<string, SourcePrice>();
    for (const coin of coins) {
      const base = sandboxPrices[coin];
      const price = overrides.get(coin) ?? (base === undefined ? undefined : this.#moved(coin, base, tick));
      if (price !== undefined) prices.set(coin, { price, at });
    }
    return prices;
  }

  #moved(coin: string, base: string, tick: number): string {
    const digest = createHash('sha256').update(`${this.#seed}|${coin}|${tick}`).digest();
    const basisPoints = (digest.readUInt32BE(0) % (2 * amplitudeBasisPoints + 1)) - amplitudeBasisPoints;
    const factor = new Big('1').plus(new Big(String(basisPoints)).div('10000'));
    return formatDecimal(roundToSignificant(new Big(base).times(factor), 12));
  }
}
