import { changingNothing } from '../support/database/database-state.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API8:2023, security misconfiguration, on the wire: request smuggling. A proxy
 * in front and the gateway behind it must never disagree about where a request ends. An ambiguous
 * request is refused and its connection closed. No part of a body is ever taken for a request.
 */

let gateway: SettledGateway;
let key: string;
let rest: string;
let internal: string;

beforeAll(async () => {
  gateway = await startSettledGateway();
  ({ key } = await gateway.partner());
  rest = gateway.app.restUrl ?? '';
  internal = gateway.app.internalUrl;
});
afterAll(() => gateway?.stop());

/** What an attacker would have another client's connection carry. It would be answered with 200. */
const smuggled = 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Ignore: ';
const smuggledWhole = `${smuggled}x\r\nConnection: close\r\n\r\n`;
const next = 'GET /nothing-here HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const post = 'POST /nothing-here HTTP/1.1\r\nHost: x\r\n';
const chunks = '5\r\nhello\r\n0\r\n\r\n';

/**
 * Each with the statuses that it may be answered with, before the connection is closed. What is
 * wrong twice may be refused twice, and the answer to a request may come before the refusal of its
 * body.
 */
const messages: Record<string, readonly [text: string, statuses: readonly number[]]> = {
  'Content-Length and Transfer-Encoding': [
    `${post}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}${next}`,
    [400],
  ],
  'Transfer-Encoding and Content-Length': [
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${smuggled}${next}`,
    [400],
  ],
  'two Content-Lengths': [
    `${post}Content-Length: 0\r\nContent-Length: ${smuggledWhole.length}\r\n\r\n${smuggledWhole}`,
    [400],
  ],
  'two Content-Lengths that agree': [`${post}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello${next}`, [400]],
  'a list of Content-Lengths': [`${post}Content-Length: 0, ${smuggledWhole.length}\r\n\r\n${smuggledWhole}`, [400]],
  'a list of Content-Lengths that agree': [`${post}Content-Length: 5, 5\r\n\r\nhello${next}`, [400]],
  'a Content-Length with a sign': [`${post}Content-Length: +5\r\n\r\nhello${next}`, [400]],
  'a Content-Length below nothing': [`${post}Content-Length: -5\r\n\r\n${next}`, [400]],
  'a hexadecimal Content-Length': [`${post}Content-Length: 0x5\r\n\r\nhello${next}`, [400]],
  'a Content-Length with letters': [`${post}Content-Length: 5a\r\n\r\nhello${next}`, [400]],
  'a Content-Length with a blank inside': [`${post}Content-Length: 1 5\r\n\r\nhello${next}`, [400]],
  'an empty Content-Length': [`${post}Content-Length:\r\n\r\n${next}`, [400]],
  'a Content-Length beyond all numbers': [`${post}Content-Length: 99999999999999999999\r\n\r\nhello${next}`, [400]],
  'a blank before a colon': [`${post}Content-Length : 5\r\n\r\nhello${next}`, [400]],
  'a Transfer-Encoding with a blank before its colon': [
    `${post}Transfer-Encoding : chunked\r\n\r\n${chunks}${next}`,
    [400],
  ],
  'an unknown Transfer-Encoding': [`${post}Transfer-Encoding: xchunked\r\n\r\n${chunks}${next}`, [400]],
  'an identity Transfer-Encoding': [`${post}Transfer-Encoding: identity\r\n\r\n${next}`, [400]],
  'chunked, and then another encoding': [`${post}Transfer-Encoding: chunked, identity\r\n\r\n${chunks}${next}`, [400]],
  'chunked with a parameter': [`${post}Transfer-Encoding: chunked;q=1\r\n\r\n${chunks}${next}`, [400]],
  'chunked in quotes': [`${post}Transfer-Encoding: "chunked"\r\n\r\n${chunks}${next}`, [400]],
  'chunked behind a control character': [`${post}Transfer-Encoding: \x0bchunked\r\n\r\n${chunks}${next}`, [400]],
  'chunked in a folded line': [`${post}Transfer-Encoding:\r\n chunked\r\n\r\n${chunks}${next}`, [400]],
  'compressed chunks': [`${post}Transfer-Encoding: gzip, chunked\r\n\r\n${chunks}${next}`, [400]],
  'two Transfer-Encodings that agree': [
    `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${next}`,
    [400],
  ],
  'two Transfer-Encodings': [
    `${post}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${next}`,
    [400],
  ],
  'an underscore for a dash': [
    `${post}Transfer_Encoding: chunked\r\nContent-Length: ${chunks.length}\r\n\r\n${chunks}${next}`,
    [404, 404],
  ],
  'a folded header': [`GET /nothing-here HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n${next}`, [400]],
  'a header that begins with a blank': [`GET /nothing-here HTTP/1.1\r\n Host: x\r\n\r\n${next}`, [400]],
  'a header without a colon': [`GET /nothing-here HTTP/1.1\r\nHost: x\r\nX-A\r\n\r\n${next}`, [400]],
  'a header without a name': [`GET /nothing-here HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n${next}`, [400]],
  'a header name with a blank': [`GET /nothing-here HTTP/1.1\r\nHost: x\r\nX A: a\r\n\r\n${next}`, [400]],
  'a NUL in a header': [`GET /nothing-here HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n${next}`, [400]],
  'a bare CR in a header': [`GET /nothing-here HTTP/1.1\r\nHost: x\r\nX-A: a\rX-B: b\r\n\r\n${next}`, [400]],
  'a bare LF after the request line': [`GET /nothing-here HTTP/1.1\nHost: x\r\n\r\n${next}`, [400]],
  'a bare LF in the headers': [`GET /nothing-here HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n${next}`, [400]],
  'bare LFs only': ['GET /nothing-here HTTP/1.1\nHost: x\n\n', [400]],
  'a bare LF before the body': [`${post}Content-Length: ${smuggledWhole.length}\r\n\n${smuggledWhole}`, [400]],
  'a chunk with a hexadecimal sign': [
    `${post}Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n${next}`,
    [400],
  ],
  'a chunk below nothing': [`${post}Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n${next}`, [400]],
  'a chunk beyond all numbers': [
    `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n${next}`,
    [400],
  ],
  'a chunk without a size': [`${post}Transfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n${next}`, [400]],
  'a chunk size that ends with a bare LF': [
    `${post}Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n${next}`,
    [400],
  ],
  'a chunk that ends with a bare LF': [`${post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n${next}`, [400]],
  'a chunk that is longer than it says': [
    `${post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello world\r\n0\r\n\r\n${next}`,
    [400],
  ],
  'a chunk extension with a bare LF': [
    `${post}Transfer-Encoding: chunked\r\n\r\n5;x=\ny\r\nhello\r\n0\r\n\r\n${next}`,
    [400],
  ],
  'a chunk size with blanks': [`${post}Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n${next}`, [400]],
  'a length among the trailers': [
    `${post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nContent-Length: ${smuggledWhole.length}\r\n\r\n${next}`,
    [400],
  ],
  'HTTP/1.0 with chunks': [
    `POST /nothing-here HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${next}`,
    [404],
  ],
  'HTTP/1.0, kept alive': [`GET /nothing-here HTTP/1.0\r\nConnection: keep-alive\r\n\r\n${next}`, [404, 404]],
  'HTTP/1.0 with a body of another request': [
    `POST /nothing-here HTTP/1.0\r\nContent-Length: ${smuggledWhole.length}\r\n\r\n${smuggledWhole}`,
    [404],
  ],
  'HTTP/0.9': ['GET /livez\r\n\r\n', [400]],
  'HTTP/1.2': [`GET /livez HTTP/1.2\r\nHost: x\r\n\r\n${next}`, [400]],
  'HTTP/2.0': [`GET /livez HTTP/2.0\r\nHost: x\r\n\r\n${next}`, [400]],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  'small letters for HTTP': [`GET /livez http/1.1\r\nHost: x\r\n\r\n${next}`, [400]],
  'no Host': [`GET /livez HTTP/1.1\r\n\r\n${next}`, [400]],
  'two Hosts': [`GET /nothing-here HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n${next}`, [400]],
  'a blank in the target': [`GET /livez /x HTTP/1.1\r\nHost: x\r\n\r\n${next}`, [400]],
  'a control character in the target': [`GET /live\x01z HTTP/1.1\r\nHost: x\r\n\r\n${next}`, [400]],
  'an authority as target': [`GET x:80 HTTP/1.1\r\nHost: x\r\n\r\n${next}`, [400]],
  'an asterisk as target': [`OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n${next}`, [404, 404]],
  'a whole URL as target': [`GET http://evil.example/nothing-here HTTP/1.1\r\nHost: x\r\n\r\n${next}`, [404, 404]],
  'a URL of another scheme as target': [`GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n${next}`, [404, 404]],
  TLS: ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
  'an unknown expectation': [`${post}Expect: nonsense\r\nContent-Length: 0\r\n\r\n${next}`, [417]],
  'a body to a GET': [
    `GET /nothing-here HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggledWhole.length}\r\n\r\n${smuggledWhole}${next}`,
    [404, 404],
  ],
  'a body in chunks to a GET': [
    `GET /nothing-here HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${smuggledWhole.length.toString(16)}\r\n${smuggledWhole}\r\n0\r\n\r\n${next}`,
    [404, 404],
  ],
  'a body to a HEAD': [
    `HEAD /nothing-here HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggledWhole.length}\r\n\r\n${smuggledWhole}${next}`,
    [404, 404],
  ],
  'two requests at once': [`GET /nothing-here HTTP/1.1\r\nHost: x\r\n\r\n${next}`, [404, 404]],
  'a request after one that is refused': [`BAD\r\n\r\n${next}`, [400]],
  'a request after one that closes': [`${next}${smuggledWhole}`, [400]],
  'nothing but line ends, and then a request': [`\r\n\r\n${next}`, [404]],
};

describe.each([
  ['public', () => rest],
  ['internal', () => internal],
] as const)('the %s listener', (name, url) => {
  it.each(Object.entries(messages))('%s', async (what, [text, statuses]) => {
    await changingNothing(gateway, async () => {
      const answer = await rawExchange(url(), text);
      const early = answer.statuses.length > statuses.length && [400, 404].includes(answer.statuses[0] ?? 0) ? 1 : 0;
      attempt(`${what}, at the ${name} listener`, answer.statuses.slice(early), statuses);
    });
  });
});

describe('the body of a request that is refused', () => {
  const body = JSON.stringify(orderBody());
  const create = (headers: string, content: string) =>
    `POST /api/v1/partner/orders HTTP/1.1\r\nHost: x\r\n${headers}\r\n${content}`;
  const withKey = () => `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const inside = () => create(`${withKey()}Content-Length: ${body.length}\r\n`, body);
  const framed = (headers: string, content: string, isChunked: boolean) =>
    isChunked
      ? create(`${headers}Transfer-Encoding: chunked\r\n`, `${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`)
      : create(`${headers}Content-Length: ${content.length}\r\n`, content);

  it.each<[string, () => string, () => string, number]>([
    ['without a key', () => '', inside, 401],
    ['with an unknown key', () => 'X-API-Key: unknown\r\n', inside, 401],
    ['of another type', () => `Authorization: Bearer ${key}\r\nContent-Type: text/plain\r\n`, inside, 415],
    ['that is compressed', () => `${withKey()}Content-Encoding: gzip\r\n`, inside, 415],
    ['that is too large', withKey, () => inside().repeat(80), 413],
    ['that is no JSON', withKey, inside, 400],
    ['that is signed wrongly', () => `${withKey()}X-Signature: 00\r\n`, inside, 401],
  ])('%s is never taken for a request', async (what, headers, content, status) => {
    for (const isChunked of [false, true]) {
      await changingNothing(gateway, async () => {
        const { statuses } = await rawExchange(rest, framed(headers(), content(), isChunked) + next);
        // Either it was read to its end, or the connection was closed in the middle of it.
        const [first, ...others] = statuses;
        attempt(`a body ${what}, in chunks: ${isChunked}`, first, status);
        attempt(
          `a request inside a body ${what}`,
          others.filter((other) => other !== 404 && other !== 400),
          [],
        );
        expect(others.length).toBeLessThan(2);
      });
    }
  });

  it('that is cut off before its announced length creates no order', async () => {
    await changingNothing(gateway, async () => {
      const text = create(`${withKey()}Connection: close\r\nContent-Length: ${body.length}\r\n`, body);
      for (const keep of [1, body.length >> 1, body.length - 1]) {
        const start = text.slice(0, text.length - body.length + keep);
        // What is missing of the body is made up of the next request.
        const { statuses } = await rawExchange(rest, start + next.repeat(5));
        attempt(
          `a body of ${keep} bytes of its own`,
          statuses.filter((status) => status < 400),
          [],
        );
      }
    });
  });

  it('that waits for 100 Continue is not executed', async () => {
    await changingNothing(gateway, async () => {
      const expecting = (headers: string) =>
        create(`${headers}Expect: 100-continue\r\nContent-Length: ${inside().length}\r\n`, inside());
      const { statuses } = await rawExchange(rest, expecting('') + next);
      attempt(
        'a body that waits for its turn',
        statuses.filter((status) => status >= 200 && status < 300),
        [],
      );
    });
  });
});

describe('an upgrade', () => {
  const ask = (path: string, upgrade: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n${more}\r\n`;
  const socket = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';

  it.each([
    ['h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n'],
    ['websocket', socket],
    ['websocket', 'Sec-WebSocket-Version: 777\r\n'],
    ['TLS/1.0', ''],
    ['x', ''],
  ])('to %s opens no tunnel at either listener', async (upgrade, more) => {
    await changingNothing(gateway, async () => {
      for (const [url, path] of [
        [rest, '/api/v1/currencies'],
        [rest, '/graphql'],
        [internal, '/graphql'],
        [internal, '/livez'],
        [internal, '/nothing-here'],
      ] as const) {
        const { statuses, text } = await rawExchange(url, ask(path, upgrade, more) + smuggledWhole);
        attempt(
          `${upgrade} at ${path}`,
          { count: statuses.length, switched: statuses.includes(101) },
          { count: 1, switched: false },
        );
        expect(text).not.toContain('"status":"ok"');
      }
    });
  });
});

describe('a request after another one with ambiguous framing', () => {
  it('is not executed, although it is well formed', async () => {
    const body = JSON.stringify(orderBody());
    const create = `POST /api/v1/partner/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const before = await orders();
    for (const ambiguous of [
      `${post}Transfer-Encoding: gzip, chunked\r\n\r\n${chunks}`,
      'GET /nothing-here HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n',
    ]) {
      const { statuses } = await rawExchange(rest, `${ambiguous}${create}${create}`);
      attempt(`two creates behind ${ambiguous}`, statuses, [400]);
    }
    // One that comes after them is carried out, so that those before it have had their time.
    attempt(
      'a create by itself',
      (await rawExchange(rest, create.replace('Host: x', 'Host: x\r\nConnection: close'))).statuses,
      [201],
    );
    attempt('orders made', await orders(), before + 1);
  });
});

async function orders(): Promise<number> {
  const [row] = await gateway.query<{ count: number }>('select count(*)::int as count from exchange_order');
  return row?.count ?? 0;
}
