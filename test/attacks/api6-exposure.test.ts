import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Big } from '../../src/base/money.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { Market } from '../support/exchanges/market.ts';
import { Faults } from '../support/faults/faults.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { copyOrder } from '../support/gateway/order-pages.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { attempt } from '../support/jest/attempts.ts';
import { newMember } from '../support/staff/staff-client.ts';

/**
 * OWASP API6:2023, unrestricted access to sensitive business flows: fixed orders used as options on
 * our prices, paid only when the market favours them, and positions that float orders open.
 */

const minuteMs = 60_000;
/** 0.01 BTC are 640 US dollars by the price that caps are counted with, and 3 BTC 192,000. */
const fixed = { rate_type: 'fixed' };
const largest = { ...fixed, amount_from: 3 };
const tooMuch = { status: 422, code: 'fixed_exposure_limit' };
const tooMuchFloat = { status: 422, code: 'float_exposure_limit' };
const leftQuote = { status: 422, code: 'quote_expired' };
const made = { status: 201 };

const gateways: SettledGateway[] = [];
const databases: TestDatabase[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  for (const database of databases.splice(0)) await database.drop();
});

async function start(options: Parameters<typeof startSettledGateway>[0]): Promise<SettledGateway> {
  const gateway = await startSettledGateway(options);
  gateways.push(gateway);
  return gateway;
}

/** Gateways concurrently on one database. */
async function startBeside(count: number, clock: TestClock, settings: Record<string, string>) {
  const database = await createDatabase();
  databases.push(database);
  const started: SettledGateway[] = [];
  for (let i = 0; i < count; i++) {
    const all = { REDIS_URL: 'redis://127.0.0.1:1', NODE_COUNT: String(count), ...settings };
    started.push(await start({ clock, databaseUrl: database.url, settings: all }));
  }
  return started;
}

async function outcome(gateway: SettledGateway, key: string, changes: Record<string, unknown>, repeatKey?: string) {
  const headers = repeatKey === undefined ? {} : { 'Idempotency-Key': repeatKey };
  for (;;) {
    const { status, json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody(changes), headers });
    // After the clock was set far on, until prices are refreshed; or too many creates wait.
    if (json.code === 'pair_unavailable' || status === 503) await sleep(20);
    else return { status, ...(status === 201 ? {} : { code: json.code }) };
  }
}

/** What the orders of one rate type are worth together in bitcoin. */
async function bitcoinOrdered(gateway: SettledGateway, rateType: string): Promise<number> {
  const [row] = await gateway.query<{ amount: number }>(
    'select coalesce(sum(amount_from_expected), 0)::float8 as amount from exchange_order where rate_type = $1',
    [rateType],
  );
  return row?.amount ?? 0;
}

/** The partner whose key the gateway's own orders are made with. */
async function partnerOf(gateway: SettledGateway): Promise<string> {
  const all = await gateway.partners.list();
  return all.find(({ name }) => name === 'Test partner')?.id ?? '';
}

/** Until this process quotes bitcoin by its new price. */
async function isQuoted(gateway: SettledGateway, price: string): Promise<void> {
  for (;;) {
    const { json } = await gateway.call(
      'GET',
      '/partner/rates?coin_from=BTC&network_from=BTC&coin_to=USDT&network_to=TRC20&amount=1',
    );
    if (new Big(String(json.rate)).div(price).gt('0.98') && new Big(String(json.rate)).div(price).lt('1')) return;
    await sleep(20);
  }
}

/** Runs with a separate connection to the gateway's database. */
async function inDatabase(gateway: SettledGateway, run: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: gateway.databaseUrl });
  await client.connect();
  try {
    await run(client);
  } finally {
    await client.end();
  }
}

async function pay(gateway: SettledGateway, order: MadeOrder): Promise<void> {
  await gateway.deposit(order);
  await gateway.tick();
  await gateway.mine('BTC');
  await gateway.tick();
}

describe('fixed orders of one partner', () => {
  it('stay in the cap after their deposits: a price jump within a window costs at most the cap', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const market = new Market(clock, { BTC: '64000' });
    const gateway = await start({
      clock,
      settings: { MAX_FIXED_EXPOSURE_USD: '', MAX_FIXED_DAY_USD: '', MAX_FIXED_ALL_USD: '', PRICE_REFRESH_SEC: '1' },
      outside: { priceSource: market },
    });
    // The market jumps, and a process whose refresh is still to come would quote the price of
    // before.
    let refused = 0;
    for (let i = 0; i < 18; i++) {
      const { status, json } = await gateway.call('POST', '/partner/orders', {
        key: gateway.key,
        body: orderBody(largest),
      });
      if (status === 422)
        attempt('an option on a price that the market has left', { status, code: json.code }, tooMuch);
      refused += status === 422 ? 1 : 0;
      if (status === 201) {
        await pay(gateway, {
          id: json.id,
          depositAddress: json.deposit_address,
          depositTag: null,
          amountFrom: '3',
          amountTo: '',
          coinFrom: 'BTC',
          networkFrom: 'BTC',
          networkTo: 'TRC20',
        });
      }
      clock.advance(1_100);
    }
    expect(await bitcoinOrdered(gateway, 'fixed')).toBe(3);
    expect(refused).toBe(17);
  });

  it('count for an hour and for a day, also after they were paid or expired', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const settings = { MAX_FIXED_EXPOSURE_USD: '2000', MAX_FIXED_DAY_USD: '4000' };
    const gateway = await start({ clock, settings });
    const create = () => outcome(gateway, gateway.key, fixed);
    const orders: MadeOrder[] = [];
    for (let i = 0; i < 3; i++) orders.push(await gateway.order(fixed));
    for (const order of orders.slice(0, 2)) await pay(gateway, order);
    clock.advance(45 * minuteMs);
    await gateway.tick();
    const [{ expired } = { expired: 0 }] = await gateway.query<{ expired: number }>(
      `select count(*)::int as expired from exchange_order where status = 'expired'`,
    );
    expect(expired).toBe(1);
    attempt('an order after paid and expired ones of the hour', await create(), tooMuch);
    clock.advance(20 * minuteMs);
    for (let i = 0; i < 3; i++) expect(await create()).toEqual(made);
    clock.advance(65 * minuteMs);
    attempt('an order after those of the day', await create(), tooMuch);
    expect(await outcome(gateway, gateway.key, { ...fixed, amount_from: 0.001 })).toEqual(made);
    expect(await outcome(gateway, gateway.key, {})).toEqual(made);
    clock.advance(23 * 60 * minuteMs);
    for (let i = 0; i < 3; i++) expect(await create()).toEqual(made);
  });

  it('are capped exactly when two processes create at once', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const both = await startBeside(2, clock, { MAX_FIXED_EXPOSURE_USD: '5000' });
    const { key } = both[0] as SettledGateway;
    const outcomes = await Promise.all(
      both.flatMap((one) => Array.from({ length: 12 }, () => outcome(one, key, fixed))),
    );
    expect(outcomes.filter(({ status }) => status === 201)).toHaveLength(7);
    for (const one of outcomes.filter(({ status }) => status !== 201)) {
      attempt('a flood of fixed orders at two processes', one, tooMuch);
    }
  });

  it('with one idempotency key sent to two processes use the last room once', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const both = await startBeside(2, clock, { MAX_FIXED_EXPOSURE_USD: '1000' });
    const { key } = both[0] as SettledGateway;
    const sent = await Promise.all(both.map((one) => outcome(one, key, fixed, 'the-last')));
    expect(sent.map(({ status }) => status)).toEqual([201, 201]);
    for (const one of both) expect(await outcome(one, key, fixed, 'the-last')).toEqual(made);
    expect(await bitcoinOrdered(both[0] as SettledGateway, 'fixed')).toBe(0.01);
  });
});

describe('fixed orders of all partners together', () => {
  it('are capped exactly over two processes that create at once', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const both = await startBeside(2, clock, { MAX_FIXED_ALL_USD: '6400' });
    const partners = await Promise.all(Array.from({ length: 4 }, () => (both[0] as SettledGateway).partner()));
    for (let round = 0; round < 6; round++) {
      await Promise.all(both.flatMap((one) => partners.map(({ key }) => outcome(one, key, fixed))));
      clock.advance(1_000);
    }
    expect(await bitcoinOrdered(both[0] as SettledGateway, 'fixed')).toBe(0.1);
    const [{ key } = { key: '' }] = partners;
    for (const one of both)
      attempt('a fixed order after those of all partners', await outcome(one, key, fixed), tooMuch);
    clock.advance(66 * minuteMs);
    expect(await outcome(both[0] as SettledGateway, key, fixed)).toEqual(made);
  });

  it('are not refused while the cap has room for all that come at once', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const [one] = (await startBeside(1, clock, { MAX_FIXED_ALL_USD: '9600' })) as [SettledGateway];
    const { key } = await one.partner();
    for (let round = 0; round < 6; round++) {
      const creates = Array.from({ length: 7 }, async (_, i) => {
        await sleep(i * 2);
        return outcome(one, key, fixed);
      });
      expect(await Promise.all(creates)).toEqual(creates.map(() => made));
      clock.advance(66 * minuteMs);
    }
  });

  it('are capped exactly when one process has read long before the other', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const both = await startBeside(2, clock, { MAX_FIXED_ALL_USD: '6400' });
    const [busy, idle] = both as [SettledGateway, SettledGateway];
    const { key } = await busy.partner();
    expect(await outcome(idle, key, fixed)).toEqual(made);
    for (let second = 0; second < 8; second++) {
      await outcome(busy, key, fixed);
      await outcome(busy, key, fixed);
      clock.advance(1_000);
    }
    const held = await outcome(busy, key, fixed);
    attempt('a fixed order beyond the cap in the busy process', held, tooMuch);
    for (let i = 0; i < 9; i++) await outcome(idle, key, fixed);
    expect(await bitcoinOrdered(busy, 'fixed')).toBe(0.1);
    for (const one of both) attempt('a fixed order beyond the cap', await outcome(one, key, fixed), tooMuch);
  });

  it('lose no room to a process that has ended', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const both = await startBeside(2, clock, { MAX_FIXED_ALL_USD: '6400' });
    const [first, second] = both as [SettledGateway, SettledGateway];
    const { key } = await first.partner();
    expect(await outcome(second, key, fixed)).toEqual(made);
    await second.stop();
    for (let i = 0; i < 9; i++) expect(await outcome(first, key, fixed)).toEqual(made);
    attempt('a fixed order beyond the cap', await outcome(first, key, fixed), tooMuch);
  });

  it('are not kept from other processes by large orders that are refused or only judged', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const both = await startBeside(2, clock, { MAX_FIXED_ALL_USD: '640000' });
    const [flooded, other] = both as [SettledGateway, SettledGateway];
    const [taker, honest] = [await flooded.partner(), await flooded.partner()];
    await flooded.partners.change(taker.id, { maxFixedExposureUsd: 1 });
    for (const path of ['/partner/orders', '/partner/orders/validate']) {
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => flooded.call('POST', path, { key: taker.key, body: orderBody(largest) })),
      );
      for (const { status, json } of answers)
        attempt('a fixed order of 192,000 US dollars beyond the own cap', { status, code: json.code }, tooMuch);
      expect(await outcome(other, honest.key, { ...fixed, amount_from: 2.5 })).toEqual(made);
      await flooded.query('delete from fixed_turnover where partner_id = $1', [honest.id]);
    }
  });
});

describe('four processes that create at the cap at once', () => {
  it('make exactly what it admits, and refused orders leave no trace', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const four = await startBeside(4, clock, { MAX_FIXED_ALL_USD: '64000' });
    const [first] = four as [SettledGateway];
    // A commit takes as long as with a distant standby, and holds its locks.
    await first.query(`create function commit_slowly() returns trigger language plpgsql as $$
      begin perform pg_sleep(0.005); return null; end $$`);
    await first.query(`create constraint trigger commit_slowly after insert or update on fixed_turnover_all
      deferrable initially deferred for each row execute function commit_slowly()`);
    const partners = await Promise.all(Array.from({ length: 8 }, () => first.partner()));
    // Its own cap refuses most of its orders.
    await first.partners.change(partners[0]?.id ?? '', { maxFixedExposureUsd: 1_300, maxFixedDayUsd: 1_300 });
    const keyOf = (index: number): string => partners[index % partners.length]?.key ?? '';
    const answers = await Promise.all(
      four.flatMap((one) =>
        Array.from({ length: 64 }, async (_, index) => {
          if (index % 16 === 15) return { isFixed: false, ...(await outcome(one, keyOf(index), {})) };
          // Every fourth comes with one idempotency key at all processes.
          const repeatKey = index % 4 === 1 ? `same-${index}` : undefined;
          return { isFixed: true, ...(await outcome(one, keyOf(index), fixed, repeatKey)) };
        }),
      ),
    );
    expect(answers.filter(({ isFixed, status }) => !isFixed && status !== 201)).toEqual([]);
    for (const { status, code } of answers.filter((one) => one.status !== 201))
      attempt('a fixed order together with those of three other processes', { status, code: code ?? '' }, tooMuch);
    expect(await bitcoinOrdered(first, 'fixed')).toBe(1);
    const [counted] = await first.query(
      `select (select trim_scale(sum(usd))::text from fixed_turnover_all) as "ofAll",
              (select trim_scale(sum(usd))::text from fixed_turnover) as "ofPartners",
              (select count(*)::int from exchange_order where rate_type = 'fixed') as orders,
              (select trim_scale(max(usd))::text from fixed_turnover where partner_id = $1) as "ofSmallest"`,
      [partners[0]?.id],
    );
    const deadlocks = await first.query<{ deadlocks: string }>(
      'select deadlocks::text from pg_stat_database where datname = current_database()',
    );
    expect(deadlocks).toEqual([{ deadlocks: '0' }]);
    expect(counted).toEqual({ ofAll: '64000', ofPartners: '64000', orders: 100, ofSmallest: '1280' });
  });
});

describe('float orders', () => {
  it('of a partner are capped while they wait or are under way, and leave the cap when they end', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const gateway = await start({ clock, settings: { MAX_FLOAT_EXPOSURE_USD: '2000' } });
    const create = () => outcome(gateway, gateway.key, {});
    const orders: MadeOrder[] = [];
    for (let i = 0; i < 3; i++) orders.push(await gateway.order());
    attempt('a float order too much', await create(), tooMuchFloat);
    expect(await outcome(gateway, gateway.key, fixed)).toEqual(made);
    for (const order of orders) await pay(gateway, order);
    clock.advance(1_001);
    attempt('a float order during confirming orders', await create(), tooMuchFloat);
    for (const order of orders) await gateway.settle(order);
    clock.advance(1_001);
    for (let i = 0; i < 3; i++) expect(await create()).toEqual(made);
    clock.advance(1_001);
    attempt('a float order too much after a new reading', await create(), tooMuchFloat);
    await gateway.partners.change(await partnerOf(gateway), { maxFloatExposureUsd: 3_000 });
    clock.advance(30 * minuteMs);
    const { key } = await gateway.partners.issueKey(await partnerOf(gateway));
    for (let i = 0; i < 4; i++) expect(await outcome(gateway, key, {})).toEqual(made);
    attempt('a float order beyond a cap that staff gave', await outcome(gateway, key, {}), tooMuchFloat);
  });

  it('beyond half of a cap wait for a read, so that another process has not used the cap meanwhile', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const [busy, idle] = await startBeside(2, clock, { MAX_FLOAT_EXPOSURE_USD: '20000' });
    if (!busy || !idle) throw new Error('two gateways are started');
    const { key } = await busy.partner();
    // The idle process reads that the partner has no orders.
    expect((await idle.call('POST', '/partner/orders/validate', { key, body: orderBody() })).status).toBe(200);
    expect(await outcome(busy, key, { amount_from: 0.3 })).toEqual(made);
    clock.advance(10_001);
    // Of all that a create reads, only the read of its partner's orders needs this table.
    await inDatabase(busy, async (reader) => {
      await reader.query('begin; lock table fixed_result in access exclusive mode');
      const again = outcome(idle, key, { amount_from: 0.3 });
      await Promise.race([again, sleep(200)]);
      await reader.query('commit');
      attempt('the cap again, in another process', await again, tooMuchFloat);
    });
  });

  it('count with the deposited amount when it is above the announced amount', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const gateway = await start({ clock, settings: { MAX_FLOAT_EXPOSURE_USD: '10000' } });
    const order = await gateway.order({ amount_from: 0.001 });
    await gateway.deposit(order, { amount: '0.15' });
    await gateway.tick();
    await gateway.mine('BTC');
    await gateway.tick();
    // Creates far from the cap go on with a read of the last minute.
    clock.advance(60_001);
    attempt(
      'a float order after a large deposit',
      await outcome(gateway, gateway.key, { amount_from: 0.01 }),
      tooMuchFloat,
    );
  });

  it('block new orders of all partners only once their deposits are in blocks, in each process', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:01:00Z'));
    const both = await startBeside(2, clock, { MAX_FLOAT_ALL_USD: '6400' });
    const [first] = both as [SettledGateway, SettledGateway];
    // 36 unpaid orders of about 641 US dollars: 23,000 dollars that commit the house to nothing.
    const orders: MadeOrder[] = [];
    for (let made = 0; made < 36; made++) orders.push(await first.order());
    clock.advance(10_001);
    const { key } = await first.partner();
    for (const one of both) expect(await outcome(one, key, {})).toEqual(made);
    for (const order of orders.slice(0, 10)) await pay(first, order);
    clock.advance(10_001);
    for (const one of both)
      attempt('a float order after the paid ones of all', await outcome(one, key, {}), tooMuchFloat);
  });

  // Creates of all partners wait for this read, and an unpaid order costs its maker nothing.
  it('that are unpaid are not read for the cap of all partners, however many paid ones there are', async () => {
    const gateway = await start({});
    const [unpaid, paid, ended] = [await gateway.order(), await gateway.order(), await gateway.order()];
    await pay(gateway, ended);
    await gateway.settle(ended);
    await pay(gateway, paid);
    await copyOrder(gateway.query, unpaid.id, 2_000);
    await inDatabase(gateway, async (client) => {
      // Orders begin as unpaid, so the triggers refuse these copies.
      await client.query('set session_replication_role = replica');
      await client.query(
        `insert into exchange_order
         select (jsonb_populate_record(null::exchange_order, to_jsonb(o) || jsonb_build_object(
                   'id', gen_random_uuid(), 'deposit_address_id', gen_random_uuid(), 'short_id', 'E-' || lpad(n::text, 6, '0')))).*
           from exchange_order o, generate_series(1, 8000) n where o.id = $1`,
        [ended.id],
      );
      await client.query('vacuum analyze exchange_order');
    });
    const { readAllOrders } = await import('../../src/orders/exposure.ts');
    const em = gateway.app.orm.em.fork();
    const rows = await readAllOrders(em, new Date());
    expect(rows.filter(({ what }) => what === 'float')).toHaveLength(1);
    const explaining = {
      execute: (sql: string, values: unknown[]) => em.execute(`explain ${sql}`, values),
    } as unknown as typeof em;
    const plan = JSON.stringify(await readAllOrders(explaining, new Date()));
    expect(plan).toContain('Index Only Scan using exchange_order_float_paid');
    expect(plan).not.toContain('exchange_order_float_open');
  });
});

describe('a partner whose users pay only orders with a gain from the market', () => {
  it('appears in its figures and in the attention list, and keeps a tenth of its caps until it recovers', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const market = new Market(clock, { BTC: '64000' });
    const gateway = await start({
      clock,
      settings: { MAX_FIXED_EXPOSURE_USD: '200000', MAX_FIXED_DAY_USD: '400000', PRICE_REFRESH_SEC: '1' },
      outside: { priceSource: market },
    });
    const { FixedResults, fixedResults } = await import('../../src/orders/fixed-results.ts');
    const { attention } = await import('../../src/orders/read/attention.ts');
    const results = new FixedResults(gateway.app.orm, clock);
    const id = await partnerOf(gateway);
    const orders: MadeOrder[] = [];
    for (let i = 0; i < 6; i++) orders.push(await gateway.order({ ...fixed, amount_from: 0.2 }));
    for (let i = 0; i < 20; i++) await gateway.order({ ...fixed, amount_from: 0.05 });
    market.prices.BTC = '62900';
    clock.advance(10 * minuteMs);
    await isQuoted(gateway, '62900');
    for (const order of orders) await gateway.deposit(order);
    for (const order of orders) await gateway.settle(order);
    await results.rollUp();
    await results.rollUp();
    const em = gateway.app.orm.em.fork();
    const figure = async () => (await fixedResults(em, clock.now(), 1, [id]))[0];
    // Each sent 0.2 BTC of 62,900 and was owed 12,800 less 1 %.
    expect(await figure()).toEqual({
      partnerId: id,
      orders: 6,
      sentUsd: '75480',
      adverseBps: '174.9',
      lossUsd: '552',
    });
    const { ask } = await newMember(gateway, 'admin');
    const shown = await ask(
      `query ($id: ID!) { partner(id: $id) { fixedResults {
         day { orders sentUsd adverseBps lossUsd } month { orders sentUsd adverseBps lossUsd } } } }`,
      { id },
    );
    const result = { orders: 6, sentUsd: '75480', adverseBps: '174.9', lossUsd: '552' };
    expect(shown.data).toEqual({ partner: { fixedResults: { day: result, month: result } } });
    const items = async () => (await attention(em, 100, clock.now())).filter(({ kind }) => kind === 'adverse_partner');
    expect(await items()).toMatchObject([{ subjectId: id, detail: 'lost 552.00 USD by 6 fixed orders in 24 hours' }]);

    clock.advance(66 * minuteMs);
    attempt(
      'a fixed order of a partner that picks',
      await outcome(gateway, gateway.key, { ...fixed, amount_from: 1 }),
      tooMuch,
    );
    await gateway.partners.change(id, { keepsFixedCaps: true });
    expect(await items()).toEqual([]);
    const { key } = await gateway.partners.issueKey(id);
    expect(await outcome(gateway, key, { ...fixed, amount_from: 1 })).toEqual(made);
    await gateway.partners.change(id, { keepsFixedCaps: false });
    clock.advance(24 * 60 * minuteMs);
    expect(await items()).toEqual([]);
    expect(await outcome(gateway, gateway.key, { ...fixed, amount_from: 1 })).toEqual(made);
  });

  it('has in its figures what filled long after it was decided', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const market = new Market(clock, { BTC: '64000' });
    const venue = new Faults();
    const gateway = await start({
      clock,
      settings: { PRICE_REFRESH_SEC: '1', EXCHANGE_DEADLINE_SEC: '86400' },
      outside: { ...venue.outside(), priceSource: market },
    });
    const { FixedResults, fixedResults } = await import('../../src/orders/fixed-results.ts');
    const results = new FixedResults(gateway.app.orm, clock);
    const id = await partnerOf(gateway);
    const order = await gateway.order(fixed);
    venue.venue = async () => ({ outcome: 'rejected', code: 'no_liquidity' });
    await gateway.deposit(order);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('exchanging');
    await results.rollUp();
    for (let hour = 0; hour < 5; hour += 1) {
      clock.advance(60 * minuteMs);
      await results.rollUp();
    }
    venue.venue = null;
    await isQuoted(gateway, '64000');
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    await results.rollUp();
    const [found] = await fixedResults(gateway.app.orm.em.fork(), clock.now(), 1, [id]);
    expect(found).toMatchObject({ orders: 1 });
  });

  it('can take stale rates after a price jump with few large orders once in 30 days, and not every day', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const market = new Market(clock, { BTC: '64000' });
    const gateway = await start({ clock, settings: { PRICE_REFRESH_SEC: '1' }, outside: { priceSource: market } });
    const { FixedResults } = await import('../../src/orders/fixed-results.ts');
    const { attention } = await import('../../src/orders/read/attention.ts');
    const order = await gateway.order(largest);
    market.prices.BTC = '62850';
    clock.advance(minuteMs);
    await isQuoted(gateway, '62850');
    await gateway.deposit(order);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    await new FixedResults(gateway.app.orm, clock).rollUp();

    clock.advance(25 * 60 * minuteMs);
    attempt('a fixed order on the day after a burst', await outcome(gateway, gateway.key, fixed), tooMuch);
    expect(await outcome(gateway, gateway.key, {})).toEqual(made);
    const items = await attention(gateway.app.orm.em.fork(), 100, clock.now());
    expect(items.filter(({ kind }) => kind === 'adverse_partner')).toMatchObject([
      { detail: expect.stringMatching(/^lost 1\d{3}\.\d\d USD by fixed orders in 30 days$/) },
    ]);
    clock.advance(30 * 24 * 60 * minuteMs);
    expect(await outcome(gateway, gateway.key, fixed)).toEqual(made);
  });
});

describe('binding quotes that a taker holds over a price jump of two percent', () => {
  it('are honoured for a user’s order, and give a taker of all sizes no more than 50 dollars an hour', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const market = new Market(clock, { BTC: '64000' });
    const caps = { MAX_FIXED_EXPOSURE_USD: '', MAX_FIXED_DAY_USD: '', MAX_FIXED_ALL_USD: '' };
    const gateway = await start({
      clock,
      settings: { ...caps, PRICE_REFRESH_SEC: '1' },
      outside: { priceSource: market },
    });
    const { key: wallet } = await gateway.partner();
    const pair = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20', rate_type: 'fixed' };
    const quote = async (key: string, amount: number) =>
      (await gateway.call('POST', '/partner/quotes', { key, body: { ...pair, amount_from: amount } })).json;
    const { refund_address: _, ...destination } = orderBody({});
    const use = ({ quote_id }: { readonly quote_id?: string }, key: string) =>
      gateway.call('POST', '/partner/orders', {
        key,
        body: { recipient_address: destination.recipient_address, quote_id },
      });

    const users = await quote(wallet, 0.01);
    const sizes = [3, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.02, 0.01, 0.01, 0.005, 0.005];
    const held = [];
    for (const size of sizes) held.push({ size, ...(await quote(gateway.key, size)) });
    market.prices.BTC = '62720';
    clock.advance(20_000);
    await isQuoted(gateway, '62720');

    expect((await use(users, wallet)).json).toMatchObject({ amount_to_expected: users.amount_to });
    let gainUsd = 0;
    for (const one of held) {
      const { status, json } = await use(one, gateway.key);
      if (status === 422) attempt('a large quote after a jump', { status, code: json.code }, leftQuote);
      else gainUsd += one.amount_to - one.size * 62720;
    }
    expect(gainUsd).toBeGreaterThan(1);
    expect(gainUsd).toBeLessThan(50);
    attempt('a fixed order after them', await outcome(gateway, gateway.key, { ...fixed, amount_from: 1 }), tooMuch);
  });
});
