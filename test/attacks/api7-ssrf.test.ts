import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { JsonRpcNode } from '../../src/chains/nodes/json-rpc.ts';
import { boundedFetch } from '../../src/exchanges/bounded-fetch.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { startGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { problemsOf } from '../support/gateway/settings.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { close, listen } from '../support/http/local-server.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { attempt } from '../support/jest/attempts.ts';
import { type Member, newMember } from '../support/staff/staff-client.ts';

/**
 * OWASP API7:2023, server side request forgery. The gateway calls no address from a request:
 * neither a partner nor a member of staff can make it call one. It calls only the hosts in its
 * settings, because redirects are errors.
 */

/** A server inside the network, which strangers cannot reach. It counts connections. */
let inside: Server;
let insidePort: number;
let connections = 0;
/** An upstream that redirects every request to the server inside. */
let redirecting: HttpServer;
let redirectingUrl: string;
let redirected = 0;
let gateway: SettledGateway;
let key: string;
let admin: Member;

beforeAll(async () => {
  inside = createTcpServer((socket: Socket) => {
    connections++;
    socket.on('error', () => {}).resume();
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
  });
  insidePort = await listen(inside);
  redirecting = createServer((request, response) => {
    redirected++;
    request.resume();
    response.writeHead([301, 302, 303, 307, 308][redirected % 5] ?? 302, {
      Location: `http://127.0.0.1:${insidePort}${request.url}`,
    });
    response.end();
  });
  redirectingUrl = `http://127.0.0.1:${await listen(redirecting)}`;
  gateway = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '100000' } });
  ({ key } = await gateway.partner());
  admin = await newMember(gateway, 'admin');
});
afterAll(async () => {
  await gateway?.stop();
  await close(redirecting);
  inside.close();
  await once(inside, 'close');
});

/** URLs of the server inside, in each form that a check may not know. */
const addresses = (): string[] => [
  `http://127.0.0.1:${insidePort}/`,
  `http://localhost:${insidePort}/`,
  `http://[::1]:${insidePort}/`,
  `http://[::ffff:127.0.0.1]:${insidePort}/`,
  `http://[::ffff:7f00:1]:${insidePort}/`,
  `http://2130706433:${insidePort}/`,
  `http://0x7f000001:${insidePort}/`,
  `http://0177.0.0.1:${insidePort}/`,
  `http://127.1:${insidePort}/`,
  `http://0:${insidePort}/`,
  `http://x@127.0.0.1:${insidePort}/`,
  `http://127.0.0.1:${insidePort}#@example.com/`,
  `//127.0.0.1:${insidePort}/`,
  `\\\\127.0.0.1:${insidePort}\\share`,
  `https://127.0.0.1:${insidePort}/`,
  `ftp://127.0.0.1:${insidePort}/`,
  `gopher://127.0.0.1:${insidePort}/_x`,
  `ws://127.0.0.1:${insidePort}/`,
  `jar:http://127.0.0.1:${insidePort}!/`,
  `ldap://127.0.0.1:${insidePort}/x`,
  `redis://127.0.0.1:${insidePort}/`,
  'http://169.254.169.254/latest/meta-data/',
  'file:///etc/passwd',
];

it('the loopback server of these tests counts its connections', async () => {
  await (await fetch(`http://127.0.0.1:${insidePort}/`)).text();
  expect(connections).toBe(1);
  connections = 0;
});

describe('a URL in a request', () => {
  it('of a partner is never fetched', async () => {
    await changingNothing(gateway, async () => {
      for (const address of addresses()) {
        for (const member of Object.keys(orderBody({ refund_address: '', recipient_address_tag: '' }))) {
          const reply = await gateway.call('POST', '/partner/orders', { key, body: orderBody({ [member]: address }) });
          attempt(`${member}: ${address}`, [400, 422].includes(reply.status), true);
        }
        for (const member of ['callback_url', 'webhook', 'url', 'icon_url', 'redirect_uri', '$ref']) {
          const reply = await gateway.call('POST', '/partner/orders', { key, body: orderBody({ [member]: address }) });
          attempt(`${member}: ${address}`, reply.status, 400);
        }
        const headers = {
          Referer: address,
          Origin: address,
          'X-Callback-Url': address,
          'X-Original-URL': address,
          'X-Forwarded-Host': address,
          Forwarded: `host="${address}"`,
          From: address,
          'X-Wap-Profile': address,
        };
        const query = encodeURIComponent(address);
        const reply = await gateway.call(
          'GET',
          `/partner/rates?coin_from=BTC&coin_to=ETH&url=${query}&callback=${query}`,
          { key, headers },
        );
        attempt(`headers of ${address}`, reply.status, 200);
        attempt(`an icon of ${address}`, (await gateway.call('GET', `/coin-icons/${query}.svg`)).status, 404);
      }
    });
    attempt('connections to the server inside', connections, 0);
  });

  it('in the request target, the Host header or a proxy header is never fetched', async () => {
    for (const url of [gateway.app.restUrl ?? '', gateway.app.internalUrl]) {
      for (const address of addresses()) {
        const target = address.replaceAll('\\', '/');
        const host = `Host: 127.0.0.1:${insidePort}\r\n`;
        for (const text of [
          `GET ${target} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
          `GET ${target}livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
          `CONNECT 127.0.0.1:${insidePort} HTTP/1.1\r\n${host}\r\n`,
          `GET @127.0.0.1:${insidePort}/ HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
        ]) {
          const { text: answer } = await rawExchange(url, text);
          attempt(text.split('\r\n')[0] ?? '', answer.includes('\r\n\r\n{}'), false);
        }
      }
    }
    attempt('connections to the server inside', connections, 0);
  });

  it('of staff is never fetched', async () => {
    const { id } = await gateway.partners.create('Addresses');
    for (const address of addresses()) {
      for (const operation of [
        'mutation ($s: String!) { partnerCreate(name: $s, reason: $s) { id } }',
        'mutation ($s: String!) { staffInvite(email: $s, role: VIEWER, reason: $s) { enrolmentCode } }',
        `mutation ($s: String!) { partnerChange(id: "${id}", changes: { name: $s }, reason: $s) { id } }`,
        `mutation ($s: String!) { keyIssue(partnerId: "${id}", key: { allowedCidrs: [$s] }, reason: $s) { keyId } }`,
        'query ($s: String!) { orders(filter: { search: $s }) { edges { cursor } } }',
      ]) {
        const { errors } = await admin.ask(operation, { s: address });
        attempt(
          `${operation}: ${address}`,
          errors.filter(({ extensions }) => extensions.code === 'INTERNAL_SERVER_ERROR'),
          [],
        );
      }
      for (const member of ['iss', 'return_to', 'redirect_uri', 'request_uri', 'state', 'code']) {
        const query = new URLSearchParams({ [member]: address });
        for (const path of ['/sign-in', '/sign-in/oidc', '/sign-in/oidc/callback']) {
          const { status } = await fetch(`${gateway.app.internalUrl}${path}?${query}`, { redirect: 'manual' });
          attempt(`${path}?${query}`, status < 500 && status !== 302, true);
        }
      }
    }
    attempt('connections to the server inside', connections, 0);
  });
});

describe('an upstream that redirects', () => {
  it('of prices, an exchange, a chain or the identity provider is not followed', async () => {
    const before = redirected;
    const led = await startGateway({
      outside: { background: false },
      settings: {
        PRICE_SOURCES: `kraken=${redirectingUrl},binance=${redirectingUrl}`,
        PRICE_REFRESH_SEC: '1',
        OIDC_ISSUER: redirectingUrl,
        OIDC_CLIENT_ID: 'gateway',
        INTERNAL_PUBLIC_URL: 'http://localhost:8081',
      },
    });
    try {
      // Both exchanges and the identity provider were asked.
      for (const deadline = Date.now() + 60_000; redirected < before + 2 && Date.now() < deadline; ) await sleep(50);
      const signIn = await fetch(`${led.app.internalUrl}/sign-in/oidc`, { redirect: 'manual' });
      attempt('a sign-in at who redirects', signIn.status, 503);
      const quote = await led.call('GET', '/partner/rates?coin_from=BTC&coin_to=ETH');
      attempt('a price of who redirects', quote.status, 422);
      expect(redirected).toBeGreaterThanOrEqual(before + 3);
    } finally {
      await led.stop();
    }
    const node = new JsonRpcNode({
      url: redirectingUrl,
      user: null,
      password: null,
      headers: { 'X-Secret': 'of the node' },
    });
    for (let i = 0; i < 5; i++) await expect(node.call('eth_chainId')).rejects.toMatchObject({ code: 'unreachable' });
    const fetchOf = boundedFetch({ timeoutMs: 5_000, maxBytes: 1_000 });
    for (let i = 0; i < 5; i++) await expect(fetchOf(redirectingUrl, {})).rejects.toThrow();
    attempt('connections to the server inside', connections, 0);
  });
});

describe('a URL in a setting', () => {
  it.each([
    'http://169.254.169.254',
    'http://10.0.0.1',
    'http://metadata.google.internal',
    'http://0x7f000001.example',
    'http://127.0.0.1.evil.example',
    'file:///etc/passwd',
    'gopher://127.0.0.1',
    'ftp://example.com',
    'data:text/plain,x',
    'javascript:0',
    'unix:/run/secret.sock',
    '//example.com',
    'example.com',
    'https://example.com/path',
    'https://example.com?x=1',
    'https://example.com/#x',
    '',
  ])('%s is refused as an upstream', (address) => {
    attempt(`PRICE_SOURCES at ${address}`, problemsOf({ PRICE_SOURCES: `kraken=${address},binance` }).length, 1);
    const venue = { PRICE_SOURCES: 'kraken,binance', VENUE: `kraken=${address}`, VENUE_KEY: 'k', VENUE_SECRET: 's' };
    attempt(`VENUE at ${address}`, problemsOf(venue).length, 1);
    // A path is part of an issuer, and nothing is no setting.
    if (address === '' || address.endsWith('/path')) return;
    const issuer = { OIDC_ISSUER: address, OIDC_CLIENT_ID: 'x', INTERNAL_PUBLIC_URL: 'https://staff.example.com' };
    attempt(`OIDC_ISSUER at ${address}`, problemsOf(issuer).length > 0, true);
  });
});
