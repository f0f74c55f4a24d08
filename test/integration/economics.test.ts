import { Market, type MarketModel, stepSec } from '../economics/market.ts';
import { isSound, renderReport } from '../economics/report.ts';
import { type Outcome, runStrategy } from '../economics/run.ts';
import { strategies } from '../economics/strategies.ts';
import { createDatabase } from '../support/database/database.ts';
import { TestClock } from '../support/gateway/clock.ts';

const market: MarketModel = { volatility: 0.6, jump: 0.02, jumpsPerDay: 4, correlation: 0.7 };

/** A small run of a strategy. */
async function run(name: string, orders: number): Promise<Outcome> {
  const strategy = strategies[name];
  if (!strategy) throw new Error(`there is no strategy ${name}`);
  const database = await createDatabase();
  try {
    return await runStrategy(strategy, {
      market,
      seed: 7,
      orders,
      days: 1,
      settings: {},
      databaseUrl: database.url,
    });
  } finally {
    await database.drop();
  }
}

describe('the market model', () => {
  /** Prices of BTC over this many days. */
  const path = (model: MarketModel, seed: number, days: number): number[] => {
    const clock = new TestClock();
    const prices = new Market(clock, model, seed);
    return Array.from({ length: (days * 86_400) / stepSec }, () => {
      prices.step();
      return prices.price('BTC');
    });
  };

  it('repeats a path by its seed', () => {
    expect(path(market, 3, 0.1).join()).toBe(path(market, 3, 0.1).join());
    expect(path(market, 3, 0.1).join()).not.toBe(path(market, 4, 0.1).join());
  });

  it('moves by its yearly volatility, and by its jumps in addition', () => {
    const deviationOf = (model: MarketModel): number => {
      const prices = path(model, 5, 2);
      const squares = prices.slice(1).map((price, index) => Math.log(price / (prices[index] ?? price)) ** 2);
      const perStep = squares.reduce((sum, square) => sum + square, 0) / squares.length;
      return Math.sqrt((perStep * 365 * 86_400) / stepSec);
    };
    expect(deviationOf({ ...market, jumpsPerDay: 0 })).toBeCloseTo(0.6, 1);
    // 40 jumps a day of 2 %, a quarter of them of this coin: a variance of 1.46 a year in addition
    // of 0.36.
    expect(deviationOf({ ...market, jumpsPerDay: 40 })).toBeGreaterThan(1.1);
    expect(deviationOf({ ...market, jumpsPerDay: 40 })).toBeLessThan(1.6);
  });
});

describe('users who choose when and what to pay', () => {
  it('honest users earn the house its fees', async () => {
    const outcome = await run('honest', 15);
    expect(outcome).toMatchObject({ faults: [], house: { debits: 0 }, isBeaten: false, turnover: { created: 15 } });
    expect(outcome.turnover.exchanged).toBe(outcome.turnover.funded);
    expect(isSound(outcome)).toBe(true);
    expect(renderReport([outcome])).toMatch(/^honest .* holds/m);
  });

  it('a taker of fixed rates funds few of its orders, and the book agrees with the chains', async () => {
    const outcome = await run('option-taker', 40);
    expect(outcome).toMatchObject({ faults: [], house: { debits: 0 } });
    expect(outcome.turnover.funded).toBeLessThan(outcome.turnover.created);
  });

  it('a refund farmer gets no more back than it paid in', async () => {
    const outcome = await run('refund-farmer', 8);
    expect(outcome).toMatchObject({ faults: [], house: { debits: 0 }, isBeaten: false });
    expect(outcome.turnover.refunds).toBeGreaterThan(0);
  });
});
