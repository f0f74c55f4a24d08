import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import type { HttpNodeOptions } from '../../../src/chains/nodes/http-node.ts';
import { JsonRpcNode, RpcError } from '../../../src/chains/nodes/json-rpc.ts';
import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { close, listen } from '../../support/http/local-server.ts';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

let server: Server;
let url: string;
/** What came last. */
let request: IncomingMessage;
/** What is answered: status and text. Never, when it is null. */
let answer: (body: Call | Call[]) => readonly [number, string] | null;

beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    request = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const said = answer(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    if (said === null) return;
    response.statusCode = said[0];
    if (said[0] === 302) response.setHeader('Location', 'http://127.0.0.1:9/');
    response.end(said[1]);
  });
  url = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => close(server));

const node = (options: HttpNodeOptions = {}, changes: Partial<NodeConfig> = {}): JsonRpcNode =>
  new JsonRpcNode({ url, user: null, password: null, headers: {}, ...changes }, options);

/** Answers each call with a result. */
const results = (result: (call: Call) => unknown) => (body: Call | Call[]) => {
  const one = (call: Call) => ({ jsonrpc: '2.0', id: call.id, result: result(call) });
  return [200, JSON.stringify(Array.isArray(body) ? body.map(one) : one(body))] as const;
};

describe('JsonRpcNode', () => {
  it('returns the result of the node, also null', async () => {
    answer = results(({ method, params }) => (method === 'nothing' ? null : { method, params }));
    expect(await node().call('some', [1, 'a'])).toEqual({ method: 'some', params: [1, 'a'] });
    expect(await node().call('nothing')).toBeNull();
    expect(request.headers.authorization).toBeUndefined();
  });

  it('authenticates by password or headers, and its printed name shows neither', async () => {
    answer = results(() => 1);
    const secret = node({}, { url: `${url}/key-in-path?key=abc`, user: 'u', password: 'p', headers: { 'X-Key': 'k' } });
    await secret.call('some');
    expect(request.headers).toMatchObject({ authorization: `Basic ${btoa('u:p')}`, 'x-key': 'k' });
    expect(request.url).toBe('/key-in-path?key=abc');
    expect(secret.name).toBe(url);
  });

  it('returns the answers of a batch in the order of the calls', async () => {
    answer = (body) => {
      const [status, text] = results(({ params }) => params[0])(body);
      return [status, JSON.stringify((JSON.parse(text) as unknown[]).reverse())];
    };
    const calls = [10, 20, 30].map((number) => ({ method: 'same', params: [number] }));
    expect(await node().batch(calls)).toEqual([10, 20, 30]);
    answer = () => {
      throw new Error('nothing is asked');
    };
    expect(await node().batch([])).toEqual([]);
  });

  it('keeps numbers as text when told to', async () => {
    const amount = '0.12345678901234567890123456789';
    answer = (body) => [200, `{"id":${(body as Call).id},"result":{"amount":${amount},"big":9007199254740993}}`];
    expect(await node({ numbersAsText: true }).call('some')).toEqual({ amount, big: '9007199254740993' });
  });

  it('recognises a refusal by its error code, with any HTTP status', async () => {
    for (const status of [200, 400, 404, 500]) {
      answer = () => [status, JSON.stringify({ id: null, error: { code: -32601, message: 'no such method' } })];
      const failure = node().call('some');
      await expect(failure).rejects.toBeInstanceOf(RpcError);
      await expect(failure).rejects.toMatchObject({ code: -32601, message: 'no such method' });
    }
    answer = (body) => [
      200,
      JSON.stringify((body as Call[]).map(({ id }) => (id % 2 ? { id, result: 1 } : { id, error: { code: 3 } }))),
    ];
    await expect(node().batch([{ method: 'a' }, { method: 'b' }])).rejects.toMatchObject({ name: 'RpcError', code: 3 });
    answer = () => [200, JSON.stringify({ error: { code: -32600, message: 'too many' } })];
    await expect(node().batch([{ method: 'a' }])).rejects.toMatchObject({ name: 'RpcError', code: -32600 });
  });

  it.each([
    ['no JSON', 'unsound_answer', () => [200, '<html>'] as const],
    ['half an answer', 'unsound_answer', () => [200, '{"result":'] as const],
    ['nothing', 'unsound_answer', () => [200, ''] as const],
    ['no object', 'unsound_answer', () => [200, 'null'] as const],
    ['no result', 'unsound_answer', () => [200, '{"id":1}'] as const],
    ['an answer to another question', 'unsound_answer', () => [200, '{"id":999,"result":1}'] as const],
    ['a redirection', 'unreachable', () => [302, ''] as const],
    ['wrong credentials', 'unauthorised', () => [401, 'no'] as const],
    ['too many questions', 'busy', () => [429, '{"id":1,"error":{"code":-32005}}'] as const],
    ['a gateway without its node', 'busy', () => [502, 'bad gateway'] as const],
    ['more than can be read', 'unsound_answer', () => [200, `{"id":1,"result":"${'x'.repeat(2_000)}"}`] as const],
    ['no answer in time', 'unreachable', () => null],
  ])('fails on %s, so that another node can be asked', async (_what, code, says) => {
    answer = says;
    const asked = node({ timeoutMs: code === 'unreachable' ? 200 : 10_000, maxBytes: 1_000 }).call('some');
    await expect(asked).rejects.toBeInstanceOf(ChainError);
    await expect(asked).rejects.toMatchObject({ code, retryable: true, isOfChain: false });
  });

  it('fails when one of several answers is missing', async () => {
    answer = (body) => [200, JSON.stringify((body as Call[]).slice(1).map(({ id }) => ({ id, result: 1 })))];
    await expect(node().batch([{ method: 'a' }, { method: 'b' }])).rejects.toMatchObject({ code: 'unsound_answer' });
    answer = () => [200, '{"id":1,"result":1}'];
    await expect(node().batch([{ method: 'a' }])).rejects.toMatchObject({ code: 'unsound_answer' });
  });

  it('fails when no server listens, and shows no secret', async () => {
    const away = node({}, { url: 'http://127.0.0.1:9/secret-key', user: 'u', password: 'hidden' });
    const failure: unknown = await away.call('some').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unreachable', message: 'the node at http://127.0.0.1:9 does not answer' });
  });
});
