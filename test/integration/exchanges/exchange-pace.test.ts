import { setTimeout as sleep } from 'node:timers/promises';
import { binanceDialect } from '../../../src/exchanges/binance-dialect.ts';
import { loadCcxt } from '../../../src/exchanges/ccxt-exchange.ts';
import { krakenDialect } from '../../../src/exchanges/kraken-dialect.ts';
import { ImitatedBinance } from '../../../src/exchanges/sandbox/imitated-binance.ts';
import { ImitatedKraken } from '../../../src/exchanges/sandbox/imitated-kraken.ts';
import type { VenueOrder } from '../../../src/settlement/rows/liquidity-venue.ts';
import { query } from '../../support/database/database.ts';
import { VenueHarness } from '../../support/exchanges/venue-harness.ts';

describe.each([
  // Looking up: open, closed. Placing: AddOrder, QueryOrders.
  {
    name: 'kraken' as const,
    cash: 'USD',
    dialect: krakenDialect,
    exchange: new ImitatedKraken(),
    find: [3, 3],
    place: [0, 3],
  },
  // Looking up: order, myTrades. Placing: order, which shows its trades.
  {
    name: 'binance' as const,
    cash: 'USDT',
    dialect: binanceDialect,
    exchange: new ImitatedBinance(),
    find: [0.8, 4],
    place: [0.2],
  },
])('requests to $name', ({ name, cash, dialect, exchange, find, place }) => {
  beforeAll(() => exchange.start());
  afterAll(() => exchange.stop());

  it("are paced by what they cost in ccxt's table", async () => {
    exchange.reset({ [cash]: '1000' }, { [`BTC/${cash}`]: { bid: '63990', ask: '64000', depth: null } });
    const { origin, key, secret } = exchange;
    const bounds = { requestTimeoutMs: 2_000, listTimeoutMs: 2_000, maxAnswerBytes: 1_000_000, paceMs: null };
    const ccxt = await loadCcxt({ name, origin, key, secret }, bounds, dialect.options, dialect.refusalOf);
    await ccxt.loadMarkets();
    const costs: number[] = [];
    Object.assign(ccxt, { throttle: async (cost: unknown) => costs.push(Number(cost)) });
    const market = ccxt.markets[`BTC/${cash}`];
    if (!market) throw new Error('there is no market');
    const clientId = '0b8ff2ad-1ab6-8f7b-8a2c-2f3a31d5cbd2';
    const terms = { base: 'BTC', quote: cash, side: 'buy' as const, amount: '0.01', limit: '64000' };
    await dialect.place(ccxt, market, { ...terms, clientId, notAfterMs: Date.now() + 5_000 });
    expect(costs.splice(0)).toEqual(place);
    expect(await dialect.find(ccxt, market, clientId)).toHaveLength(1);
    expect(costs).toEqual(find);
  });
});

describe("trades at Kraken's pace", () => {
  const harness = new VenueHarness({ name: 'kraken', cash: 'USD', isPaced: true });
  beforeAll(async () => {
    await harness.start();
    harness.reset();
  });
  afterAll(() => harness.stop());

  it('let no order grow too old in a queue of ours, however many there are at once', async () => {
    const venue = harness.openVenue({ orderValidMs: 15_000, recordLagMs: 10_000 });
    const order = (): VenueOrder =>
      harness.order({
        sellCoin: 'USD',
        sellAmount: '6400',
        minBuyAmount: '0.098',
        validUntil: new Date(Date.now() + 900_000),
      });
    const fill = async (one: VenueOrder): Promise<unknown> => {
      for (;;) {
        const answer = await venue.trade(one).catch(() => null);
        if (answer?.outcome === 'filled') return answer;
        await sleep(500);
      }
    };
    const answers = await Promise.all([order(), order(), order(), order()].map(fill));
    expect(answers).toEqual(answers.map(() => ({ outcome: 'filled', bought: '0.0999' })));
    expect(harness.buys()).toEqual(answers.map(() => '0.0999'));
    expect(await query(harness.databaseUrl, `select id from venue_order where state = 'void'`)).toEqual([]);
  });
});
