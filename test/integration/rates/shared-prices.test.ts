import { setTimeout as sleep } from 'node:timers/promises';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';

const clock = new TestClock(new Date('2026-01-01T00:00:10Z'));
let database: TestDatabase;
const gateways: TestGateway[] = [];

/** A market of one's own: bitcoin costs what the test says. */
class Market implements PriceSource {
  readonly name = 'market';
  bitcoin: string;

  constructor(bitcoin: string) {
    this.bitcoin = bitcoin;
  }

  async fetch(coins: readonly string[]) {
    const prices: Record<string, string> = { ...sandboxPrices, BTC: this.bitcoin };
    return new Map(coins.map((coin) => [coin, { price: prices[coin] ?? '1', at: clock.now() }]));
  }
}

async function start(priceSource: PriceSource): Promise<TestGateway> {
  const gateway = await startGateway({
    databaseUrl: database.url,
    settings: { REDIS_URL: 'redis://127.0.0.1:1', PRICE_REFRESH_SEC: '1' },
    outside: { clock, priceSource, background: false },
  });
  gateways.push(gateway);
  return gateway;
}

interface Quoted {
  readonly rate: number;
  readonly min: number;
  readonly holdsSec: number;
}

async function quote(gateway: TestGateway, type = 'fixed'): Promise<Quoted> {
  const pair = 'coin_from=BTC&network_from=BTC&coin_to=USDT&network_to=TRC20';
  const { json } = await gateway.call('GET', `/partner/rates?${pair}&amount=1&rate_type=${type}`);
  return { rate: json.rate, min: json.min_amount, holdsSec: json.expires_in };
}

/** The quote of the window that has begun, as soon as the process knows it. */
async function quoteOfThisWindow(gateway: TestGateway): Promise<Quoted> {
  for (;;) {
    const quoted = await quote(gateway);
    if (quoted.holdsSec > 0) return quoted;
    await sleep(20);
  }
}

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await database?.drop();
});

describe('gateways with their own prices', () => {
  it('quote one fixed rate and one minimum, across windows and restarts', async () => {
    const markets = { one: new Market('64000'), two: new Market('64100'), three: new Market('70950') };
    const one = await start(markets.one);
    const two = await start(markets.two);
    const first = await quote(one);
    expect(await quote(two)).toEqual(first);
    expect((await quote(one, 'float')).rate).not.toBe((await quote(two, 'float')).rate);

    // The next window, and a market on either side of the step that the limits follow.
    markets.one.bitcoin = '71000';
    markets.two.bitcoin = '70900';
    clock.advance(60_000);
    const second = await quoteOfThisWindow(one);
    expect(second.rate).not.toBe(first.rate);
    expect(await quoteOfThisWindow(two)).toEqual(second);

    const three = await start(markets.three);
    expect(await quote(three)).toEqual(second);
    await two.stop();
    gateways.splice(gateways.indexOf(two), 1);
    expect(await quote(await start(new Market('70980')))).toEqual(second);
  });

  it('begin one new window together when the market jumps inside one, and quote the price of before no more', async () => {
    for (const gateway of gateways.splice(0)) await gateway.stop();
    clock.advance(600_000 - (clock.now().getTime() % 60_000));
    const markets = [new Market('64000'), new Market('64050')];
    const [one, two] = [await start(markets[0] as Market), await start(markets[1] as Market)];
    const before = await quoteOfThisWindow(one);
    expect(await quoteOfThisWindow(two)).toEqual(before);
    clock.advance(20_000);
    for (const market of markets) market.bitcoin = '62700';
    for (;;) {
      const [first, second] = [await quote(one), await quote(two)];
      if (first.rate === second.rate && first.rate < before.rate) break;
      await sleep(20);
    }
    const after = await quoteOfThisWindow(one);
    expect(after.rate / before.rate).toBeCloseTo(62_700 / 64_000, 3);
    expect(after.holdsSec).toBe(40);
    expect(await quoteOfThisWindow(two)).toEqual(after);
  });

  it('leave no window of long ago behind', async () => {
    clock.advance(10_800_000);
    await quoteOfThisWindow(gateways[0] as TestGateway);
    const rows = await query<{ starts_at: Date }>(database.url, 'select starts_at from price_window');
    expect(rows.length).toBeGreaterThan(0);
    for (const { starts_at } of rows) expect(clock.now().getTime() - starts_at.getTime()).toBeLessThan(7_300_000);
  });
});
