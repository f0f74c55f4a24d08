import { setImmediate as turn } from 'node:timers/promises';
import { createLog } from '../../../src/base/log.ts';
import { Big, formatDecimal } from '../../../src/base/money.ts';
import { ExchangeUnavailable } from '../../../src/exchanges/exchange.ts';
import type { CoinDepth, PriceSource } from '../../../src/market/rates/price-source.ts';
import { VenueDepth } from '../../../src/market/rates/sources/venue-depth.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { quotingRates } from '../../support/gateway/rates.ts';

const rules = { lot: '0.00001', tick: '0.01', minAmount: '0', minCost: '0', takerFee: '0.001' };

describe('VenueDepth', () => {
  const clock = new TestClock();
  let books: Record<string, unknown>;
  let asked: string[];
  let sink: LogSink;
  let depth: VenueDepth;
  let cashPrice: Big | null;

  beforeEach(() => {
    books = {};
    asked = [];
    sink = new LogSink();
    cashPrice = new Big('0.99');
    depth = new VenueDepth({
      clock,
      log: createLog('info', sink),
      process: {
        ask: async (_exchange: unknown, _method: unknown, ...args: readonly unknown[]) => {
          const coin = String(args[0]);
          asked.push(coin);
          if (!(coin in books)) throw new ExchangeUnavailable('silent');
          return books[coin];
        },
      },
      exchange: 'binance',
      cash: 'USDT',
      maxSlippage: '0.02',
    });
  });

  async function read(...coins: string[]): Promise<Record<string, Omit<CoinDepth, 'at'>>> {
    depth.follow(coins, () => cashPrice);
    for (let step = 0; step < 50; step++) await turn();
    return Object.fromEntries([...depth.depth()].map(([coin, { buy, sell }]) => [coin, { buy, sell }]));
  }

  it('counts both sides near the middle of the book, in dollars', async () => {
    books = {
      BTC: {
        ...rules,
        asks: [
          ['100.1', '1'],
          ['100.5', '2'],
          ['100.51', '50'],
        ],
        bids: [
          ['99.9', '3'],
          ['99.5', '4'],
          ['99.4', '50'],
        ],
      },
    };
    // (100.1 + 201) and (299.7 + 398), at 0.99 dollars.
    expect(await read('BTC', 'USDT')).toEqual({ BTC: { buy: '298.08', sell: '690.72' } });
    expect(asked).toEqual(['BTC']);
  });

  it('is zero for a coin without a market, and for a book with an empty side', async () => {
    books = { BTC: null, LTC: { ...rules, asks: [['80', '1']], bids: [] } };
    expect(await read('BTC', 'LTC')).toEqual({ BTC: { buy: '0', sell: '0' }, LTC: { buy: '0', sell: '0' } });
  });

  it.each([
    ['a crossed book', { ...rules, asks: [['99', '1']], bids: [['100', '1']] }],
    [
      'a book that is not in order',
      {
        ...rules,
        asks: [
          ['100', '1'],
          ['99', '1'],
        ],
        bids: [],
      },
    ],
    ['a negative amount', { ...rules, asks: [['100', '-1']], bids: [] }],
    ['no book', { ...rules }],
  ])('is unknown with %s, and is logged', async (_what, book) => {
    books = { BTC: book };
    expect(await read('BTC')).toEqual({});
    expect(sink.lines().map((line) => JSON.parse(line).event)).toEqual(['depth_failed']);
  });

  it('reads a book again once it is due, and a failed one in the same turn', async () => {
    books = { BTC: null };
    await read('BTC', 'LTC');
    await read('BTC', 'LTC');
    expect(asked).toEqual(['BTC', 'LTC']);
    clock.advance(60_000);
    await read('BTC', 'LTC');
    expect(asked).toEqual(['BTC', 'LTC', 'BTC', 'LTC']);
  });

  it('reads no book while the price of the cash coin is unknown', async () => {
    cashPrice = null;
    books = { BTC: null };
    expect(await read('BTC')).toEqual({});
    expect(asked).toEqual([]);
  });
});

describe('the limits of pairs', () => {
  const clock = new TestClock();
  const prices: Readonly<Record<string, string>> = { BTC: '64000', LTC: '80', ETH: '3200', USDT: '1' };
  let held: Map<string, CoinDepth>;
  const source: PriceSource = {
    name: 'fixed',
    fetch: async (coins) =>
      new Map(coins.flatMap((coin) => (prices[coin] ? [[coin, { price: prices[coin], at: clock.now() }]] : []))),
    depth: () => held,
  };
  const venue = { cash: 'USDT', depthShare: '0.5', depthMaxAgeSec: 300 };

  beforeEach(() => {
    held = new Map();
    clock.advance(60_000);
  });

  function deep(coin: string, buy: string, sell: string): void {
    held.set(coin, { buy, sell, at: clock.now() });
  }

  async function limits(coinFrom: string, coinTo: string, rules: typeof venue | null = venue) {
    const opened = await quotingRates({ clock, source, ...(rules ? { venue: rules } : {}) });
    return { opened, quote: () => quoteOf(opened, coinFrom, coinTo) };
  }

  function quoteOf({ rates }: Awaited<ReturnType<typeof quotingRates>>, coinFrom: string, coinTo: string): string {
    const network = (coin: string) => (coin === 'USDT' ? 'TRC20' : coin);
    const request = {
      coinFrom,
      networkFrom: network(coinFrom),
      coinTo,
      networkTo: coinTo === coinFrom ? 'ERC20' : network(coinTo),
      rateType: 'float' as const,
    };
    try {
      return formatDecimal(rates.quote(request, null, { float: '0', fixed: '0' }, 'amount').maxAmount);
    } catch (error) {
      return (error as { kind: string }).kind;
    }
  }

  it('follow the shallower of the two sides that an order trades on', async () => {
    deep('LTC', '1', '16000');
    deep('BTC', '8000', '1');
    // Half of 8,000 dollars.
    expect((await limits('LTC', 'BTC')).quote()).toBe('50');
    deep('BTC', '20000', '1');
    expect((await limits('LTC', 'BTC')).quote()).toBe('100');
  });

  it('shrink with depth at the next window, and never within one', async () => {
    deep('LTC', '1', '16000');
    deep('BTC', '16000', '1');
    const { opened, quote } = await limits('LTC', 'BTC');
    expect(quote()).toBe('100');
    deep('LTC', '1', '1600');
    await opened.prices.refresh(opened.catalogue.coins());
    expect(quote()).toBe('100');
    clock.advance(60_000);
    await opened.prices.refresh(opened.catalogue.coins());
    expect(quote()).toBe('10');
  });

  it('are absent until the depth is known', async () => {
    deep('LTC', '1', '16000');
    const { opened, quote } = await limits('LTC', 'BTC');
    expect(quote()).toBe('pair_unavailable');
    deep('BTC', '16000', '1');
    await opened.prices.refresh(opened.catalogue.coins());
    expect(quote()).toBe('100');
  });

  it('are absent once the depth is too old', async () => {
    deep('LTC', '1', '16000');
    deep('BTC', '16000', '1');
    const { opened, quote } = await limits('LTC', 'BTC');
    for (let minute = 1; minute <= 5; minute++) {
      clock.advance(60_000);
      await opened.prices.refresh(opened.catalogue.coins());
      expect(quote()).toBe('100');
    }
    clock.advance(60_000);
    await opened.prices.refresh(opened.catalogue.coins());
    expect(quote()).toBe('pair_unavailable');
  });

  it('are absent when the order books hold less than the minimum', async () => {
    deep('LTC', '1', '16000');
    deep('BTC', '1', '16000');
    expect((await limits('LTC', 'BTC')).quote()).toBe('pair_unavailable');
  });

  it('need no depth of the cash coin, nor of a coin against itself', async () => {
    deep('BTC', '16000', '16000');
    expect((await limits('USDT', 'BTC')).quote()).toBe('8000');
    expect((await limits('BTC', 'USDT')).quote()).toBe('0.125');
    held.clear();
    expect(Number((await limits('USDT', 'USDT')).quote())).toBeGreaterThan(8000);
  });

  it('are not bounded by depth at a venue without order books', async () => {
    expect(Number((await limits('LTC', 'BTC', null)).quote())).toBeGreaterThan(100);
  });
});
