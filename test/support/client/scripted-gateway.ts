import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { close, listen } from '../http/local-server.ts';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; text is sent as it is. */
  readonly body?: unknown;
}

/**
 * The answers to the requests, in their order: an answer, or what to do instead of one. The last
 * one repeats.
 */
export type Script = readonly (ScriptedAnswer | 'cut' | 'hang')[];

/** A server of this machine that answers from a script, as a gateway in trouble would. */
export class ScriptedGateway {
  readonly requests: Arrived[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: target = '', headers } = request;
      this.requests.push({ method, target, headers, body: Buffer.concat(chunks).toString() });
      this.#answer(response);
    });
  });
  #script: Script = [];
  #step = 0;
  url = '';

  async start(): Promise<this> {
    this.url = `http://127.0.0.1:${await listen(this.#server)}`;
    return this;
  }

  /** Forgets the requests so far, and answers the next ones from the script. */
  plays(...script: Script): void {
    this.requests.length = 0;
    this.#script = script;
    this.#step = 0;
  }

  #answer(response: ServerResponse): void {
    const step = this.#script[Math.min(this.#step++, this.#script.length - 1)] ?? 'cut';
    if (step === 'hang') return;
    if (step === 'cut') return void response.socket?.destroy();
    const { status = 200, headers = {}, body } = step;
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req-1', ...headers });
    response.end(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
  }

  stop(): Promise<void> {
    return close(this.#server);
  }
}

/** A refusal of the contract. */
export function refusal(status: number, code: string, more: Record<string, unknown> = {}): ScriptedAnswer {
  return { status, body: { detail: `It is ${code}.`, code, request_id: 'req-2', ...more } };
}
