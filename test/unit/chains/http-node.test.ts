import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { HttpNode, type HttpNodeOptions } from '../../../src/chains/nodes/http-node.ts';
import { close, listen } from '../../support/http/local-server.ts';

let server: Server;
let origin: string;
/** What came last. */
let request: IncomingMessage;
let body: string;
/** What is answered. */
let answer: { readonly status: number; readonly text: string };

beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    request = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    body = Buffer.concat(chunks).toString('utf8');
    response.statusCode = answer.status;
    response.end(answer.text);
  });
  origin = `http://127.0.0.1:${await listen(server)}`;
});
beforeEach(() => {
  answer = { status: 200, text: '{"ok":true}' };
});
afterAll(() => close(server));

const node = (changes: Partial<NodeConfig> = {}, options: HttpNodeOptions = {}): HttpNode =>
  new HttpNode({ url: origin, user: null, password: null, headers: {}, ...changes }, options);

/** The message of the failure of a request. */
async function failure(asked: HttpNode): Promise<string> {
  const error = await asked.post('wallet/getnowblock', {}).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: 'ChainError', code: 'unsound_answer', retryable: true, isNamed: true });
  return (error as Error).message;
}

describe('HttpNode', () => {
  it.each([
    ['', '/wallet/getnowblock'],
    ['/', '/wallet/getnowblock'],
    ['/tron', '/tron/wallet/getnowblock'],
    ['/tron/', '/tron/wallet/getnowblock'],
    ['?key=a%2Fb', '/wallet/getnowblock?key=a%2Fb'],
    ['/a%2Fb/tron/?key=1', '/a%2Fb/tron/wallet/getnowblock?key=1'],
  ])('asks below the URL %p, and keeps its query', async (end, path) => {
    expect(await node({ url: `${origin}${end}` }).post('wallet/getnowblock', { visible: false })).toEqual({ ok: true });
    expect([request.method, request.url, body]).toEqual(['POST', path, '{"visible":false}']);
    expect(request.headers['content-type']).toBe('application/json');
  });

  it('asks the URL itself, exactly as it is given, for an empty path', async () => {
    await node({ url: `${origin}/rpc/?key=1` }).post('', []);
    expect([request.url, body]).toEqual(['/rpc/?key=1', '[]']);
  });

  it.each([
    ['', '/api/v3/transactions?hash=a%2Bb%2Fc%3D&limit=1'],
    ['/ton/?key=a%2Fb', '/ton/api/v3/transactions?key=a%2Fb&hash=a%2Bb%2Fc%3D&limit=1'],
  ])('asks by GET below the URL %p, with its query and the parameters', async (end, path) => {
    const headers = { 'X-API-Key': 'secret of ours' };
    const asked = node({ url: `${origin}${end}`, headers });
    expect(await asked.get('api/v3/transactions', { hash: 'a+b/c=', limit: '1' })).toEqual({ ok: true });
    expect([request.method, request.url, body]).toEqual(['GET', path, '']);
    expect(request.headers['x-api-key']).toBe('secret of ours');
    expect(request.headers['content-type']).toBeUndefined();
  });

  it('repeats a parameter that is given twice', async () => {
    const pairs = [
      ['address', '0:A'],
      ['address', '0:B'],
    ] as const;
    await node().get('accountStates', pairs);
    expect(request.url).toBe('/accountStates?address=0%3AA&address=0%3AB');
  });

  it('reads JSON of a failed request only when told to', async () => {
    answer = { status: 500, text: '{}' };
    expect(await failure(node())).toBe(`the node at ${origin} answered HTTP 500: "{}"`);
    expect(await node({}, { anyStatus: true }).post('x', {})).toEqual({});
  });

  it('keeps numbers as text when told to', async () => {
    answer = { status: 200, text: '{"amount":9007199254740993}' };
    expect(await node({}, { numbersAsText: true }).post('x', {})).toEqual({ amount: '9007199254740993' });
  });

  it.each([
    ['1e-08', '0.00000001'],
    ['1E-8', '0.00000001'],
    ['1e+2', '100'],
    ['0.1e1', '1'],
    ['-1.5e-8', '-0.000000015'],
    ['12345678901234567.00000001e0', '12345678901234567.00000001'],
    ['50.00000000', '50'],
    ['0e0', '0'],
  ])('writes a number without its exponent: %s', async (text, expected) => {
    answer = { status: 200, text: `{"amount":${text}}` };
    expect(await node({}, { numbersAsText: true }).post('x', {})).toEqual({ amount: expected });
  });

  it.each([
    '1e-31',
    '1e31',
    '1e999999999',
    '1e-999999999',
    `0.${'1'.repeat(40)}`,
  ])('does not write out a number that would take much memory: %s', async (text) => {
    answer = { status: 200, text: `{"amount":${text}}` };
    expect(await node({}, { numbersAsText: true }).post('x', {})).toEqual({ amount: text });
  });

  it.each([
    ['{"a":1,"b":[0,999999999999999]}', { a: 1, b: [0, 999_999_999_999_999] }],
    ['{"a":1,"b":1000000000000000}', { a: 1, b: '1000000000000000' }],
    ['{"a":1,"b":[7, 9007199254740993]}', { a: 1, b: [7, '9007199254740993'] }],
    ['{"a":1,"b":1.5}', { a: 1, b: '1.5' }],
    ['{"a":1,"b":1.0}', { a: 1, b: 1 }],
    ['{"a":1,"b":\n1e3}', { a: 1, b: 1_000 }],
    ['[1e15, 1e-8]', ['1000000000000000', '0.00000001']],
    ['{"a":1,"b":-1}', { a: 1, b: '-1' }],
    ['[-0]', ['-0']],
    ['-5', '-5'],
    ['12345678901234567', '12345678901234567'],
    ['{"a":1,"b":"x,-1:1.5[1234567890123456,"}', { a: 1, b: 'x,-1:1.5[1234567890123456,' }],
    ['{",1234567890123456":"1","b":2}', { ',1234567890123456': '1', b: 2 }],
  ])('keeps the numbers as text that a float may not hold: %s', async (text, expected) => {
    answer = { status: 200, text };
    expect(await node({}, { longNumbersAsText: true }).post('x', {})).toEqual(expected);
  });

  it.each([
    ['{"a":999999999999999,"b":1.25}', { a: 999_999_999_999_999, b: 1.25 }],
    ['{"a":18446744073709551615,"b":[1]}', { a: '18446744073709551615', b: [1] }],
    ['{"a":1,"b":[7, 9007199254740993]}', { a: 1, b: [7, '9007199254740993'] }],
    ['{"a":-9007199254740993}', { a: '-9007199254740993' }],
    ['12345678901234567', '12345678901234567'],
  ])('keeps only long numbers as text where fractions are not used: %s', async (text, expected) => {
    answer = { status: 200, text };
    expect(await node({}, { longNumbersAsText: 'whole' }).post('x', {})).toEqual(expected);
  });

  it('tells people the beginning of a sentence that is no JSON', async () => {
    answer = { status: 200, text: 'this API is closed because this node\nis a lite fullnode' };
    const told = `the node at ${origin} answered HTTP 200 and no JSON`;
    expect(await failure(node())).toBe(`${told}: "this API is closed because this node is a lite fullnode"`);
    answer = { status: 200, text: `\u001b[31m${'x'.repeat(1_000)}` };
    expect(await failure(node())).toBe(`${told}: "[31m${'x'.repeat(96)}"`);
    answer = { status: 200, text: ' \n' };
    expect(await failure(node())).toBe(told);
  });

  it.each([
    ['a header', 'TOP-SECRET-KEY', { headers: { 'X-Key': 'top-secret-key' } }],
    ['a word of a header', 'top-secret-key', { headers: { Authorization: 'Bearer top-secret-key' } }],
    ['a password', 'secret', { user: 'u', password: 'secret' }],
    ['the credentials', btoa('u:secret'), { user: 'u', password: 'secret' }],
    ['a key in the path', 'top-secret-key', { url: '/v1/top-secret-key/tron' }],
    ['a key in the query', 'top secret key', { url: '/?key=top%20secret%20key' }],
  ])('repeats no answer with %s in it', async (_what, shown, changes) => {
    answer = { status: 200, text: `Unknown key: ${shown}` };
    const asked = node({ ...changes, url: `${origin}${'url' in changes ? changes.url : ''}` });
    expect(await failure(asked)).toBe(`the node at ${origin} answered HTTP 200 and no JSON`);
  });
});
