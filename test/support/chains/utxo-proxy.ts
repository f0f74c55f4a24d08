import { createServer, type Server } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { close, listen } from '../http/local-server.ts';
import { Refusal } from '../http/refusal.ts';

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * What is answered instead of what the node says, or a promise of it; undefined for the node's own
 * answer.
 */
export type Falsify = (method: string, params: readonly unknown[], result: unknown) => unknown;

/** Stands before a node and changes what it answers. Amounts are passed on as they are written. */
export class UtxoProxy {
  falsify: Falsify = () => undefined;
  readonly #node: NodeConfig;
  readonly #server: Server;

  constructor(node: NodeConfig) {
    this.#node = node;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', async () => {
        const asked: Call | readonly Call[] = JSON.parse(Buffer.concat(chunks).toString());
        const answer = Array.isArray(asked)
          ? `[${(await Promise.all(asked.map((call) => this.#answer(call)))).join(',')}]`
          : await this.#answer(asked as Call);
        response.end(answer);
      });
    });
  }

  async start(): Promise<NodeConfig> {
    return { ...this.#node, url: `http://127.0.0.1:${await listen(this.#server)}/` };
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  async #answer(call: Call): Promise<string> {
    const { url, user, password } = this.#node;
    const headers = { Authorization: `Basic ${btoa(`${user}:${password}`)}` };
    const text = await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(call) })).text();
    const changed = await this.falsify(call.method, call.params, JSON.parse(text).result);
    if (changed === undefined) return text.trim();
    if (changed instanceof Refusal) {
      return JSON.stringify({ id: call.id, result: null, error: changed });
    }
    return JSON.stringify({ id: call.id, result: changed, error: null });
  }
}
