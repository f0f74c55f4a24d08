import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { headerLine, keepAliveMs, writeHead } from '../../../src/surfaces/rest/api/head.ts';

const body = '{"detail":"größer"}';
const length = Buffer.byteLength(body);
const lines = `X-Request-Id: 1\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${length}\r\n`;
const pairs = ['X-Request-Id', '1', 'Content-Type', 'application/json; charset=utf-8', 'Content-Length', `${length}`];

/** Answers by the path: by Node's own method below /node, and by ours elsewhere. */
const answer: RequestListener = (req, res) => {
  const url = req.url ?? '';
  const status = Number(/\d{3}/.exec(url)?.[0] ?? 200);
  if (url.includes('closing')) res.setHeader('Connection', 'close');
  if (url.startsWith('/node')) res.writeHead(status, pairs);
  else writeHead(res, status, lines, true);
  end(res, url);
};

function end(res: ServerResponse, url: string): void {
  if (!url.includes('bits')) {
    res.end(url.includes('bytes') ? Buffer.from(body) : body);
    return;
  }
  res.write(body.slice(0, 5));
  setImmediate(() => res.end(body.slice(5)));
}

const server = createServer({ keepAliveTimeout: keepAliveMs }, answer);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

/** Everything that the server sends for these bytes, until it closes the connection. */
function sent(bytes: string): Promise<string> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text.replace(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r$/gm, 'Date\r')));
    socket.on('error', reject);
  });
}

const last = 'GET /node HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const requests: Record<string, (path: string) => string> = {
  'of HTTP/1.1': (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n${last}`,
  'with another status': (path) => `GET ${path}/422 HTTP/1.1\r\nHost: a\r\n\r\n${last}`,
  'for the head only': (path) => `HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n${last}`,
  'answered with bytes': (path) => `GET ${path}/bytes HTTP/1.1\r\nHost: a\r\n\r\n${last}`,
  'answered bit by bit': (path) => `GET ${path}/bits HTTP/1.1\r\nHost: a\r\n\r\n${last}`,
  'sent three at once': (path) => `${`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(3)}${last}`,
  'that expect 100-continue': (path) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n${last}`,
  'that end the connection': (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  'of HTTP/1.0': (path) => `GET ${path} HTTP/1.0\r\n\r\n`,
  'of HTTP/1.0 that keep the connection': (path) => `GET ${path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n${last}`,
  'answered with another header of the server': (path) => `GET ${path}/closing HTTP/1.1\r\nHost: a\r\n\r\n`,
};

describe('the head of an answer', () => {
  it.each(Object.keys(requests))("has the bytes of Node's own, to requests %s", async (name) => {
    const request = requests[name] as (path: string) => string;
    const [own, nodes] = await Promise.all([sent(request('/own')), sent(request('/node'))]);
    expect(own).toBe(nodes);
    expect(own).toContain('X-Request-Id: 1');
  });

  it('is made without Node where nothing is unusual', async () => {
    let nodes = 0;
    const counted = createServer((_req, res) => {
      const { writeHead: original } = res;
      res.writeHead = ((...given: unknown[]) => {
        nodes++;
        return Reflect.apply(original, res, given);
      }) as typeof res.writeHead;
      writeHead(res, 200, lines, true);
      res.end(body);
    });
    await new Promise<void>((resolve) => counted.listen(0, '127.0.0.1', resolve));
    const { port } = counted.address() as AddressInfo;
    const reply = await fetch(`http://127.0.0.1:${port}`);
    expect([reply.status, await reply.text(), nodes]).toEqual([200, body, 0]);
    counted.closeAllConnections();
    await new Promise<void>((resolve) => counted.close(() => resolve()));
  });

  it.each(['a\r\nSet-Cookie: b', 'a\nb', 'a\rb', 'a\0b', 'ż', '\x7f'])('has no header with %j', (value) => {
    expect(() => headerLine('Location', value)).toThrow('Location');
  });
});
