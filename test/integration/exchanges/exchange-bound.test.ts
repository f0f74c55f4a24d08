import { Big } from '../../../src/base/money.ts';
import type { ImitatedBook, ImitatedLevel } from '../../../src/exchanges/sandbox/exchange-state.ts';
import type { ExchangeVenue } from '../../../src/settlement/trade/exchange-venue.ts';
import { query } from '../../support/database/database.ts';
import { loopbackVenues, VenueHarness } from '../../support/exchanges/venue-harness.ts';

/** 1,000 LTC for 1.25 BTC: 80,000 dollars either way, of which 2 % may be lost. */
const large = { sellCoin: 'LTC', sellAmount: '1000', buyCoin: 'BTC', buyAmount: '1.25', minBuyAmount: '1.225' };
const mostLost = '-1600';

describe.each(loopbackVenues)('what a trade at $name may lose', ({ name, cash, place }) => {
  const harness = new VenueHarness({ name, cash });
  const { exchange } = harness;
  let venue: ExchangeVenue;

  beforeAll(() => harness.start());
  afterAll(() => harness.stop());
  beforeEach(async () => {
    harness.cashPrice = '1';
    await query(harness.databaseUrl, 'truncate venue_order, venue_trade');
    reset();
  });

  function reset(changes: Record<string, Partial<ImitatedBook>> = {}): void {
    harness.reset(changes);
    exchange.balances.LTC = '2000';
    venue = harness.openVenue();
  }

  /** What the account has more than at first, in dollars: the LTC that stays is worth its price. */
  function lost(): Big {
    return harness.worth().minus(new Big('1000').times('80'));
  }

  function bookOf(coin: string): ImitatedBook {
    const book = exchange.books[`${coin}/${cash}`];
    if (!book) throw new Error(`no book of ${coin}`);
    return book;
  }

  /** Does something to the books while the purchase is on its way. */
  function atPurchase(change: () => void | Promise<void>): void {
    exchange.onRequest = async () => {
      const asked = exchange.asked.at(-1) ?? '';
      if (!asked.startsWith('POST') || !asked.endsWith(`/${place}`)) return;
      exchange.onRequest = null;
      await change();
    };
  }

  async function sweep(times: number): Promise<void> {
    for (let turn = 0; turn < times; turn++) await harness.openVenue().settleCash();
  }

  async function rows(sql: string): Promise<Record<string, unknown>[]> {
    return query(harness.databaseUrl, sql);
  }

  const sold = () => exchange.orders.filter(({ side, filled }) => side === 'sell' && filled !== '0');

  it('buys nothing when the other coin could be sold in small pieces only, or far below its price', async () => {
    const thin: ImitatedLevel[] = [
      ['80', '10'],
      ['77', '90'],
      ['70', '100'],
      ['60', '300'],
      ['50', '500'],
    ];
    reset({ LTC: { bids: thin } });
    expect(await venue.trade(harness.order(large))).toEqual({ outcome: 'rejected', code: 'thin_book' });
    expect(exchange.orders).toEqual([]);
    expect(lost().toFixed()).toBe('0');
  });

  it.each([
    ['no bids for what is sold', { LTC: { bids: [] } }],
    ['no asks for what is bought', { BTC: { asks: [] } }],
    ['too few asks for what is bought', { BTC: { asks: [['64000', '1.3']] satisfies ImitatedLevel[] } }],
    ['too few bids for what is sold', { LTC: { bids: [['80', '1100']] satisfies ImitatedLevel[] } }],
  ])('buys nothing with %s', async (_what, books) => {
    reset(books);
    expect(await venue.trade(harness.order(large))).toEqual({ outcome: 'rejected', code: 'thin_book' });
    expect(exchange.orders).toEqual([]);
  });

  it('buys nothing when the exchange shows no order book', async () => {
    exchange.faults.push({
      path: name === 'kraken' ? 'Depth' : 'depth',
      kind: 'answer',
      status: 500,
      body: '',
      times: 9,
    });
    await expect(venue.trade(harness.order(large))).rejects.toThrow();
    expect(exchange.orders).toEqual([]);
  });

  it('buys nothing for a trade without a bound', async () => {
    expect(await venue.trade(harness.order({ ...large, bound: null }))).toEqual({
      outcome: 'rejected',
      code: 'no_price',
    });
    expect(exchange.orders).toEqual([]);
  });

  it('is within the bound when bids vanish after the purchase: what is unsold stays a position', async () => {
    reset({ LTC: { bids: [['80', '2000']] } });
    atPurchase(() => {
      bookOf('LTC').bids = [['50', '5000']];
    });
    const one = harness.order(large);
    expect(await venue.trade(one)).toMatchObject({ outcome: 'filled' });
    const placed = exchange.orders.length;
    await sweep(5);
    expect(exchange.orders.length).toBe(placed);
    expect(harness.gained('LTC')).toBe('1000');
    expect(lost().gte(mostLost)).toBe(true);
    const [position] = await rows(
      'select coin, trim_scale(amount)::text as amount, cash, usd::text from venue_position',
    );
    expect(position).toEqual({ coin: 'LTC', amount: '1000', cash, usd: '80000.00' });
    expect(await rows('select * from venue_result')).toEqual([]);
  });

  it('sells later at the stored price or better, however far the market falls in between', async () => {
    reset({ LTC: { bids: [['80', '2000']] } });
    atPurchase(() => {
      bookOf('LTC').bids = [['50', '5000']];
    });
    const one = harness.order(large);
    await venue.trade(one);
    const [limits] = await rows('select trim_scale(sale_limit)::text as sale from venue_trade');
    for (const bid of ['70', '60', '30']) {
      bookOf('LTC').bids = [[bid, '5000']];
      await sweep(2);
    }
    expect(sold()).toEqual([]);
    // A bid at exactly the stored price takes a part; a bid below it takes nothing.
    bookOf('LTC').bids = [
      [String(limits?.sale), '400'],
      [new Big(String(limits?.sale)).minus('0.01').toFixed(), '5000'],
    ];
    await sweep(2);
    expect(harness.gained('LTC')).toBe('600');
    bookOf('LTC').bids = [[String(limits?.sale), '5000']];
    await harness.square(one.clientId);
    expect(harness.gained('LTC')).toBe('0');
    expect(lost().lt('0') && lost().gte(mostLost)).toBe(true);
    const [result] = await rows('select order_id, coin_from, coin_to, usd::text as usd from venue_result');
    expect(result).toEqual({ order_id: one.clientId, coin_from: 'LTC', coin_to: 'BTC', usd: expect.any(String) });
    // What was bought beyond what was agreed counts as well, and what fell short of it.
    expect(new Big(String(result?.usd)).round(2).toFixed()).toBe(lost().round(2).toFixed());
  });

  it('loses at most the bound when both legs trade at their worst prices', async () => {
    const one = harness.order(large);
    atPurchase(async () => {
      // The limits were stored before the order was sent. A stranger who knew them could do no
      // worse than this.
      const [limits] = await rows(
        'select trim_scale(main_limit)::text as main, trim_scale(sale_limit)::text as sale from venue_trade',
      );
      bookOf('BTC').asks = [[String(limits?.main), '50']];
      bookOf('LTC').bids = [[String(limits?.sale), '5000']];
    });
    expect(await venue.trade(one)).toMatchObject({ outcome: 'filled' });
    await harness.square(one.clientId);
    expect(harness.gained('LTC')).toBe('0');
    const [result] = await rows('select usd::text as usd from venue_result');
    for (const usd of [lost(), new Big(String(result?.usd))]) {
      expect(usd.gte(mostLost) && usd.lt('-1590')).toBe(true);
    }
  });

  it('does not pay for expensive asks with high bids that vanish', async () => {
    reset({ LTC: { bids: [['90', '5000']], ask: '90.1' }, BTC: { bid: '67000', ask: '68000' } });
    expect(await venue.trade(harness.order(large))).toEqual({ outcome: 'rejected', code: 'slippage' });
    expect(exchange.orders).toEqual([]);
  });

  it('takes the cash at its own price', async () => {
    // A stablecoin at 0.95 dollars: everything costs more of it.
    harness.cashPrice = '0.95';
    reset({ LTC: { bid: '84.2', ask: '84.3' }, BTC: { bid: '67360', ask: '67368.42' } });
    const one = harness.order({ ...large, sellAmount: '100', buyAmount: '0.125', minBuyAmount: '0.1225' });
    expect(await venue.trade(one)).toMatchObject({ outcome: 'filled' });
    await harness.square(one.clientId);
    const [result] = await rows('select usd::text as usd from venue_result');
    expect(new Big(String(result?.usd)).lt('0') && new Big(String(result?.usd)).gt('-30')).toBe(true);
  });

  it('takes no cash for a dollar that is worth less', async () => {
    // The same books are 5 % too dear in dollars, on the side of the purchase.
    reset({ BTC: { bid: '67360', ask: '67368.42' } });
    const one = harness.order({ ...large, sellAmount: '100', buyAmount: '0.125', minBuyAmount: '0.1225' });
    expect(await venue.trade(one)).toEqual({ outcome: 'rejected', code: 'slippage' });
  });

  it('keeps what it could not give back within its part of the bound, and rejects the trade', async () => {
    reset({ BTC: { depth: '0.5', shown: { asks: [['64000', '5']] } } });
    const one = harness.order({ ...large, validUntil: new Date(Date.now() + 10_000) });
    await expect(venue.trade(one)).rejects.toThrow('partly filled');
    harness.clock.advance(10_000);
    Object.assign(bookOf('BTC'), { bid: '58000', ask: '58010', depth: null, shown: {} });
    expect(await harness.persist(one)).toEqual({ outcome: 'rejected', code: 'too_late' });
    await sweep(3);
    expect(sold()).toEqual([]);
    const [position] = await rows('select coin, amount > 0.49 as is_most, limit_price from venue_position');
    expect(position).toMatchObject({ coin: 'BTC', is_most: true });
    // 0.5 of 1.25 BTC: 40 % of what may be lost.
    Object.assign(bookOf('BTC'), { bid: new Big(String(position?.limit_price)).round(2, 3).toFixed(), ask: '64000' });
    await harness.square(one.clientId);
    const [result] = await rows('select usd::text as usd from venue_result');
    const usd = new Big(String(result?.usd));
    expect(usd.lte('-600') && usd.gte('-640')).toBe(true);
  });

  it('counts nothing won or lost where nothing was traded', async () => {
    reset({ LTC: { bids: [] } });
    await venue.trade(harness.order({ ...large, validUntil: new Date(Date.now() + 60_000) }));
    await venue.find(harness.order(large).clientId);
    expect(await rows('select * from venue_result')).toEqual([]);
    expect(await rows('select * from venue_position')).toEqual([]);
  });
});
