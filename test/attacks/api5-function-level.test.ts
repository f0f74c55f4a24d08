import { METHODS } from 'node:http';
import { type KeyScope, keyScopes } from '../../src/accounts/partners/key-scope.ts';
import { isPermitted } from '../../src/accounts/staff/permissions.ts';
import { staffRoles } from '../../src/accounts/staff/staff-member.entity.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { buildStaffSchema } from '../../src/surfaces/graphql/schema.ts';
import { permissionOf } from '../../src/surfaces/graphql/server/requires-permission.ts';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { failedOrder, type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { rootFields, selectionOf } from '../support/http/schema-walk.ts';
import { attempt } from '../support/jest/attempts.ts';
import { StaffBrowser } from '../support/staff/staff-browser.ts';
import { kinds, newMember } from '../support/staff/staff-client.ts';
import { openSocket, refusedOn } from '../support/staff/staff-socket.ts';

/**
 * OWASP API5:2023, broken function level authorization: each method at each path, each mutation by
 * each role, and the credentials of one listener at the other.
 * test/integration/staff-api/permissions.test.ts covers which permission each root field needs.
 */

const schema = await buildStaffSchema();
const mutations = rootFields(schema).filter(({ operation }) => operation === 'mutation');

let gateway: SettledGateway;
let partner: { id: string; keyId: string; key: string };
let rest: string;
let internal: string;
let staffToken: string;
let staffCookie: string;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '100000', PLAYGROUND: 'true' } });
  partner = await gateway.partner();
  rest = gateway.app.restUrl ?? '';
  internal = gateway.app.internalUrl;
  ({ token: staffToken } = await newMember(gateway, 'admin'));
  const browser = new StaffBrowser(internal);
  await browser.post('/sign-in', { token: staffToken });
  staffCookie = browser.cookie;
});
afterAll(() => gateway?.stop());

function send(url: string, method: string, path: string, headers: Record<string, string> = {}) {
  const lines = Object.entries({ Host: new URL(url).host, Connection: 'close', 'Content-Length': '0', ...headers });
  return rawExchange(
    url,
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
}

/**
 * Every method that Node parses. Node closes the connection on CONNECT, because the gateway is no
 * proxy.
 */
const methods = METHODS.filter((method) => method !== 'CONNECT');

it('the helper changingNothing fails when a request changes the database', async () => {
  const creating = changingNothing(gateway, async () => {
    await gateway.call('POST', '/partner/orders', { key: partner.key, body: orderBody() });
  });
  await expect(creating).rejects.toThrow('order_event');
});

describe('each method at each path of the contract', () => {
  const paths = Object.entries(readContract().paths ?? {}).map(([path, item]) => {
    const target = `/api/v1${path.replace('{order_id}', 'XP-AAAAAA').replace('{quote_id}', 'qt_AAAA').replace('{endpoint_id}', '0199c0de-8b22-7d4f-8b5f-6e3a7c8d9e01').replace('{file}', 'btc.svg').replace('{month}', '2026-01')}`;
    return [target, Object.keys(item as object).map((method) => method.toUpperCase())] as const;
  });
  const overrides = (method: string) => ({
    'X-HTTP-Method-Override': method,
    'X-HTTP-Method': method,
    'X-Method-Override': method,
    'X-Original-Method': method,
  });

  it.each(paths)('%s', async (path, allowed) => {
    await changingNothing(gateway, async () => {
      for (const method of methods.filter((one) => !allowed.includes(one))) {
        const credentials = { Authorization: `Bearer ${partner.key}` };
        for (const [what, target, headers] of [
          ['', path, credentials],
          [
            ' with overrides',
            `${path}?_method=${allowed[0]}&method=${allowed[0]}`,
            { ...credentials, ...overrides(allowed[0] ?? '') },
          ],
        ] as const) {
          const { statuses, text } = await send(rest, method, target, headers);
          const allow = /^Allow: (.*)\r$/m.exec(text)?.[1];
          attempt(`${method} ${path}${what}`, { statuses, allow }, { statuses: [405], allow: allowed.join(', ') });
        }
      }
      attempt(`CONNECT ${path}`, (await send(rest, 'CONNECT', path)).statuses, []);
      for (const method of ['', 'get', 'GETT', 'G ET', 'GET\t', 'POST\0', '*', 'PRI']) {
        const { statuses } = await send(rest, method, path);
        attempt(`${JSON.stringify(method)} ${path}`, statuses, [400]);
      }
      for (const method of ['PUT', 'DELETE', 'PATCH', 'POST']) {
        if (!allowed.includes('GET') || path.includes('orders')) continue;
        const reply = await fetch(`${rest}${path}?_method=${method}`, { headers: overrides(method) });
        attempt(`GET ${path} overridden by ${method}`, reply.status, (await fetch(rest + path)).status);
      }
    });
  });
});

describe('each method at each path of the internal listener, with a key of a partner', () => {
  /** Public routes, which only show that the listener runs. */
  const open = /^(GET|HEAD) \/(livez|readyz|metrics|sign-in|sign-in\/page\.css|sign-in\/icon\.svg)$/;
  const paths = [
    '/',
    '/livez',
    '/readyz',
    '/metrics',
    '/graphql',
    '/graphql/',
    '/GRAPHQL',
    '/sign-in',
    '/sign-out',
    '/sign-in/oidc',
    '/sign-in/oidc/callback',
    '/sign-in/page.css',
    '/sign-in/icon.svg',
    '/playground',
    '/playground/',
    '/playground/boot.js',
    '/console',
    '/console/orders',
    '/console/orders.csv',
    '/api/v1/currencies',
    '/api/v1/partner/orders',
    '/api/v1/openapi.json',
  ];

  it.each(paths)('%s', async (path) => {
    await changingNothing(gateway, async () => {
      for (const method of methods) {
        const { statuses, text } = await send(internal, method, path, {
          Authorization: `Bearer ${partner.key}`,
          'X-API-Key': partner.key,
        });
        const what = `${method} ${path}`;
        const isSignIn = statuses[0] === 302 && /^Location: \/(playground|console|sign-in)/m.test(text);
        const isRefused = [401, 403, 404, 405].includes(statuses[0] ?? 0) || isSignIn;
        // Express tells the methods of a path itself.
        const isHarmless = open.test(what) || method === 'OPTIONS';
        attempt(what, { count: statuses.length, isRefused: isRefused || isHarmless }, { count: 1, isRefused: true });
        expect(text).not.toMatch(/^Set-Cookie: (?!__Host-staff=;)/m);
      }
    });
  });
});

describe('credentials of the staff', () => {
  it('are refused by the partner API', async () => {
    await changingNothing(gateway, async () => {
      for (const headers of [
        { Authorization: `Bearer ${staffToken}` },
        { 'X-API-Key': staffToken },
        { Cookie: staffCookie },
        { Cookie: staffCookie, Origin: internal },
      ] as Record<string, string>[]) {
        for (const [method, path] of [
          ['POST', '/partner/orders'],
          ['GET', '/partner/orders/XP-AAAAAA'],
          ['POST', '/partner/quotes'],
          ['GET', '/partner/events'],
          ['GET', '/partner/events/stream'],
          ['GET', '/partner/webhook-endpoints'],
          ['POST', '/partner/webhook-endpoints'],
          ['GET', '/partner/quotes/qt_AAAA'],
          ['POST', '/partner/orders/validate'],
          ['POST', '/partner/addresses/validate'],
          ['PATCH', '/partner/orders/XP-AAAAAA'],
          ['PUT', '/partner/orders/XP-AAAAAA/refund-address'],
          ['POST', '/partner/orders/XP-AAAAAA/cancel'],
          ['POST', '/partner/orders/XP-AAAAAA/actions'],
          ['GET', '/partner/commission/balance'],
          ['GET', '/partner/statements/2026-01'],
          ['GET', '/partner/reports/orders'],
        ] as const) {
          const body = method === 'GET' || path.endsWith('/cancel') ? {} : { body: orderBody() };
          const reply = await gateway.call(method, path, { headers, ...body });
          attempt(`${method} ${path} with ${Object.keys(headers)}`, reply.status, 401);
        }
      }
    });
  });
});

describe('a key', () => {
  const quoteBody = { coin_from: 'BTC', coin_to: 'ETH', rate_type: 'float', amount_from: 1 };
  const refused = { made: 403, validated: 403, read: 403, listed: 403, quoted: 403, quote: 403, changed: 403 };
  /** What scopes allow here. Every other scope is refused by all these operations. */
  const can: Partial<Record<KeyScope, Partial<typeof refused>>> = {
    'orders:create': { made: 201, validated: 200, quoted: 201, quote: 404 },
    'orders:read': { read: 404, listed: 200 },
    'rates:read': { quoted: 201, quote: 404 },
    'orders:manage': { changed: 404 },
  };
  const reportPaths = ['commission/balance', 'commission/entries', 'statements', 'reports/orders'];
  const hookCalls: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', ''],
    ['PATCH', '', { status: 'disabled' }],
    ['DELETE', ''],
    ['POST', '/rotate-secret', {}],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['POST', '/replay', {}],
  ];
  const sandboxCalls: readonly (readonly [path: string, body?: object])[] = [
    ['/deposits', {}],
    ['/expire'],
    ['/reorg'],
    ['/force', { outcome: 'hold' }],
  ];
  const address = { coin: 'BTC', network: 'BTC', address: addressExample('BTC') };
  const refund = { refund_address: addressExample('BTC') };
  const answer = { action_id: 'act_3', action: 'refund' };

  it('allows the operations of its scopes, and no others', async () => {
    for (const scope of keyScopes) {
      const { made, validated, read, listed, quoted, quote, changed } = { ...refused, ...can[scope] };
      const { id } = await gateway.partners.create(scope);
      await gateway.partners.change(id, { feeRateFloat: '0' });
      const { key } = await gateway.partners.issueKey(id, { scopes: [scope] });
      const rate = '/partner/rates?coin_from=BTC&coin_to=ETH&amount=1';
      const statuses = [
        (await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).status,
        (await gateway.call('GET', '/partner/orders/XP-AAAAAA', { key })).status,
        (await gateway.call('GET', '/partner/orders/XP-AAAAAA/details', { key })).status,
        (await gateway.call('GET', '/partner/orders/XP-AAAAAA/events', { key })).status,
        (await gateway.call('GET', '/partner/orders', { key })).status,
        (await gateway.call('GET', '/partner/orders?sort=updated', { key })).status,
        (await gateway.call('GET', '/partner/events', { key })).status,
        (await gateway.call('GET', '/partner/events/stream', { key })).status,
        (await gateway.call('POST', '/partner/quotes', { key, body: quoteBody })).status,
        (await gateway.call('GET', '/partner/quotes/qt_AAAA', { key })).status,
        (await gateway.call('POST', '/partner/orders/validate', { key, body: orderBody() })).status,
        (await gateway.call('POST', '/partner/addresses/validate', { key, body: address })).status,
        (await gateway.call('PATCH', '/partner/orders/XP-AAAAAA', { key, body: { metadata: {} } })).status,
        (await gateway.call('PUT', '/partner/orders/XP-AAAAAA/refund-address', { key, body: refund })).status,
        (await gateway.call('POST', '/partner/orders/XP-AAAAAA/cancel', { key })).status,
        (await gateway.call('POST', '/partner/orders/XP-AAAAAA/actions', { key, body: answer })).status,
        (await gateway.call('GET', '/partner/webhook-endpoints', { key })).status,
      ];
      for (const [method, path, body] of hookCalls) {
        const target = `/partner/webhook-endpoints/0199c0de-8b22-7d4f-8b5f-6e3a7c8d9e01${path}`;
        statuses.push((await gateway.call(method, target, { key, ...(body ? { body } : {}) })).status);
      }
      for (const [path, body] of sandboxCalls) {
        const target = `/partner/sandbox/orders/XP-AAAAAA${path}`;
        statuses.push((await gateway.call('POST', target, { key, ...(body ? { body } : {}) })).status);
      }
      for (const path of reportPaths) statuses.push((await gateway.call('GET', `/partner/${path}`, { key })).status);
      statuses.push((await gateway.call('GET', '/partner/statements/2026-01', { key })).status);
      attempt(`a key of ${scope}`, statuses, [
        made,
        read,
        read,
        read,
        listed,
        listed,
        listed,
        listed,
        quoted,
        quote,
        validated,
        validated,
        changed,
        changed,
        changed,
        changed,
        ...(scope === 'webhooks:manage' ? [200, ...hookCalls.map(() => 404)] : [403, ...hookCalls.map(() => 403)]),
        ...sandboxCalls.map(() => (scope === 'sandbox' ? 404 : 403)),
        ...reportPaths.map(() => (scope === 'reports:read' ? 200 : 403)),
        scope === 'reports:read' ? 404 : 403,
      ]);
      const hasOwnPrice = (await gateway.call('GET', rate, { key })).text !== (await gateway.call('GET', rate)).text;
      attempt(`the price of a key of ${scope}`, hasOwnPrice, scope === 'rates:read');
    }
  });

  it('of an inactive partner allows public operations only', async () => {
    const { id, key } = await gateway.partner();
    await gateway.partners.change(id, { status: 'inactive', feeRateFloat: '0' });
    await changingNothing(gateway, async () => {
      const rate = '/partner/rates?coin_from=BTC&coin_to=ETH&amount=1';
      attempt('creating', (await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).status, 403);
      const validating = await gateway.call('POST', '/partner/orders/validate', { key, body: orderBody() });
      attempt('validating', validating.status, 403);
      attempt('reading', (await gateway.call('GET', '/partner/orders/XP-AAAAAA', { key })).status, 403);
      const own = await gateway.call('GET', rate, { key });
      attempt('its price', own.text, (await gateway.call('GET', rate)).text);
    });
  });
});

describe('each mutation', () => {
  it.each(staffRoles)('that the role %s may not use changes nothing, by POST and by WebSocket', async (role) => {
    const member = await newMember(gateway, role);
    const order = await failedOrder(gateway);
    const socket = await openSocket(internal, member.token);
    /** The mutation with targets that exist. */
    const aimed = (selection: string): string =>
      selection
        .replace(/\borderId: "[^"]*"/, `orderId: "${order.id}"`)
        .replace(/\bpartnerId: "[^"]*"/, `partnerId: "${partner.id}"`)
        .replace(/\bkeyId: "[^"]*"/, `keyId: "${partner.keyId}"`)
        .replace(/\bid: "[^"]*"/, selection.startsWith('staff') ? `id: "${member.id}"` : `id: "${partner.id}"`)
        .replace(/\bcoin: "[^"]*"/, 'coin: "BTC"')
        .replace(/\bnetwork: "[^"]*"/, 'network: "BTC"');
    await changingNothing(gateway, async () => {
      for (const { field } of mutations) {
        const permission = permissionOf(field);
        const operation = `mutation { ${aimed(selectionOf(field))} }`;
        if (permission === null || !isPermitted(role, permission)) {
          const reply = await member.ask(operation);
          attempt(
            `${role}: ${operation}`,
            { kinds: kinds(reply), data: reply.data },
            { kinds: ['insufficient_role'], data: null },
          );
          const two = await member.ask(
            `mutation { __typename ${aimed(selectionOf(field))} x: ${aimed(selectionOf(field))} }`,
          );
          attempt(`${role}: ${operation}, twice`, two.data, null);
        }
        const [error] = await refusedOn(socket, operation);
        attempt(`${role}: ${operation}, by WebSocket`, error.message.includes('only subscriptions run here'), true);
      }
    });
    socket.terminate();
  });

  it('is closed to unauthenticated clients, with every method and content type', async () => {
    const [{ field } = {}] = mutations;
    if (!field) throw new Error('there are no mutations');
    const query = `mutation { ${selectionOf(field)} }`;
    const target = `/graphql?query=${encodeURIComponent(query)}`;
    await changingNothing(gateway, async () => {
      for (const [what, path, init] of [
        ['GET', target, {}],
        ['HEAD', target, { method: 'HEAD' }],
        [
          'POST',
          '/graphql',
          { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query }) },
        ],
        ['a form', '/graphql', { method: 'POST', body: new URLSearchParams({ query }) }],
        [
          'plain text',
          '/graphql',
          { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: JSON.stringify({ query }) },
        ],
        [
          'application/graphql',
          '/graphql',
          { method: 'POST', headers: { 'Content-Type': 'application/graphql' }, body: query },
        ],
      ] as const) {
        const own = 'headers' in init ? init.headers : {};
        for (const headers of [own, { ...own, Authorization: `Bearer ${partner.key}` }]) {
          const { status } = await fetch(`${internal}${path}`, { ...init, headers });
          attempt(`${what} without a token`, [401, 405].includes(status), true);
        }
        // The browser of a signed-in member, led here by another site.
        const led = { ...own, Cookie: staffCookie, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
        const { status } = await fetch(`${internal}${path}`, { ...init, headers: led });
        attempt(`${what} by a page of another site`, [403, 405].includes(status), true);
        const mine = { ...own, Cookie: staffCookie, Origin: internal };
        if (what === 'POST') continue;
        const odd = await fetch(`${internal}${path}`, { ...init, headers: mine });
        attempt(`${what} from our own page`, odd.status >= 400 && odd.status < 500, true);
      }
    });
  });
});
