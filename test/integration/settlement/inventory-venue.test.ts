import { randomUUID } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import fc from 'fast-check';
import { createOrm } from '../../../src/app/orm.ts';
import { Big } from '../../../src/base/money.ts';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import { sandboxPriceOverrides } from '../../../src/market/rates/sources/sandbox-price-overrides.ts';
import { SandboxPriceSource } from '../../../src/market/rates/sources/sandbox-price-source.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import type { VenueOrder } from '../../../src/settlement/rows/liquidity-venue.ts';
import { InventoryVenue } from '../../../src/settlement/trade/inventory-venue.ts';
import { createDatabase, query } from '../../support/database/database.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

const clock = new TestClock();
const prices: Record<string, string> = { BTC: '64000', USDT: '1', XRP: '0.3', ETH: '3000' };
let database: { url: string; drop(): Promise<void> };
let orm: MikroORM;
let venue: InventoryVenue;

beforeAll(async () => {
  database = await createDatabase();
  orm = await createOrm({ url: database.url, poolSize: 10 });
  venue = new InventoryVenue({
    orm,
    clock,
    prices: { live: (coin) => (prices[coin] ? new Big(prices[coin]) : null) },
  });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});
beforeEach(() => query(database.url, 'delete from sandbox_inventory'));

const order = (changes: Partial<VenueOrder> = {}): VenueOrder => ({
  clientId: randomUUID(),
  sellCoin: 'BTC',
  sellAmount: '0.5',
  buyCoin: 'USDT',
  minBuyAmount: '31000',
  bound: null,
  validUntil: new Date(clock.now().getTime() + 60_000),
  ...changes,
});

async function stock(coin: string, amount: string): Promise<void> {
  await query(database.url, 'insert into sandbox_inventory (coin, amount) values ($1, $2)', [coin, amount]);
}

async function inventory(): Promise<Record<string, string>> {
  const rows = await query<{ coin: string; amount: string }>(
    database.url,
    'select coin, trim_scale(amount)::text as amount from sandbox_inventory',
  );
  return Object.fromEntries(rows.map(({ coin, amount }) => [coin, amount]));
}

describe('InventoryVenue', () => {
  it("trades at the market's prices, rounded down to what the database holds", async () => {
    expect(await venue.trade(order())).toEqual({ outcome: 'filled', bought: '32000' });
    const odd = order({ sellCoin: 'USDT', sellAmount: '1', buyCoin: 'XRP', minBuyAmount: '3' });
    expect(await venue.trade(odd)).toEqual({ outcome: 'filled', bought: '3.333333333333333333' });
  });

  it('finds filled trades only', async () => {
    const one = order();
    expect(await venue.find(one.clientId)).toBeNull();
    const fill = await venue.trade(one);
    expect(await venue.find(one.clientId)).toEqual(fill);
    expect(await venue.find(randomUUID())).toBeNull();
  });

  it('fills an order once, with the first price, however often and late it is asked', async () => {
    await stock('BTC', '0');
    await stock('USDT', '32000');
    const one = order();
    const answers = await Promise.all(Array.from({ length: 6 }, () => venue.trade(one)));
    prices.BTC = '70000';
    clock.advance(120_000);
    answers.push(await venue.trade(one));
    prices.BTC = '64000';
    expect(answers).toEqual(Array.from({ length: 7 }, () => ({ outcome: 'filled', bought: '32000' })));
    expect(await inventory()).toEqual({ BTC: '0.5', USDT: '0' });
  });

  it.each([
    ['no_price', { sellCoin: 'NOPE' }],
    ['no_price', { buyCoin: 'NOPE' }],
    ['slippage', { minBuyAmount: '32000.000000000000000001' }],
    ['too_late', { validUntil: new Date(0) }],
  ])('rejects an order with %s and does not remember it', async (code, changes) => {
    const one = order(changes);
    expect(await venue.trade(one)).toEqual({ outcome: 'rejected', code });
    expect(await venue.find(one.clientId)).toBeNull();
    const { clientId } = one;
    expect(await venue.trade(order({ clientId }))).toEqual({ outcome: 'filled', bought: '32000' });
  });

  it('sells no more than it has, until it has it', async () => {
    await stock('USDT', '31999.999999999999999999');
    const one = order();
    expect(await venue.trade(one)).toEqual({ outcome: 'rejected', code: 'no_inventory' });
    expect(await inventory()).toEqual({ USDT: '31999.999999999999999999' });
    await query(database.url, `update sandbox_inventory set amount = 32000`);
    expect(await venue.trade(one)).toEqual({ outcome: 'filled', bought: '32000' });
    expect(await inventory()).toEqual({ USDT: '0' });
  });

  it('trades a coin for itself on another network', async () => {
    await stock('USDT', '100');
    const one = order({ sellCoin: 'USDT', sellAmount: '40', minBuyAmount: '40' });
    expect(await venue.trade(one)).toEqual({ outcome: 'filled', bought: '40' });
    expect(await inventory()).toEqual({ USDT: '100' });
  });

  it('fills several orders in one request, and leaves out the ones it would reject', async () => {
    await stock('BTC', '0');
    await stock('USDT', '64000');
    const [one, two] = [order(), order()];
    const others = [order({ sellCoin: 'NOPE' }), order({ minBuyAmount: '32001' }), order({ validUntil: new Date(0) })];
    const fill = { outcome: 'filled', bought: '32000' };
    const fills = await venue.tradeAll([one, ...others, two]);
    expect(fills).toEqual(new Map([one, two].map(({ clientId }) => [clientId, fill])));
    expect(await inventory()).toEqual({ BTC: '1', USDT: '0' });
    expect(await venue.tradeAll([two, one])).toEqual(new Map());
    expect(await venue.find(one.clientId)).toEqual(fill);
    expect(await venue.trade(two)).toEqual(fill);
    expect(await inventory()).toEqual({ BTC: '1', USDT: '0' });
  });

  it('fills none of several orders when the stock is too small for all', async () => {
    await stock('USDT', '50000');
    const [one, two] = [order(), order()];
    expect(await venue.tradeAll([one, two])).toEqual(new Map());
    expect(await inventory()).toEqual({ USDT: '50000' });
    expect(await venue.trade(one)).toEqual({ outcome: 'filled', bought: '32000' });
    expect(await venue.trade(two)).toEqual({ outcome: 'rejected', code: 'no_inventory' });
    expect(await venue.find(two.clientId)).toBeNull();
  });

  it('fills each order once when groups of the same orders come at once, in any order', async () => {
    await stock('BTC', '0');
    await stock('USDT', '320000');
    const all = Array.from({ length: 10 }, () => order());
    const groups = Array.from({ length: 8 }, (_, turn) => [...all.slice(turn), ...all.slice(0, turn)]);
    const filled = await Promise.all([
      ...groups.map((group, turn) => venue.tradeAll(turn % 2 === 0 ? group : group.toReversed())),
      ...all.slice(0, 4).map(async (each) => {
        expect((await venue.trade(each)).outcome).toBe('filled');
        return new Map();
      }),
    ]);
    const times = filled.flatMap((fills) => [...fills.keys()]);
    expect(new Set(times).size).toBe(times.length);
    expect(await inventory()).toEqual({ BTC: '5', USDT: '0' });
  });

  it('keeps its books under trades in both directions at once', async () => {
    const [btc, usdt] = [new Big('3'), new Big('100000')];
    await stock('BTC', btc.toFixed());
    await stock('USDT', usdt.toFixed());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), async (directions) => {
        await query(database.url, 'delete from sandbox_fill');
        const before = await inventory();
        const answers = await Promise.all(
          directions.map((sellsBtc) =>
            venue.trade(
              sellsBtc
                ? order({ minBuyAmount: '0' })
                : order({ sellCoin: 'USDT', sellAmount: '48000', buyCoin: 'BTC', minBuyAmount: '0' }),
            ),
          ),
        );
        const filled = (sellsBtc: boolean): string =>
          String(answers.filter(({ outcome }, i) => outcome === 'filled' && directions[i] === sellsBtc).length);
        const bought = new Big('0.5').times(filled(true)).minus(new Big('0.75').times(filled(false)));
        const paid = new Big('48000').times(filled(false)).minus(new Big('32000').times(filled(true)));
        expect(await inventory()).toEqual({
          BTC: new Big(before.BTC ?? '0').plus(bought).toFixed(),
          USDT: new Big(before.USDT ?? '0').plus(paid).toFixed(),
        });
      }),
      { numRuns: 10 },
    );
  });
});

describe('a gateway that trades from its inventory', () => {
  const asked: (readonly string[])[] = [];
  const paused = new Set<string>();
  const fixed = new SandboxPriceSource(clock, 'seed');
  const priceSource: PriceSource = {
    name: 'test',
    fetch: async (coins) => {
      asked.push(coins);
      return fixed.fetch(coins.filter((coin) => !paused.has(coin)));
    },
    paused: () => paused,
  };
  let gateway: SettledGateway;

  beforeAll(async () => {
    gateway = await startSettledGateway({ clock, outside: { priceSource } });
  });
  afterAll(() => gateway?.stop());

  /** An order whose trade is decided, and found no inventory at first. */
  async function undecided(): Promise<MadeOrder> {
    await gateway.query(`insert into sandbox_inventory (coin, amount) values ('USDT', 0)`);
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine(order.networkFrom, 3);
    await gateway.tick();
    expect(await trade(order)).toEqual({ state: 'intended', problem: 'no_inventory' });
    await gateway.query('delete from sandbox_inventory');
    return order;
  }

  async function trade({ id }: MadeOrder): Promise<unknown> {
    return (await gateway.query('select state, problem from trade where order_id = $1', [id]))[0];
  }

  async function later(seconds = 6): Promise<void> {
    clock.advance(seconds * 1000);
    await gateway.settlement.settler.tools.prices.refresh(gateway.app.catalogue.coins());
    await gateway.tick();
  }

  it('goes by its price book, and leaves the source to it', async () => {
    const order = await undecided();
    paused.add('BTC');
    await later();
    expect(await trade(order)).toEqual({ state: 'intended', problem: 'no_price' });
    paused.clear();
    await later();
    expect(await trade(order)).toEqual({ state: 'filled', problem: null });
    const all = gateway.app.catalogue.coins().length;
    expect(asked.filter((coins) => coins.length !== all)).toEqual([]);
  });

  it('asks nothing about a trade of another venue, and does not start while there is one', async () => {
    const order = await undecided();
    await gateway.query(`update trade set venue = 'kraken' where order_id = $1`, [order.id]);
    // Past the deadline and long after it.
    await later(86_400);
    await later();
    expect(await trade(order)).toEqual({ state: 'intended', problem: 'other_venue' });
    expect(await gateway.query('select from sandbox_fill where client_id = $1', [order.id])).toEqual([]);
    expect(await attention(gateway.app.orm.em.fork(), 10, clock.now())).toContainEqual(
      expect.objectContaining({ kind: 'trade_stuck', orderId: order.id, detail: 'other_venue' }),
    );
    const start = (): Promise<unknown> => startSettledGateway({ clock, databaseUrl: gateway.databaseUrl });
    await expect(start()).rejects.toThrow(/^1 trade is open at kraken.*VENUE=kraken/);
    await gateway.query(`update trade set venue = 'sandbox' where order_id = $1`, [order.id]);
    await gateway.query(
      `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount, cash,
                                valid_until, created_at, outcome, bought, decided_at)
       values ($1, 'binance', 'BTC', 1, 'USDT', 1, 1, 'USDT', now(), now(), 'filled', 1, now())`,
      [order.id],
    );
    const other = { VENUE: 'kraken=http://127.0.0.1:1', VENUE_KEY: 'key', VENUE_SECRET: 'secret' };
    const live = { ...other, PRICE_SOURCES: 'kraken=http://127.0.0.1:1', PRICE_MIN_SOURCES: '1' };
    const started = startSettledGateway({ clock, databaseUrl: gateway.databaseUrl, settings: live });
    await expect(started).rejects.toThrow(/VENUE=binance.*VENUE=inventory/s);
    // Trades at both can be finished.
    const worker = { clock, databaseUrl: gateway.databaseUrl, key: 'none', settings: { ROLE: 'worker' } };
    await (await startSettledGateway(worker)).stop();
  });
});

describe('SandboxPriceSource', () => {
  it('gives an overridden coin exactly the price that was set', async () => {
    await query(
      database.url,
      `insert into sandbox_price (coin, price, set_at) values ('BTC', 12345.6789, now()), ('NEW', 0.000001, now())`,
    );
    const coins = ['BTC', 'ETH', 'NEW', 'NOPE'];
    const plain = await new SandboxPriceSource(clock, 'seed').fetch(coins);
    const source = new SandboxPriceSource(clock, 'seed', () => sandboxPriceOverrides(orm));
    const overridden = await source.fetch(coins);
    expect([...overridden.keys()]).toEqual(['BTC', 'ETH', 'NEW']);
    expect(overridden.get('BTC')).toEqual({ price: '12345.6789', at: clock.now() });
    expect(overridden.get('NEW')?.price).toBe('0.000001');
    expect(overridden.get('ETH')).toEqual(plain.get('ETH'));
  });
});
