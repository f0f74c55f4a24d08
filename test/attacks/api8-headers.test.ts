import { orderBody } from '../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { attempt } from '../support/jest/attempts.ts';
import { newMember } from '../support/staff/staff-client.ts';

/**
 * OWASP API8:2023, security misconfiguration: what answers reveal of the inside, and what they
 * allow pages of other sites. Cookies and pages of staff are in
 * test/integration/staff/sessions.test.ts.
 */

let gateway: SettledGateway;
let key: string;
let rest: string;
let internal: string;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { PLAYGROUND: 'true', TRUSTED_PROXIES: '127.0.0.0/8' } });
  ({ key } = await gateway.partner());
  rest = `${gateway.app.restUrl}/api/v1`;
  internal = gateway.app.internalUrl;
});
afterAll(() => gateway?.stop());

const origins = ['https://evil.example', 'null', 'http://localhost:3000', 'file://'];
const json = { 'Content-Type': 'application/json' };

/** Requests of every outcome. */
const asked: [string, () => string, RequestInit][] = [
  ['200', () => `${rest}/currencies`, {}],
  ['a quote', () => `${rest}/partner/rates?coin_from=BTC&coin_to=ETH`, {}],
  ['400', () => `${rest}/partner/rates`, {}],
  ['401', () => `${rest}/partner/orders/XP-AAAAAA`, {}],
  ['404', () => `${rest}/nothing-here`, {}],
  ['405', () => `${rest}/currencies`, { method: 'DELETE' }],
  [
    'a preflight',
    () => `${rest}/partner/orders`,
    {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' },
    },
  ],
  ['an icon', () => `${rest}/coin-icons/btc.svg`, {}],
  ['the contract', () => `${rest}/openapi.json`, {}],
  ['the documentation', () => `${rest}/docs`, {}],
  ['the page to sign in', () => `${internal}/sign-in`, {}],
  ['a playground without a session', () => `${internal}/playground`, {}],
  ['a console without a session', () => `${internal}/console`, {}],
  [
    'an operation without a token',
    () => `${internal}/graphql`,
    { method: 'POST', headers: json, body: '{"query":"{ me { id } }"}' },
  ],
  [
    'a preflight of staff',
    () => `${internal}/graphql`,
    { method: 'OPTIONS', headers: { 'Access-Control-Request-Method': 'POST' } },
  ],
  ['a sign-in of another site', () => `${internal}/sign-in`, { method: 'POST', headers: json, body: '{"token":"x"}' }],
  ['a 404 of staff', () => `${internal}/nothing-here`, {}],
  ['metrics', () => `${internal}/metrics`, {}],
  ['readiness', () => `${internal}/readyz`, {}],
];

describe('an answer', () => {
  it.each(
    asked,
  )('%s cannot be read by pages of another site, and does not name the server software', async (what, url, init) => {
    for (const Origin of origins) {
      const reply = await fetch(url(), { redirect: 'manual', ...init, headers: { ...init.headers, Origin } });
      const told = [...reply.headers.keys()].filter((name) =>
        /^(access-control-|x-powered-by|server$|via$|x-aspnet|x-runtime)/.test(name),
      );
      attempt(`${what} to ${Origin}`, told, []);
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await reply.text()).not.toMatch(/evil\.example|node_modules|\.ts:\d+|\/src\/|Express|Apollo/i);
    }
  });

  it('of one client is not cached for another', async () => {
    const { json: order } = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
    for (const [what, method, path, options] of [
      ['an order', 'GET', `/partner/orders/${order.id}`, { key }],
      ['a create', 'POST', '/partner/orders', { key, body: orderBody() }],
      ['a price of a partner', 'GET', '/partner/rates?coin_from=BTC&coin_to=ETH', { key }],
      ['a check of an order', 'POST', '/partner/orders/validate', { key, body: orderBody() }],
      [
        'a check of an address',
        'POST',
        '/partner/addresses/validate',
        { key, body: { coin: 'BTC', network: 'BTC', address: 'x' } },
      ],
      ['a refusal', 'GET', '/partner/orders/x', {}],
      ['nothing', 'GET', '/nothing-here', {}],
    ] as const) {
      const reply = await gateway.call(method, path, options);
      attempt(`the keeping of ${what}`, reply.headers.get('cache-control'), 'no-store');
    }
    for (const options of [{}, { key }]) {
      const reply = await gateway.call('GET', '/partner/pairs?coin_from=BTC', options);
      attempt('the keeping of pairs', reply.headers.get('cache-control'), 'private, max-age=5');
      attempt('what tells pairs apart', reply.headers.get('vary')?.includes('Authorization, X-API-Key'), true);
    }
    for (const path of ['/sign-in', '/playground', '/console', '/graphql', '/nothing-here', '/metrics', '/readyz']) {
      const reply = await fetch(internal + path, { redirect: 'manual' });
      attempt(`the keeping of ${path}`, reply.headers.get('cache-control'), 'no-store');
    }
  });

  it('over HTTPS has Strict-Transport-Security', async () => {
    for (const path of [`${rest}/currencies`, `${rest}/nothing-here`, `${internal}/sign-in`, `${internal}/graphql`]) {
      for (const [scheme, isSecure] of [
        ['https', true],
        ['HTTPS', true],
        ['Https', true],
        [' HTTPS ,http', true],
        ['http', false],
        ['http, https', false],
        ['https:', false],
      ] as const) {
        const reply = await fetch(path, { headers: { 'X-Forwarded-Proto': scheme } });
        const header = reply.headers.get('strict-transport-security') ?? '';
        attempt(`${path} by '${scheme}'`, /max-age=\d{8}/.test(header), isSecure);
      }
    }
  });
});

describe('an internal error', () => {
  const inside =
    /relation|mislaid|select |insert |pg_|node_modules|stack|\.ts|at \w+ \(|ECONN|constraint|api_key|exchange_order/;

  it('reveals no internal detail', async () => {
    const viewer = await newMember(gateway, 'viewer');
    for (const [table, path] of [
      ['exchange_order', '/partner/orders/XP-AAAAAA'],
      ['deposit_address', '/partner/orders'],
    ] as const) {
      await gateway.query(`alter table ${table} rename to mislaid`);
      try {
        const reply = await gateway.call(path.endsWith('orders') ? 'POST' : 'GET', path, {
          key,
          ...(path.endsWith('orders') ? { body: orderBody() } : {}),
        });
        attempt(
          `${table} away`,
          { status: reply.status, code: reply.json.code, told: inside.test(reply.text) },
          { status: 500, code: 'internal_error', told: false },
        );
        const staff = await viewer.ask('{ orders(first: 1) { edges { node { id depositAddress } } } }');
        attempt(`${table} away for staff`, inside.test(staff.text), false);
      } finally {
        await gateway.query(`alter table mislaid rename to ${table}`);
      }
    }
  });
});

describe('well-known default credentials', () => {
  it('are refused', async () => {
    for (const token of [
      'admin',
      'password',
      'xs_admin',
      'changeme',
      'secret',
      'test',
      'xs_',
      'null',
      'undefined',
      'true',
    ]) {
      const signed = await fetch(`${internal}/sign-in`, {
        method: 'POST',
        headers: { ...json, Origin: internal },
        body: JSON.stringify({ token }),
      });
      attempt(`the token ${token}`, signed.status, 401);
      const asked = await fetch(`${internal}/graphql`, {
        method: 'POST',
        headers: { ...json, Authorization: `Bearer ${token}` },
        body: '{"query":"{ me { id } }"}',
      });
      attempt(`the bearer ${token}`, asked.status, 401);
      attempt(`the key ${token}`, (await gateway.call('GET', '/partner/orders/XP-AAAAAA', { key: token })).status, 401);
      const basic = await fetch(`${internal}/metrics`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa(`admin:${token}`)}` },
      });
      attempt(`admin:${token}`, basic.status, 404);
    }
  });
});
