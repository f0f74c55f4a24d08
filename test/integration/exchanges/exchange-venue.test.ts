import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Big } from '../../../src/base/money.ts';
import type { ImitatedLevel } from '../../../src/exchanges/sandbox/exchange-state.ts';
import type { ExchangeVenue } from '../../../src/settlement/trade/exchange-venue.ts';
import { exchangeOrderId, VenueJournal } from '../../../src/settlement/trade/venue-journal.ts';
import { query } from '../../support/database/database.ts';
import { loopbackVenues, VenueHarness } from '../../support/exchanges/venue-harness.ts';

describe.each(loopbackVenues)('ExchangeVenue at $name', ({ name, cash, place }) => {
  const harness = new VenueHarness({ name, cash });
  const { exchange } = harness;
  let venue: ExchangeVenue;

  beforeAll(() => harness.start());
  afterAll(() => harness.stop());
  beforeEach(() => {
    harness.reset();
    venue = harness.openVenue();
  });

  it('buys the agreed amount, sells the received amount, and always returns the same answer', async () => {
    const one = harness.order();
    const answer = await venue.trade(one);
    expect(answer).toEqual({ outcome: 'filled', bought: harness.gained('BTC') });
    expect(harness.buys()).toEqual(['0.0999']);
    expect(harness.gained('ETH')).toBe('-2');
    const before = exchange.orders.length;
    expect(await harness.openVenue().trade(one)).toEqual(answer);
    expect(await harness.openVenue().find(one.clientId)).toEqual(answer);
    await venue.settleCash();
    expect(exchange.orders.length).toBe(before);
  });

  it('takes fees in the bought coin off what was bought', async () => {
    const answer = await venue.trade(harness.order());
    expect(answer).toEqual({ outcome: 'filled', bought: name === 'kraken' ? '0.0999' : '0.0998001' });
  });

  it('buys at most a lot more than was agreed', async () => {
    await venue.trade(harness.order({ buyAmount: '0.099900000000000001' }));
    expect(harness.buys()).toEqual([name === 'kraken' ? '0.09990001' : '0.09991']);
  });

  it('buys with cash, and sells for cash', async () => {
    const buying = harness.order({ sellCoin: cash, sellAmount: '6400', buyAmount: '0.0999', minBuyAmount: '0.098' });
    expect(await venue.trade(buying)).toMatchObject({ outcome: 'filled' });
    expect(harness.gained('ETH')).toBe('0');
    harness.reset();
    const selling = harness.order({ buyCoin: cash, buyAmount: '6400', minBuyAmount: '6300' });
    expect(await venue.trade(selling)).toEqual({ outcome: 'filled', bought: '6393.6' });
    expect([harness.gained('ETH'), harness.gained(cash)]).toEqual(['-2', '6393.6']);
  });

  it('trades nothing for a coin against itself', async () => {
    const one = harness.order({ buyCoin: 'ETH', buyAmount: '1.9', minBuyAmount: '1.9' });
    expect(await venue.trade(one)).toEqual({ outcome: 'filled', bought: '2' });
    expect(await harness.openVenue().find(one.clientId)).toEqual({ outcome: 'filled', bought: '2' });
    expect(exchange.orders).toEqual([]);
  });

  it.each([
    ['slippage', { buyAmount: '0.103', minBuyAmount: '0.101' }],
    ['no_market', { buyCoin: 'XMR' }],
    ['no_market', { sellCoin: 'XMR' }],
    ['no_inventory', { sellAmount: '200', buyAmount: '9.9', minBuyAmount: '9.8' }],
    ['too_small', { sellAmount: '0.001', buyAmount: '0.00004', minBuyAmount: '0.00003' }],
    ['too_late', { validUntil: new Date(0) }],
  ])('rejects with %s, buys nothing, and may be asked again', async (code, changes) => {
    const one = harness.order(changes);
    if (code === 'no_inventory') exchange.balances[cash] = '1000';
    expect(await venue.trade(one)).toEqual({ outcome: 'rejected', code });
    expect(await venue.find(one.clientId)).toBeNull();
    expect(exchange.orders.filter(({ filled }) => filled !== '0')).toEqual([]);
  });

  /** More than is there when an order arrives. */
  const shown = { asks: [['64000', '5']] satisfies ImitatedLevel[] };

  it('completes a partial fill with further orders', async () => {
    harness.reset({ BTC: { depth: '0.06', shown } });
    const one = harness.order();
    await expect(venue.trade(one)).rejects.toThrow('partly filled');
    await expect(venue.find(one.clientId)).rejects.toThrow('partly filled');
    const book = exchange.books[`BTC/${cash}`];
    if (book) book.depth = '5';
    const answer = await harness.openVenue().trade(one);
    expect(answer).toEqual({ outcome: 'filled', bought: harness.gained('BTC') });
    expect(new Big(harness.gained('BTC')).gte('0.098') && new Big(harness.gained('BTC')).lte('0.09991')).toBe(true);
    expect(harness.buys().length).toBe(2);
  });

  it('rejects a trade that falls short, and sells back what it bought', async () => {
    harness.reset({ BTC: { depth: '0.06', shown } });
    const one = harness.order({ validUntil: new Date(Date.now() + 10_000) });
    await expect(venue.trade(one)).rejects.toThrow('partly filled');
    harness.clock.advance(10_000);
    // No order buys at first. The order is rejected all the same, and its user gets the deposit
    // back.
    expect(await harness.persist(one)).toEqual({ outcome: 'rejected', code: 'too_late' });
    expect(await harness.openVenue().find(one.clientId)).toBeNull();
    expect(new Big(harness.gained('BTC')).gt('0.05')).toBe(true);
    const book = exchange.books[`BTC/${cash}`];
    if (book) book.depth = null;
    await harness.square(one.clientId);
    expect(await harness.persist(one)).toEqual({ outcome: 'rejected', code: 'too_late' });
    // The remaining position is smaller than one lot.
    expect(new Big(harness.gained('BTC')).abs().lt('0.0001')).toBe(true);
    expect(harness.gained('ETH')).toBe('0');
  });

  it('buys nothing after a lookup found no fill, even when an earlier request is slow', async () => {
    const one = harness.order();
    // Before the venue places the order, a second process reads 'no fill' as the final answer.
    let found: unknown = 'not asked';
    exchange.onRequest = async () => {
      exchange.onRequest = null;
      found = await harness.openVenue().find(one.clientId);
    };
    const answer = await venue.trade(one).catch(() => 'undecided');
    expect(found).toBeNull();
    expect(harness.buys()).toEqual([]);
    expect(answer).toBe('undecided');
    expect(await venue.trade(one)).toEqual({ outcome: 'rejected', code: 'too_late' });
    expect(harness.buys()).toEqual([]);
    expect(await harness.openVenue().find(one.clientId)).toBeNull();
  });

  it('stays filled when the sale fails, and sells later', async () => {
    const one = harness.order();
    // The first order is the purchase, and gets through; the second is lost.
    let placed = 0;
    exchange.onRequest = () => {
      if (!exchange.asked.at(-1)?.endsWith(`/${place}`) || !exchange.asked.at(-1)?.startsWith('POST')) return;
      placed += 1;
      if (placed === 2) exchange.faults.push({ path: place, method: 'POST', kind: 'lose_request' });
    };
    const answer = await venue.trade(one);
    expect(answer).toEqual({ outcome: 'filled', bought: harness.gained('BTC') });
    expect(harness.gained('ETH')).toBe('0');
    harness.outlast();
    await harness.square(one.clientId);
    expect(harness.gained('ETH')).toBe('-2');
    expect(await harness.openVenue().trade(one)).toEqual(answer);
  });

  /**
   * Whether the request never reaches the exchange, so that the test need not wait for it in real
   * time.
   */
  const isLost = true;
  it.each([
    ['an answer that is lost', { kind: 'lose_answer' as const }, !isLost],
    ['a request that is lost', { kind: 'lose_request' as const }, isLost],
    ['status 500 after it was done', { kind: 'after' as const, status: 500, body: '<html>oops</html>' }, !isLost],
    ['a web page with status 200', { kind: 'answer' as const, body: '<html>maintenance</html>' }, isLost],
    [
      'a web page with status 200 after it was done',
      { kind: 'after' as const, body: '<html>maintenance</html>' },
      !isLost,
    ],
    ['an answer without an end', { kind: 'drip' as const }, isLost],
    ['nonsense', { kind: 'after' as const, body: '{"result":{},"error":[]}' }, !isLost],
  ])('buys once in spite of %s', async (_what, fault, lost) => {
    exchange.faults.push({ path: place, method: 'POST', ...fault });
    const one = harness.order();
    await venue.trade(one).catch(() => {});
    if (lost) {
      await expect(harness.openVenue().trade(one)).rejects.toThrow('it is unknown whether');
      harness.outlast();
    }
    const answer = await harness.persist(one);
    await harness.square(one.clientId);
    expect(answer).toEqual({ outcome: 'filled', bought: harness.gained('BTC') });
    expect(harness.buys()).toEqual(['0.0999']);
    expect(harness.gained('ETH')).toBe('-2');
  });

  it.each([
    ['the caller has given up', 700],
    ['its validity is over', 1_600],
  ])('buys once in spite of a request that arrives when %s', async (_what, delayMs) => {
    exchange.faults.push({ path: place, method: 'POST', kind: 'late', delayMs });
    const one = harness.order();
    const answer = await harness.persist(one, { orderValidMs: 1_500, recordLagMs: 300 });
    await harness.square(one.clientId);
    await sleep(200);
    expect(answer).toEqual({ outcome: 'filled', bought: harness.gained('BTC') });
    expect(harness.buys()).toEqual(['0.0999']);
    expect(harness.gained('ETH')).toBe('-2');
  });

  it('does not take a refused lookup for a refused order', async () => {
    const path = name === 'kraken' ? 'QueryOrders' : 'myTrades';
    const body = '{"error":["EAPI:Rate limit exceeded"],"code":-1003,"msg":"Too many requests."}';
    const status = name === 'kraken' ? 200 : 429;
    exchange.faults.push({ path, kind: 'answer', status, body, times: 9 });
    if (name === 'binance') exchange.faults.push({ path: place, method: 'POST', kind: 'lose_answer' });
    const one = harness.order();
    await expect(venue.trade(one)).rejects.toThrow();
    await harness
      .openVenue()
      .trade(one)
      .catch(() => {});
    exchange.faults.length = 0;
    const answer = await harness.persist(one);
    await harness.square(one.clientId);
    expect(answer).toEqual({ outcome: 'filled', bought: harness.gained('BTC') });
    expect(harness.buys()).toEqual(['0.0999']);
  });

  it('buys once, however many ask at the same time', async () => {
    const one = harness.order();
    const answers = await Promise.all(Array.from({ length: 5 }, () => harness.persist(one)));
    await harness.square(one.clientId);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(harness.buys()).toEqual(['0.0999']);
    expect(harness.gained('ETH')).toBe('-2');
  });

  it('finds its orders again when the database has forgotten them', async () => {
    const one = harness.order();
    const answer = await venue.trade(one);
    await query(harness.databaseUrl, 'delete from venue_order where client_id = $1', [one.clientId]);
    await query(harness.databaseUrl, 'delete from venue_trade where client_id = $1', [one.clientId]);
    expect(await harness.openVenue().trade(one)).toEqual(answer);
    expect(harness.buys()).toEqual(['0.0999']);
    expect(harness.gained('ETH')).toBe('-2');
  });

  it('sells the others, however many cannot be sold', async () => {
    const stuck = Array.from({ length: 25 }, () => randomUUID());
    for (const clientId of stuck) {
      await query(
        harness.databaseUrl,
        `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount,
                                  cash, valid_until, created_at, outcome, bought, decided_at)
         values ($1, $2, 'XMR', 1, 'BTC', 1, 1, 'USDT', now(), now(), 'filled', 1, now() - interval '1 day')`,
        [clientId, name],
      );
    }
    let placed = 0;
    exchange.onRequest = () => {
      const asked = exchange.asked.at(-1) ?? '';
      if (asked.startsWith('POST') && asked.endsWith(`/${place}`)) placed += 1;
      if (placed === 1) exchange.balances.ETH = '0';
    };
    const one = harness.order();
    expect(await venue.trade(one)).toMatchObject({ outcome: 'filled' });
    exchange.onRequest = null;
    exchange.balances.ETH = '100';
    expect(harness.gained('ETH')).toBe('0');
    for (let sweep = 0; sweep <= stuck.length; sweep++) await venue.settleCash();
    expect(harness.gained('ETH')).toBe('-2');
    await query(harness.databaseUrl, 'delete from venue_trade where client_id = any($1)', [stuck]);
  });

  it('sells nothing more once the remainder of the trade is booked', async () => {
    const one = harness.order();
    await venue.trade(one);
    await harness.square(one.clientId);
    // A process that read the balance before still expects more to sell.
    const journal = new VenueJournal(harness.orm, name, cash);
    const sale = { base: 'ETH', quote: cash, side: 'sell' as const, amount: '0.1', limit: '3000' };
    const late = { ...sale, clientId: exchangeOrderId(one.clientId, 'sale', 2), notAfterMs: Date.now() + 5_000 };
    expect(await journal.intend(one.clientId, 'sale', 2, late, new Date())).toBe(false);
  });

  it.each([
    ['buys', 1],
    ['sells', 2],
  ])('trades once when it is killed as it %s, whether the order arrives or not', async (_what, nth) => {
    for (const arrives of [true, false]) {
      let placed = 0;
      const told = await harness.killAt((number) => {
        if (exchange.asked[number - 1]?.startsWith('POST') && exchange.asked[number - 1]?.endsWith(`/${place}`))
          placed += 1;
        return placed === nth;
      }, arrives);
      expect({ arrives, ...told }).toEqual({ arrives, ...harness.killed() });
    }
  });
});
