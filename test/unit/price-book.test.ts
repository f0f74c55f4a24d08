import { PriceBook } from '../../src/rates/price-book.ts';
import type { SourcePrice } from '../../src/rates/price-source.ts';
import { SandboxPriceSource } from '../../src/rates/sources/sandbox-price-source.ts';
import { sandboxPrices } from '../../src/rates/sources/sandbox-prices.ts';
import { TestClock } from '../support/clock.ts';
import { PriceWindowsInMemory } from '../support/price-windows.ts';

const silent = { isLevelEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} };

function book(clock: TestClock, prices: Record<string, string>, windows = new PriceWindowsInMemory()) {
  const source = {
    name: 'test',
    failing: false,
    fetch: async (): Promise<ReadonlyMap<string, SourcePrice>> => {
      if (source.failing) throw new Error('away');
      return new Map(Object.entries(prices).map(([coin, price]) => [coin, { price, at: clock.now() }]));
    },
  };
  return {
    source,
    windows,
    book: new PriceBook({ clock, log: silent, source, windows, refreshSec: 5, maxAgeSec: 60, fixedHoldSec: 60 }),
  };
}

describe('PriceBook', () => {
  it('refuses a price that has grown too old, and takes the next one', async () => {
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

  it('does not believe a tenfold jump, but a price that stands after the old one has grown stale', async () => {
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

  it('takes the prices of a clock that was set back', async () => {
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
    table.BTC = '65000';
    clock.advance(20_500);
    await prices.refresh(['BTC']);
    expect(prices.live('BTC')?.toFixed()).toBe('65000');
    expect(prices.fixed('BTC')?.toFixed()).toBe('64000');
    expect(prices.fixedForSec()).toBe(29);
    clock.advance(30_000);
    await prices.refresh(['BTC']);
    expect(prices.fixed('BTC')?.toFixed()).toBe('65000');
  });

  it('sells no fixed rate on a price that has grown too old', async () => {
    const clock = new TestClock();
    const { book: prices, source } = book(clock, { BTC: '64000' });
    await prices.refresh(['BTC']);
    source.failing = true;
    clock.advance(61_000);
    await prices.refresh(['BTC']);
    expect(prices.fixed('BTC')).toBeNull();
  });

  it('fixes the price of a coin that is priced later in a window', async () => {
    const table: Record<string, string> = { BTC: '64000' };
    const { book: prices } = book(new TestClock(), table);
    await prices.refresh(['BTC', 'ETH']);
    table.ETH = '3200';
    await prices.refresh(['BTC', 'ETH']);
    expect(prices.fixed('ETH')?.toFixed()).toBe('3200');
  });

  it('knows the prices of a window from its first moment on', async () => {
    const clock = new TestClock(new Date('2026-01-01T00:00:10Z'));
    const table: Record<string, string> = { BTC: '64000' };
    const { book: prices } = book(clock, table);
    await prices.refresh(['BTC']);
    clock.advance(45_000);
    table.BTC = '65000';
    await prices.refresh(['BTC']);
    expect([prices.fixed('BTC')?.toFixed(), prices.fixedForSec()]).toEqual(['64000', 5]);
    clock.advance(5_000);
    expect([prices.fixed('BTC')?.toFixed(), prices.fixedForSec()]).toEqual(['65000', 60]);
  });

  it('keeps a window that it cannot follow by another, promises nothing, and sells nothing by it when it is old', async () => {
    const clock = new TestClock();
    const { book: prices, windows } = book(clock, { BTC: '64000' });
    await prices.refresh(['BTC']);
    windows.isAway = true;
    clock.advance(60_000);
    await prices.refresh(['BTC']);
    expect([prices.fixed('BTC')?.toFixed(), prices.fixedForSec()]).toEqual(['64000', 0]);
    clock.advance(60_001);
    await prices.refresh(['BTC']);
    expect([prices.fixed('BTC'), prices.reference('BTC')?.toFixed()]).toEqual([null, '64000']);
    windows.isAway = false;
    await prices.refresh(['BTC']);
    expect([prices.fixed('BTC')?.toFixed(), prices.fixedForSec()]).toEqual(['64000', 59]);
  });

  it('has the same fixed and reference prices as the others, whoever knew a coin first', async () => {
    const clock = new TestClock();
    const { book: one, windows } = book(clock, { BTC: '64000' });
    const { book: two } = book(clock, { BTC: '65600', ETH: '3200' }, windows);
    await one.refresh(['BTC']);
    await two.refresh(['BTC', 'ETH']);
    for (const prices of [one, two]) {
      expect([prices.fixed('BTC')?.toFixed(), prices.reference('BTC')?.toFixed()]).toEqual(['64000', '64000']);
    }
    expect([two.live('BTC')?.toFixed(), two.fixed('ETH')?.toFixed()]).toEqual(['65600', '3200']);
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
