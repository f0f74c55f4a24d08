import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  // Prices stand still, so that two answers have the same limits.
  gateway = await startGateway({ outside: { clock: new TestClock(new Date()), background: false } });
});
afterAll(() => gateway?.stop());

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Asks with exactly these headers; node:http adds no Accept-Encoding and decodes nothing. */
function get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    request(`${gateway.app.restUrl}/api/v1${path}`, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

/** Asks until the bytes are compressed, which happens during the first requests. */
async function compressed(path: string, accepted: string): Promise<Reply> {
  for (;;) {
    const reply = await get(path, { 'Accept-Encoding': accepted });
    if (reply.headers['content-encoding'] !== undefined) return reply;
    await sleep(5);
  }
}

describe.each([
  ['/currencies', 'Accept-Encoding, Amounts'],
  ['/partner/assets', 'Accept-Encoding, Amounts'],
  ['/partner/pairs?coin_from=BTC', 'Accept-Encoding, Amounts, Authorization, X-API-Key'],
  ['/openapi.json', 'Accept-Encoding'],
  ['/docs/swagger-ui.css', 'Accept-Encoding'],
])('GET %s', (path, vary) => {
  it('is plain for a client that names no coding, or refuses ours', async () => {
    const plain = await get(path);
    expect(plain.status).toBe(200);
    for (const accepted of ['identity', 'deflate', 'br;q=0, gzip;q=0', 'gzip;q=0']) {
      const reply = await get(path, { 'Accept-Encoding': accepted });
      expect(reply.headers['content-encoding']).toBeUndefined();
      expect(reply.headers.etag).toBe(plain.headers.etag);
      expect(reply.headers.vary).toBe(vary);
      expect(reply.body.equals(plain.body)).toBe(true);
    }
  });

  it.each([
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['*', 'br', brotliDecompressSync],
    ['br;q=0, *;q=0.5', 'gzip', gunzipSync],
  ])('has the same bytes, and fewer on the wire, with Accept-Encoding: %s', async (accepted, coding, decompress) => {
    const plain = await get(path);
    const reply = await compressed(path, accepted);
    expect(reply.headers).toMatchObject({
      'content-encoding': coding,
      'content-length': String(reply.body.length),
      'content-type': plain.headers['content-type'],
      vary,
    });
    expect(decompress(reply.body).equals(plain.body)).toBe(true);
    expect(reply.body.length).toBeLessThan(plain.body.length / 3);
  });

  it('has an entity tag for each coding, and answers 304 to each of them', async () => {
    const replies = [await get(path), await compressed(path, 'gzip'), await compressed(path, 'br')];
    const tags = replies.map(({ headers }) => String(headers.etag));
    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) {
      const again = await get(path, { 'Accept-Encoding': 'br', 'If-None-Match': tag });
      expect([again.status, again.headers.etag, again.body.length]).toEqual([304, tag, 0]);
      expect(again.headers['content-encoding']).toBeUndefined();
    }
  });
});

it('a quote is made for one request and is not compressed', async () => {
  const reply = await get('/partner/rates?coin_from=BTC&network_from=BTC&coin_to=ETH&network_to=ETH', {
    'Accept-Encoding': 'br, gzip',
  });
  expect(reply.status).toBe(200);
  expect(reply.headers['content-encoding']).toBeUndefined();
});
