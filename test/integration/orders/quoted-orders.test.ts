import { addressExample } from '../../../src/chains/addresses/address.ts';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';

const clock = new TestClock(new Date('2026-01-01T00:00:10Z'));
let database: TestDatabase;
const gateways: TestGateway[] = [];
let one: TestGateway;
let two: TestGateway;

/** A gateway on the shared database. Its prices are refreshed when the test says so. */
async function start(): Promise<TestGateway> {
  const gateway = await startGateway({
    databaseUrl: database.url,
    settings: { REDIS_URL: 'redis://127.0.0.1:1', RESTRICTED_COUNTRIES: 'KP', PRICE_MAX_AGE_SEC: '300' },
    outside: { clock, background: false },
  });
  gateways.push(gateway);
  return gateway;
}

beforeAll(async () => {
  database = await createDatabase();
  one = await start();
  two = await start();
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await database?.drop();
});

const pair = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20' };
const recipient = { recipient_address: addressExample('TRC20') };

/** A quote of a partner, fixed unless the changes say otherwise. */
async function quoted(key: string, changes: Record<string, unknown> = {}) {
  const body = { ...pair, rate_type: 'fixed', amount_from: 0.1, ...changes };
  const reply = await one.call('POST', '/partner/quotes', { key, body });
  expect(reply.status).toBe(201);
  return reply.json;
}

const rows = <Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> =>
  query<Row>(database.url, sql, values);

async function create(gateway: TestGateway, key: string, body: object, headers: Record<string, string> = {}) {
  return gateway.call('POST', '/partner/orders', { key, body, headers });
}

describe('the details of an order', () => {
  it('have what its create said, and split the markup from the service fee', async () => {
    const { key } = await one.partner();
    const quote = await quoted(key, { markup_bps: 40 });
    const said = {
      external_id: 'inv-42',
      metadata: { user: 'u_17', note: 'ü "1.50" \\ {}' },
      policy: { on_underpaid: 'refund' },
    };
    const order = await create(one, key, { ...recipient, ...said, quote_id: quote.quote_id });
    expect(order.status).toBe(201);
    const { json } = await one.call('GET', `/partner/orders/${order.json.id}/details`, { key });
    expect(json).toMatchObject(said);
    const { service_fee, partner_markup, network_fee } = quote.parts;
    expect(json.terms).toMatchObject({ network_fee, amount_to: quote.amount_to });
    expect(json.terms.partner_markup).toBeCloseTo(partner_markup, 9);
    expect(json.terms.service_fee).toBeCloseTo(service_fee, 9);
  });

  it('are null for a create that said nothing', async () => {
    const { key } = await one.partner();
    const order = await create(one, key, orderBody());
    const { json } = await one.call('GET', `/partner/orders/${order.json.id}/details`, { key });
    expect(json).toMatchObject({ external_id: null, metadata: null, policy: null, terms: { partner_markup: 0 } });
  });
});

describe('a list by external id', () => {
  it('has the one order of that id, of the calling partner only', async () => {
    const [mine, other] = [await one.partner(), await one.partner()];
    const order = await create(one, mine.key, orderBody({ external_id: 'inv-43' }));
    await create(one, other.key, orderBody({ external_id: 'inv-44' }));
    const listed = async (key: string, query: string): Promise<unknown[]> => {
      const { status, json } = await two.call('GET', `/partner/orders?${query}`, { key });
      expect(status).toBe(200);
      return json.data.map(({ id }: { id: string }) => id);
    };
    expect(await listed(mine.key, 'external_id=inv-43')).toEqual([order.json.id]);
    await feedCatchesUp(rows);
    expect(await listed(mine.key, 'external_id=inv-43&sort=updated')).toEqual([order.json.id]);
    expect(await listed(mine.key, 'external_id=inv-44')).toEqual([]);
    expect(await listed(mine.key, 'external_id=inv-44&sort=updated')).toEqual([]);
    expect(await listed(other.key, 'external_id=inv-43')).toEqual([]);
  });

  it('and by ids has what both admit', async () => {
    const { key } = await one.partner();
    const named = await create(one, key, orderBody({ external_id: 'inv-45' }));
    const other = await create(one, key, orderBody());
    for (const [ids, count] of [
      [named.json.id, 1],
      [named.json.short_id.toLowerCase(), 1],
      [other.json.id, 0],
    ]) {
      const { json } = await one.call('GET', `/partner/orders?external_id=inv-45&ids=${ids}`, { key });
      expect(json.data).toHaveLength(count);
    }
  });
});

describe('an order with a quote', () => {
  it('has exactly the terms of the quote, at a process that did not make it', async () => {
    const { key } = await one.partner();
    const quote = await quoted(key, { markup_bps: 40 });
    clock.advance(59_000);
    for (const gateway of gateways) await gateway.app.prices.refresh(gateway.app.catalogue.coins());
    const order = await create(two, key, { ...recipient, quote_id: quote.quote_id });
    expect(order.status).toBe(201);
    expect(order.json).toMatchObject({
      ...pair,
      rate_type: 'fixed',
      amount_from_expected: quote.amount_from,
      amount_to_expected: quote.amount_to,
      rate_quoted: quote.rate,
    });
    const [stored] = await rows<Record<string, string>>(
      `select trim_scale(fee_rate)::text as rate, trim_scale(service_fee_quoted)::text as fee, t.markup_bps as markup
         from exchange_order o join order_terms t on t.order_id = o.id where o.id = $1`,
      [order.json.id],
    );
    expect(stored).toMatchObject({ rate: '0.014', markup: 40 });
    const { gross, network_fee, rounding } = quote.parts;
    expect(Number(stored?.fee)).toBeCloseTo(gross - network_fee - rounding - quote.amount_to, 9);
  });

  it('may repeat the quote, and is refused with every member that differs', async () => {
    const { key } = await one.partner();
    const { quote_id } = await quoted(key, { markup_bps: 40 });
    const wrong = {
      ...orderBody({ amount_from: 0.2, coin_from: 'LTC', network_from: 'LTC' }),
      quote_id,
      markup_bps: 41,
    };
    const refused = await create(one, key, wrong);
    const faults = refused.json.errors.map(({ field, code }: Record<string, string>) => `${field} ${code}`);
    expect([refused.status, faults.slice(0, 5)]).toEqual([
      422,
      [
        'coin_from quote_mismatch',
        'network_from quote_mismatch',
        'amount_from quote_mismatch',
        'rate_type quote_mismatch',
        'markup_bps quote_mismatch',
      ],
    ]);
    const right = { ...orderBody({ amount_from: 0.1, rate_type: 'fixed' }), quote_id, markup_bps: 40 };
    expect((await create(one, key, right)).status).toBe(201);
  });

  it('of 50 creates at two processes is one order, which the 49 others name', async () => {
    const { key } = await one.partner();
    const { quote_id } = await quoted(key);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => create(gateways[i % 2] ?? one, key, { ...recipient, quote_id })),
    );
    const [made, ...more] = replies.filter(({ status }) => status === 201);
    const others = replies.filter(({ status }) => status !== 201);
    expect([more.length, others.length]).toEqual([0, 49]);
    for (const { status, json } of others) {
      expect([status, json.code, json.order_id]).toEqual([409, 'quote_used', made?.json.id]);
    }
    const [count] = await rows('select count(*)::int as orders from order_terms where order_id = $1', [made?.json.id]);
    expect(count).toEqual({ orders: 1 });
  });

  it('is found by its used quote even after the quote’s time', async () => {
    const { key } = await one.partner();
    const { quote_id } = await quoted(key);
    const { json } = await create(one, key, { ...recipient, quote_id });
    clock.advance(3_600_000);
    for (const gateway of gateways) await gateway.app.prices.refresh(gateway.app.catalogue.coins());
    const again = await create(two, key, { ...recipient, quote_id });
    expect([again.status, again.json.code, again.json.order_id]).toEqual([409, 'quote_used', json.id]);
    const read = await two.call('GET', `/partner/quotes/${quote_id}`, { key });
    expect([read.json.state, read.json.order_id]).toEqual(['used', json.id]);
  });

  it('is repeated by its idempotency key before its quote is looked at', async () => {
    const { key } = await one.partner();
    const { quote_id } = await quoted(key);
    const headers = { 'Idempotency-Key': 'a-quoted-order' };
    const body = { ...recipient, quote_id };
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) => create(gateways[i % 2] ?? one, key, body, headers)),
    );
    const ids = new Set(replies.filter(({ status }) => status === 201).map(({ json }) => json.id));
    expect([ids.size, replies.every(({ json }) => json.id || json.code === 'idempotency_in_flight')]).toEqual([
      1,
      true,
    ]);
    const late = await create(one, key, body, headers);
    expect([late.status, late.headers.get('idempotent-replayed'), ids.has(late.json.id)]).toEqual([201, 'true', true]);
    const other = await create(one, key, body, { 'Idempotency-Key': 'another' });
    expect([other.status, other.json.code]).toEqual([409, 'quote_used']);
  });

  it('is refused with another partner’s quote, an expired one, and a text that is none', async () => {
    const [mine, theirs] = [await one.partner(), await one.partner()];
    const { quote_id } = await quoted(theirs.key);
    for (const text of [quote_id, `${quote_id}x`, 'qt_', 'anything']) {
      const refused = await create(one, mine.key, { ...recipient, quote_id: text });
      expect([refused.status, refused.json.code]).toEqual([422, 'quote_invalid']);
    }
    const own = await quoted(mine.key);
    clock.advance(60_001);
    for (const gateway of gateways) await gateway.app.prices.refresh(gateway.app.catalogue.coins());
    const late = await create(one, mine.key, { quote_id: own.quote_id, recipient_address: 'nonsense' });
    const faults = late.json.errors.map(({ field, code }: Record<string, string>) => `${field} ${code}`);
    expect([late.status, faults]).toEqual([422, ['quote_id quote_expired', 'recipient_address invalid_address']]);
  });

  it('of a float quote has the quoted fee at the market’s price', async () => {
    const { id, key } = await one.partner();
    const { quote_id } = await quoted(key, { rate_type: 'float', markup_bps: 25 });
    await one.partners.change(id, { feeRateFloat: '0.02' });
    const { status, json } = await create(one, key, { ...recipient, quote_id });
    expect(status).toBe(201);
    const [stored] = await rows('select trim_scale(fee_rate)::text as rate from exchange_order where id = $1', [
      json.id,
    ]);
    expect(stored).toEqual({ rate: '0.0075' });
  });

  it('is named to the others also where its caps leave room for one order only', async () => {
    const { id, key } = await one.partner();
    await one.partners.change(id, { maxFixedExposureUsd: 8_000, maxFixedDayUsd: 8_000 });
    for (let round = 0; round < 3; round++) {
      await rows('delete from fixed_turnover where partner_id = $1', [id]);
      const { quote_id } = await quoted(key);
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, i) => create(gateways[i % 2] ?? one, key, { ...recipient, quote_id })),
      );
      const codes = replies.map(({ status, json }) => `${status} ${json.code ?? ''}`).sort();
      expect(codes).toEqual(['201 ', ...Array.from({ length: 9 }, () => '409 quote_used')]);
    }
  });

  it('counts against the caps on fixed orders', async () => {
    const { id, key } = await one.partner();
    await one.partners.change(id, { maxFixedExposureUsd: 1 });
    const { quote_id } = await quoted(key);
    const refused = await create(two, key, { ...recipient, quote_id });
    expect([refused.status, refused.json.code]).toEqual([422, 'fixed_exposure_limit']);
  });
});

describe('an order with an external id', () => {
  it('of 50 creates at two processes is one order, which the 49 others name', async () => {
    const [{ key }, stranger] = [await one.partner(), await one.partner()];
    const body = orderBody({ external_id: 'inv-881' });
    const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => create(gateways[i % 2] ?? one, key, body)));
    const [made, ...more] = replies.filter(({ status }) => status === 201);
    const others = replies.filter(({ status }) => status !== 201);
    expect([more.length, others.length]).toEqual([0, 49]);
    for (const { status, json } of others) {
      expect([status, json.code, json.order_id]).toEqual([409, 'external_id_taken', made?.json.id]);
    }
    expect((await create(one, stranger.key, body)).status).toBe(201);
  });

  it('creates no other order of its batch twice', async () => {
    const { id, key } = await one.partner();
    const bodies = Array.from({ length: 20 }, (_, i) => orderBody({ external_id: `batch-${i % 10}` }));
    const replies = await Promise.all(bodies.map((body) => create(one, key, body)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
    const [count] = await rows('select count(*)::int as orders from exchange_order where partner_id = $1', [id]);
    expect(count).toEqual({ orders: 10 });
  });
});

describe('the terms of an order', () => {
  it('are stored as they were sent, and only where some were sent', async () => {
    const { key } = await one.partner();
    const terms = {
      external_id: 'o-1',
      metadata: { user: 'u_17', note: 'ü "quoted" \\ {}' },
      markup_bps: 30,
      min_amount_to: 1.5,
      policy: { on_underpaid: 'refund', on_price_moved: 'ask' },
    };
    const { status, json } = await create(one, key, orderBody({ ...terms, country: 'DE' }));
    expect(status).toBe(201);
    const [stored] = await rows(
      `select external_id, metadata, markup_bps, trim_scale(min_amount_to)::float8 as min_amount_to, policy, quote_nonce
         from order_terms where order_id = $1`,
      [json.id],
    );
    expect(stored).toEqual({ ...terms, quote_nonce: null });
    const plain = await create(one, key, orderBody());
    expect(await rows('select 1 from order_terms where order_id = $1', [plain.json.id])).toEqual([]);
    expect(plain.json.amount_to_expected).toBeGreaterThan(json.amount_to_expected);
  });

  it('are refused with every fault at once', async () => {
    const { key } = await one.partner();
    const body = orderBody({
      external_id: 'o-2',
      metadata: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`k${i}`, 'v'.repeat(500)])),
      markup_bps: 600,
      min_amount_to: 10_000_000,
      policy: { on_late: 'market' },
      country: 'KP',
      recipient_address: 'nonsense',
    });
    const { status, json } = await create(one, key, body);
    const faults = json.errors.map(({ field, code }: Record<string, string>) => `${field} ${code}`);
    expect([status, faults]).toEqual([
      422,
      [
        'markup_bps markup_too_high',
        'country region_restricted',
        'metadata metadata_too_large',
        'recipient_address invalid_address',
        'min_amount_to amount_to_below_min',
      ],
    ]);
  });

  it.each([
    [{ external_id: 'with space' }, 'external_id', 'invalid_value'],
    [{ external_id: 'ü' }, 'external_id', 'invalid_value'],
    [{ metadata: { a: 1 } }, 'metadata.a', 'invalid_type'],
    [{ metadata: { a: 'v'.repeat(501) } }, 'metadata', 'metadata_too_large'],
    [{ metadata: { ['k'.repeat(41)]: 'v' } }, 'metadata', 'metadata_too_large'],
    [{ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, ''])) }, 'metadata', 'metadata_too_large'],
    [{ metadata: { a: '\0' } }, 'metadata', 'invalid_value'],
    [{ metadata: { a: '\ud800' } }, 'metadata', 'invalid_value'],
    [{ policy: { on_price_moved: 'ask' } }, 'policy.on_price_moved', 'invalid_value'],
    [{ policy: { on_late: 'keep' } }, 'policy.on_late', 'unknown_value'],
    [{ policy: { on_time: 'ask' } }, 'policy.on_time', 'unknown_field'],
    [{ markup_bps: 1.5 }, 'markup_bps', 'invalid_type'],
    [{ markup_bps: -1 }, 'markup_bps', 'invalid_value'],
    [{ min_amount_to: 0 }, 'min_amount_to', 'invalid_value'],
    [{ min_amount_to: 1.1234567 }, 'min_amount_to', 'too_many_decimals'],
    [{ country: 'de' }, 'country', 'invalid_value'],
  ])('%j is refused', async (changes, field, code) => {
    const { key } = await one.partner();
    const { status, json } = await create(one, key, orderBody(changes));
    const isShape = ['invalid_type', 'unknown_value', 'unknown_field'].includes(code);
    expect([status, json.errors.map((fault: Record<string, string>) => [fault.field, fault.code])]).toEqual([
      isShape ? 400 : 422,
      [[field, code]],
    ]);
  });
});

describe('reading a quote', () => {
  it('shows it as it was given, while it is open and after its time', async () => {
    const { key } = await one.partner();
    for (const changes of [
      {},
      { amount_from: undefined, amount_to: 250 },
      { rate_type: 'float', clamp: true, amount_from: 99 },
    ]) {
      const quote = await quoted(key, changes);
      const path = `/partner/quotes/${quote.quote_id}`;
      expect((await two.call('GET', path, { key })).json).toEqual(quote);
      clock.advance(60_001);
      for (const gateway of gateways) await gateway.app.prices.refresh(gateway.app.catalogue.coins());
      expect((await two.call('GET', path, { key })).json).toEqual({ ...quote, state: 'expired' });
    }
  });

  it('answers alike for another partner’s quote and for any other text', async () => {
    const [mine, theirs] = [await one.partner(), await one.partner()];
    const { quote_id } = await quoted(theirs.key);
    for (const text of [quote_id, 'qt_AAAA', 'x', '%00', 'x'.repeat(1001)]) {
      const { status, json } = await one.call('GET', `/partner/quotes/${text}`, { key: mine.key });
      expect([status, json.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('asking for a quote', () => {
  it('needs exactly one amount', async () => {
    const { key } = await one.partner();
    const base = { ...pair, rate_type: 'fixed' };
    const none = await one.call('POST', '/partner/quotes', { key, body: base });
    expect([none.status, none.json.code, none.json.errors?.length]).toEqual([400, 'missing_field', 1]);
    const both = { ...base, amount_from: 1, amount_to: 1 };
    const two = await one.call('POST', '/partner/quotes', { key, body: both });
    expect([two.status, two.json.code, two.json.errors?.length]).toEqual([400, 'invalid_request', 1]);
    const text = await one.call('POST', '/partner/quotes', { key, body: { ...base, amount_from: '1' } });
    expect([text.status, text.json.code]).toEqual([400, 'invalid_type']);
  });

  it('writes nothing and reads nothing', async () => {
    const { key } = await one.partner();
    await quoted(key);
    const statements: string[] = [];
    const logger = one.app.orm.config.getLogger();
    const logQuery = logger.logQuery.bind(logger);
    logger.logQuery = (context) => {
      statements.push(String(context.query));
      logQuery(context);
    };
    for (let i = 0; i < 20; i++) await quoted(key, { amount_from: 1 + i / 16 });
    logger.logQuery = logQuery;
    // Other work of the process goes on, with fewer statements than there were quotes.
    expect(statements.length).toBeLessThan(20);
  });

  it('carries both limits when the amount is outside', async () => {
    const { key } = await one.partner();
    const body = { ...pair, rate_type: 'fixed', amount_to: 1 };
    const { status, json } = await one.call('POST', '/partner/quotes', { key, body });
    expect([status, json.code]).toEqual([422, 'amount_to_below_min']);
    const { limits } = await quoted(key);
    expect(json.limits).toEqual(limits);
  });

  it.each([
    ['rates:read', 201],
    ['orders:create', 201],
    ['orders:read', 403],
  ])('with a key of %s is answered with %i', async (scope, status) => {
    const { key } = await one.partner({ scopes: [scope] });
    const body = { ...pair, rate_type: 'fixed', amount_from: 0.1 };
    const reply = await one.call('POST', '/partner/quotes', { key, body });
    expect(reply.status).toBe(status);
    const quoteId = reply.json.quote_id ?? 'qt_x';
    expect((await one.call('GET', `/partner/quotes/${quoteId}`, { key })).status).toBe(status === 201 ? 200 : 403);
  });

  it('counts in a separate bucket', async () => {
    const { key } = await one.partner();
    const body = { ...pair, rate_type: 'fixed', amount_from: 0.1 };
    const { headers } = await one.call('POST', '/partner/quotes', { key, body });
    expect(headers.get('ratelimit-policy')).toBe('"quotes";q=1200;w=60');
  });
});

describe('the examples of the contract', () => {
  const { examples = {} } = readContract().components ?? {};
  const example = (name: string) => (examples[name] as { value: Record<string, unknown> }).value;

  it.each(['QuoteForward', 'QuoteReverse', 'QuoteMost'])('%s is answered', async (name) => {
    const { key } = await one.partner();
    expect((await one.call('POST', '/partner/quotes', { key, body: example(name) })).status).toBe(201);
  });

  it.each(['CreateFloatOrder', 'CreateMemoOrder', 'CreateNamedOrder'])('%s is answered', async (name) => {
    const { key } = await one.partner();
    const reply = await create(one, key, example(name));
    expect([reply.status, reply.json.code]).toEqual([201, undefined]);
  });
});
