import { Client } from 'pg';
import { Big, floorTo } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { ListCursors } from '../../../src/orders/read/list-cursor.ts';
import { walkStatements } from '../../../src/orders/read/order-walk.ts';
import { PartnerEvents } from '../../../src/orders/read/partner-events.ts';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';
import { copyOrder, inOtherCluster, rowsOf } from '../../support/gateway/order-pages.ts';
import { orderReads } from '../../support/gateway/order-reads.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import {
  endWindow,
  failedOrder,
  type SettledGateway,
  startSettledGateway,
} from '../../support/gateway/settled-gateway.ts';

/** Lists of a partner's orders, their details, their events and their public status. */

let gateway: SettledGateway;
const statements: string[] = [];

beforeAll(async () => {
  gateway = await startSettledGateway({ outside: { onStatement: (sql) => statements.push(sql) } });
});
afterAll(() => gateway?.stop());

const toLtc = { coin_to: 'LTC', network_to: 'LTC', recipient_address: addressExample('LTC') };

const get = (path: string, key = gateway.key) => gateway.call('GET', path, { key });
const list = (query: string, key = gateway.key) => get(`/partner/orders?${query}`, key);
const idsOf = (reply: { json: { data: { id: string }[] } }): string[] => reply.json.data.map(({ id }) => id);
const whole = (query: string, key = gateway.key) => rowsOf(gateway.call, key, query);

/** A partner with orders, the newest first. */
async function partnerWith(
  count: number,
  changes: Record<string, unknown> = {},
): Promise<{ key: string; ids: string[] }> {
  const { key } = await gateway.partner();
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const { status, text, json } = await gateway.call('POST', '/partner/orders', {
      key,
      body: { ...orderBody(), ...changes },
    });
    if (status !== 201) throw new Error(text);
    ids.unshift(json.id);
    gateway.clock.advance(1);
  }
  return { key, ids };
}

const partnerOf = async (key: string): Promise<string> =>
  (
    await gateway.query<{ id: string }>('select partner_id as id from api_key where key_id = $1', [key.split('.')[0]])
  )[0]?.id ?? '';

describe('the list by creation', () => {
  it('has the newest first, each order as GET shows it, and pages that fit together', async () => {
    const { key, ids } = await partnerWith(7);
    const first = await list('limit=3', key);
    expect(idsOf(first)).toEqual(ids.slice(0, 3));
    expect(first.json.has_more).toBe(true);
    const { text } = await get(`/partner/orders/${ids[0]}`, key);
    expect(first.text).toContain(text);
    const second = await list(`limit=3&cursor=${first.json.next_cursor}`, key);
    expect(idsOf(second)).toEqual(ids.slice(3, 6));
    const third = await list(`limit=3&cursor=${second.json.next_cursor}`, key);
    expect(third.json).toMatchObject({ has_more: false, next_cursor: null });
    expect(idsOf(third)).toEqual(ids.slice(6));
    expect(idsOf(await list('', key))).toEqual(ids);
  });

  it('of a partner without orders is empty', async () => {
    const { key } = await gateway.partner();
    expect((await list('', key)).json).toEqual({ data: [], has_more: false, next_cursor: null });
  });

  it('is not shifted by orders that are created meanwhile', async () => {
    const { key, ids } = await partnerWith(6);
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const page = await list(`limit=2${cursor}`, key);
      seen.push(...idsOf(page));
      if (!page.json.has_more) break;
      cursor = `&cursor=${page.json.next_cursor}`;
      await Promise.all([1, 2, 3].map(async () => gateway.call('POST', '/partner/orders', { key, body: orderBody() })));
      gateway.clock.advance(1);
    }
    expect(seen).toEqual(ids);
  });

  it('has a page of a hundred orders and of a hundred ids', async () => {
    const { key, ids } = await partnerWith(101);
    const page = await list('limit=100&include=details', key);
    expect(idsOf(page)).toEqual(ids.slice(0, 100));
    expect(page.json.has_more).toBe(true);
    const wanted = ids.filter((_, i) => i !== 50);
    expect(idsOf(await list(`limit=100&ids=${wanted.join(',')}`, key))).toEqual(wanted);
  });

  it('takes each filter, and several at once', async () => {
    const { key, ids } = await partnerWith(3);
    const [newest = '', , oldest = ''] = ids;
    const other = await gateway.call('POST', '/partner/orders', { key, body: { ...orderBody(), ...toLtc } });
    const { created_at: from } = (await get(`/partner/orders/${ids[1]}`, key)).json;
    const { created_at: to } = other.json;
    expect(await whole('coin_to=LTC', key)).toEqual([other.json.id]);
    expect(await whole('coin_from=BTC&coin_to=USDT', key)).toEqual(ids);
    expect(await whole('coin_from=ETH', key)).toEqual([]);
    expect(await whole(`created_from=${from}&created_to=${to}`, key)).toEqual(ids.slice(0, 2));
    expect(await whole(`created_to=${from}`, key)).toEqual([oldest]);
    expect(await whole('status=waiting_deposit,completed&limit=2', key)).toEqual([other.json.id, ...ids]);
    expect(await whole('status=completed&status=failed', key)).toEqual([]);
    const short = (await get(`/partner/orders/${oldest}`, key)).json.short_id.toLowerCase();
    expect(await whole(`ids=${newest},${short}&ids=nonsense,${gateway.key.slice(0, 20)}`, key)).toEqual([
      newest,
      oldest,
    ]);
    expect(await whole(`ids=${newest},${short}&limit=1&coin_to=USDT`, key)).toEqual([newest, oldest]);
    expect(await whole(`ids=${newest}`, gateway.key)).toEqual([]);
    expect(await whole('ids=nonsense', key)).toEqual([]);
  });

  it.each(['created', 'updated'])('by %s has at most 1 MiB a page, and loses no order by that', async (sort) => {
    const { key, ids } = await partnerWith(1);
    await copyOrder(gateway.query, ids[0] ?? '', 69);
    // As if strangers had sent dust to each address.
    await gateway.query(
      `insert into deposit (id, chain, key, order_id, txid, address, coin, network, amount, state, height, block_hash,
         confirmations_required, seen_at, arrived_by)
       select gen_random_uuid(), 'dust', md5(o.id::text || n) || ':' || n, o.id, repeat(md5(o.id::text || n), 2), 'dust',
              'BTC', 'BTC', 0.00000001, 'mined', 1, 'x', 2, now(), now()
         from exchange_order o, generate_series(1, 150) n where o.partner_id = $1`,
      [await partnerOf(key)],
    );
    await caughtUp();
    const page = await list(`sort=${sort}&include=details&limit=100`, key);
    expect(page.json.has_more).toBe(true);
    expect(page.json.data[0].details.deposits).toHaveLength(100);
    expect(Buffer.byteLength(page.text)).toBeGreaterThan(900_000);
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(1_048_576);
    const all = await whole(`sort=${sort}&include=details&limit=100`, key);
    expect([all.length, new Set(all).size]).toEqual([70, 70]);
  });

  it('passes many orders that do not match in bounded pages', async () => {
    const { key, ids } = await partnerWith(4, {});
    await copyOrder(gateway.query, ids[0] ?? '', 1_500);
    expect(await whole('coin_to=LTC&limit=1', key)).toEqual([]);
    const counted = await list('coin_to=LTC', key);
    expect(counted.json).toMatchObject({ data: [], has_more: true });
  });
});

it('the examples of the contract are answered, each alone and all together', async () => {
  interface Parameter {
    readonly name: string;
    readonly in: string;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  }
  const path = readContract().paths?.['/partner/orders'] as { get: { parameters: Parameter[] } };
  const queries = path.get.parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, examples = {} }) =>
      Object.values(examples).map(({ value }) => `${name}=${encodeURIComponent(String(value))}`),
    );
  expect(queries).toHaveLength(12);
  for (const query of [...queries.filter((each) => !each.startsWith('updated_since')), queries.join('&')]) {
    expect([query, (await list(query)).status]).toEqual([query, 200]);
  }
});

describe('a cursor', () => {
  const refusals = async (query: string, key = gateway.key) => {
    const { status, json } = await list(query, key);
    return [status, json.code];
  };
  const invalid = [400, 'invalid_cursor'];

  it.each(['sort=created', 'sort=updated'])('of a list with %s is bound to its partner and filters', async (sort) => {
    const [one, two] = [await partnerWith(3), await partnerWith(3)];
    await caughtUp();
    const { json } = await list(`${sort}&limit=1&coin_to=USDT&status=expired,waiting_deposit`, one.key);
    const cursor = `&limit=2&cursor=${json.next_cursor}`;
    expect((await list(`${sort}&status=waiting_deposit,expired&coin_to=USDT${cursor}`, one.key)).status).toBe(200);
    expect(await refusals(`${sort}&coin_to=USDT&status=expired,waiting_deposit${cursor}`, two.key)).toEqual(invalid);
    for (const other of [
      `${sort}&coin_to=USDT`,
      `${sort}&coin_to=USDT&status=expired`,
      `${sort}&coin_to=LTC&status=expired,waiting_deposit`,
      `${sort}&coin_to=USDT&status=expired,waiting_deposit&ids=${one.ids[0]}`,
      `${sort}&coin_to=USDT&status=expired,waiting_deposit&created_from=2020-01-01T00:00:00Z`,
      `${sort === 'sort=created' ? 'sort=updated' : 'sort=created'}&coin_to=USDT&status=expired,waiting_deposit`,
    ]) {
      expect([other, await refusals(other + cursor, one.key)]).toEqual([other, invalid]);
    }
  });

  it('with any changed character is refused', async () => {
    const { key } = await partnerWith(2);
    const cursor: string = (await list('limit=1', key)).json.next_cursor;
    const forged = [...cursor].flatMap((letter, i) =>
      ['A', 'b', '_', '%2B', '%20']
        .filter((other) => other !== letter)
        .map((other) => cursor.slice(0, i) + other + cursor.slice(i + 1)),
    );
    const answers = new Set<string>();
    for (const each of [...forged, `${cursor}A`, `${cursor}=`, cursor.slice(1), cursor.slice(0, -1), 'x', '1.x']) {
      answers.add(String(await refusals(`limit=1&cursor=${each}`, key)));
    }
    expect([...answers]).toEqual(['400,invalid_cursor']);
  });

  it('of another cluster is answered with 410 and the time from which to begin again', async () => {
    const { key, ids } = await partnerWith(3);
    await caughtUp();
    const { json } = await list('sort=updated&limit=2', key);
    const partner = await partnerOf(key);
    const expired = await inOtherCluster(gateway, partner, json.next_cursor, (old) =>
      list(`sort=updated&cursor=${old}`, key),
    );
    expect([expired.status, expired.json.code]).toEqual([410, 'cursor_expired']);
    const since = expired.json.restart_from;
    const second = (await get(`/partner/orders/${ids[1]}`, key)).json;
    expect(since).toBe(second.created_at);
    expect(idsOf(await list(`sort=updated&updated_since=${since}`, key))).toEqual(
      expect.arrayContaining(ids.slice(0, 2)),
    );
  });
});

/** Waits until no transaction that others opened holds back the feed. */
async function caughtUp(): Promise<void> {
  await feedCatchesUp(gateway.query);
}

describe('the list by updates', () => {
  it('names each order that moved, and again when it moves again', async () => {
    const { key, ids } = await partnerWith(3);
    const [third = '', , first = ''] = ids;
    await caughtUp();
    const all = await list('sort=updated', key);
    expect(idsOf(all)).toEqual(ids.toReversed());
    expect(all.json.has_more).toBe(false);
    const nothing = await list(`sort=updated&cursor=${all.json.next_cursor}`, key);
    expect(nothing.json).toMatchObject({ data: [], has_more: false, next_cursor: expect.any(String) });
    for (const id of [third, first]) {
      await gateway.query('update exchange_order set expires_at = $2, next_action_at = $2 where id = $1', [
        id,
        gateway.clock.now(),
      ]);
      gateway.clock.advance(1);
      await gateway.tick();
    }
    await caughtUp();
    const moved = await list(`sort=updated&cursor=${nothing.json.next_cursor}&include=details`, key);
    expect(moved.json.data).toMatchObject([
      { id: third, status: 'expired', details: { seq: 2, status_group: 'expired' } },
      { id: first, status: 'expired', details: { seq: 2 } },
    ]);
    expect(await whole('sort=updated&status=expired', key)).toEqual([first, third]);
    // With the smallest pages, each order comes once for each of its moves.
    expect(await whole('sort=updated&status=expired&limit=1', key)).toEqual([first, third, first]);
    expect(await whole(`sort=updated&ids=${third}&limit=1`, key)).toEqual([third]);
  });

  it('begins where updated_since says', async () => {
    const { key, ids } = await partnerWith(2);
    gateway.clock.advance(3_600_000);
    const since = gateway.clock.now().toISOString();
    const late = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
    await caughtUp();
    expect(await whole('sort=updated', key)).toEqual([...ids.toReversed(), late.json.id]);
    const moved = await whole(`sort=updated&updated_since=${since}`, key);
    expect(moved.at(-1)).toBe(late.json.id);
    expect(moved).not.toContain(ids[1]);
    expect((await list(`updated_since=${since}`, key)).json.code).toBe('invalid_value');
  });
});

describe('the details of an order', () => {
  it('tell the deposit, the terms and the payout of a completed order, in one statement', async () => {
    const order = await gateway.order();
    const fresh = (await get(`/partner/orders/${order.id}/details`)).json;
    expect(fresh).toMatchObject({
      order_id: order.id,
      seq: 1,
      status_group: 'waiting',
      deposits: [],
      terms: { is_final: false, amount_from: 0.01 },
      payout: null,
      refunds: [],
      hold: null,
      failure: null,
      external_id: null,
      metadata: null,
      policy: null,
      action_required: null,
    });
    const txid = await gateway.deposit(order);
    await gateway.settle(order);
    statements.length = 0;
    const { text, json } = await get(`/partner/orders/${order.id}/details`);
    expect(statements.filter((sql) => sql.includes('exchange_order'))).toHaveLength(1);
    const shown = await gateway.show(order);
    expect(json).toMatchObject({
      seq: 5,
      status_group: 'completed',
      deposits: [{ txid, coin: 'BTC', network: 'BTC', amount: 0.01, state: 'credited', role: 'main', output_index: 0 }],
      terms: { is_final: true, partner_markup: 0, amount_from: 0.01 },
      payout: { txid: shown.payout_txid, coin: 'USDT', network: 'TRC20', state: 'confirmed' },
    });
    const [trade] = await gateway.query<{ to: string }>(
      'select trim_scale(amount_to)::text as to from trade where order_id = $1',
      [order.id],
    );
    expect(text).toContain(`"amount_to":${trade?.to}}`);
    expect(text).toContain(`"network":"TRC20","amount":${trade?.to},`);
    const short = (await get(`/partner/orders/${shown.short_id.toLowerCase()}/details`)).text;
    expect(short).toBe(text);
  });

  it('tell terms that add up to the last unit, and the rate that was quoted', async () => {
    for (const changes of [{ rate_type: 'fixed' }, toLtc, { ...toLtc, rate_type: 'fixed' }]) {
      for (const part of ['1', '0.7']) {
        const order = await gateway.order({ ...changes, amount_from: 0.0123 });
        const quoted = (await get(`/partner/orders/${order.id}/details`)).json.terms;
        await gateway.deposit(order, { amount: new Big(order.amountFrom).times(part).toFixed() });
        await gateway.settle(order);
        const reply = await gateway.call('GET', `/partner/orders/${order.id}/details`, {
          key: gateway.key,
          headers: { amounts: 'string' },
        });
        const { terms } = reply.json;
        expect(terms.is_final).toBe(true);
        const shown = await gateway.show(order);
        const decimals = gateway.app.catalogue.find(shown.coin_to, shown.network_to)?.decimals ?? -1;
        const fees = new Big(terms.service_fee).plus(terms.partner_markup).plus(terms.network_fee);
        const byMid = new Big(terms.mid).times(terms.amount_from).minus(fees);
        const byRate = new Big(terms.rate).times(terms.amount_from);
        expect([byMid, byRate].map((value) => floorTo(value, decimals).toFixed())).toEqual([
          terms.amount_to,
          terms.amount_to,
        ]);
        if (part !== '1' || changes === toLtc) continue;
        expect(Number(terms.rate)).toBe(quoted.rate);
        expect(Number(terms.rate)).toBe(shown.rate_quoted);
      }
    }
  });

  it('tell the roles of deposits, the refunds, and why an order failed', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.deposit(order, { amount: '0.05' });
    await gateway.deposit(order, { amount: '0.00001' });
    await gateway.settle(order);
    const { deposits, refunds } = (await get(`/partner/orders/${order.id}/details`)).json;
    expect(deposits.map(({ role }: { role: string }) => role).sort()).toEqual(['main', 'second', 'small']);
    expect(deposits[0].role).toBe('main');
    expect(refunds).toMatchObject([{ coin: 'BTC', state: 'confirmed', deposit_txid: expect.any(String) }]);

    const failed = await failedOrder(gateway);
    expect((await get(`/partner/orders/${failed.id}/details`)).json).toMatchObject({
      status_group: 'failed',
      failure: { cause: 'no_refund_address' },
      deposits: [{ role: 'late' }],
      terms: { is_final: false },
    });
  });

  it('name the class of a hold, and nothing that staff wrote', async () => {
    const order = await gateway.order();
    await gateway.query(`update exchange_order set held_at = now(), hold_reason = 'rule 17: mixer' where id = $1`, [
      order.id,
    ]);
    const { text, json } = await get(`/partner/orders/${order.id}/details`);
    expect(json).toMatchObject({
      status_group: 'on_hold',
      hold: { reason: 'review', acts_next: 'service', review_by: null, refund_offered: false },
    });
    expect(text).not.toContain('rule 17');
    await gateway.query('update exchange_order set held_at = null, hold_reason = null where id = $1', [order.id]);
  });

  it('of a whole page cost two statements', async () => {
    const { key } = await partnerWith(5);
    statements.length = 0;
    await list('include=details', key);
    expect(statements.filter((sql) => sql.includes('exchange_order'))).toHaveLength(2);
  });
});

describe('the events of an order', () => {
  it('are its whole history', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.settle(order);
    const { data } = (await get(`/partner/orders/${order.id}/events`)).json;
    expect(data.map((event: { seq: number; cause: string }) => [event.seq, event.cause])).toEqual([
      [1, 'created'],
      [2, 'deposit_seen'],
      [3, 'deposit_confirmed'],
      [4, 'liquidity_bought'],
      [5, 'payout_confirmed'],
    ]);
    expect(data[0]).toMatchObject({ status: 'waiting_deposit', previous_status: null });
    expect(data[4]).toMatchObject({ status: 'completed', previous_status: 'sending' });
  });

  it('and the details of an unknown or foreign order are not there, alike', async () => {
    const { ids } = await partnerWith(1);
    for (const path of ['details', 'events']) {
      const bodies = new Set<string>();
      for (const id of [ids[0], '0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90', 'XP-AAAAAA', 'nonsense', 'x'.repeat(70)]) {
        const { status, json } = await get(`/partner/orders/${id}/${path}`);
        expect(status).toBe(404);
        bodies.add(JSON.stringify({ ...json, request_id: '' }));
      }
      expect(bodies.size).toBe(1);
    }
  });
});

describe('the public status of an order', () => {
  const read = (id: string) => gateway.call('GET', `/status/${id}`);

  it('is there for partners that switched it on, by UUID only', async () => {
    const partner = await gateway.partner();
    const { json } = await gateway.call('POST', '/partner/orders', { key: partner.key, body: orderBody() });
    const hidden = await read(json.id);
    const unknown = await read('0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90');
    const bare = ({ json: body }: typeof hidden) => ({ ...body, request_id: '' });
    expect([hidden.status, bare(hidden)]).toEqual([unknown.status, bare(unknown)]);
    expect(hidden.json.code).toBe('order_not_found');
    await gateway.partners.change(partner.id, { publicStatus: true });
    expect((await read(json.id.toUpperCase())).json).toEqual({
      id: json.id,
      status: 'waiting_deposit',
      edge_status: 'pending',
      updated_at: json.created_at,
    });
    expect(bare(await read(json.short_id))).toEqual(bare(unknown));
    expect(bare(await read('x'.repeat(70)))).toEqual(bare(unknown));
    await gateway.query(`update exchange_order set held_at = now(), hold_reason = 'staff' where id = $1`, [json.id]);
    expect((await read(json.id)).json.edge_status).toBe('infoNeeded');
  });
});

describe('the statements of lists', () => {
  const literal = (value: unknown): string => `'${Array.isArray(value) ? `{${value.join(',')}}` : value}'`;

  it('read by index, where a partner has few of many orders', async () => {
    const [small, large] = [await partnerWith(2), await partnerWith(1)];
    await copyOrder(gateway.query, large.ids[0] ?? '', 3_000);
    await gateway.query('analyze exchange_order, order_event, partner, deposit, payment, trade');
    const partner = await partnerOf(small.key);
    const { orm } = gateway.app;
    const values: Record<string, unknown> = {
      partner,
      xid: '0',
      orderId: partner,
      seq: 0,
      steps: 1_000,
      before: 'now',
      us: 0,
      id: partner,
    };
    const client = new Client({ connectionString: gateway.databaseUrl });
    await client.connect();
    try {
      await client.query('set enable_seqscan = off');
      const plain = [...orderReads(orm).statements, ...new PartnerEvents(orm, new ListCursors([])).statements];
      const filtered = {
        statuses: ['failed' as const],
        coinFrom: 'BTC',
        createdFrom: new Date(0),
        createdTo: gateway.clock.now(),
      };
      for (const [{ name, text, parameters, isReplanned }, own] of [
        ...walkStatements({}),
        ...walkStatements(filtered).map(([each, of]) => [{ ...each, name: `${each.name}_filtered` }, of] as const),
        ...plain.map((each) => [each, {}] as const),
      ]) {
        await client.query(`set plan_cache_mode = ${isReplanned ? 'force_custom_plan' : 'force_generic_plan'}`);
        await client.query(`prepare ${name} as ${text}`);
        const known: Record<string, unknown> = { ...values, ...own };
        const given = parameters.map((each) => (isReplanned && each in known ? literal(known[each]) : 'null'));
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute ${name}(${given.join(', ')})`);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        const scanned = [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table);
        expect([name, scanned]).toEqual([name, []]);
        if (name.startsWith('orders_updated') || name === 'partner_events')
          expect(plan).toMatch(/using order_event_partner.*\n +Index Cond: .*partner_id = /);
        if (name.startsWith('orders_created'))
          expect(plan).toMatch(/using exchange_order_partner.*\n +Index Cond: .*partner_id = /);
      }
    } finally {
      await client.end();
    }
  });
});

it('a list counts in a separate limit', async () => {
  const partner = await gateway.partner();
  await gateway.partners.change(partner.id, { listsLimitPerMin: 2 });
  expect((await list('', partner.key)).headers.get('ratelimit')).toContain('"lists";r=1');
  expect((await list('', partner.key)).status).toBe(200);
  expect((await list('', partner.key)).status).toBe(429);
  expect((await get('/partner/orders/XP-AAAAAA/details', partner.key)).status).toBe(404);
});

it('an order that is late is not completed by its list', async () => {
  const order = await gateway.order();
  await endWindow(gateway, order);
  await gateway.tick();
  expect((await list(`ids=${order.id}`)).json.data).toMatchObject([{ id: order.id, status: 'expired' }]);
});
