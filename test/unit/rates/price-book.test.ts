import { Big } from '../../../src/base/money.ts';
import { PriceBook } from '../../../src/market/rates/price-book.ts';
import type { PriceOverride } from '../../../src/market/rates/price-override.entity.ts';
import type { SourcePrice } from '../../../src/market/rates/price-source.ts';
import { SandboxPriceSource } from '../../../src/market/rates/sources/sandbox-price-source.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { PriceWindowsInMemory } from '../../support/gateway/price-windows.ts';

const silent = { isLevelEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} };

function book(clock: TestClock, prices: Record<string, string>, windows = new PriceWindowsInMemory()) {
  const source = {
    name: 'test',
    failing: false,
    fetch: async (): Promise<ReadonlyMap<string, SourcePrice>> => {
      if (source.failing) throw new Error('away');
      return new Map(
        Object.entries({ USDT: '1', ...prices }).map(([coin, price]) => [coin, { price, at: clock.now() }]),
      );
    },
  };
  return {
    source,
    windows,
    book: new PriceBook({
      clock,
      log: silent,
      source,
      windows,
      refreshSec: 5,
      maxAgeSec: 60,
      fixedWindowSec: 60,
      fixedMaxDrift: '0.002',
    }),
  };
}

describe('PriceBook', () => {
  it('refuses a price that is too old, and takes the next one', async () => {
    const clock = new TestClock();
    const { book: prices, source } = book(clock, { BTC: '64000' });
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')?.toFixed()).toBe('64000');
    source.failing = true;
    clock.advance(61_000);
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')).toBeNull();
    source.failing = false;
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')).not.toBeNull();
  });

  it.each(['0', '-1', 'NaN', '', '1e400'])("does not believe the price '%s'", async (price) => {
    const { book: prices } = book(new TestClock(), { BTC: price });
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')).toBeNull();
  });

  it('refuses a tenfold jump until the price before it is stale', async () => {
    const clock = new TestClock();
    const table: Record<string, string> = { BTC: '64000' };
    const { book: prices } = book(clock, table);
    await prices.refresh(['BTC']);
    table.BTC = '640000';
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')?.toFixed()).toBe('64000');
    clock.advance(61_000);
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')?.toFixed()).toBe('640000');
  });

  it('accepts prices after the clock was set back', async () => {
    const clock = new TestClock();
    const table: Record<string, string> = { BTC: '64000' };
    const { book: prices } = book(clock, table);
    await prices.refresh(['BTC']);
    clock.advance(-600_000);
    table.BTC = '65000';
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')?.toFixed()).toBe('65000');
  });

  it('keeps fixed prices for a window and tells how long', async () => {
    const clock = new TestClock(new Date('2026-01-01T00:00:10Z'));
    const table: Record<string, string> = { BTC: '64000' };
    const { book: prices } = book(clock, table);
    await prices.refresh(['BTC']);
    table.BTC = '64100';
    clock.advance(20_500);
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')?.toFixed()).toBe('64100');
    expect(prices.pair('BTC', 'USDT', 'fixed')?.from.toFixed()).toBe('64000');
    expect(prices.present('BTC', 'USDT', 'fixed')?.expiresIn).toBe(29);
    clock.advance(30_000);
    await prices.refresh(['BTC']);
    expect(prices.pair('BTC', 'USDT', 'fixed')?.from.toFixed()).toBe('64100');
  });

  it('offers no fixed rate on a price that is too old', async () => {
    const clock = new TestClock();
    const { book: prices, source } = book(clock, { BTC: '64000' });
    await prices.refresh(['BTC']);
    source.failing = true;
    clock.advance(61_000);
    await prices.refresh(['BTC']);
    expect(prices.pair('BTC', 'USDT', 'fixed')?.from ?? null).toBeNull();
  });

  it('fixes the price of a coin that is priced later in a window', async () => {
    const table: Record<string, string> = { BTC: '64000' };
    const { book: prices } = book(new TestClock(), table);
    await prices.refresh(['BTC', 'ETH']);
    table.ETH = '3200';
    await prices.refresh(['BTC', 'ETH']);
    expect(prices.pair('ETH', 'USDT', 'fixed')?.from.toFixed()).toBe('3200');
  });

  it('has the prices of a window from its first moment', async () => {
    const clock = new TestClock(new Date('2026-01-01T00:00:10Z'));
    const table: Record<string, string> = { BTC: '64000' };
    const { book: prices } = book(clock, table);
    await prices.refresh(['BTC']);
    clock.advance(45_000);
    table.BTC = '64100';
    await prices.refresh(['BTC']);
    expect([
      prices.pair('BTC', 'USDT', 'fixed')?.from.toFixed(),
      prices.present('BTC', 'USDT', 'fixed')?.expiresIn,
    ]).toEqual(['64000', 5]);
    clock.advance(5_000);
    expect([
      prices.pair('BTC', 'USDT', 'fixed')?.from.toFixed(),
      prices.present('BTC', 'USDT', 'fixed')?.expiresIn,
    ]).toEqual(['64100', 60]);
  });

  it('keeps a window while no new one can be shared, promises no time, and offers no fixed rate once it is too old', async () => {
    const clock = new TestClock();
    const { book: prices, windows } = book(clock, { BTC: '64000' });
    await prices.refresh(['BTC']);
    windows.isAway = true;
    clock.advance(60_000);
    await prices.refresh(['BTC']);
    expect([
      prices.pair('BTC', 'USDT', 'fixed')?.from.toFixed(),
      prices.present('BTC', 'USDT', 'fixed')?.expiresIn,
    ]).toEqual(['64000', 0]);
    clock.advance(60_001);
    await prices.refresh(['BTC']);
    expect([prices.pair('BTC', 'USDT', 'fixed')?.from ?? null, prices.reference('BTC')?.toFixed()]).toEqual([
      null,
      '64000',
    ]);
    windows.isAway = false;
    await prices.refresh(['BTC']);
    expect([
      prices.pair('BTC', 'USDT', 'fixed')?.from.toFixed(),
      prices.present('BTC', 'USDT', 'fixed')?.expiresIn,
    ]).toEqual(['64000', 59]);
  });

  it('has the same fixed and reference prices in each process', async () => {
    const clock = new TestClock();
    const { book: one, windows } = book(clock, { BTC: '64000' });
    const { book: two } = book(clock, { BTC: '65600', ETH: '3200' }, windows);
    await one.refresh(['BTC']);
    await two.refresh(['BTC', 'ETH']);
    for (const prices of [one, two]) {
      expect([prices.pair('BTC', 'USDT', 'fixed')?.from.toFixed(), prices.reference('BTC')?.toFixed()]).toEqual([
        '64000',
        '64000',
      ]);
    }
    expect([two.live('BTC')?.toFixed(), two.pair('ETH', 'USDT', 'fixed')?.from.toFixed()]).toEqual(['65600', '3200']);
  });

  it('moves the reference of limits only between windows, when the market has left it by a tenth', async () => {
    const clock = new TestClock();
    const table: Record<string, string> = { BTC: '64120' };
    const { book: prices } = book(clock, table);
    const reference = async (): Promise<string | undefined> => {
      await prices.refresh(['BTC']);
      return prices.reference('BTC')?.toFixed();
    };
    expect(await reference()).toBe('64000');
    clock.advance(60_000);
    table.BTC = '70000';
    expect(await reference()).toBe('64000');
    table.BTC = '71000';
    expect(await reference()).toBe('64000');
    clock.advance(60_000);
    expect(await reference()).toBe('71000');
  });
});

describe('a held price that the market leaves', () => {
  const start = new Date('2026-01-01T00:00:10Z');
  const rateOf = (prices: PriceBook, from = 'BTC', to = 'USDT'): string | undefined => {
    const pair = prices.pair(from, to, 'fixed');
    return pair?.from.div(pair.to).toFixed();
  };
  /** Two processes that share windows, each with a separate market. */
  const twoBooks = () => {
    const clock = new TestClock(start);
    const markets: Record<string, string>[] = [
      { BTC: '64000', ETH: '3200', XRP: '0.5' },
      { BTC: '64000', ETH: '3200', XRP: '0.5' },
    ];
    const first = book(clock, markets[0] ?? {});
    const second = book(clock, markets[1] ?? {}, first.windows);
    return { clock, markets, one: first.book, two: second.book, windows: first.windows };
  };

  it('ends the window: each process quotes the new one from its next refresh on', async () => {
    const { clock, markets, one, two } = twoBooks();
    await one.refresh([]);
    await two.refresh([]);
    clock.advance(20_000);
    for (const market of markets) market.BTC = '63360';
    await one.refresh([]);
    await two.refresh([]);
    for (const prices of [one, two]) {
      expect([rateOf(prices), prices.present('BTC', 'USDT', 'fixed')?.expiresIn]).toEqual(['63360', 30]);
      expect([rateOf(prices, 'ETH', 'USDT'), prices.present('ETH', 'USDT', 'fixed')?.expiresIn]).toEqual(['3200', 30]);
    }
  });

  it('starts one new window although two processes see slightly different markets', async () => {
    const { clock, markets, one, two, windows } = twoBooks();
    await one.refresh([]);
    await two.refresh([]);
    clock.advance(20_000);
    Object.assign(markets[0] ?? {}, { BTC: '63400' });
    Object.assign(markets[1] ?? {}, { BTC: '63360' });
    await Promise.all([one.refresh([]), two.refresh([])]);
    await Promise.all([one.refresh([]), two.refresh([])]);
    expect(windows.decided.size).toBe(2);
    expect(rateOf(two)).toBe(rateOf(one));
    expect(['63400', '63360']).toContain(rateOf(one));
  });

  it('stays for coins that have not moved, and for a drift below the bound', async () => {
    const { clock, markets, one } = twoBooks();
    await one.refresh([]);
    clock.advance(5_000);
    Object.assign(markets[0] ?? {}, { BTC: '64127', ETH: '3201' });
    await one.refresh([]);
    expect([rateOf(one), rateOf(one, 'ETH', 'USDT')]).toEqual(['64000', '3200']);
    clock.advance(5_000);
    Object.assign(markets[0] ?? {}, { BTC: '64200', ETH: '3201' });
    await one.refresh([]);
    expect([rateOf(one), rateOf(one, 'ETH', 'USDT'), rateOf(one, 'XRP', 'USDT')]).toEqual(['64200', '3200', '0.5']);
  });

  it.each([
    ['falls', '63000', '63000'],
    ['rises', '65000', '64000'],
  ])('never gives the user more than either price while no new window can be shared and the market %s', async (_, now, quoted) => {
    const { clock, markets, one, windows } = twoBooks();
    await one.refresh([]);
    windows.isAway = true;
    clock.advance(5_000);
    Object.assign(markets[0] ?? {}, { BTC: now });
    await one.refresh([]);
    expect([rateOf(one), one.present('BTC', 'USDT', 'fixed')?.expiresIn]).toEqual([quoted, 0]);
    const back = one.pair('USDT', 'BTC', 'fixed');
    const user = back ? back.from.div(back.to) : null;
    expect(user?.round(12).toFixed()).toBe(
      new Big('1')
        .div(now === '63000' ? '64000' : '65000')
        .round(12)
        .toFixed(),
    );
  });

  it('starts at most one window in each refresh interval, although processes disagree', async () => {
    const { clock, markets, one, two, windows } = twoBooks();
    await one.refresh([]);
    Object.assign(markets[1] ?? {}, { BTC: '63000' });
    for (let i = 0; i < 20; i++) {
      await two.refresh([]);
      await one.refresh([]);
      expect(rateOf(two)).toBe('63000');
      clock.advance(1_000);
    }
    expect(windows.decided.size).toBeLessThanOrEqual(1 + 4);
  });

  it('is replaced by a price that staff set by hand at the next refresh', async () => {
    const clock = new TestClock(start);
    const overrides: PriceOverride[] = [];
    const prices = new PriceBook({
      clock,
      log: silent,
      source: book(clock, { BTC: '64000' }).source,
      overrides: async () => overrides,
      windows: new PriceWindowsInMemory(),
      refreshSec: 5,
      maxAgeSec: 60,
      fixedWindowSec: 60,
      fixedMaxDrift: '0.002',
    });
    await prices.refresh([]);
    overrides.push({ coinFrom: 'BTC', coinTo: 'USDT', price: '60000', endsAt: new Date(8e15) } as PriceOverride);
    clock.advance(5_000);
    await prices.refresh([]);
    expect([rateOf(prices), prices.present('BTC', 'USDT', 'fixed')?.expiresIn]).toEqual(['60000', 45]);
  });
});

describe('the sandbox source', () => {
  it('moves a little by its seed, the same for everyone at the same time', async () => {
    const clock = new TestClock();
    const coins = Object.keys(sandboxPrices);
    const one = await new SandboxPriceSource(clock, 'a').fetch(coins);
    const two = await new SandboxPriceSource(clock, 'a').fetch(coins);
    const other = await new SandboxPriceSource(clock, 'b').fetch(coins);
    expect(one).toEqual(two);
    expect(one).not.toEqual(other);
    clock.advance(5_000);
    expect(await new SandboxPriceSource(clock, 'a').fetch(coins)).not.toEqual(one);
    expect(one.size).toBe(coins.length);
  });
});
