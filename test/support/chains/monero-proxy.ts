import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { close, listen } from '../http/local-server.ts';

/** Changes an answer to a method or path; the text as it is sent. */
export type Lie = (call: string, answer: string) => string;

/**
 * Stands between a client and one of Monero's programs, and changes answers. All requests go on one
 * connection, as the programs tie their challenges to it.
 */
export class MoneroProxy {
  lie: Lie | null = null;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #upstream: NodeConfig;
  #url = '';

  constructor(upstream: NodeConfig) {
    this.#upstream = upstream;
    this.#server = createServer((req, res) => {
      void this.#pass(req).then(
        ({ status, headers, text }) => {
          res.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) });
          res.end(text);
        },
        () => res.destroy(),
      );
    });
  }

  async start(): Promise<this> {
    this.#url = `http://127.0.0.1:${await listen(this.#server)}`;
    return this;
  }

  get config(): NodeConfig {
    return { ...this.#upstream, url: this.#url };
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await close(this.#server);
  }

  async #pass(req: IncomingMessage): Promise<{ status: number; headers: Record<string, string[]>; text: string }> {
    const body = await buffer(req);
    const { url = '' } = req;
    const { authorization } = req.headers;
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      ...(authorization && { authorization }),
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(`${this.#upstream.url}${url}`, { method: 'POST', headers, agent: this.#agent }, resolve);
      sent.on('error', reject);
      sent.end(body);
    });
    const text = (await buffer(answer)).toString('utf8');
    const challenges = answer.rawHeaders.filter((_, at) => /^www-authenticate$/i.test(answer.rawHeaders[at - 1] ?? ''));
    const passed: Record<string, string[]> = challenges.length > 0 ? { 'WWW-Authenticate': challenges } : {};
    const status = answer.statusCode ?? 500;
    const call = /"method":"(\w+)"/.exec(body.toString('utf8'))?.[1] ?? url.slice(1);
    return { status, headers: passed, text: status === 200 && this.lie ? this.lie(call, text) : text };
  }
}
