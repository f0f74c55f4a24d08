import type { Clock } from '../../src/base/clock.ts';
import { formatDecimal, parseDecimal, roundToSignificant } from '../../src/base/money.ts';
import type { PriceSource, SourcePrice } from '../../src/market/rates/price-source.ts';
import { sandboxPrices } from '../../src/market/rates/sources/sandbox-prices.ts';
import { Dice } from '../support/gateway/dice.ts';

/** How prices move. */
export interface MarketModel {
  /** Standard deviation of the logarithm of a price over a year: 0.6 is 60 %. */
  readonly volatility: number;
  /** Size of a jump, up or down alike: 0.02 is 2 %. */
  readonly jump: number;
  /** Jumps a day, at random moments, each of one coin. */
  readonly jumpsPerDay: number;
  /** Share of the diffusion's variance that all coins have in common. */
  readonly correlation: number;
}

/** Seconds of one step of the market. The gateway asks for prices as often. */
export const stepSec = 5;
const stepsPerYear = (365 * 86_400) / stepSec;
const stepsPerDay = 86_400 / stepSec;

/** Coins that move. All others keep the price of the sandbox's table, as dollars on a chain do. */
const movingCoins = ['BTC', 'ETH', 'LTC', 'XRP'] as const;

/**
 * Prices of every coin in US dollars: geometric diffusion with jumps, a step every five seconds. A
 * seed repeats them. Users see the price of now. The gateway, as a price source tells it, sees the
 * price of one step before.
 */
export class Market implements PriceSource {
  readonly name = 'market model';
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #model: MarketModel;
  readonly #dice: Dice;
  /** By coin: the price of each step since the start. */
  readonly #history = new Map<string, number[]>();

  constructor(clock: Clock, model: MarketModel, seed: number) {
    this.#clock = clock;
    this.#startMs = clock.now().getTime();
    this.#model = model;
    this.#dice = new Dice(seed);
    for (const [coin, price] of Object.entries(sandboxPrices)) this.#history.set(coin, [Number(price)]);
  }

  /** Moves every price by one step. The caller moves the clock. */
  step(): void {
    const { volatility, jump, jumpsPerDay, correlation } = this.#model;
    const deviation = volatility / Math.sqrt(stepsPerYear);
    const common = this.#normal();
    const jumping = this.#dice.chance(jumpsPerDay / stepsPerDay) ? this.#dice.pick(movingCoins) : null;
    const leap = Math.log(1 + (this.#dice.chance(0.5) ? jump : -jump));
    for (const coin of movingCoins) {
      const history = this.#history.get(coin) ?? [];
      const own = this.#normal();
      const move = deviation * (Math.sqrt(correlation) * common + Math.sqrt(1 - correlation) * own);
      // Less half the variance, so that the expected price is the price of now.
      history.push((history.at(-1) ?? 0) * Math.exp(move + (coin === jumping ? leap : 0) - deviation ** 2 / 2));
    }
  }

  /** The price of a coin now, in US dollars. */
  price(coin: string): number {
    const history = this.#history.get(coin);
    if (!history) throw new Error(`the market does not know ${coin}`);
    return history.at(-1) ?? 0;
  }

  /** The price that a coin had at a moment. */
  priceAt(coin: string, at: Date): number {
    const history = this.#history.get(coin);
    // A coin that no source prices is worth nothing to the gateway.
    if (!history) return 0;
    const step = Math.floor((at.getTime() - this.#startMs) / (stepSec * 1000));
    return history[Math.min(Math.max(step, 0), history.length - 1)] ?? 0;
  }

  async fetch(coins: readonly string[]): Promise<ReadonlyMap<string, SourcePrice>> {
    const at = this.#clock.now();
    const known = coins.flatMap((coin): [string, SourcePrice][] => {
      const history = this.#history.get(coin);
      const told = history?.at(-2) ?? history?.[0];
      const price = told === undefined ? null : parseDecimal(String(told));
      return price === null ? [] : [[coin, { price: formatDecimal(roundToSignificant(price, 12)), at }]];
    });
    return new Map(known);
  }

  /** A normal number of mean 0 and deviation 1, by Box and Muller. */
  #normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.#dice.next()));
    return radius * Math.cos(2 * Math.PI * this.#dice.next());
  }
}
