import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { HttpNode } from '../../../src/chains/nodes/http-node.ts';
import { close, listen } from '../../support/http/local-server.ts';

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** A server that ties each challenge to its connection, as Monero's programs do. */
class DigestServer {
  readonly server: Server;
  readonly seen: string[] = [];
  readonly #nonces = new Map<Socket, string>();
  #made = 0;

  constructor(readonly password: string) {
    this.server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        if (!this.#isProven(req)) {
          this.#made += 1;
          const nonce = `nonce-${this.#made}`;
          this.#nonces.set(req.socket, nonce);
          const terms = `qop="auth",realm="monero-rpc",nonce="${nonce}",stale=false`;
          const lines = [`Digest ${terms},algorithm=MD5`, `Digest ${terms},algorithm=MD5-sess`];
          res.writeHead(401, { 'WWW-Authenticate': lines });
          res.end('<html>no</html>');
          return;
        }
        this.seen.push(Buffer.concat(chunks).toString());
        res.end(`{"ok":${this.seen.length}}`);
      });
    });
  }

  get challenges(): number {
    return this.#made;
  }

  /** Forgets what it asked, so that the next proof is of an unknown challenge. */
  forget(): void {
    this.#nonces.clear();
  }

  #isProven({ headers, socket, method, url }: IncomingMessage): boolean {
    const line = headers.authorization ?? '';
    const part = (name: string): string => new RegExp(`${name}="?([^",]+)"?`).exec(line)?.[1] ?? '';
    const nonce = this.#nonces.get(socket);
    if (!line.startsWith('Digest ') || nonce === undefined || part('nonce') !== nonce || part('uri') !== url)
      return false;
    const first = md5(`gateway:monero-rpc:${this.password}`);
    const right = md5([first, nonce, part('nc'), part('cnonce'), 'auth', md5(`${method}:${url}`)].join(':'));
    return part('response') === right;
  }
}

describe('Digest authentication', () => {
  let served: DigestServer;
  let url: string;

  beforeEach(async () => {
    served = new DigestServer('secret');
    url = `http://127.0.0.1:${await listen(served.server)}/below`;
  });
  afterEach(() => close(served.server));

  const client = (password: string): HttpNode =>
    new HttpNode({ url, user: 'gateway', password, headers: {} }, { digest: true });

  test('proves the password without sending it, and asks once for a connection', async () => {
    const node = client('secret');
    expect(await node.post('call', { n: 1 })).toEqual({ ok: 1 });
    expect(await node.post('call', { n: 2 })).toEqual({ ok: 2 });
    expect(served.seen).toEqual(['{"n":1}', '{"n":2}']);
    expect(served.challenges).toBe(1);
  });

  test('sends concurrent requests one after the other, on the connection of their challenge', async () => {
    const node = client('secret');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => node.post('call', { n })));
    expect(answers).toEqual(answers.map((_, n) => ({ ok: n + 1 })));
    expect(served.challenges).toBe(1);
  });

  test('answers a new challenge', async () => {
    const node = client('secret');
    await node.post('call', {});
    served.forget();
    expect(await node.post('call', {})).toEqual({ ok: 2 });
    served.server.closeAllConnections();
    expect(await node.post('call', {})).toEqual({ ok: 3 });
  });

  test('says that the credentials are wrong', async () => {
    await expect(client('wrong').post('call', {})).rejects.toMatchObject({ code: 'unauthorised' });
    expect(served.seen).toEqual([]);
  });
});
