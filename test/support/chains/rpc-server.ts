import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { close, listen } from '../http/local-server.ts';

/** How calls fail altogether. */
export interface RpcFaults {
  /** Only calls whose method fits to `methods` fail. */
  transport?: 'half' | 'empty' | 'html' | 429 | 500 | 503;
  methods?: RegExp;
  /** Is called before each answer: to change the network between two calls. */
  before?: (method: string) => Promise<void> | void;
}

/** An answer with its status, also to a request that is no call. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** How a kind of server reads calls and answers them. */
export interface Dialect<Call extends { readonly method: string }> {
  faults(): RpcFaults;
  read(text: string, request: IncomingMessage): Call | Refusal;
  answer(call: Call): string | Promise<string | Refusal>;
}

/** A server of one kind of calls, which fails as its faults say. */
export class RpcServer<Call extends { readonly method: string }> {
  /** The method of each call, in order. */
  readonly asked: string[] = [];
  readonly #dialect: Dialect<Call>;
  readonly #server: Server;
  #url = '';

  constructor(dialect: Dialect<Call>) {
    this.#dialect = dialect;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async start(): Promise<void> {
    this.#url = `http://127.0.0.1:${await listen(this.#server)}`;
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  /** As settings name it. */
  get config(): NodeConfig {
    return { url: this.#url, user: null, password: null, headers: {} };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = this.#dialect.read(Buffer.concat(chunks).toString(), request);
    if (!('method' in call)) {
      response.statusCode = call.status;
      response.end(call.text);
      return;
    }
    this.asked.push(call.method);
    const faults = this.#dialect.faults();
    await faults.before?.(call.method);
    const { transport, methods = /^/ } = this.#dialect.faults();
    const fault = transport !== undefined && methods.test(call.method) ? transport : null;
    if (typeof fault === 'number') response.statusCode = fault;
    response.setHeader('Content-Type', fault === 'html' ? 'text/html' : 'application/json; charset=UTF-8');
    if (typeof fault === 'number' || fault === 'empty') response.end(fault === 503 ? 'Server is overloaded' : '');
    else if (fault === 'html') response.end('<html><body>Bad gateway</body></html>');
    else {
      const answer = await this.#dialect.answer(call);
      const text = typeof answer === 'string' ? answer : answer.text;
      if (typeof answer !== 'string') response.statusCode = answer.status;
      response.end(fault === 'half' ? text.slice(0, text.length / 2) : text);
    }
  }
}
