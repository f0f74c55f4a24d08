import type { MarketModel } from './market.ts';
import type { Bound, Strategy } from './strategy.ts';
import { type HouseResult, houseResult, type Turnover, turnoverOf } from './valuation.ts';
import { World } from './world.ts';

export interface RunOptions {
  readonly market: MarketModel;
  readonly seed: number;
  /** Orders to make. */
  readonly orders: number;
  /** Days after which no more orders are made. */
  readonly days: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly databaseUrl?: string;
  readonly onProgress?: (line: string) => void;
}

/** What came of a strategy. */
export interface Outcome {
  readonly strategy: string;
  readonly market: MarketModel;
  readonly turnover: Turnover;
  readonly days: number;
  readonly partners: number;
  readonly house: Pick<HouseResult, 'total' | 'days' | 'debits'>;
  /** By account. */
  readonly accounts: Readonly<Record<string, number>>;
  /** Of the house, in US dollars a day and partner. */
  readonly mean: number;
  readonly worstDay: number;
  readonly bound: Bound;
  readonly isBeaten: boolean;
  readonly refusals: Readonly<Record<string, number>>;
  /** Differences of reconciliation, and what the strategy found wrong. */
  readonly faults: readonly string[];
  readonly seconds: number;
}

/** Steps of the market between two lines that tell how far a run is. */
const stepsPerLine = 17_280;
/** A result this near to its bound, in US dollars a day, is rounding. */
const tolerance = 0.01;

/** Lets the users of a strategy loose on a separate gateway, and values what came of it. */
export async function runStrategy(strategy: Strategy, options: RunOptions): Promise<Outcome> {
  const { market, seed, orders, days: mostDays, settings, databaseUrl, onProgress = () => {} } = options;
  const began = performance.now();
  const world = await World.open({
    seed,
    market,
    settings: { ...strategy.settings, ...settings },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(strategy.needs === undefined ? {} : { needs: strategy.needs }),
  });
  try {
    const { actors, faults: findFaults = async () => [] } = await strategy.begin(world, orders);
    for (
      let step = 1;
      actors.some(({ isDone }) => !isDone) && (world.exchange !== null || world.days < mostDays);
      step++
    ) {
      await world.step();
      for (const actor of actors) await actor.act();
      await world.turn();
      if (step % stepsPerLine === 0)
        onProgress(`${strategy.name}: day ${Math.round(world.days)}, ${world.created} orders`);
    }
    const days = world.days;
    await world.rest();
    const house = await houseResult(world);
    const bound = strategy.bound(world.config, market);
    const partners = strategy.partners?.(orders) ?? 1;
    const mean = house.total / days / partners;
    const isBelow = mean < bound.usd - tolerance;
    const faults = [...(await world.differences()), ...(await findFaults())];
    return {
      strategy: strategy.name,
      market,
      turnover: await turnoverOf(world),
      days,
      partners,
      house: { total: house.total, days: house.days, debits: house.debits },
      accounts: Object.fromEntries(house.accounts),
      mean,
      worstDay: Math.min(...house.days),
      bound,
      isBeaten: isBelow || (bound.isEarning === true && mean <= bound.usd),
      refusals: Object.fromEntries(world.refusals),
      faults,
      seconds: (performance.now() - began) / 1000,
    };
  } finally {
    await world.close();
  }
}
