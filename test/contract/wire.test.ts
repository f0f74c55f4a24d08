import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { sampleOf } from '../support/http/exposition.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * Answers that come before any operation is reached: each is an error of the contract, documented
 * and with an id.
 */

let gateway: TestGateway;
let proxied: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ outside: { unreadMs: 1_000 } });
  proxied = await startGateway({ settings: { TRUSTED_PROXIES: '127.0.0.1/32' } });
});
afterAll(() => Promise.all([gateway, proxied].map((each) => each?.stop())));

interface Documented {
  readonly operationId: string;
  readonly responses: Record<string, object>;
}

const operations = Object.entries(readContract().paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, Documented>).map(([method, { operationId, responses }]) => ({
    id: operationId,
    method: method.toUpperCase(),
    path: `/api/v1${path.replace('{order_id}', 'XP-AAAAAA').replace('{file}', 'btc.svg')}`,
    statuses: Object.keys(responses),
  })),
);

const maxEtags = (readContract().components?.parameters?.IfNoneMatch as { schema: { maxLength: number } }).schema
  .maxLength;

/**
 * What can be answered to a request for an operation before the operation is known, by what is
 * sent.
 */
const refusals: readonly [string, status: number, send: (line: string) => string][] = [
  ['no Host', 400, (line) => `${line}\r\n`],
  ['two Hosts', 400, (line) => `${line}Host: x\r\nHost: y\r\n\r\n`],
  ['bad framing', 400, (line) => `${line}Host: x\r\nContent-Length: 0x5\r\n\r\nhello`],
  ['a header that is no header', 400, (line) => `${line}Host: x\r\nX A: a\r\n\r\n`],
  [
    'an expectation',
    417,
    (line) => `${line}Host: x\r\nExpect: 200-ok\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  ],
  ['headers that are too large', 431, (line) => `${line}Host: x\r\nX-A: ${'b'.repeat(17_000)}\r\n\r\n`],
];

describe.each(operations)('$id', ({ id, method, path, statuses }) => {
  it.each(refusals)('with %s is answered with a documented %s', async (what, status, send) => {
    const { text } = await rawExchange(gateway.app.restUrl ?? '', send(`${method} ${path} HTTP/1.1\r\n`));
    const [head = '', body = ''] = text.split('\r\n\r\n');
    attempt(`${id} with ${what}`, Number(head.slice(9, 12)), status);
    expect(statuses).toContain(String(status));
    expect(head.toLowerCase()).toContain('content-type: application/json');
    const json = JSON.parse(body);
    expect(json).toEqual({ detail: expect.any(String), code: expect.any(String), request_id: expect.any(String) });
    expect(/x-request-id: (\S+)/i.exec(head)?.[1]).toBe(json.request_id);
    expect(json.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('by plain HTTP from elsewhere is answered with a documented 403', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'http' };
    const { status, json } = await proxied.call(method, path.replace('/api/v1', ''), { headers });
    expect([status, json.code]).toEqual([403, 'https_required']);
    expect(statuses).toContain('403');
  });

  it('a slow request gets a documented answer', () => {
    expect(statuses).toContain('408');
  });
});

describe('If-None-Match', () => {
  const ask = (path: string, length: number) =>
    gateway.call('GET', path, { headers: { 'If-None-Match': `"${'x'.repeat(length - 2)}"` } });

  it.each([
    '/currencies',
    '/coin-icons/btc.svg',
    '/openapi.json',
  ])('of the documented length is taken at %s, and longer is answered with a documented 431', async (path) => {
    expect((await ask(path, maxEtags)).status).toBe(200);
    for (const length of [maxEtags + 1, 20_000]) {
      const { status, json } = await ask(path, length);
      expect([length, status, json.code]).toEqual([length, 431, 'headers_too_large']);
    }
  });
});

describe('the version of an icon', () => {
  it.each([
    ['v=a&v=b', 400],
    [`v=${'x'.repeat(65)}`, 422],
    ['v=', 200],
    ['v=another', 200],
  ])('%.20s is answered with a documented %s', async (query, status) => {
    expect((await gateway.call('GET', `/coin-icons/btc.svg?${query}`)).status).toBe(status);
  });
});

describe('a client that never reads its answers', () => {
  it('is cut off, and appears in the metrics', async () => {
    const { port, hostname } = new URL(gateway.app.restUrl ?? '');
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.on('error', () => {});
    // Far more than the buffers of a connection hold.
    const asked = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500);
    await new Promise<void>((resolve) => socket.write(asked, () => resolve()));
    const cut = async () => {
      const reply = await fetch(`${gateway.app.internalUrl}/metrics`);
      return sampleOf(await reply.text(), 'gateway_connections_cut_total') ?? 0;
    };
    for (let i = 0; i < 250 && (await cut()) === 0; i++) await sleep(200);
    attempt('connections cut', await cut(), 1);
    // Others are served.
    expect((await gateway.call('GET', '/currencies')).status).toBe(200);
    socket.destroy();
  }, 90_000);
});
