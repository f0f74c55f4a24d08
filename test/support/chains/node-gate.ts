import { createServer, type Server } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { close, listen } from '../http/local-server.ts';

/** Stands before a node, and may be shut, or lead to another one. */
export class NodeGate {
  readonly #server: Server;
  readonly #own: NodeConfig;
  #target: NodeConfig | null;
  #port = 0;

  constructor(node: NodeConfig) {
    this.#own = node;
    this.#target = node;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', async () => {
        try {
          if (this.#target === null) throw new Error('the gate is shut');
          const { url, user, password } = this.#target;
          const headers = { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(`${user}:${password}`)}` };
          const answer = await fetch(url, { method: 'POST', headers, body: Buffer.concat(chunks) });
          response.writeHead(answer.status, { 'Content-Type': 'application/json' });
          response.end(await answer.text());
        } catch {
          request.socket.destroy();
        }
      });
    });
  }

  async start(): Promise<this> {
    this.#port = await listen(this.#server);
    return this;
  }

  /** As the file of networks names it. */
  get node(): Readonly<Record<string, string>> {
    const { user, password } = this.#own;
    return { url: `http://127.0.0.1:${this.#port}/`, ...(user === null ? {} : { user, password: password ?? '' }) };
  }

  /** Requests get no answer any more. */
  shut(): void {
    this.#target = null;
  }

  /** Leads to the node again, or to another one. */
  open(node: NodeConfig = this.#own): void {
    this.#target = node;
  }

  stop(): Promise<void> {
    return close(this.#server);
  }
}
