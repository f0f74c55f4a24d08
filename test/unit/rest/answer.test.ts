import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type Answer, jsonType, sendAnswer } from '../../../src/surfaces/rest/api/answer.ts';
import { Call } from '../../../src/surfaces/rest/api/call.ts';

const client = { address: '127.0.0.1', isSecure: true, isLocal: true, isBehindProxy: false };
const plain: Answer = { status: 200, type: jsonType, body: '{"detail":"größer"}' };

/** Everything that a server sends which answers a request so, but for the date. */
async function sent(answer: Answer): Promise<string> {
  const server = createServer((req, res) => {
    const call = new Call(req, res, 'a-request', client);
    call.verdict = { bucket: 'anon', limit: 60, remaining: 59, resetMs: 1_000 } as Call['verdict'];
    try {
      sendAnswer(call, answer);
    } catch {
      sendAnswer(call, { status: 500 });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    );
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return text.replace(/^(Date|X-RateLimit-Reset): .*\r$/gm, '$1\r');
}

describe('an answer', () => {
  it('has the headers of every answer, then its own, and its length in bytes', async () => {
    const lines = [
      'HTTP/1.1 200 OK',
      'X-Request-Id: a-request',
      'X-Content-Type-Options: nosniff',
      'Strict-Transport-Security: max-age=63072000; includeSubDomains',
      'RateLimit-Policy: "anon";q=60;w=60',
      'RateLimit: "anon";r=59;t=1',
      'X-RateLimit-Limit: 60',
      'X-RateLimit-Remaining: 59',
      'X-RateLimit-Reset',
      'Cache-Control: no-store',
      'ETag: "a"',
      'Content-Type: application/json; charset=utf-8',
      'Content-Length: 21',
      'Date',
      'Connection: close',
      '',
      '{"detail":"größer"}',
    ];
    expect(await sent({ ...plain, headers: { ETag: '"a"' } })).toBe(lines.join('\r\n'));
  });

  it.each(['a\r\nSet-Cookie: b', 'a\nb', 'a\rb', 'a\0b', 'ż', '\x7f'])('has no header with %j', async (value) => {
    const text = await sent({ ...plain, headers: { Location: value } });
    expect(text).toContain('HTTP/1.1 500 ');
    expect(text).not.toMatch(/Location|Cookie|größer/);
  });
});
