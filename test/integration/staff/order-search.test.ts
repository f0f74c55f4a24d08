import type { EntityManager } from '@mikro-orm/postgresql';
import { systemStatus } from '../../../src/operations/system-status.ts';
import type { Order } from '../../../src/orders/order.entity.ts';
import { staffScope } from '../../../src/orders/order-scope.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import type { OrderFilter } from '../../../src/orders/read/order-filter.ts';
import type { OrderPageRequest, OrderReads } from '../../../src/orders/read/order-reads.ts';
import { newestFirst, type OrderSorting } from '../../../src/orders/read/order-walk.ts';
import { seedOrders } from '../../support/database/seed-orders.ts';
import { readingStatements } from '../../support/database/statement-count.ts';
import { orderReads } from '../../support/gateway/order-reads.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

let gateway: SettledGateway;
let em: EntityManager;
let reads: OrderReads;
let statements: string[];

beforeAll(async () => {
  statements = [];
  gateway = await startSettledGateway({ outside: { onStatement: (sql) => statements.push(sql) } });
  reads = orderReads(gateway.app.orm);
  await seedOrders(gateway.databaseUrl, { count: 600, partners: 4, days: 10 });
  // Three at each moment, so that pages end between orders of one time.
  await gateway.query(
    `update exchange_order o set created_at = to_timestamp(1700000000 + n / 3), updated_at = to_timestamp(1700000000.000001 + n / 5),
            expires_at = to_timestamp(1700009999)
       from (select id, row_number() over (order by id)::int as n from exchange_order) as r where r.id = o.id`,
  );
  await gateway.query(
    `update exchange_order set held_at = to_timestamp(1700000500), hold_reason = 'asked for'
      where id in (select id from exchange_order order by id limit 7)`,
  );
  // Fresh orders are read by other indexes. A third of the expired ones becomes fresh.
  await gateway.query(
    `set session_replication_role = replica;
     update exchange_order o set status = 'waiting_deposit', updated_at = case n % 3 when 0 then created_at else updated_at end
       from (select id, row_number() over (order by id)::int as n from exchange_order where status = 'expired') as r
      where r.id = o.id and n % 3 < 2;
     reset session_replication_role`,
  );
});
beforeEach(() => {
  em = gateway.app.orm.em.fork();
});
afterAll(() => gateway?.stop());

interface Page {
  readonly orders: readonly Order[];
  readonly cursors: readonly string[];
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

async function searchOrders(fork: EntityManager, search: OrderPageRequest): Promise<Page> {
  const { orders, ...page } = await reads.listEntities(staffScope, fork, search);
  return { ...page, orders: orders.map(({ row }) => row), cursors: orders.map(({ behind }) => behind()) };
}

const countOrders = (filter: OrderFilter, cap?: number, now?: Date) => reads.count(staffScope, filter, cap, now);

/** Ids of all orders that a filter finds, on one page. */
async function found(filter: OrderFilter): Promise<string[]> {
  const { orders } = await searchOrders(em, { filter, orderBy: newestFirst, page: { first: 200 } });
  return orders.map(({ id }) => id);
}

/** The same by a condition in SQL. */
async function ids(where: string, values: unknown[] = []): Promise<string[]> {
  const rows = await gateway.query<{ id: string }>(
    `select o.id from exchange_order o where ${where} order by created_at desc, id desc limit 200`,
    values,
  );
  return rows.map(({ id }) => id);
}

async function allPages(orderBy: OrderSorting, size: number, isForward: boolean): Promise<string[]> {
  const pages: string[][] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Page = await searchOrders(gateway.app.orm.em.fork(), {
      filter: {},
      orderBy,
      page: isForward ? { first: size, after: cursor } : { last: size, before: cursor },
    });
    pages.push(page.orders.map(({ id }) => id));
    cursor = (isForward ? page.cursors.at(-1) : page.cursors.at(0)) ?? null;
    if (!(isForward ? page.hasNext : page.hasPrevious)) return isForward ? pages.flat() : pages.reverse().flat();
  }
}

describe('the filter', () => {
  const time = (second: number): Date => new Date((1_700_000_000 + second) * 1000);
  const filters: [string, OrderFilter, string][] = [
    ['nothing', {}, 'true'],
    ['statuses', { statuses: ['expired', 'failed'] }, `status in ('expired', 'failed')`],
    ['no status at all', { statuses: [] }, 'false'],
    ['coins', { coinFrom: 'BTC', coinTo: 'USDT' }, `coin_from = 'BTC' and coin_to = 'USDT'`],
    ['networks', { networkFrom: 'TRC20', networkTo: 'ETH' }, `network_from = 'TRC20' and network_to = 'ETH'`],
    ['a coin on either side', { coin: 'ETH' }, `'ETH' in (coin_from, coin_to)`],
    [
      'the time it was made',
      { createdFrom: time(20), createdTo: time(40) },
      `created_at >= to_timestamp(1700000020) and created_at < to_timestamp(1700000040)`,
    ],
    [
      'its last change',
      { updatedFrom: time(20), updatedTo: time(40) },
      `updated_at >= to_timestamp(1700000020) and updated_at < to_timestamp(1700000040)`,
    ],
    [
      'amounts',
      { coinFrom: 'BTC', minAmount: '0.001', maxAmount: '0.005' },
      `coin_from = 'BTC' and amount_from_expected between 0.001 and 0.005`,
    ],
    ['held orders', { heldOnly: true }, 'held_at is not null'],
    [
      'what needs attention',
      { needsAttention: true },
      `held_at is not null or status = 'failed' or next_action_at < '2025-12-31T23:50:00Z'
       or exists (select from deposit d where d.order_id = o.id and d.problem is not null)
       or exists (select from payment p where p.order_id = o.id and p.problem is not null and p.ended_at is null)`,
    ],
  ];
  it.each(filters)('takes %s', async (_name, filter, where) => {
    const { orders } = await searchOrders(em, {
      filter,
      orderBy: newestFirst,
      page: { first: 200 },
      now: new Date('2026-01-01T00:00:00Z'),
    });
    expect(orders.map(({ id }) => id)).toEqual(await ids(where));
    const [row] = await gateway.query<{ n: number }>(`select count(*)::int as n from exchange_order o where ${where}`);
    expect(await countOrders(filter, 10_000, new Date('2026-01-01T00:00:00Z'))).toBe(row?.n);
    if (filter.statuses?.length !== 0) expect(row?.n).toBeGreaterThan(0);
  });

  it('takes a partner together with a status', async () => {
    const [partner] = await gateway.query<{ id: string }>(
      `select partner_id as id from exchange_order group by 1 order by count(*) desc limit 1`,
    );
    expect(await found({ partnerId: partner?.id ?? '', statuses: ['completed'] })).toEqual(
      await ids(`partner_id = $1 and status = 'completed'`, [partner?.id]),
    );
  });

  it('counts up to its cap', async () => {
    expect(await countOrders({}, 10)).toBe(10);
    expect(await countOrders({}, 1_000_000)).toBe(600);
  });

  const refused: [string, OrderFilter][] = [
    ['a partner id that is none', { partnerId: 'x' }],
    ['an amount that is none', { coinFrom: 'BTC', minAmount: '1e5' }],
    ['an amount without its coin', { minAmount: '1' }],
    ['a search for three characters', { search: ' EX- ' }],
    ['a search for a novel', { search: 'x'.repeat(201) }],
    ['a NUL character', { coin: 'B\0' }],
  ];
  it.each(refused)('refuses %s', async (_name, filter) => {
    await expect(found(filter)).rejects.toMatchObject({ kind: 'invalid_value' });
  });
});

describe('a search', () => {
  interface Known {
    readonly id: string;
    readonly short_id: string;
    readonly address: string;
    readonly recipient_address: string;
    readonly refund_address: string;
    readonly deposit_txid: string;
    readonly payment_txid: string;
  }
  let order: Known;
  beforeAll(async () => {
    const rows = await gateway.query<Known>(
      `select o.*, a.address, t.txid as payment_txid from exchange_order o join deposit_address a on a.id = o.deposit_address_id
         join payment p on p.order_id = o.id join payment_attempt t on t.payment_id = p.id
        where status = 'completed' and refund_address is not null and coin_from = 'ETH' limit 1`,
    );
    order = rows[0] as Known;
  });

  it.each([
    'id',
    'short_id',
    'address',
    'recipient_address',
    'refund_address',
    'deposit_txid',
    'payment_txid',
  ] as const)('finds an order by its %s, whole, by its beginning and in either case', async (column) => {
    const text = order[column];
    expect(await found({ search: text })).toEqual([order.id]);
    expect(await found({ search: ` ${text.toUpperCase()} ` })).toEqual([order.id]);
    const beginning = text.slice(0, column === 'id' ? 30 : column === 'short_id' ? 8 : 16);
    expect(await found({ search: beginning.toLowerCase() })).toContain(order.id);
  });

  it('finds fresh orders by their addresses', async () => {
    const [fresh] = await gateway.query<Known>(
      `select o.*, a.address from exchange_order o join deposit_address a on a.id = o.deposit_address_id
        where o.status = 'waiting_deposit' and o.updated_at = o.created_at and o.refund_address is not null limit 1`,
    );
    for (const column of ['address', 'recipient_address', 'refund_address'] as const) {
      const text = (fresh as Known)[column];
      expect(await found({ search: text.toUpperCase() })).toEqual([fresh?.id]);
      expect(await found({ search: text.slice(0, 16) })).toContain(fresh?.id);
    }
  });

  it('finds an order by its short id without the prefix, whole or its beginning', async () => {
    expect(await found({ search: order.short_id.slice(3) })).toEqual([order.id]);
    expect(await found({ search: order.short_id.slice(3, 8).toLowerCase() })).toContain(order.id);
    expect(await found({ search: order.id.replaceAll('-', '') })).toEqual([order.id]);
  });

  it('goes together with the rest of the filter', async () => {
    expect(await found({ search: order.id, statuses: ['expired'] })).toEqual([]);
    expect(await countOrders({ search: order.id, coinFrom: 'ETH' })).toBe(1);
  });

  it.each([
    '%%%%',
    '____',
    `x' or '1'='1`,
    `'); drop table exchange_order; --`,
    '????',
    '$1$2',
    'EX-%%%%',
    '\\\\\\\\',
    'ex- \0',
    '😀😀😀😀',
    '0x%',
    '--------',
    '-dead-beef',
  ])('is never interpreted as a pattern: %j', async (search) => {
    expect(await found({ search: search.padEnd(4, '?') })).toEqual([]);
    expect(await countOrders({})).toBe(600);
  });

  it('does not take text of other members for SQL', async () => {
    const text = `BTC' or 'x' = 'x`;
    const filter: OrderFilter = { coin: text, coinFrom: text, networkTo: text, statuses: [text as 'failed'] };
    expect(await found(filter)).toEqual([]);
  });
});

describe('pages', () => {
  const sortings: OrderSorting[] = (['created', 'updated'] as const).flatMap((field) =>
    (['asc', 'desc'] as const).map((direction) => ({ field, direction })),
  );
  it.each(sortings)('show every order once, forward and backward, by %j', async (orderBy) => {
    const { field, direction } = orderBy;
    const plain = await gateway.query<{ id: string }>(
      `select id from exchange_order order by ${field}_at ${direction}, id ${direction}`,
    );
    const expected = plain.map(({ id }) => id);
    expect(await allPages(orderBy, 37, true)).toEqual(expected);
    expect(await allPages(orderBy, 37, false)).toEqual(expected);
  });

  it('have cursors to the pages before and after, and lead back to the first page', async () => {
    const first = await searchOrders(em, { filter: {}, orderBy: newestFirst, page: { first: 5 } });
    expect([first.hasPrevious, first.hasNext]).toEqual([false, true]);
    const second = await searchOrders(em, {
      filter: {},
      orderBy: newestFirst,
      page: { first: 5, after: first.cursors.at(-1) ?? '' },
    });
    expect([second.hasPrevious, second.hasNext]).toEqual([true, true]);
    const back = await searchOrders(em, {
      filter: {},
      orderBy: newestFirst,
      page: { last: 5, before: second.cursors[0] ?? '' },
    });
    expect(back.orders.map(({ id }) => id)).toEqual(first.orders.map(({ id }) => id));
    expect([back.hasPrevious, back.hasNext]).toEqual([false, true]);
    const last = await searchOrders(em, { filter: {}, orderBy: newestFirst, page: { last: 5 } });
    expect([last.hasPrevious, last.hasNext]).toEqual([true, false]);
  });

  it('take two statements, and bring the deposit addresses', async () => {
    for (const size of [1, 200]) {
      const fork = gateway.app.orm.em.fork();
      const count = await readingStatements(statements, async () => {
        const { orders } = await searchOrders(fork, { filter: {}, orderBy: newestFirst, page: { first: size } });
        expect(orders.map(({ depositAddress }) => typeof depositAddress.address)).toEqual(Array(size).fill('string'));
      });
      expect(count).toBe(2);
    }
  });

  it('show every order once while new ones are made', async () => {
    const before = await allPages(newestFirst, 100, true);
    const seen: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: Page = await searchOrders(gateway.app.orm.em.fork(), {
        filter: {},
        orderBy: newestFirst,
        page: { first: 100, after: cursor },
      });
      seen.push(...page.orders.map(({ id }) => id));
      cursor = page.cursors.at(-1) ?? null;
      await gateway.order();
      if (!page.hasNext) break;
    }
    expect(seen).toEqual(before);
  });

  const cursor = (text: string): string => Buffer.from(text).toString('base64url');
  it.each([
    '',
    'x',
    cursor('c1.x'),
    cursor(`u1700000000000000.019a0000-0000-7000-8000-000000000000`),
    cursor(`c17000000000000000.019a0000-0000-7000-8000-000000000000`),
    cursor(`c1700000000000000.${'-'.repeat(36)}`),
    cursor(`c1'.019a0000-0000-7000-8000-000000000000`),
  ])('refuse the cursor %j', async (after) => {
    const search = { filter: {}, orderBy: newestFirst, page: { first: 5, after } };
    await expect(searchOrders(em, search)).rejects.toMatchObject({ kind: 'invalid_cursor' });
  });

  it('refuse the cursor of another filter, of another sorting, and of a partner', async () => {
    const filter: OrderFilter = { statuses: ['expired', 'completed'] };
    const search = { filter, orderBy: newestFirst, page: { first: 5 } };
    const after = (await searchOrders(em, search)).cursors.at(-1) ?? '';
    const page = { first: 5, after };
    const same = { ...search, filter: { statuses: ['completed', 'expired'], coin: null }, page } as const;
    expect((await searchOrders(em, same)).orders).toHaveLength(5);
    const [partner] = await gateway.query<{ id: string }>('select partner_id as id from exchange_order limit 1');
    const own = { kind: 'partner', partnerId: partner?.id ?? '' } as const;
    const theirs = await reads.list(own, { ...search, page: { first: 1 }, withDetails: false });
    for (const other of [
      { ...search, page: { first: 5, after: theirs.orders[0]?.behind() ?? '' } },
      { ...search, filter: { statuses: ['expired'] }, page } as const,
      { ...search, filter: { ...filter, heldOnly: true }, page },
      { ...search, filter: { ...filter, search: 'abcd' }, page },
      { ...search, filter: { ...filter, updatedFrom: new Date(0) }, page },
      { ...search, orderBy: { field: 'updated', direction: 'desc' }, page } as const,
      { ...search, orderBy: { field: 'created', direction: 'asc' }, page } as const,
    ]) {
      await expect(searchOrders(em, other)).rejects.toMatchObject({ kind: 'invalid_cursor' });
    }
    const foreign = reads.list(own, { ...search, page, withDetails: false });
    await expect(foreign).rejects.toMatchObject({ kind: 'invalid_cursor' });
  });

  it.each([0, -1, 201, 1.5, Number.NaN])('are not of %d orders', async (first) => {
    const search = { filter: {}, orderBy: newestFirst, page: { first } };
    await expect(searchOrders(em, search)).rejects.toMatchObject({ kind: 'invalid_value' });
  });
});

describe('what staff look at', () => {
  it('is everything that needs attention, oldest first', async () => {
    await gateway.query(
      `update chain_state set problem = 'reorg_too_deep' where chain = (select min(chain) from chain_state)`,
    );
    const now = new Date('2027-06-01T00:00:00Z');
    await standStill(now);
    const items = await attention(em, 1000, now);
    const kinds = new Map([...Map.groupBy(items, ({ kind }) => kind)].map(([kind, group]) => [kind, group.length]));
    const [plain] = await gateway.query<Record<string, number>>(
      `select (select count(*)::int from exchange_order where held_at is not null) as held_order,
              (select count(*)::int from exchange_order where status = 'failed') as failed_order,
              (select count(*)::int from exchange_order where next_action_at < $1::timestamptz - interval '10 minutes' and held_at is null)
                as overdue_order,
              (select count(*)::int from deposit where problem is not null) as deposit_problem,
              (select count(*)::int from payment where problem = 'unknown' and ended_at is null) as payment_unknown,
              (select count(*)::int from payment p where ended_at is null
                and (problem <> 'unknown' or (problem is null and state = 'sent' and sent_at < $1::timestamptz - interval '1 hour'
                      and not exists (select from payment_attempt a where a.payment_id = p.id and a.mined_height is not null))))
                as payment_problem,
              2 as trade_stuck,
              1 as venue_position,
              1 as chain_problem`,
      [now],
    );
    expect(Object.fromEntries(kinds)).toEqual(
      Object.fromEntries(Object.entries(plain ?? {}).filter(([, count]) => count > 0)),
    );
    expect(items.map(({ since }) => since.getTime())).toEqual(
      items.map(({ since }) => since.getTime()).sort((a, b) => a - b),
    );
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    // No kind crowds out another: a short list has the oldest item of each.
    const oldest = [...Map.groupBy(items, ({ kind }) => kind).values()].map(([first]) => first);
    const short = await attention(em, oldest.length, now);
    expect(oldest.length).toBeLessThan(items.length);
    expect(short).toEqual(oldest.toSorted((a, b) => items.indexOf(a as never) - items.indexOf(b as never)));
  });

  /**
   * Exchanges that are not decided, and filled ones whose sale is not done: this many minutes ago.
   * Two of each kind have stood too long; one of these has both troubles, and is one item.
   */
  async function standStill(now: Date): Promise<void> {
    const ago = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000);
    // How many orders of each kind there are is left to chance: three that are done are taken back.
    await gateway.query(
      `set session_replication_role = replica;
       update trade set state = 'intended', bought = null
        where order_id in (select o.id from exchange_order o join trade t on t.order_id = o.id
                            where o.status = 'completed' and o.held_at is null order by o.id limit 3);
       update exchange_order set status = 'exchanging', exchange_deadline = null
        where status = 'completed' and id in (select order_id from trade where state = 'intended')`,
    );
    await gateway.query(
      `update exchange_order set exchange_deadline = null where status = 'exchanging' and exchange_deadline is not null`,
    );
    const exchanging = await gateway.query<{ id: string }>(
      `select o.id from exchange_order o join trade t on t.order_id = o.id
        where o.status = 'exchanging' and t.state = 'intended' order by o.id limit 3`,
    );
    for (const [index, minutes] of [4, 6, 30].entries()) {
      await gateway.query('update exchange_order set exchange_deadline = $2 where id = $1', [
        exchanging[index]?.id,
        ago(minutes),
      ]);
    }
    const filled = await gateway.query<{ id: string }>(
      `select order_id as id from trade where state = 'filled' order by order_id limit 3`,
    );
    const sales = [
      { id: filled[0]?.id, decided: ago(9), squared: null },
      { id: filled[1]?.id, decided: ago(11), squared: null },
      { id: filled[2]?.id, decided: ago(60), squared: ago(59) },
      { id: exchanging[2]?.id, decided: ago(20), squared: null },
    ];
    for (const { id, decided, squared } of sales) {
      await gateway.query(
        `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount, cash,
                                  valid_until, outcome, bought, created_at, decided_at, squared_at)
         values ($1, 'kraken', 'BTC', 1, 'ETH', 20, 19, 'USDT', $2, 'filled', 20, $2, $2, $3)`,
        [id, decided, squared],
      );
    }
    stuck = [exchanging[2], filled[1], exchanging[1]].map((row) => row?.id ?? '');
  }
  let stuck: string[] = [];

  it('includes trades that are stuck at the venue', async () => {
    const items = await attention(em, 1000, new Date('2027-06-01T00:00:00Z'));
    const trades = items.filter(({ kind }) => kind === 'trade_stuck' || kind === 'venue_position');
    expect(trades.map(({ subjectId, orderId, detail }) => [subjectId, orderId, detail])).toEqual([
      [stuck[0], stuck[0], 'intended'],
      [stuck[1], stuck[1], 'to sell: 1 BTC on kraken'],
      [stuck[2], stuck[2], 'intended'],
    ]);
  });

  it('is what the list of orders calls needing attention', async () => {
    const now = new Date('2027-06-01T00:00:00Z');
    // A payment that no block has taken for more than an hour, of an order with which nothing else
    // is wrong.
    await gateway.query(
      `set session_replication_role = replica;
       update payment set state = 'sent', ended_at = null, next_action_at = now(), sent_at = '2027-05-31T22:59:00Z'
        where id in (select p.id from payment p join exchange_order o on o.id = p.order_id
                      where p.problem is null and o.status in ('completed', 'refunded') and o.held_at is null
                        and not exists (select from venue_trade v where v.client_id = o.id) order by p.id limit 1);
       update payment_attempt set mined_height = null
        where payment_id in (select id from payment where sent_at = '2027-05-31T22:59:00Z')`,
    );
    const [waiting] = await gateway.query<{ order_id: string }>(
      `select order_id from payment where sent_at = '2027-05-31T22:59:00Z'`,
    );
    const items = await attention(em, 1000, now);
    const about = new Set(items.flatMap(({ orderId }) => orderId ?? []));
    for (const id of [...stuck, waiting?.order_id]) expect(about).toContain(id);
    const listed: string[] = [];
    for (let after: string | null = null; ; ) {
      const page: Page = await searchOrders(em, {
        filter: { needsAttention: true },
        orderBy: newestFirst,
        page: { first: 200, after },
        now,
      });
      listed.push(...page.orders.map(({ id }) => id));
      after = page.cursors.at(-1) ?? null;
      if (!page.hasNext) break;
    }
    expect(listed.sort()).toEqual([...about].sort());
  });

  it('includes the state of workers, chains and jobs', async () => {
    const status = await systemStatus(em, gateway.clock.now());
    expect(status.chains.length).toBeGreaterThan(3);
    expect(status.chains[0]).toMatchObject({ problem: 'reorg_too_deep', lag: expect.any(Number) });
    expect(status.queues).toContainEqual({ name: 'settle', waiting: expect.any(Number), oldestSec: null });
    expect(status.statistics.eventsBehind).toBeGreaterThan(600);
    expect(status.statistics.behindSince).toBeInstanceOf(Date);
    expect(status.statistics.rolledAt).toBeNull();
  });
});

// Last, because it makes orders and the other tests count them.
describe('a search for a tag', () => {
  it('finds an order by its whole deposit tag, and by no part of it', async () => {
    const xrp = { coin_from: 'XRP', network_from: 'XRP', amount_from: 500 };
    const [order] = [await gateway.order(xrp), await gateway.order(xrp)];
    const tag = order.depositTag ?? '';
    expect(await found({ search: ` ${tag} ` })).toEqual([order.id]);
    expect(await found({ search: tag.slice(0, -1) })).not.toContain(order.id);
    expect(await found({ search: `0${tag}` })).not.toContain(order.id);
  });
});
