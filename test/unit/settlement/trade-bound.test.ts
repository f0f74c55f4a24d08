import { Big, floorTo } from '../../../src/base/money.ts';
import type { BookLevel, MarketNow } from '../../../src/exchanges/exchange.ts';
import { type BoundedTrade, ceilToStep, returnLimit, tradeLimits } from '../../../src/settlement/rows/trade-bound.ts';
import { Dice } from '../../support/gateway/dice.ts';

const one = new Big('1');

function market(base: string, changes: Partial<MarketNow>): MarketNow {
  const rules = { base, quote: 'USD', lot: '0.0001', tick: '0.01', minAmount: '0', minCost: '0', takerFee: '0.0026' };
  return { ...rules, bids: [['100', '1000']], asks: [['100.01', '1000']], ...changes };
}

/** 100 A, worth 100 dollars each, for 50 B, worth 200 dollars each; 2 % may be lost. */
function trade(changes: Partial<BoundedTrade> = {}): BoundedTrade {
  return {
    sellCoin: 'A',
    sellAmount: new Big('100'),
    buyCoin: 'B',
    buyAmount: new Big('50'),
    minBuyAmount: new Big('49'),
    bound: { priceSell: '100', priceBuy: '200', priceCash: '1', maxLoss: '200' },
    ...changes,
  };
}

const asks = (...levels: BookLevel[]) => market('B', { bids: [['199', '1000']], asks: levels });
const bids = (...levels: BookLevel[]) => market('A', { asks: [['110', '1000']], bids: levels });

describe('tradeLimits', () => {
  it('shares the bound after both fees evenly between the legs', () => {
    const free = { takerFee: '0' };
    const limits = tradeLimits(trade(), { ...bids(['100', '1000']), ...free }, { ...asks(['200', '1000']), ...free });
    expect(limits).toMatchObject({ main: new Big('202'), sale: new Big('99') });
  });

  it('gives a leg that needs depth the unused part of the other leg', () => {
    const limits = tradeLimits(trade(), bids(['98.9', '1000']), asks(['200', '1000']));
    // 200 dollars less 0.52 dollars of fees on each 100, and 110 for the bids.
    expect(limits).toMatchObject({ sale: expect.anything() });
    if ('code' in limits) throw new Error(limits.code);
    expect(limits.sale?.lt('98.9') && limits.sale.gt('98.6')).toBe(true);
  });

  it.each([
    ['thin_book', bids(['100', '50'], ['90', '1000']), asks(['200', '1000'])],
    ['thin_book', bids(['100', '119']), asks(['200', '1000'])],
    ['thin_book', bids(['100', '1000']), asks(['200', '10'], ['210', '1000'])],
    ['slippage', bids(['98', '1000']), asks(['200', '1000'])],
    ['slippage', bids(['100', '1000']), asks(['204', '1000'])],
    ['slippage', bids(['120', '1000']), asks(['204', '1000'])],
    ['thin_book', bids(), asks(['200', '1000'])],
    ['thin_book', bids(['100', '1000']), asks()],
  ])('refuses with %s', (code, sells, buys) => {
    expect(tradeLimits(trade(), sells, buys)).toEqual({ code });
  });

  it('does not spend a gain of the house', () => {
    // A fixed order: what is owed is worth 300 dollars less than what was paid.
    const gained = tradeLimits(trade({ buyAmount: new Big('48.5') }), bids(['100', '1000']), asks(['200', '1000']));
    const even = tradeLimits(trade(), bids(['100', '1000']), asks(['200', '1000']));
    if ('code' in gained || 'code' in even) throw new Error('refused');
    expect(
      gained.sale
        ?.minus(even.sale ?? '0')
        .abs()
        .lt('0.05'),
    ).toBe(true);
  });

  it('refuses a fixed order when the market has moved by more than the bound', () => {
    const owed = trade({ buyAmount: new Big('51.1') });
    expect(tradeLimits(owed, bids(['100', '1000']), asks(['200', '1000']))).toEqual({ code: 'slippage' });
  });

  it('never allows more than the bound, with any books, fees, steps and drift', () => {
    const dice = new Dice(44);
    const big = (low: number, high: number, places: number): Big => new Big(dice.between(low, high).toFixed(places));
    let allowed = 0;
    for (let round = 0; round < 3_000; round++) {
      const cash = dice.pick(['none', 'sold', 'bought']);
      const priceSell = cash === 'sold' ? one : big(0.01, 100, 6);
      const priceBuy = cash === 'bought' ? one : big(0.01, 100, 6);
      const sellAmount = big(1, 10_000, 5);
      const agreed = floorTo(
        sellAmount
          .times(priceSell)
          .div(priceBuy)
          .times(big(0.98, 1.02, 6)),
        8,
      );
      const maxLoss = floorTo(sellAmount.times(priceSell).times(big(0, 0.03, 4)), 18);
      const levels = (price: Big, side: 1 | -1): BookLevel[] => {
        let level = price.times(big(0.99, 1.01, 5));
        return Array.from({ length: 6 }, () => {
          level = level.times(new Big(String(1 + side * Number(dice.between(0.0001, 0.004).toFixed(6)))));
          return [floorTo(level, 8).toFixed(), big(0.1, 5_000, 4).toFixed()];
        });
      };
      const fee = () => big(0, 0.005, 5).toFixed();
      const bound = {
        priceSell: priceSell.toFixed(),
        priceBuy: priceBuy.toFixed(),
        priceCash: '1',
        maxLoss: maxLoss.toFixed(),
      };
      const asked = trade({ sellAmount, buyAmount: agreed, minBuyAmount: floorTo(agreed.times('0.98'), 18), bound });
      const step = { lot: dice.pick(['1', '0.01', '0.00001']), tick: dice.pick(['0.01', '0.0001']) };
      const sells = cash === 'sold' ? null : market('A', { ...step, takerFee: fee(), bids: levels(priceSell, -1) });
      const buys = cash === 'bought' ? null : market('B', { ...step, takerFee: fee(), asks: levels(priceBuy, 1) });
      const limits = tradeLimits(asked, sells, buys);
      if ('code' in limits) continue;
      allowed += 1;
      const lots = buys ? ceilToStep(agreed, step.lot) : agreed;
      const surplus = lots.minus(agreed).times(priceBuy);
      const spent = buys ? lots.times(limits.main).times(one.plus(buys.takerFee)).minus(surplus) : agreed;
      const earned = sells ? sellAmount.times(limits.sale ?? '0').times(one.minus(sells.takerFee)) : sellAmount;
      expect(spent.minus(earned).lte(maxLoss)).toBe(true);
    }
    expect(allowed).toBeGreaterThan(100);
  });
});

describe('returnLimit', () => {
  it('allows a part of the bound in proportion to the part of the trade', () => {
    // 10 of 50 B were bought for 2,000 and a fee of 0.26 %: 40 of the 200 dollars may be lost.
    const cash = new Big('-2005.2');
    const limit = returnLimit(trade(), false, new Big('0.0026'), new Big('10'), cash);
    expect(limit?.times('10').times('0.9974').plus(cash).round(6).toFixed()).toBe('-40');
  });

  it('is a highest price where the main leg sold', () => {
    const sale = trade({ buyCoin: 'USD', buyAmount: new Big('10000') });
    const cash = new Big('997.4');
    const limit = returnLimit(sale, true, new Big('0.0026'), new Big('-10'), cash);
    expect(
      cash
        .minus(limit?.times('10').times('1.0026') ?? '0')
        .round(4, 1)
        .toFixed(),
    ).toBe('-20');
  });

  it('is absent without a bound', () => {
    expect(returnLimit(trade({ bound: null }), false, new Big('0'), new Big('1'), new Big('-1'))).toBeNull();
  });
});
