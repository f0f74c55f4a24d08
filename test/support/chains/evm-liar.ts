import { createServer, type Server } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { close, listen } from '../http/local-server.ts';
import { Refusal } from '../http/refusal.ts';

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Answer {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Stands before a real node and changes what it says. */
export class EvmLiar {
  /** Every call that came, in order. */
  readonly calls: string[] = [];
  /** Requests over HTTP; one may hold several calls. */
  requests = 0;
  /** What it says instead of a result, perhaps later; it may be a Refusal. */
  lie: (method: string, result: unknown, params: readonly unknown[]) => unknown = (_method, result) => result;
  readonly #target: string;
  readonly #server: Server;
  #url = '';

  constructor(target: string) {
    this.#target = target;
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Request | Request[];
      this.requests += 1;
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(await this.#answer(body)));
    });
  }

  /** As settings name it. */
  get node(): NodeConfig {
    return { url: this.#url, user: null, password: null, headers: {} };
  }

  async start(): Promise<this> {
    this.#url = `http://127.0.0.1:${await listen(this.#server)}`;
    return this;
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  async #answer(body: Request | Request[]): Promise<Answer | Answer[]> {
    const answer = await fetch(this.#target, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const told = (await answer.json()) as Answer | Answer[];
    if (!Array.isArray(body) || !Array.isArray(told)) return this.#change(body as Request, told as Answer);
    return Promise.all(told.map((one) => this.#change(body.find(({ id }) => id === one.id) as Request, one)));
  }

  async #change({ method, params }: Request, { id, result, error }: Answer): Promise<Answer> {
    this.calls.push(method);
    const said = await this.lie(method, result, params);
    if (said instanceof Refusal) return { jsonrpc: '2.0', id, error: said };
    if (said === result && error) return { jsonrpc: '2.0', id, error };
    return { jsonrpc: '2.0', id, result: said };
  }
}
