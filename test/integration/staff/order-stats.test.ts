import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../../../src/base/errors.ts';
import { OrderStats, type StatsRange } from '../../../src/operations/order-stats.ts';
import { type FeedEvent, isFeedStalled, OrderFeed, renumberFeed } from '../../../src/orders/read/order-feed.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import { failedOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

const day: StatsRange = {
  from: new Date('2026-01-01T00:00:00Z'),
  to: new Date('2026-01-03T00:00:00Z'),
  interval: 'day',
  by: null,
};
const hours: StatsRange = { ...day, interval: 'hour' };

let gateway: SettledGateway;
let stats: OrderStats;
let feed: OrderFeed;

beforeAll(async () => {
  gateway = await startSettledGateway();
  stats = new OrderStats(gateway.app.orm);
  feed = new OrderFeed(gateway.app.orm);
});
afterAll(() => gateway?.stop());

/** Orders with every kind of end, made over some hours. */
async function liveALittle(): Promise<void> {
  const other = await gateway.partner();
  for (let round = 0; round < 3; round++) {
    const completed = await gateway.order();
    await gateway.deposit(completed);
    const short = await gateway.order({ amount_from: 0.02 });
    await gateway.deposit(short, { amount: '0.0002' });
    await failedOrder(gateway);
    const { json } = await gateway.call('POST', '/partner/orders', {
      key: other.key,
      body: { ...bodyOf('LTC'), amount_from: 5 },
    });
    if (round > 0) await gateway.settle(completed);
    expect(json.status).toBe('waiting_deposit');
    gateway.clock.advance(47 * 60_000);
    await gateway.tick();
    await gateway.settle(short);
  }
  // One that is still under way.
  await gateway.deposit(await gateway.order());
  await gateway.mine('BTC');
  await gateway.tick();
  await feedCatchesUp(gateway.query);
}

function bodyOf(coin: string): Record<string, unknown> {
  return {
    coin_from: coin,
    network_from: coin,
    coin_to: 'USDT',
    network_to: 'TRC20',
    rate_type: 'float',
    recipient_address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  };
}

/** The same figures from the rows themselves. */
async function plainly(interval: string, key: string): Promise<unknown[]> {
  return gateway.query(
    `select date_trunc('${interval}', o.created_at, 'UTC')::text as at, ${key} as key, count(*)::int as created,
            count(*) filter (where o.status = 'completed')::int as completed,
            count(*) filter (where o.status = 'expired')::int as expired,
            count(*) filter (where o.status = 'refunded')::int as refunded,
            count(*) filter (where o.status = 'failed')::int as failed,
            trim_scale(round(count(*) filter (where o.status = 'completed')::numeric / count(*), 6))::text as conversion,
            trim_scale(round(coalesce(sum(round(t.amount_from * t.price_from, 8)) filter (where o.status = 'completed'), 0), 6))::text
              as "volumeUsd",
            trim_scale(round(coalesce(sum(round(t.service_fee * t.price_to, 8)) filter (where o.status = 'completed'), 0), 6))::text
              as "revenueUsd"
       from exchange_order o left join trade t on t.order_id = o.id
      group by 1, 2 order by 1, 2`,
  );
}

async function counted(range: StatsRange): Promise<unknown[]> {
  const rows = await stats.stats(range);
  return rows
    .filter(({ created }) => created > 0)
    .map(({ at, ...row }) => ({ at: `${at.toISOString().slice(0, 19).replace('T', ' ')}+00`, ...row }));
}

/** The moves of each order, numbered; without facts. */
const moves = `with moves as (
  select *, row_number() over (partition by order_id order by seq) as number from order_event
   where from_status is distinct from to_status)`;

async function expectTheSame(): Promise<void> {
  expect(await counted(day)).toEqual(await plainly('day', 'null'));
  expect(await counted(hours)).toEqual(await plainly('hour', 'null'));
  expect(await counted({ ...day, interval: 'month' })).toEqual(await plainly('month', 'null'));
  expect(await counted({ ...hours, by: 'partner' })).toEqual(await plainly('hour', 'o.partner_id::text'));
  const pair = `o.coin_from || '/' || o.network_from || '-' || o.coin_to || '/' || o.network_to`;
  expect(await counted({ ...day, by: 'pair' })).toEqual(await plainly('day', pair));
}

async function readFeed(from: string, limit: number): Promise<FeedEvent[]> {
  const all: FeedEvent[] = [];
  for (let cursor = from; ; ) {
    const page = await feed.since(cursor, limit);
    all.push(...page);
    const last = page.at(-1);
    if (!last) return all;
    cursor = last.cursor;
  }
}

const beginning = '0-00000000-0000-0000-0000-000000000000-0';

describe('statistics', () => {
  it('equal the sums over the rows, with batches of any size', async () => {
    await liveALittle();
    await stats.rollUp({ batchSize: 7 });
    await expectTheSame();
    const [row] = await stats.stats({ ...day, interval: 'month' });
    expect(row).toMatchObject({ completed: 3, refunded: 3 });
    expect(Number.parseInt(row?.volumeUsd ?? '', 10)).toBeGreaterThan(1000);
    expect(row?.revenueUsd).toMatch(/^\d+\.\d{1,6}$/);
  });

  it('list the partners or pairs with the most orders', async () => {
    const all = await stats.stats({ ...day, by: 'pair' });
    const counts = Map.groupBy(all, ({ key }) => key);
    const [most] = [...counts].sort(
      ([, a], [, b]) => b.reduce((sum, row) => sum + row.created, 0) - a.reduce((sum, row) => sum + row.created, 0),
    );
    expect(counts.size).toBeGreaterThan(1);
    expect(await stats.stats({ ...day, by: 'pair', top: 1 })).toEqual(most?.[1]);
  });

  it('fill hours without orders with zeros', async () => {
    const rows = await stats.stats(hours);
    expect(rows.map(({ at }) => at.getTime())).toEqual(
      rows.map((_row, index) => hours.from.getTime() + index * 3_600_000),
    );
    expect(rows).toHaveLength(48);
    expect(rows.at(-1)).toEqual({
      at: new Date('2026-01-02T23:00:00Z'),
      key: null,
      created: 0,
      completed: 0,
      expired: 0,
      refunded: 0,
      failed: 0,
      conversion: null,
      volumeUsd: '0',
      revenueUsd: '0',
    });
    const ofPair = await stats.stats({ ...day, by: 'pair', key: 'BTC/BTC-USDT/TRC20' });
    expect(ofPair).toHaveLength(2);
    expect(new Set(ofPair.map(({ key }) => key))).toEqual(new Set(['BTC/BTC-USDT/TRC20']));
  });

  it('show how long orders stay in each status', async () => {
    const plain = await gateway.query(
      `${moves} select e.from_status as status, count(*)::int as count,
              trim_scale(round(avg(extract(epoch from e.at - b.at)), 3))::text as "meanSeconds"
         from moves e join moves b on b.order_id = e.order_id and b.number = e.number - 1
        group by 1 order by 1`,
    );
    expect(await stats.timeInState(day)).toEqual(plain);
  });

  it('show percentiles of the time in each status, which are stays that happened', async () => {
    const stays = await gateway.query<{ status: string; seconds: string }>(
      `${moves} select e.from_status as status, trim_scale(round(extract(epoch from e.at - b.at), 3))::text as seconds
         from moves e join moves b on b.order_id = e.order_id and b.number = e.number - 1
        order by e.at - b.at`,
    );
    const plain = [...Map.groupBy(stays, ({ status }) => status)]
      .map(([status, { length }, own = stays.filter((stay) => stay.status === status)]) => {
        const at = (share: number) => own[Math.ceil(share * length) - 1]?.seconds;
        return { status, count: length, p50Seconds: at(0.5), p95Seconds: at(0.95) };
      })
      .sort((a, b) => (a.status < b.status ? -1 : 1));
    const [{ orders }] = (await gateway.query('select count(*)::int as orders from exchange_order')) as [
      { orders: number },
    ];
    expect(plain.length).toBeGreaterThan(4);
    expect(await stats.timePercentiles(day)).toEqual({ orders, isWhole: true, statuses: plain });
    expect(await stats.timePercentiles(hours)).toEqual({ orders, isWhole: true, statuses: plain });
    const none = { ...day, from: new Date('2020-01-01'), to: new Date('2020-01-02') };
    expect(await stats.timePercentiles(none)).toEqual({ orders: 0, isWhole: true, statuses: [] });
  });

  it('read percentiles of one partner or pair, and of the newest orders only', async () => {
    const partners = await gateway.query<{ key: string; orders: number }>(
      'select partner_id::text as key, count(*)::int as orders from exchange_order group by 1',
    );
    for (const { key, orders } of partners) {
      expect(await stats.timePercentiles({ ...day, by: 'partner', key })).toMatchObject({ orders, isWhole: true });
    }
    const [pair] = await gateway.query<{ orders: number }>(
      `select count(*)::int as orders from exchange_order
        where coin_from = 'BTC' and coin_to = 'USDT' and network_to = 'TRC20'`,
    );
    const ofPair = await stats.timePercentiles({ ...day, by: 'pair', key: 'BTC/BTC-USDT/TRC20' });
    expect(ofPair).toMatchObject({ ...pair, isWhole: true });
    const cut = await stats.timePercentiles(day, 2);
    expect(cut).toMatchObject({ orders: 2, isWhole: false });
    const newest = await gateway.query<{ count: number }>(
      `select count(*)::int as count from order_event
        where from_status is distinct from to_status and from_status is not null and order_id in (select id from exchange_order order by created_at desc, id desc limit 2)`,
    );
    expect(cut.statuses.reduce((sum, { count }) => sum + count, 0)).toBe(newest[0]?.count);
    for (const by of ['partner', 'pair'] as const) {
      await expect(stats.timePercentiles({ ...day, by, key: 'BTC' })).rejects.toMatchObject({ kind: 'invalid_value' });
    }
  });

  it('count the reasons of failed orders', async () => {
    const failures = await stats.failures(day);
    expect(failures).toContainEqual({ status: 'failed', cause: 'no_refund_address', count: 3 });
    expect(failures).toContainEqual({ status: 'refunding', cause: 'below_minimum', count: 3 });
  });

  it('count nothing twice when several processes sum up at once', async () => {
    await liveALittle();
    const sums = await Promise.all(Array.from({ length: 6 }, () => stats.rollUp({ batchSize: 3 })));
    await stats.rollUp();
    expect(sums.filter((events) => events > 0).length).toBeGreaterThan(0);
    await expectTheSame();
  });

  it('do not lose a transaction that commits late', async () => {
    const late = new Client({ connectionString: gateway.databaseUrl });
    await late.connect();
    const first = await gateway.order();
    const second = await gateway.order();
    await feedCatchesUp(gateway.query);
    await stats.rollUp();
    const place = await feed.now();
    const expire = async (run: (sql: string) => Promise<unknown>, id: string) => {
      await run(
        `update exchange_order set status = 'expired', event_seq = 2, next_action_at = null where id = '${id}'`,
      );
      await run(`insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor)
                 select id, partner_id, 2, '2026-01-02T12:00:00Z', 'waiting_deposit', 'expired', 'window_passed', 'system'
                   from exchange_order where id = '${id}'`);
    };
    await late.query('begin');
    await expire((sql) => late.query(sql), first.id);
    // Begun later and committed earlier, so it must wait for the other.
    await gateway.app.orm.em.fork().transactional(async (em) => expire((sql) => em.execute(sql), second.id));
    expect(await feed.since(place, 10)).toEqual([]);
    expect(await stats.rollUp()).toBe(0);
    await late.query('commit');
    await late.end();
    await feedCatchesUp(gateway.query);
    expect((await feed.since(place, 10)).map(({ orderId }) => orderId)).toEqual([first.id, second.id]);
    expect(await stats.rollUp()).toBe(2);
    await expectTheSame();
  });

  const refused: [string, StatsRange][] = [
    ['an empty range', { ...day, to: day.from }],
    ['a range that ends before it begins', { ...day, to: new Date('2025-01-01') }],
    ['a date that is none', { ...day, to: new Date('never') }],
    ['32 days of hours', { ...hours, to: new Date('2026-02-02') }],
    ['8 days of hours for each partner', { ...hours, by: 'partner', to: new Date('2026-01-09') }],
    ['15 days for each pair', { ...day, by: 'pair', to: new Date('2026-01-16') }],
    ['hours for each pair', { ...hours, by: 'pair' }],
    ['two years of days', { ...day, to: new Date('2028-01-01') }],
    ['20 years of months', { ...day, interval: 'month', to: new Date('2046-01-01') }],
    ['no pairs at all', { ...day, by: 'pair', top: 0 }],
    ['a key of nothing', { ...day, key: 'BTC' }],
  ];
  it.each(refused)('refuse %s', async (_name, range) => {
    for (const read of [
      stats.stats(range),
      stats.timeInState(range),
      stats.timePercentiles(range),
      stats.failures(range),
    ]) {
      const error = await read.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ kind: 'invalid_value' });
    }
  });
});

describe('a dump that was restored into another cluster', () => {
  it('is told and counted again once it is renumbered', async () => {
    await feedCatchesUp(gateway.query);
    await stats.rollUp();
    const before = await stats.stats(day);
    await gateway.query('alter table order_event disable trigger order_event_append_only');
    await gateway.query("update order_event set xid = '9000000000000'");
    await gateway.query("update order_stat_progress set xid = '9000000000000'");
    await gateway.query('alter table order_event enable trigger order_event_append_only');
    const em = gateway.app.orm.em.fork();
    expect(await isFeedStalled(em)).toBe(true);
    await gateway.order();
    expect(await stats.rollUp()).toBe(0);

    const events = await renumberFeed(gateway.app.orm.em.fork());
    expect(await isFeedStalled(em)).toBe(false);
    await feedCatchesUp(gateway.query);
    expect(await stats.rollUp()).toBe(events);
    const created = (rows: typeof before) => rows.reduce((sum, row) => sum + row.created, 0);
    expect(created(await stats.stats(day))).toBe(created(before) + 1);
    await expect(gateway.query('delete from order_event')).rejects.toThrow('append-only');
  });
});

describe('the feed of events', () => {
  it('returns every move once with any page size', async () => {
    await feedCatchesUp(gateway.query);
    const plain = await gateway.query<{ order_id: string; seq: number }>(
      'select order_id, seq from order_event where from_status is distinct from to_status',
    );
    for (const limit of [3, 1000]) {
      const names = (await readFeed(beginning, limit)).map(({ orderId, seq }) => `${orderId} ${seq}`);
      expect(new Set(names).size).toBe(names.length);
      expect(names.sort()).toEqual(plain.map(({ order_id, seq }) => `${order_id} ${seq}`).sort());
    }
  });

  it('begins with what is committed from now on', async () => {
    const place = await feed.now();
    const order = await gateway.order();
    await feedCatchesUp(gateway.query);
    const events = await feed.since(place, 10);
    expect(events).toMatchObject([
      { orderId: order.id, seq: 1, fromStatus: null, toStatus: 'waiting_deposit', cause: 'created' },
    ]);
    expect(events[0]?.at).toEqual(gateway.clock.now());
  });

  it.each([
    '',
    '1',
    'x-y-z',
    `1-${uuidv7()}-x`,
    `${'9'.repeat(20)}-${uuidv7()}-1`,
  ])('refuses the cursor %j', async (cursor) => {
    await expect(feed.since(cursor, 10)).rejects.toMatchObject({ kind: 'invalid_value' });
  });
});
