import { request } from 'node:http';
import { connect } from 'node:net';
import { generateKey } from '../../src/accounts/partners/secret-key.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody, orderBodyWithout } from '../support/gateway/orders.ts';

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  ({ key } = await gateway.partner());
});
afterAll(() => gateway?.stop());

const post = (options: { body?: unknown; raw?: string | Uint8Array; headers?: Record<string, string> }) =>
  gateway.call('POST', '/partner/orders', { key, ...options });

describe('a body that breaks the contract', () => {
  const required = [
    'coin_from',
    'network_from',
    'coin_to',
    'network_to',
    'amount_from',
    'rate_type',
    'recipient_address',
  ];
  it.each(required)('400 when %s is missing', async (member) => {
    const { status, json } = await post({ body: orderBodyWithout(member) });
    expect([status, json.code, json.errors[0].field]).toEqual([400, 'missing_field', member]);
    expect(json.detail).toBe(`${member} is missing`);
  });

  const members = [...required, 'recipient_address_tag', 'refund_address', 'refund_address_tag'];
  const values: [string, unknown][] = [
    ['null', null],
    ['true', true],
    ['a list', []],
    ['an object', {}],
  ];
  it.each(
    members.flatMap((member) => values.map(([name, value]) => ({ member, name, value }))),
  )('400 when $member is $name', async ({ member, value }) => {
    const { status, json } = await post({ body: orderBody({ [member]: value }) });
    expect(status).toBe(400);
    expect(json.errors[0].field).toBe(member);
  });

  it('400 when a number comes as text, or text as a number', async () => {
    expect((await post({ body: orderBody({ amount_from: '0.01' }) })).json.detail).toBe('amount_from must be a number');
    expect((await post({ body: orderBody({ coin_from: 1 }) })).json.detail).toBe('coin_from must be a string');
  });

  it.each([
    'status',
    'id',
    'rate_quoted',
    'deposit_address',
    'partner_id',
    'constructor',
    'refund_adress',
  ])('400 for the unknown member %s', async (member) => {
    const { status, json } = await post({ body: orderBody({ [member]: 'x' }) });
    expect([status, json.code]).toEqual([400, 'unknown_field']);
    if (member === 'refund_adress') expect(json.detail).toContain("did you mean 'refund_address'?");
  });

  it('400 for a member that occurs twice, in both doors and at any depth', async () => {
    const raw = JSON.stringify(orderBody({ metadata: { user: 'x' } }));
    const twice = await post({ raw: raw.replace('{', '{"amount_from":0.02,') });
    expect([twice.status, twice.json.code, twice.json.detail]).toEqual([
      400,
      'duplicate_field',
      'amount_from is sent twice',
    ]);
    expect(twice.json.errors).toMatchObject([{ field: 'amount_from', code: 'duplicate_field' }]);
    const nested = await post({ raw: raw.replace('"user":', '"user":"y","user":') });
    expect(nested.json).toMatchObject({ code: 'duplicate_field', errors: [{ field: 'metadata.user' }] });
  });

  it('400 for __proto__', async () => {
    const raw = JSON.stringify(orderBody()).replace('{', '{"__proto__":{"status":"completed"},');
    expect((await post({ raw })).json.code).toBe('unknown_field');
  });

  it.each([
    '',
    '{',
    'null',
    '"x"',
    '1',
    '[]',
    '{"a":1}}',
    "{'a':1}",
    '{"amount_from":0x10}',
    '{"amount_from":NaN}',
    '\u0000',
  ])("400 for the body '%s'", async (raw) => {
    const { status } = await post({ raw });
    expect(status).toBe(400);
  });

  it.each([
    '1e400',
    '1e31',
    '1e-31',
    '1e-400',
    '1e1000000',
    `0.${'1'.repeat(50)}`,
    '1'.repeat(45),
  ])('4xx for the amount %.20s', async (amount) => {
    const { status, json } = await post({
      raw: JSON.stringify(orderBody()).replace('"amount_from":0.01', `"amount_from":${amount}`),
    });
    expect(status).toBe(400);
    expect(json.detail).toMatch(/amount_from must be a/);
  });

  it.each([
    '1e-2',
    '1E-2',
    '0.01',
    '1.0e-2',
  ])('with the amount %s is accepted, and a refusal of a longer one describes the accepted form', async (amount) => {
    const raw = JSON.stringify(orderBody()).replace('"amount_from":0.01', `"amount_from":${amount}`);
    expect((await post({ raw })).json.amount_from_expected).toBe(0.01);
    expect((await gateway.call('GET', `/partner/rates?coin_from=BTC&coin_to=ETH&amount=${amount}`)).status).toBe(200);
    const tooLong = raw.replace(`:${amount},`, `:${'1'.repeat(41)},`);
    for (const { json } of [
      await post({ raw: tooLong }),
      await gateway.call('GET', `/partner/rates?coin_from=BTC&coin_to=ETH&amount=${'1'.repeat(41)}`),
    ]) {
      expect(json.detail).toMatch(/a JSON number of at most 40 characters, with an exponent from -30 to 30/);
    }
  });

  it.each([0, -1, -0.5])('422 for the amount %s', async (amount) => {
    const { status, json } = await post({ body: orderBody({ amount_from: amount }) });
    expect([status, json.code, json.detail]).toEqual([422, 'invalid_amount', 'amount_from must be greater than 0']);
  });

  it('422 for the contract of the token as recipient', async () => {
    const body = orderBody({ recipient_address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' });
    expect((await post({ body })).json).toMatchObject({ code: 'invalid_address' });
  });

  it('422 for more decimals than the coin has', async () => {
    const raw = JSON.stringify(orderBody()).replace('"amount_from":0.01', '"amount_from":0.010000001');
    expect((await post({ raw })).json.code).toBe('too_many_decimals');
  });

  it('400 for an unknown rate type, 422 for an unknown coin or network', async () => {
    expect((await post({ body: orderBody({ rate_type: 'floating' }) })).json).toMatchObject({
      code: 'unknown_value',
      detail: 'rate_type must be one of: float, fixed',
    });
    expect((await post({ body: orderBody({ coin_from: 'NOPE' }) })).status).toBe(422);
    expect((await post({ body: orderBody({ coin_from: 'btc' }) })).json.detail).toContain('did you mean BTC?');
    expect((await post({ body: orderBody({ network_to: 'NOPE' }) })).json.detail).toContain('USDT is on: ARBITRUM');
    expect((await post({ body: orderBody({ coin_to: '' }) })).status).toBe(422);
    expect((await post({ body: orderBody({ coin_to: 'BTC', network_to: 'BTC' }) })).json.code).toBe('same_currency');
  });

  it('413 above 16 KiB, 400 for 8,000-deep JSON below it', async () => {
    expect((await post({ raw: JSON.stringify(orderBody({ recipient_address: 'x'.repeat(20_000) })) })).status).toBe(
      413,
    );
    expect((await post({ raw: `${'['.repeat(8_000)}${']'.repeat(8_000)}` })).status).toBe(400);
    expect(
      (await post({ raw: JSON.stringify(orderBody()).replace('0.01', `${'['.repeat(6_000)}${']'.repeat(6_000)}`) }))
        .status,
    ).toBe(400);
  });

  it('415 for another media type, charset or compression', async () => {
    const raw = JSON.stringify(orderBody());
    for (const headers of [
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'Content-Type': 'application/json; charset=latin1' },
      { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    ] as Record<string, string>[]) {
      expect((await post({ raw, headers })).status).toBe(415);
    }
    for (const headers of [
      { 'Content-Type': 'application/json; charset=UTF-8' },
      { 'Content-Type': 'application/json', 'Content-Encoding': 'identity' },
      { 'Content-Type': 'application/json', 'Content-Encoding': '' },
    ] as Record<string, string>[]) {
      expect((await post({ raw, headers })).status).toBe(201);
    }
  });

  it('400 for bytes that are not UTF-8', async () => {
    const raw = Buffer.from(
      JSON.stringify(orderBody({ recipient_address_tag: 'a' })).replace('"a"', '"\u00ff"'),
      'latin1',
    );
    expect((await post({ raw })).json.code).toBe('invalid_encoding');
  });

  it('422 for control characters in text, never a 500', async () => {
    for (const member of ['coin_from', 'network_to', 'recipient_address', 'recipient_address_tag', 'refund_address']) {
      expect((await post({ body: orderBody({ [member]: 'a\u0000b' }) })).status).toBe(422);
    }
  });
});

describe('a query that breaks the contract', () => {
  const rates = (query: string) => gateway.call('GET', `/partner/rates?${query}`);

  it.each([
    '0x10',
    '%201',
    '+5',
    '05',
    '1,5',
    'Infinity',
    'NaN',
    '',
    '1e99',
    '1_0',
    '1'.repeat(41),
  ])("400 for the amount '%s'", async (amount) => {
    const { status, json } = await rates(`coin_from=BTC&coin_to=ETH&amount=${amount}`);
    expect([status, json.errors[0].field]).toEqual([400, 'amount']);
  });

  it.each(['0', '-1', '0.000000001', '1000000'])('422 for the amount %s', async (amount) => {
    expect((await rates(`coin_from=BTC&coin_to=ETH&amount=${amount}`)).status).toBe(422);
  });

  it('400 for a missing, repeated or ill-valued member', async () => {
    expect((await rates('coin_from=BTC')).json.detail).toBe('coin_to is missing');
    expect((await rates('coin_from=BTC&coin_from=ETH&coin_to=LTC')).status).toBe(400);
    expect((await rates('coin_from=BTC&coin_to=ETH&rate_type=best')).status).toBe(400);
  });

  it('names what it wants of a time, and of a number that is too large', async () => {
    const list = async (query: string) => (await gateway.call('GET', `/partner/orders?${query}`, { key })).json;
    const rule = 'must be an ISO 8601 time with its offset, such as 2026-11-21T00:00:00Z';
    for (const name of ['created_from', 'created_to', 'updated_since']) {
      for (const value of ['x', '2026-11-21', '2026-13-01T00:00:00Z', '0000-01-01T00:00:00Z']) {
        const { code, errors } = await list(`sort=updated&${name}=${value}`);
        expect([code, errors]).toEqual(['invalid_value', [expect.objectContaining({ field: name })]]);
        expect(errors[0].detail).toBe(`${name} ${rule}`);
      }
    }
    expect((await list('limit=x')).detail).toBe('limit must be a whole number');
    expect((await list('limit=1.5')).detail).toBe('limit must be a whole number');
    expect((await list('limit=101')).detail).toBe('limit must be at most 100');
    expect((await list('limit=99999999999999999999')).detail).toBe('limit must be at most 100');
    expect((await list(`limit=${'9'.repeat(60)}`)).detail).toBe('limit is too large');
  });

  it('needs the network of a coin on several networks, and may have unknown members', async () => {
    expect((await rates('coin_from=BTC&coin_to=USDT')).json.code).toBe('network_required');
    expect((await rates('coin_from=BTC&coin_to=ETH&_=123&api_key=x')).status).toBe(200);
  });

  it('with an amount outside the limits gets an answer with both limits', async () => {
    const { status, json } = await rates('coin_from=BTC&coin_to=ETH&amount=0.00001');
    expect(status).toBe(422);
    expect(json.max_amount).toBeGreaterThan(json.min_amount);
  });
});

describe('a key that is not accepted', () => {
  const other = generateKey('xp_test_').whole;
  it.each([
    ['dotless', { Authorization: 'Bearer plainoldkey' }],
    ['empty', { Authorization: 'Bearer ' }],
    ['unknown', { Authorization: `Bearer ${other}` }],
    ['huge', { 'X-API-Key': 'x'.repeat(10_000) }],
    ['of another scheme', { Authorization: `Basic ${other}` }],
    ['with two dots', { 'X-API-Key': `${other}.x` }],
    ['of staff', { 'X-API-Key': generateKey('xs_').whole }],
  ])('%s gets 401', async (_name, headers) => {
    const reply = await gateway.call('POST', '/partner/orders', {
      body: orderBody(),
      headers: headers as Record<string, string>,
    });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('in two headers with different values gets 401, and the same value twice or Bearer in any case is accepted', async () => {
    const send = (headers: Record<string, string>) =>
      gateway.call('POST', '/partner/orders', { body: orderBody(), headers });
    expect((await send({ Authorization: `Bearer ${key}`, 'X-API-Key': other })).json.code).toBe(
      'conflicting_credentials',
    );
    expect((await send({ Authorization: `bearer ${key}`, 'X-API-Key': key })).status).toBe(201);
    expect((await send({ 'X-API-Key': key })).status).toBe(201);
  });

  it('in the query is ignored', async () => {
    expect((await gateway.call('GET', `/partner/orders/XP-AAAAAA?api_key=${key}`)).status).toBe(401);
  });

  it('on a public endpoint counts as none', async () => {
    expect((await gateway.call('GET', '/currencies', { key: other })).status).toBe(200);
    expect((await gateway.call('GET', '/partner/rates?coin_from=BTC&coin_to=ETH', { key: 'nonsense' })).status).toBe(
      200,
    );
  });

  it('is checked before the body', async () => {
    expect((await gateway.call('POST', '/partner/orders', { raw: '{', headers: {} })).status).toBe(401);
  });
});

describe('paths and methods', () => {
  it('are checked before the body', async () => {
    expect((await gateway.call('POST', '/currencies', { key, raw: '{' })).status).toBe(405);
    expect((await gateway.call('POST', '/nope', { key, raw: '{' })).status).toBe(404);
  });

  it.each(['PUT', 'DELETE', 'OPTIONS'])('%s is answered 405 with Allow', async (method) => {
    expect((await gateway.call(method, '/currencies')).headers.get('allow')).toBe('GET');
    expect((await gateway.call(method, '/partner/orders')).headers.get('allow')).toBe('GET, POST');
    expect((await gateway.call(method, '/partner/orders/XP-AAAAAA')).headers.get('allow')).toBe('GET, PATCH');
  });

  it('answer HEAD with 405, and ignore a method override', async () => {
    const response = await fetch(`${gateway.app.restUrl}/api/v1/currencies`, { method: 'HEAD' });
    expect(response.status).toBe(405);
    expect((await gateway.call('GET', '/currencies', { headers: { 'X-HTTP-Method-Override': 'DELETE' } })).status).toBe(
      200,
    );
  });

  it.each([
    '/nope',
    '/../graphql',
    '/partner',
    '/coin-icons/..%2f..%2fpackage.json',
    '/coin-icons/btc.png',
    '/%E0%A4%A',
    '/docs/nope.js',
  ])('%s is 404 as JSON', async (path) => {
    const { status, json } = await gateway.call('GET', path);
    expect(status).toBe(404);
    expect(typeof json.detail).toBe('string');
  });

  it.each([
    '/api/v2/currencies',
    '/',
    '/graphql',
    '/metrics',
    '/readyz',
    '/livez',
    '/playground',
  ])('%s is not on the public listener', async (path) => {
    const response = await fetch(`${gateway.app.restUrl}${path}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toContain('application/json');
  });
});

describe('bytes that are not an HTTP request', () => {
  const port = () => Number.parseInt(new URL(gateway.app.restUrl ?? '').port, 10);

  it('get a JSON answer and a closed connection', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(port(), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      socket.on('data', (data) => {
        text += data;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\n.*application\/json/);
    expect(answer).toContain('"code":"invalid_request"');
  });

  it('get 431 for headers above 16 KiB', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const req = request(
        { port: port(), path: '/api/v1/currencies', headers: { 'X-Big': 'x'.repeat(20_000) } },
        (res) => {
          res.resume();
          resolve(res.statusCode);
        },
      );
      req.on('error', reject);
      req.end();
    });
    expect(status).toBe(431);
  });
});

describe('every answer', () => {
  it('has a request id, and no header that names the software', async () => {
    const reply = await gateway.call('GET', '/currencies', { headers: { 'X-Request-Id': 'mine-123456' } });
    expect(reply.headers.get('x-request-id')).not.toBe('mine-123456');
    expect(reply.headers.get('x-powered-by')).toBeNull();
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  });
});
