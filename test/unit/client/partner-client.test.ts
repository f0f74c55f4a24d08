import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import * as browserEntry from '../../../client/src/browser.ts';
import * as mainEntry from '../../../client/src/main.ts';
import { PartnerClient, PartnerError } from '../../../client/src/main.ts';
import { Transport } from '../../../client/src/transport.ts';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';
import { refusal, ScriptedGateway } from '../../support/client/scripted-gateway.ts';

const gateway = new ScriptedGateway();
const key = 'xp_test_0123456789AB.secret';
const order = { id: '0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90', status: 'waiting_deposit' };
const body = { recipient_address: 'r', quote_id: 'qt_1' };

beforeAll(() => gateway.start());
afterAll(() => gateway.stop());

function client(options: Partial<ConstructorParameters<typeof PartnerClient>[0]> = {}): PartnerClient {
  return new PartnerClient({ url: gateway.url, key, retryDelayMs: 1, ...options });
}

/** The error of a call, which must be a PartnerError. */
async function errorOf(call: Promise<unknown>): Promise<PartnerError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PartnerError)) throw new Error(`no PartnerError, but ${inspect(error)}`);
  return error;
}

describe('the client', () => {
  it('has a method for each operation of the contract', () => {
    const ids = Object.values(readContract().paths ?? {}).flatMap((item) =>
      Object.values(item as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(ids.length).toBeGreaterThan(15);
    const methods = PartnerClient.prototype as unknown as Record<string, unknown>;
    // A stream is no single answer; clients wait by listEvents.
    expect(ids.filter((id) => typeof methods[id] !== 'function')).toEqual(['streamEvents']);
  });

  it('sends the key, asks for amounts as strings, and sends them as they are', async () => {
    gateway.plays({ status: 201, body: { ...order, rate_quoted: '63720.727944111776447105' } });
    const made = await client().createOrder({ ...body, amount_from: '123456789012345678.123456789012345678' });
    expect(made.rate_quoted).toBe('63720.727944111776447105');
    const [sent] = gateway.requests;
    expect(sent).toMatchObject({ method: 'POST', target: '/api/v1/partner/orders' });
    expect(sent?.headers).toMatchObject({ authorization: `Bearer ${key}`, amounts: 'string' });
    expect(sent?.body).toContain('"amount_from":"123456789012345678.123456789012345678"');
  });

  it('refuses amounts that are numbers, in a body, in a query and in an answer', async () => {
    const inBody = { ...body, amount_from: 0.1 } as never;
    await expect(client().createOrder(inBody)).rejects.toThrow(
      new TypeError("amount_from must be a decimal string such as '0.1'."),
    );
    const inQuery = { coin_from: 'BTC', coin_to: 'USDT', amount: 0.1 } as never;
    await expect(client().getRate(inQuery)).rejects.toThrow(TypeError);
    gateway.plays({ body: { rate: 63720.7279 } });
    expect(await errorOf(client().getRate({ coin_from: 'BTC', coin_to: 'USDT' }))).toMatchObject({
      code: 'invalid_answer',
      status: 200,
    });
  });

  it('writes paths and queries', async () => {
    gateway.plays({ body: { data: [], has_more: false, next_cursor: null } });
    await client()
      .listOrders({ status: ['confirming', 'sending'], external_id: 'a&b', limit: 5 })
      .toArray();
    await client().listOrderEvents('a/b?c').toArray();
    expect(gateway.requests.map(({ target }) => target)).toEqual([
      '/api/v1/partner/orders?status=confirming%2Csending&external_id=a%26b&limit=5',
      '/api/v1/partner/orders/a%2Fb%3Fc/events',
    ]);
  });

  it.each(['', '.', '..'])('refuses the id %p, which would be another path', async (id) => {
    await expect(client().getOrder(id)).rejects.toThrow(TypeError);
  });

  it('signs its requests when it is told to', async () => {
    gateway.plays({ status: 201, body: order });
    await client({ signRequests: true }).createOrder(body);
    await client({ signRequests: true }).getOrder('x');
    const hmac = (text: string) => createHmac('sha256', 'secret').update(text).digest('hex');
    expect(gateway.requests.map(({ headers }) => headers['x-signature'])).toEqual([
      hmac(JSON.stringify(body)),
      hmac(''),
    ]);
    expect(() => new PartnerClient({ url: gateway.url, signRequests: true })).toThrow(TypeError);
  });

  it('does not show its key', () => {
    expect(inspect(client(), { depth: 9, showHidden: true }) + JSON.stringify(client())).not.toContain('secret');
    expect(() => client({ key: 'a.secret\n' })).toThrow(/^The key must be visible ASCII text\.$/);
  });

  it.each([
    ['http://gateway.example', /over http the key would travel in clear/],
    ['http://127.0.0.1.example', /over http the key would travel in clear/],
    ['ftp://gateway.example', /must be https/],
    ['https://user:pass@gateway.example', /no user/],
    ['https://gateway.example/?a=1', /no user, password, query/],
    ['gateway.example', /Invalid URL/],
  ])('refuses the url %s', (url, message) => {
    expect(() => client({ url })).toThrow(message);
  });

  it.each([
    ['', '/api/v1/partner/assets'],
    ['/', '/api/v1/partner/assets'],
    ['/api/v1', '/api/v1/partner/assets'],
    ['/proxy/api/v1/', '/proxy/api/v1/partner/assets'],
  ])('finds the API below the url with the path %p', async (path, target) => {
    gateway.plays({ body: { data: [] } });
    await client({ url: gateway.url + path })
      .listAssets()
      .toArray();
    expect(gateway.requests.map((request) => request.target)).toEqual([target]);
  });

  it.each([
    { timeoutMs: -1 },
    { timeoutMs: Number.NaN },
    { maxRetries: 11 },
    { maxRetries: 0.5 },
    { retryDelayMs: 3e9 },
  ])('refuses the options %p', (options) => {
    expect(() => client(options)).toThrow(RangeError);
  });
});

describe('errors', () => {
  it('carry code, status, request id, all faults and the order', async () => {
    const errors = [{ field: 'amount_from', code: 'amount_below_min', detail: 'too small' }];
    const orderId = order.id;
    gateway.plays(refusal(409, 'quote_used', { order_id: orderId, errors, min_amount: '0.1' }));
    const error = await errorOf(client().createOrder(body));
    expect(error).toMatchObject({
      code: 'quote_used',
      status: 409,
      requestId: 'req-2',
      errors,
      orderId,
      isTemporary: false,
    });
    expect(error.body?.min_amount).toBe('0.1');
    expect([error.message, error.name]).toEqual(['It is quote_used.', 'PartnerError']);
    expect(gateway.requests).toHaveLength(1);
  });

  it.each([
    ['a page of a proxy', { status: 404, headers: { 'Content-Type': 'text/html' }, body: '<html>' }],
    ['a redirect, which is not followed', { status: 302, headers: { Location: 'https://elsewhere.example' } }],
    ['broken JSON', { status: 200, body: '{"id":' }],
    ['an empty success', { status: 200 }],
  ])('say that the answer is not one of the contract: %s', async (_, answer) => {
    gateway.plays(answer);
    const { status } = answer;
    expect(await errorOf(client().getOrder('x'))).toMatchObject({ code: 'invalid_answer', status, requestId: 'req-1' });
    expect(gateway.requests).toHaveLength(1);
  });
});

describe('a request that fails for the moment', () => {
  it.each([
    ['no answer', 'cut' as const],
    ['503', refusal(503, 'unavailable')],
    ['500', refusal(500, 'internal_error')],
    ['408', refusal(408, 'request_timeout')],
    ['429', refusal(429, 'rate_limited')],
    ['409 idempotency_in_flight', refusal(409, 'idempotency_in_flight')],
    ['502 of a proxy', { status: 502, headers: { 'Content-Type': 'text/html' }, body: 'Bad Gateway' }],
  ])('is repeated with the same key and the same bytes after %s', async (_, failure) => {
    gateway.plays(failure, failure, { status: 201, body: order });
    expect(await client().createOrder(body)).toEqual(order);
    expect(gateway.requests).toHaveLength(3);
    const [first] = gateway.requests;
    expect(first?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
    for (const { headers, body: bytes } of gateway.requests) {
      expect([headers['idempotency-key'], bytes]).toEqual([first?.headers['idempotency-key'], first?.body]);
    }
  });

  it.each([
    ['makeSandboxDeposits', () => client().makeSandboxDeposits('x', { count: 2 })],
    ['expireSandboxOrder', () => client().expireSandboxOrder('x')],
    ['reorgSandboxDeposit', () => client().reorgSandboxDeposit('x')],
    ['forceSandboxOutcome', () => client().forceSandboxOutcome('x', 'hold')],
    ['emitSandboxEvent', () => client().emitSandboxEvent('order.completed')],
    ['createWebhookEndpoint', () => client().createWebhookEndpoint({ url: 'https://hooks.example.com/x' })],
    ['rotateWebhookSecret', () => client().rotateWebhookSecret('x')],
    ['testWebhookEndpoint', () => client().testWebhookEndpoint('x')],
    ['replayWebhookEvents', () => client().replayWebhookEvents('x', { event_ids: ['evt_x_1'] })],
  ] as const)('is repeated with the same key by %s', async (_, send) => {
    gateway.plays('cut', refusal(503, 'unavailable'), { body: order });
    await send();
    const keys = gateway.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(Array(3).fill(keys[0]));
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  it('is given up after two repetitions, with the key for a further one', async () => {
    gateway.plays('cut');
    const error = await errorOf(client().createOrder(body));
    expect(error).toMatchObject({ code: 'connection_failed', status: null, isTemporary: true });
    expect(gateway.requests).toHaveLength(3);
    expect(error.idempotencyKey).toBe(gateway.requests[0]?.headers['idempotency-key']);
    gateway.plays({ status: 201, body: order });
    await client().createOrder(body, { idempotencyKey: error.idempotencyKey ?? '' });
    expect(gateway.requests[0]?.headers['idempotency-key']).toBe(error.idempotencyKey);
  });

  it('has another key in each call, and none when it only reads', async () => {
    gateway.plays({ status: 201, body: order });
    await client().createOrder(body);
    await client().createOrder(body);
    await client().getOrder('x');
    const [one, other, read] = gateway.requests.map(({ headers }) => headers['idempotency-key']);
    expect(one).not.toBe(other);
    expect(read).toBeUndefined();
  });

  it('waits as long as Retry-After says', async () => {
    gateway.plays({ ...refusal(429, 'rate_limited'), headers: { 'Retry-After': '1' } }, { body: order });
    const before = performance.now();
    await client().getOrder('x');
    // A lower bound: the clock of timers may be a millisecond early.
    expect(performance.now() - before).toBeGreaterThan(990);
  });

  it('is not repeated when Retry-After is longer than a minute, or when there are no retries', async () => {
    gateway.plays({ ...refusal(503, 'unavailable'), headers: { 'Retry-After': '61' } });
    expect(await errorOf(client().getOrder('x'))).toMatchObject({ code: 'unavailable', retryAfterMs: 61_000 });
    expect(gateway.requests).toHaveLength(1);
    gateway.plays('cut');
    await errorOf(client().getOrder('x', { maxRetries: 0 }));
    expect(gateway.requests).toHaveLength(1);
  });

  it('is not repeated when the contract takes no idempotency key and the effect is unknown', async () => {
    const transport = new Transport({ url: gateway.url, retryDelayMs: 1 });
    const request = {
      method: 'POST',
      target: '/x',
      headers: {},
      body: '{}',
      idempotencyKey: 'k',
      isRepeatable: false,
      hasAmounts: false,
    };
    for (const failure of ['cut' as const, refusal(500, 'internal_error'), refusal(503, 'unavailable')]) {
      gateway.plays(failure);
      await errorOf(transport.send(request));
      expect(gateway.requests).toHaveLength(1);
    }
    gateway.plays(refusal(429, 'rate_limited'), { body: order });
    expect((await transport.send(request)).body).toEqual(order);
  });

  it('is not repeated after any other refusal', async () => {
    gateway.plays(refusal(422, 'amount_below_min'));
    await errorOf(client().createOrder(body));
    expect(gateway.requests).toHaveLength(1);
  });
});

describe('time', () => {
  it('ends an attempt without an answer, and the next one may succeed', async () => {
    gateway.plays('hang', { body: order });
    expect(await client({ timeoutMs: 1_000 }).getOrder('x')).toEqual(order);
    gateway.plays('hang');
    const error = await errorOf(client().createOrder(body, { timeoutMs: 1_000, maxRetries: 1 }));
    expect(error).toMatchObject({ code: 'timeout', isTemporary: true });
    expect(error.idempotencyKey).not.toBeNull();
    expect(gateway.requests).toHaveLength(2);
  });

  it('is ended by the signal of the caller: before the call, during it, and between attempts', async () => {
    gateway.plays('hang');
    const early = AbortSignal.abort(new Error('early'));
    expect(await errorOf(client().getOrder('x', { signal: early }))).toMatchObject({
      code: 'aborted',
      cause: early.reason,
    });
    expect(gateway.requests).toHaveLength(0);

    const during = new AbortController();
    const call = errorOf(client().createOrder(body, { signal: during.signal }));
    while (gateway.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    during.abort();
    const error = await call;
    expect(error).toMatchObject({ code: 'aborted', isTemporary: false });
    expect(error.idempotencyKey).toBe(gateway.requests[0]?.headers['idempotency-key']);

    gateway.plays({ ...refusal(503, 'unavailable'), headers: { 'Retry-After': '60' } });
    const between = new AbortController();
    const waiting = errorOf(client().getOrder('x', { signal: between.signal }));
    while (gateway.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    between.abort();
    expect(await waiting).toMatchObject({ code: 'aborted' });
    expect(gateway.requests).toHaveLength(1);
  });
});

describe('a browser', () => {
  const scope = globalThis as { window?: unknown; document?: unknown; importScripts?: unknown };
  afterEach(() => {
    delete scope.window;
    delete scope.document;
    delete scope.importScripts;
  });

  it.each([
    ['a page', { window: {}, document: {} }],
    ['a worker', { importScripts: () => {} }],
  ])('is refused a key in %s, unless the caller says that it is allowed', (_, members) => {
    Object.assign(scope, members);
    expect(() => client()).toThrow(/does not belong into a browser/);
    expect(() => client({ dangerouslyAllowBrowser: true })).not.toThrow();
    expect(() => new PartnerClient({ url: gateway.url })).not.toThrow();
  });

  it('loads an entry with the same names, which refuses a key without a look at the platform', () => {
    expect(Object.keys(browserEntry).sort()).toEqual(Object.keys(mainEntry).sort());
    const Client = browserEntry.PartnerClient;
    expect(() => new Client({ url: gateway.url, key })).toThrow(/does not belong into a browser/);
    expect(new Client({ url: gateway.url, key, dangerouslyAllowBrowser: true })).toBeInstanceOf(PartnerClient);
    expect(new Client({ url: gateway.url })).toBeInstanceOf(PartnerClient);
  });
});

describe('the package', () => {
  it('has no dependencies, and imports nothing but its own files', () => {
    const own = JSON.parse(readFileSync('client/package.json', 'utf8')) as Record<string, unknown>;
    expect(Object.keys(own).filter((member) => /dependencies/i.test(member))).toEqual([]);
    const files = readdirSync('client/src', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const imports = files.flatMap((path) =>
      [...readFileSync(`client/src/${path}`, 'utf8').matchAll(/(?:\bfrom|\bimport|\brequire)[ (]+'([^'\s]+)'/g)].map(
        ([, target = '']) => target,
      ),
    );
    expect(imports.length).toBeGreaterThan(10);
    expect(imports.filter((target) => !/^\.\/(?:generated\/)?[a-z-]+\.ts$/.test(target))).toEqual([]);
  });

  it('runs no script when it is installed', () => {
    const { scripts } = JSON.parse(readFileSync('client/package.json', 'utf8')) as { scripts: object };
    expect(Object.keys(scripts)).toEqual(['prepack']);
  });
});
