import { addressExample } from '../../src/chains/addresses/address.ts';
import { amountNames } from '../../src/surfaces/rest/api/amounts.ts';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { query } from '../support/database/database.ts';
import { askAbout } from '../support/gateway/asked-orders.ts';
import { openMonth } from '../support/gateway/commission-months.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody, type Rows } from '../support/gateway/orders.ts';
import type { CallOptions, Reply } from '../support/http/contract-client.ts';

/**
 * The header `Amounts: string`. The client of the tests checks that every amount of each answer is
 * then a decimal string.
 */

let gateway: TestGateway;
let key: string;
let partner: { readonly id: string; readonly key: string };
let orderId: string;
let quoteId: string;
let month: string;

beforeAll(async () => {
  gateway = await startGateway();
  partner = await gateway.partner();
  key = partner.key;
  orderId = (await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).json.id;
  const rows: Rows = (text, values) => query(gateway.databaseUrl, text, values);
  month = await openMonth(rows, partner.id, new Date());
  quoteId = (await gateway.call('POST', '/partner/quotes', { key, body: quoteBody })).json.quote_id;
});
afterAll(() => gateway?.stop());

const asText = { Amounts: 'string' };
const quoteBody = { coin_from: 'BTC', coin_to: 'ETH', rate_type: 'fixed', amount_from: 0.1 };

interface Part {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Part>>;
  readonly items?: Part;
}

interface ContractOperation {
  readonly operationId: string;
  readonly parameters?: readonly Part[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Part }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Part }>> }>>;
}

const document = readContract();

/** Every schema that a part of the contract reaches, its references followed. */
function reached(part: unknown, seen = new Set<unknown>()): Part[] {
  if (typeof part !== 'object' || part === null || seen.has(part)) return [];
  seen.add(part);
  const { $ref } = part as Part;
  if ($ref) return reached(at($ref), seen);
  return [part as Part, ...Object.values(part).flatMap((each) => reached(each, seen))];
}

function at(ref: string): unknown {
  const steps = ref.slice(2).split('/');
  return steps.reduce((node: unknown, step) => (node as Record<string, unknown>)[step], document as unknown);
}

const isObject = ({ type }: Part) => type === 'object';
const isNumber = ({ type }: Part) => [type ?? []].flat().includes('number');
const operations = Object.values(document.paths ?? {}).flatMap((path) =>
  Object.values(path as Record<string, ContractOperation>),
);

describe('the contract', () => {
  it.each(
    operations.map((operation) => [operation.operationId, operation] as const),
  )('documents the header on %s if its answers or its body have amounts, and only then', (_, {
    parameters = [],
    requestBody,
    responses,
  }) => {
    const answers = Object.entries(responses).filter(([status]) => status < '300');
    const hasAmounts = [requestBody, answers].flatMap((part) => reached(part)).some(isNumber);
    const isDocumented = parameters.some(({ $ref }) => $ref === '#/components/parameters/Amounts');
    expect(isDocumented).toBe(hasAmounts);
  });

  it('tells both forms of every amount of an answer', () => {
    const answers = reached(operations.map(({ responses }) => responses));
    expect(answers.filter(({ type }) => type === 'number')).toEqual([]);
    // Amounts, and amounts that may be negative.
    expect(answers.filter(({ type }) => Array.isArray(type) && type.join() === 'number,string')).toHaveLength(2);
  });

  it('gives each name of an answer either amounts or whole numbers, and no list of amounts', () => {
    const schemas = reached(document.components?.schemas);
    const named = schemas.flatMap(({ properties = {} }) => Object.entries(properties));
    const amounts = amountNames(document);
    const wholes = named.filter(([, { type }]) => [type ?? []].flat().includes('integer')).map(([name]) => name);
    expect(amounts.size).toBeGreaterThan(5);
    expect(wholes.filter((name) => amounts.has(name))).toEqual([]);
    expect(schemas.filter(({ items }) => reached(items).some(isNumber) && !reached(items).some(isObject))).toEqual([]);
  });
});

const paths: Record<string, (options: CallOptions) => Promise<Reply>> = {
  listCurrencies: (options) => gateway.call('GET', '/currencies', options),
  listAssets: (options) => gateway.call('GET', '/partner/assets', options),
  listPairs: (options) => gateway.call('GET', '/partner/pairs?coin_from=BTC', options),
  getRate: (options) => gateway.call('GET', '/partner/rates?coin_from=BTC&coin_to=ETH&amount=0.1', options),
  getOrder: (options) => gateway.call('GET', `/partner/orders/${orderId}`, { key, ...options }),
  createQuote: (options) => gateway.call('POST', '/partner/quotes', { key, body: quoteBody, ...options }),
  getQuote: (options) => gateway.call('GET', `/partner/quotes/${quoteId}`, { key, ...options }),
  listOrders: (options) => gateway.call('GET', `/partner/orders?ids=${orderId}&include=details`, { key, ...options }),
  getOrderDetails: (options) => gateway.call('GET', `/partner/orders/${orderId}/details`, { key, ...options }),
  changeOrder: (options) =>
    gateway.call('PATCH', `/partner/orders/${orderId}`, { key, body: { metadata: { a: 'b' } }, ...options }),
  setRefundAddress: (options) => {
    const body = { refund_address: addressExample('BTC') };
    return gateway.call('PUT', `/partner/orders/${orderId}/refund-address`, { key, body, ...options });
  },
  actOnOrder: async (options) => {
    const { json } = await gateway.call('POST', '/partner/orders', {
      key,
      body: orderBody({ refund_address: addressExample('BTC') }),
    });
    await askAbout((sql, values) => query(gateway.databaseUrl, sql, values), json.id);
    const body = { action_id: 'act_3', action: 'refund' };
    return gateway.call('POST', `/partner/orders/${json.id}/actions`, { key, body, ...options });
  },
  makeSandboxDeposits: (options) =>
    gateway.call('POST', `/partner/sandbox/orders/${orderId}/deposits`, { key, body: {}, ...options }),
  cancelOrder: (options) => gateway.call('POST', `/partner/orders/${orderId}/cancel`, { key, ...options }),
  renewOrderPage: async (options) => {
    await gateway.partners.change(partner.id, { orderPage: true, displayName: 'Test Wallet' });
    return gateway.call('POST', `/partner/orders/${orderId}/page`, { key, ...options });
  },
  revokeOrderPage: (options) => gateway.call('DELETE', `/partner/orders/${orderId}/page`, { key, ...options }),
  getCommissionBalance: (options) => gateway.call('GET', '/partner/commission/balance', { key, ...options }),
  listCommissionEntries: (options) => gateway.call('GET', '/partner/commission/entries', { key, ...options }),
  listStatements: (options) => gateway.call('GET', '/partner/statements', { key, ...options }),
  getStatement: (options) => gateway.call('GET', `/partner/statements/${month}`, { key, ...options }),
  listOrderReport: (options) => gateway.call('GET', '/partner/reports/orders', { key, ...options }),
  createOrder: (options) => gateway.call('POST', '/partner/orders', { key, body: orderBody(), ...options }),
  validateOrder: (options) => gateway.call('POST', '/partner/orders/validate', { key, body: orderBody(), ...options }),
};

/** The amounts of JSON text, as numbers, in place of strings. */
const unquoted = (text: string) => text.replace(/:"(\d+(?:\.\d+)?)"/g, ':$1');

describe('Amounts: string', () => {
  it.each([
    'listCurrencies',
    'listAssets',
    'getOrder',
    'getQuote',
    'listOrders',
    'getOrderDetails',
  ])('changes nothing but the quotation marks: %s', async (id) => {
    const numbers = await paths[id]?.({});
    const texts = await paths[id]?.({ headers: asText });
    expect(texts?.status).toBe(200);
    expect(texts?.text).not.toBe(numbers?.text);
    expect(unquoted(texts?.text ?? '')).toBe(numbers?.text);
  });

  it.each(Object.keys(paths))('is a fault with any other value: %s', async (id) => {
    for (const Amounts of ['', 'String', 'number', 'true', 'string, string', 'strings', '"string"']) {
      const reply = await paths[id]?.({ headers: { Amounts } });
      expect([Amounts, reply?.status, reply?.json.code]).toEqual([Amounts, 400, 'invalid_amounts_header']);
      expect(reply?.json.detail).toBe('Amounts must be string, or be left out');
    }
  });

  it('with another value is reported with the other faults', async () => {
    const body = orderBody({ amount_from: '0.1', coin_from: 'NOPE' });
    const { status, json } = await gateway.call('POST', '/partner/orders', { key, headers: { Amounts: 'x' }, body });
    expect([status, json.errors.map(({ code }: { code: string }) => code).sort()]).toEqual([
      400,
      ['invalid_amounts_header', 'invalid_type'],
    ]);
  });

  it('is ignored where no amounts are', async () => {
    for (const path of ['/openapi.json', '/coin-icons/btc.svg']) {
      expect((await gateway.call('GET', path, { headers: { Amounts: 'x' } })).status).toBe(200);
    }
  });

  it('keeps every digit both ways', async () => {
    const eth = { coin_from: 'ETH', network_from: 'ETH' };
    const body = orderBody({ ...eth, amount_from: '1.123456789012345678' });
    const { status, json } = await gateway.call('POST', '/partner/orders', { key, headers: asText, body });
    expect([status, json.amount_from_expected]).toEqual([201, '1.123456789012345678']);
    const read = await gateway.call('GET', `/partner/orders/${json.id}`, { key });
    expect(read.text).toContain('"amount_from_expected":1.123456789012345678,');
  });

  it('is asked for on every operation that documents it', () => {
    const documented = operations.filter(({ parameters = [] }) =>
      parameters.some(({ $ref }) => $ref === '#/components/parameters/Amounts'),
    );
    expect(Object.keys(paths).sort()).toEqual(documented.map(({ operationId }) => operationId).sort());
  });

  it('holds for every amount of a quote, and for the amounts that ask for it', async () => {
    const { amount_from: _, ...pair } = quoteBody;
    const body = { ...pair, amount_to: '1.123456789012345678' };
    const { status, json } = await gateway.call('POST', '/partner/quotes', { key, headers: asText, body });
    expect([status, json.side]).toEqual([201, 'to']);
    const { from, to } = json.limits;
    const amounts = [json.amount_from, json.amount_to, json.rate, from.min, from.max, to.min, to.max];
    for (const amount of [...amounts, ...Object.values(json.parts)]) expect(amount).toEqual(expect.any(String));
    expect(Object.keys(json.parts)).toHaveLength(6);
    const plain = await gateway.call('POST', '/partner/quotes', { key, body });
    expect([plain.status, plain.json.code]).toEqual([400, 'invalid_type']);
    const low = { ...pair, amount_to: '0.00000001' };
    const refused = await gateway.call('POST', '/partner/quotes', { key, headers: asText, body: low });
    expect(refused.json).toMatchObject({ code: 'amount_to_below_min', limits: { to: { min: expect.any(String) } } });
  });

  it('lets the smallest payout of a create be a string, and touches none of its notes', async () => {
    const metadata = { amount: '1.50', note: '"rate":1' };
    const external_id = 'texts';
    const body = orderBody({ min_amount_to: '1.5', metadata, external_id });
    const made = await gateway.call('POST', '/partner/orders', { key, headers: asText, body });
    expect([made.status, made.json.amount_from_expected]).toEqual([201, '0.01']);
    const [stored] = await gateway.app.orm.em
      .fork()
      .execute('select trim_scale(min_amount_to)::text as least, metadata from order_terms where external_id = ?', [
        external_id,
      ]);
    expect(stored).toEqual({ least: '1.5', metadata });
    const nonsense = orderBody({ min_amount_to: '1,5' });
    const { json } = await gateway.call('POST', '/partner/orders', { key, headers: asText, body: nonsense });
    expect([json.code, json.errors[0].field]).toEqual(['invalid_number', 'min_amount_to']);
    const above = orderBody({ min_amount_to: '100000000' });
    const refused = await gateway.call('POST', '/partner/orders/validate', { key, headers: asText, body: above });
    expect([refused.status, refused.json.code]).toEqual([422, 'amount_to_below_min']);
  });

  it('takes numbers in the body too', async () => {
    const { status, json } = await gateway.call('POST', '/partner/orders', { key, headers: asText, body: orderBody() });
    expect([status, json.amount_from_expected]).toEqual([201, '0.01']);
  });

  it.each([
    ['', 400],
    [' 0.1', 400],
    ['0.1 ', 400],
    ['0x1', 400],
    ['1e31', 400],
    ['NaN', 400],
    ['Infinity', 400],
    ['.5', 400],
    ['1,5', 400],
    ['1'.repeat(41), 400],
    ['-1', 422],
    ['0', 422],
    ['1e-2', 201],
    ['0.0100', 201],
  ])('takes the amount %p with %d', async (amount_from, expected) => {
    const body = orderBody({ amount_from });
    const { status, json } = await gateway.call('POST', '/partner/orders', { key, headers: asText, body });
    expect(status).toBe(expected);
    if (status === 400) expect([json.code, json.errors[0].field]).toEqual(['invalid_number', 'amount_from']);
  });

  it('touches no other member of the body', async () => {
    const body = orderBody({ rate_type: '1', coin_from: 'BTC' });
    const { json } = await gateway.call('POST', '/partner/orders', { key, headers: asText, body });
    expect([json.code, json.errors[0].field]).toEqual(['unknown_value', 'rate_type']);
  });

  it('is needed for a string: without it the answer is as before', async () => {
    const body = orderBody({ amount_from: '0.1' });
    const { status, json } = await gateway.call('POST', '/partner/orders', { key, body });
    expect([status, json.code]).toEqual([400, 'invalid_type']);
  });

  it('holds for the limits in an error', async () => {
    const body = orderBody({ amount_from: '0.00001' });
    const { json } = await gateway.call('POST', '/partner/orders', { key, headers: asText, body });
    expect(json).toMatchObject({ code: 'amount_below_min', max_amount: '3', min_amount: expect.any(String) });
  });

  it('of a repetition decides the form of its answer', async () => {
    const once = { 'Idempotency-Key': 'forms' };
    const first = await gateway.call('POST', '/partner/orders', { key, headers: once, body: orderBody() });
    const text = await gateway.call('POST', '/partner/orders', {
      key,
      headers: { ...once, ...asText },
      body: orderBody(),
    });
    expect(text.headers.get('idempotent-replayed')).toBe('true');
    expect([unquoted(text.text), text.json.amount_from_expected]).toEqual([first.text, '0.01']);
    const again = await gateway.call('POST', '/partner/orders', { key, headers: once, body: orderBody() });
    expect(again.text).toBe(first.text);
    // Another body is another request, also when its amount has the same value.
    const other = orderBody({ amount_from: '0.01' });
    const refused = await gateway.call('POST', '/partner/orders', {
      key,
      headers: { ...once, ...asText },
      body: other,
    });
    expect([refused.status, refused.json.code]).toEqual([422, 'idempotency_key_reused']);
  });

  it.each(['listCurrencies', 'listAssets', 'getOrder'])('has a separate entity tag: %s', async (id) => {
    const tag = async (headers: Record<string, string>) => (await paths[id]?.({ headers }))?.headers.get('etag') ?? '';
    const [numbers, texts] = [await tag({}), await tag(asText)];
    expect(numbers).not.toBe(texts);
    const known = async (headers: Record<string, string>) => (await paths[id]?.({ headers }))?.status;
    expect(await known({ ...asText, 'If-None-Match': texts })).toBe(304);
    expect(await known({ ...asText, 'If-None-Match': numbers })).toBe(200);
    expect(await known({ 'If-None-Match': texts })).toBe(200);
  });
});

describe('the entity tag of an order', () => {
  const read = (headers: Record<string, string> = {}) =>
    gateway.call('GET', `/partner/orders/${orderId}`, { key, headers });

  it('is strong, stays while the order does, and is answered 304', async () => {
    const first = await read();
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
    expect((await read()).headers.get('etag')).toBe(tag);
    for (const known of [tag, `"x", ${tag}`, `W/${tag}`, '*']) {
      const again = await read({ 'If-None-Match': known });
      expect([known, again.status, again.text, again.headers.get('etag')]).toEqual([known, 304, '', tag]);
      expect(again.headers.get('cache-control')).toBe('no-store');
    }
    expect((await read({ 'If-None-Match': '"x"' })).text).toBe(first.text);
  });

  it('changes when the order does', async () => {
    const tag = (await read()).headers.get('etag') ?? '';
    await gateway.app.orm.em
      .fork()
      .execute("update exchange_order set deposit_txid = 'x', deposit_confirmations = 0 where id = ?", [orderId]);
    const changed = await read({ 'If-None-Match': tag });
    expect([changed.status, changed.json.deposit_txid]).toEqual([200, 'x']);
    expect(changed.headers.get('etag')).not.toBe(tag);
  });

  it('tells a stranger nothing', async () => {
    const tag = (await read()).headers.get('etag') ?? '';
    const stranger = await gateway.partner();
    for (const known of [tag, '*']) {
      const headers = { 'If-None-Match': known };
      const reply = await gateway.call('GET', `/partner/orders/${orderId}`, { key: stranger.key, headers });
      expect([reply.status, reply.headers.get('etag')]).toEqual([404, null]);
    }
  });
});
