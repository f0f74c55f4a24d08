import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ImitatedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/**
 * What becomes of a request. `broken`: the connection ends without an answer. `late`: so it does,
 * and the request is done `delayMs` later. `drip`: one byte of an answer at a time, for ever.
 */
export type Reaction =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'broken' | 'drip' }
  | { readonly kind: 'late'; readonly delayMs: number };

/** @param isLate The request arrives late, after `late` was the reaction to it. */
type React = (request: ImitatedRequest, isLate: boolean) => Promise<Reaction>;

/** Longer than a client's own limit, which would otherwise find a connection closed as it sends. */
const keepAliveMs = 600_000;
const longestBody = 1_000_000;

/** Serves an imitated exchange over HTTP, on a free port of this machine and of no network. */
export class ImitationServer {
  readonly #server: Server;
  readonly #react: React;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(react: React) {
    this.#react = react;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    this.#server.keepAliveTimeout = keepAliveMs;
  }

  /** Returns the scheme, host and port at which it is reached. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#server.unref();
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends it and every connection to it. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of incoming) {
      body += part;
      if (body.length > longestBody) throw new Error('the request is too long');
    }
    const url = new URL(incoming.url ?? '/', 'http://imitation');
    const request = { method: incoming.method ?? 'GET', url, headers: incoming.headers, body };
    const reaction = await this.#react(request, false);
    switch (reaction.kind) {
      case 'answer': {
        const type = reaction.body.startsWith('<') ? 'text/html' : 'application/json';
        response.writeHead(reaction.status, { 'Content-Type': type }).end(reaction.body);
        return;
      }
      case 'broken':
        response.destroy();
        return;
      case 'late':
        response.destroy();
        this.#timers.add(setTimeout(() => void this.#react(request, true).catch(() => {}), reaction.delayMs));
        return;
      case 'drip': {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        this.#timers.add(timer);
        response.on('close', () => clearInterval(timer));
      }
    }
  }
}
