import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { ImitatedBinance } from '../../../src/exchanges/sandbox/imitated-binance.ts';
import { ImitatedKraken } from '../../../src/exchanges/sandbox/imitated-kraken.ts';
import { query } from '../../support/database/database.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

/** A whole gateway with prices and liquidity of exchanges; its chains stay those of the sandbox. */
describe('a gateway at exchanges', () => {
  const kraken = new ImitatedKraken();
  const binance = new ImitatedBinance();
  let gateway: SettledGateway;

  beforeAll(async () => {
    await Promise.all([kraken.start(), binance.start()]);
    kraken.reset(
      { USD: '1000000', BTC: '10', LTC: '1000' },
      {
        'BTC/USD': { bid: '63995', ask: '64005', depth: null },
        'LTC/USD': {
          bid: '79.99',
          ask: '80.01',
          depth: null,
          // What is more than half a percent below the middle counts for nothing.
          bids: [
            ['79.99', '100'],
            ['79.7', '20'],
            ['79', '1000000'],
          ],
        },
        'USDT/USD': { bid: '0.99', ask: '1.00', depth: null },
      },
    );
    binance.reset(
      {},
      {
        'BTC/USDT': { bid: '64300', ask: '64310', depth: null },
        'LTC/USDT': { bid: '80.4', ask: '80.41', depth: null },
        'ETH/USDT': { bid: '3200', ask: '3201', depth: null },
      },
    );
    gateway = await startSettledGateway({
      // The exchanges go by real time, and so does this gateway, by itself.
      outside: { clock: systemClock, background: true },
      settings: {
        PRICE_SOURCES: `kraken=${kraken.origin},binance=${binance.origin}`,
        VENUE: `kraken=${kraken.origin}`,
        VENUE_KEY: kraken.key,
        VENUE_SECRET: kraken.secret,
        SANDBOX_BLOCK_MS: '50',
      },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await Promise.all([kraken.stop(), binance.stop()]);
  });

  it('pays an order out of what it bought at the venue', async () => {
    // A start does not wait for exchanges that are slow to answer.
    const pair = 'coin_from=LTC&network_from=LTC&coin_to=BTC&network_to=BTC&amount=8&rate_type=float';
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(200)) {
      if ((await fetch(`${gateway.app.restUrl}/api/v1/partner/rates?${pair}`)).ok) break;
    }
    const quoted = await fetch(`${gateway.app.restUrl}/api/v1/partner/rates?${pair}`);
    // 40 % of 7,999 and 1,594 dollars, at the slow price, which is at most a tenth away from 80
    // dollars.
    const { max_amount: most } = (await quoted.json()) as { max_amount: number };
    expect(most > 43 && most < 53.3).toBe(true);
    // Kraken has no order book of it here, though the exchanges tell its price.
    const unknown = await fetch(`${gateway.app.restUrl}/api/v1/partner/rates?${pair.replaceAll('BTC', 'ETH')}`);
    expect([unknown.status, await unknown.json()]).toMatchObject([422, { code: 'pair_unavailable' }]);
    const order = await gateway.order({
      coin_from: 'LTC',
      network_from: 'LTC',
      coin_to: 'BTC',
      network_to: 'BTC',
      amount_from: 8,
      recipient_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    });
    await gateway.deposit(order);
    for (const deadline = Date.now() + 100_000; Date.now() < deadline; await sleep(500)) {
      if ((await gateway.show(order)).status === 'completed') break;
    }
    expect((await gateway.show(order)).status).toBe('completed');
    const [trade] = await query<{ venue: string; bought: string; least: string }>(
      gateway.databaseUrl,
      `select venue, trim_scale(bought)::text as bought, trim_scale(min_bought)::text as least from trade where order_id = $1`,
      [order.id],
    );
    const bought = kraken.orders.filter(({ side }) => side === 'buy').map(({ filled }) => filled);
    expect(trade?.venue).toBe('kraken');
    expect(bought).toEqual([trade?.bought]);
    for (const deadline = Date.now() + 60_000; Date.now() < deadline && kraken.balance('LTC') !== '992'; )
      await sleep(200);
    expect(kraken.balance('LTC')).toBe('992');
  });
});
