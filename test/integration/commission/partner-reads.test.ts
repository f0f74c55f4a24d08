import { createHash, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { copyOrder, inOtherCluster } from '../../support/gateway/order-pages.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import type { Reply } from '../../support/http/contract-client.ts';

// What partners read of their commission by key: balance, entries, statements and the report.

let gateway: SettledGateway;
let partner: { id: string; key: string };
let other: { id: string; key: string };

beforeAll(async () => {
  gateway = await startSettledGateway({
    clock: new TestClock(new Date('2026-10-20T10:00:00.000Z')),
    settings: {
      COMMISSION_MIN_USD: '50',
      RECONCILE_EVERY_SEC: '0',
      PRICE_MAX_AGE_SEC: '31536000',
      RATE_LIMIT_LISTS_PER_MIN: '100000',
    },
  });
  [partner, other] = [await gateway.partner(), await gateway.partner()];
});
afterAll(() => gateway?.stop());

const get = (path: string, key = partner.key, headers: Record<string, string> = {}): Promise<Reply> =>
  gateway.call('GET', `/partner${path}`, { key, headers });

async function read(path: string, key = partner.key) {
  const { status, text, json } = await get(path, key);
  if (status !== 200) throw new Error(text);
  return json;
}

const to = (at: string): void => gateway.clock.advance(new Date(at).getTime() - gateway.clock.now().getTime());

/** An order that completes, with a markup. */
async function completed(of: { key: string }, changes: Record<string, unknown> = {}): Promise<MadeOrder> {
  const order = await gateway.order({ amount_from: 0.1, rate_type: 'float', markup_bps: 100, ...changes }, of.key);
  await gateway.deposit(order);
  await gateway.settle(order);
  return order;
}

/** Adds an entry that belongs to no order. */
const addEntry = (month: string, coin: string, amount: string, reason: string | null = null) =>
  gateway.query(
    `insert into commission_entry (id, partner_id, month, at, kind, coin, network, amount, reason)
     values (gen_random_uuid(), $1, $2, $3, 'conversion', $4, $5, $6, $7)`,
    [partner.id, `${month}-01`, gateway.clock.now(), coin, coin === 'USDC' ? 'ERC20' : coin, amount, reason],
  );

/** The pages of a list, each of one item. */
async function walked(path: string, key = partner.key): Promise<Reply['json'][]> {
  const items: Reply['json'][] = [];
  for (let cursor = ''; ; ) {
    const page = await read(`${path}${path.includes('?') ? '&' : '?'}limit=1${cursor}`, key);
    items.push(...page.data);
    if (!page.has_more) return items;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

const idsOf = (items: { id: string }[]): string[] => items.map(({ id }) => id);

let first: MadeOrder;

describe('in an open month', () => {
  it('a partner without commission reads zero, in the asset of this installation', async () => {
    expect(await read('/commission/balance')).toEqual({
      month: '2026-10',
      coin: 'USDC',
      network: 'ERC20',
      balance: 0,
      others: [],
      payable: [],
      in_payment: [],
      min_payment_usd: 50,
    });
    expect(await read('/commission/entries')).toEqual({ data: [], has_more: false, next_cursor: null });
    expect(await read('/statements')).toEqual({ data: [], has_more: false });
  });

  it('the balance is the sum of the entries, by asset', async () => {
    first = await completed(partner, { external_id: 'basket-1' });
    await completed(partner, { coin_to: 'ETH', network_to: 'ETH', recipient_address: addressExample('ETH') });
    await addEntry('2026-10', 'XMR', '0.25');
    const entries = await walked('/commission/entries');
    // Exact, by the form of amounts as strings.
    const { json: exact } = await get('/commission/entries', partner.key, { Amounts: 'string' });
    const sum = (exact.data as { coin: string; amount: string }[])
      .filter(({ coin }) => coin === 'USDC')
      .reduce((all, { amount }) => all.plus(amount), new Big('0'));
    const { json: owed } = await get('/commission/balance', partner.key, { Amounts: 'string' });
    expect(owed.balance).toBe(sum.toFixed());
    expect(await read('/commission/balance')).toMatchObject({
      coin: 'USDC',
      others: [{ coin: 'XMR', network: 'XMR', amount: 0.25 }],
    });
    expect(entries.map(({ kind }) => kind)).toEqual(['conversion', 'accrual', 'accrual']);
    expect(entries.at(-1)).toMatchObject({
      month: '2026-10',
      coin: 'USDC',
      network: 'ERC20',
      order_id: first.id,
      external_id: 'basket-1',
      from: { coin: 'USDT', network: 'TRC20' },
      corrects: null,
      reason: null,
      txid: null,
    });
  });

  it('a statement has live figures and no hash', async () => {
    const { balance } = await read('/commission/balance');
    const [month] = (await read('/statements')).data;
    expect(month).toMatchObject({ month: '2026-10', state: 'open', orders: 2, sha256: null, due: null, payment: null });
    expect(month.figures).toMatchObject([
      { coin: 'USDC', opening: 0, accrued: balance, closing: balance, paid: 0 },
      { coin: 'XMR', opening: 0, converted: 0.25, closing: 0.25 },
    ]);
    expect(await read('/statements/2026-10')).toEqual(month);
  });

  it('amounts are strings where the request asks for them, negative ones too', async () => {
    await addEntry('2026-10', 'XMR', '-0.1');
    const { json } = await get('/commission/entries?limit=1', partner.key, { Amounts: 'string' });
    expect(json.data[0].amount).toBe('-0.1');
    const statement = await get('/statements/2026-10', partner.key, { Amounts: 'string' });
    expect(statement.json.figures[1]).toMatchObject({ converted: '0.15', closing: '0.15', opening: '0' });
  });

  it('the CSV has a line for each entry: numbers stay numbers, and formulas become text', async () => {
    await addEntry('2026-10', 'XMR', '0.05', '=1+1,"x"');
    const { text, headers } = await get('/statements/2026-10?format=csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="commission-2026-10.csv"');
    const lines = text.split('\r\n');
    expect(lines).toHaveLength(7);
    expect(lines[1]).toContain(`,accrual,`);
    expect(lines[4]).toMatch(/^[0-9a-f-]{36},conversion,2026-10-\d\dT[\d:]+\.\d{3}Z,XMR,XMR,-0\.1,,,,,,,,,$/);
    expect(lines[5]).toMatch(/,XMR,XMR,0\.05,.*,"'=1\+1,""x"""$/);
    expect(lines[6]).toBe('');
  });
});

describe('after the month', () => {
  it('a statement is payable, and the hash is that of its CSV for ever', async () => {
    while ((await read('/commission/balance')).balance < 60) await completed(partner);
    to('2026-11-01T00:06:00.000Z');
    await gateway.settlement.commission.run();
    const [november, october] = (await read('/statements')).data;
    expect([november.month, november.state, october.month]).toEqual(['2026-11', 'open', '2026-10']);
    expect(october).toMatchObject({
      state: 'payable',
      problem: 'no_address',
      closed_at: '2026-11-01T00:06:00.000Z',
      paid_at: null,
    });
    expect(november.problem).toBeNull();
    expect(november.figures[0]).toMatchObject({ opening: october.figures[0].closing, accrued: 0 });
    const { text } = await get('/statements/2026-10?format=csv');
    expect(createHash('sha256').update(text).digest('hex')).toBe(october.sha256);
    expect(text.split('\r\n')).toHaveLength((await walked('/commission/entries?month=2026-10')).length + 2);
    const balance = await read('/commission/balance');
    expect(balance).toMatchObject({ month: '2026-11', balance: october.figures[0].closing });
    const due = [...balance.payable, ...balance.in_payment];
    expect(due).toEqual([{ month: '2026-10', coin: 'USDC', network: 'ERC20', amount: october.due }]);
    // Later bookings and a changed order leave the month as it is.
    await completed(partner);
    await addEntry('2026-11', 'USDC', '-1', 'a correction');
    await gateway.query("update order_terms set metadata = '{}' where order_id = $1", [first.id]);
    expect((await get('/statements/2026-10?format=csv')).text).toBe(text);
    expect(await read('/statements/2026-10')).toEqual({
      ...october,
      payment: (await read('/statements/2026-10')).payment,
    });
  });

  it('a statement says that staff hold it, and not why', async () => {
    const hold = (at: Date | null, reason: string | null) =>
      gateway.query(
        `update commission_statement set held_at = $2, hold_reason = $3 where partner_id = $1 and state = 'payable'`,
        [partner.id, at, reason],
      );
    await hold(gateway.clock.now(), 'a doubt of ours');
    const { text, json } = await get('/statements/2026-10');
    expect(json.problem).toBe('held');
    expect(text).not.toContain('doubt');
    await hold(null, null);
    expect((await read('/statements/2026-10')).problem).toBe('no_address');
  });

  it('entries are listed by month, and a cursor holds for its month and its partner', async () => {
    const all = await walked('/commission/entries');
    const november = await walked('/commission/entries?month=2026-11');
    const october = await walked('/commission/entries?month=2026-10');
    expect(idsOf(all)).toEqual([...idsOf(november), ...idsOf(october)]);
    expect(november.map(({ reason }) => reason)).toEqual(['a correction', null]);
    const { next_cursor: cursor } = await read('/commission/entries?month=2026-10&limit=1');
    for (const [path, key] of [
      [`/commission/entries?cursor=${cursor}`, partner.key],
      [`/commission/entries?month=2026-11&cursor=${cursor}`, partner.key],
      [`/commission/entries?month=2026-10&cursor=${cursor}`, other.key],
      [`/reports/orders?cursor=${cursor}`, partner.key],
    ] as const) {
      expect((await get(path, key)).json.code).toBe('invalid_cursor');
    }
  });

  it('a month that was paid has its transaction, and no answer has the address', async () => {
    const address = '0x8f1E0A1c9bF5aF0cB6bB1b0cF1f2a3b4c5d6e7f8';
    const [paymentId, entryId] = [randomUUID(), randomUUID()];
    // A past month, without the rules of payments.
    await gateway.query(
      `do $$ begin
         set local session_replication_role = replica;
         insert into commission_address (id, partner_id, coin, network, address, requested_at, member_id, effective_at,
                took_effect_at) values (gen_random_uuid(), '${partner.id}', 'USDC', 'ERC20', '${address}',
                '2026-08-01', gen_random_uuid(), '2026-08-04', '2026-08-04');
         insert into payment (id, kind, leg, chain, coin, network, address, amount, fee_charged, state, created_at, ended_at)
         values ('${paymentId}', 'commission', 'main', 'ethereum', 'USDC', 'ERC20', '${address}', 70, 1.5, 'confirmed',
                '2026-10-01', '2026-10-01');
         insert into payment_attempt (payment_id, attempt, chain, payload, reserves, fee, txid, raw, mined_height, prepared_at)
         values ('${paymentId}', 1, 'ethereum', '{}', '{a}', 0, '0xabc1', '00', 1, '2026-10-01');
         insert into commission_statement (partner_id, month, coin, network, state, closed_at, figures, orders, sha256, due,
                payment_id, attempts, paid_at)
         values ('${partner.id}', '2026-09-01', 'USDC', 'ERC20', 'paid', '2026-10-01', '[]', 0, repeat('a', 64), 71.5,
                '${paymentId}', 1, '2026-10-01T00:30:00Z');
         insert into commission_entry (id, partner_id, month, at, kind, coin, network, amount, payment_id)
         values ('${entryId}', '${partner.id}', '2026-11-01', '2026-11-01', 'payment', 'USDC', 'ERC20', -71.5, '${paymentId}');
       end $$`,
    );
    expect(await read('/statements/2026-09')).toMatchObject({
      state: 'paid',
      due: 71.5,
      problem: null,
      paid_at: '2026-10-01T00:30:00.000Z',
      payment: { txid: '0xabc1', amount: 70, fee: 1.5, explorer_url: null },
    });
    const [entry] = await walked('/commission/entries?month=2026-11');
    expect(entry).toMatchObject({ id: entryId, kind: 'payment', amount: -71.5, txid: '0xabc1', order_id: null });
    expect((await read('/statements/2026-11')).figures[0]).toMatchObject({ paid: 71.5 });
    const shown = await Promise.all(
      ['/commission/balance', '/commission/entries', '/statements', '/statements/2026-09', '/reports/orders'].map(
        async (path) => (await get(path)).text,
      ),
    );
    expect(shown.join('').toLowerCase()).not.toContain(address.toLowerCase());
  });

  it('another partner finds no month, no entry and no order of it', async () => {
    for (const [path, code] of [
      ['/statements/2026-10', 'not_found'],
      ['/statements/2026-10?format=csv', 'not_found'],
      ['/statements/2026-13', 'not_found'],
    ] as const) {
      const { status, json } = await get(path, other.key);
      expect([path, status, json.code]).toEqual([path, 404, code]);
    }
    expect((await read('/statements', other.key)).data).toEqual([]);
    expect((await read('/commission/entries?month=2026-10', other.key)).data).toEqual([]);
    expect((await read('/commission/balance', other.key)).payable).toEqual([]);
    expect((await read('/reports/orders', other.key)).data).toEqual([]);
  });

  it('a key without reports:read reads nothing', async () => {
    const { key } = await gateway.partners.issueKey(partner.id, { scopes: ['orders:read', 'orders:manage'] });
    for (const path of [
      '/commission/balance',
      '/commission/entries',
      '/statements',
      '/statements/2026-10',
      '/reports/orders',
    ]) {
      const { status, json } = await get(path, key);
      expect([path, status, json.code]).toEqual([path, 403, 'insufficient_scope']);
    }
  });
});

describe('the report of completed orders', () => {
  it('has both sides, both transactions, and what each order earned', async () => {
    await feedCatchesUp(gateway.query);
    const [order] = (await read('/reports/orders?limit=1')).data;
    const shown = await read(`/orders/${first.id}`);
    const [entry] = (await walked('/commission/entries?month=2026-10')).filter(({ order_id: id }) => id === first.id);
    expect(order).toMatchObject({
      id: first.id,
      short_id: shown.short_id,
      external_id: 'basket-1',
      edge_status: 'completed',
      created_at: shown.created_at,
      source: { coin: 'BTC', network: 'BTC', contract: null, chain_id: null },
      destination: { coin: 'USDT', network: 'TRC20', contract: expect.any(String), chain_id: null },
      deposit_address: shown.deposit_address,
      recipient_address: shown.recipient_address,
      deposit_txid: shown.deposit_txid,
      payout_txid: shown.payout_txid,
      commission: { coin: 'USDC', network: 'ERC20', amount: entry.amount },
    });
    const ether = (await read('/reports/orders?limit=2')).data[1].destination;
    expect(ether).toMatchObject({ coin: 'ETH', contract: null, chain: 'sandbox:ethereum', chain_id: null });
  });

  it('finds an order by its completion, however long before it was created', async () => {
    const before = idsOf(await walked('/reports/orders?completed_from=2026-10-01T00:00:00Z'));
    await gateway.query("update exchange_order set created_at = created_at - interval '100 days' where id = $1", [
      first.id,
    ]);
    expect(idsOf(await walked('/reports/orders?completed_from=2026-10-01T00:00:00Z'))).toEqual(before);
    expect(before).toContain(first.id);
    const october = '/reports/orders?completed_from=2026-10-01T00:00:00Z&completed_to=2026-11-01T00:00:00Z';
    const of = (await walked(october)).map(({ completed_at: at }) => at.slice(0, 7));
    expect(new Set(of)).toEqual(new Set(['2026-10']));
    expect(of.length).toBeLessThan(before.length);
  });

  it('has no gap and no repeat while orders complete, also where an earlier transaction ends late', async () => {
    await feedCatchesUp(gateway.query);
    const { next_cursor: start } = await read('/reports/orders?limit=100');
    const waiting = new Client({ connectionString: gateway.databaseUrl });
    await waiting.connect();
    const seen: string[] = [];
    let cursor = start;
    const walk = async (): Promise<void> => {
      for (;;) {
        const page = await read(`/reports/orders?limit=1&cursor=${cursor}`);
        seen.push(...idsOf(page.data));
        cursor = page.next_cursor;
        if (!page.has_more) return;
      }
    };
    try {
      const early = await gateway.order({ amount_from: 0.1, rate_type: 'float' }, partner.key);
      await gateway.deposit(early);
      // The completion of an order is written first and committed last.
      await waiting.query('begin');
      await waiting.query('select pg_current_xact_id()');
      const later = await completed(partner);
      await walk();
      expect(seen).toEqual([]);
      await waiting.query('rollback');
      await gateway.settle(early);
      await feedCatchesUp(gateway.query);
      await walk();
      expect([...seen].sort()).toEqual([early.id, later.id].sort());
      const more = Promise.all([completed(partner), completed(partner)]);
      let isOver = false;
      void more.finally(() => {
        isOver = true;
      });
      while (!isOver) await walk();
      await feedCatchesUp(gateway.query);
      await walk();
      expect([...seen].sort()).toEqual([early.id, later.id, ...idsOf(await more)].sort());
    } finally {
      await waiting.end();
    }
  });

  it('is read in pages of 100 at most, each of which passes a bounded number of events', async () => {
    for (const path of ['/reports/orders', '/commission/entries']) {
      expect((await get(`${path}?limit=101`)).status).toBe(422);
    }
    const many = await gateway.partner();
    const one = await gateway.order({ amount_from: 0.1, rate_type: 'float' }, many.key);
    await copyOrder(gateway.query, one.id, 1_100);
    await feedCatchesUp(gateway.query);
    const page = await read('/reports/orders?limit=1', many.key);
    expect(page).toMatchObject({ data: [], has_more: true });
    const next = await read(`/reports/orders?limit=1&cursor=${page.next_cursor}`, many.key);
    expect(next).toMatchObject({ data: [], has_more: false });
  });

  it('refuses a time that does not exist, a cursor of other times, and one from before a restore', async () => {
    expect((await get('/reports/orders?completed_from=2026-02-30T00:00:00Z')).status).toBeGreaterThanOrEqual(400);
    const { next_cursor: cursor } = await read('/reports/orders?limit=1');
    const times = `/reports/orders?completed_from=2026-10-01T00:00:00Z&cursor=${cursor}`;
    expect((await get(times)).json.code).toBe('invalid_cursor');
    const old = await inOtherCluster(
      gateway,
      partner.id,
      cursor,
      (moved) => get(`/reports/orders?cursor=${moved}`),
      'report',
    );
    expect([old.status, old.json.code, typeof old.json.restart_from]).toEqual([410, 'cursor_expired', 'string']);
  });
});
