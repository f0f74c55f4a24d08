import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { SignerProcess } from './signer-process.ts';

/**
 * When a signer ends: before it reads a request to sign, or after it signed and before it answers.
 */
export type SignerEnd = 'before it signs' | 'after it signed';

export interface SignerGateOptions {
  /** Of the gateways. */
  readonly socketPath: string;
  /** Of the signer. */
  readonly signerPath: string;
  /** Starts a signer that can be asked. */
  readonly start: () => Promise<SignerProcess>;
}

/**
 * Stands before a signer, passes on what gateways ask of it, and kills it at the moment that a test
 * names.
 */
export class SignerGate {
  readonly #options: SignerGateOptions;
  readonly #server: Server;
  #signer: SignerProcess;
  #end: SignerEnd | null = null;
  /** Signers that were killed at their moment. */
  kills = 0;

  private constructor(options: SignerGateOptions, signer: SignerProcess) {
    this.#options = options;
    this.#signer = signer;
    this.#server = createServer((asked, answer) => {
      this.#pass(asked).then(
        ({ status, headers, body }) => {
          answer.writeHead(status, headers);
          answer.end(body);
        },
        () => asked.destroy(),
      );
    });
  }

  static async open(options: SignerGateOptions): Promise<SignerGate> {
    const gate = new SignerGate(options, await options.start());
    gate.#server.listen(options.socketPath);
    await once(gate.#server, 'listening');
    return gate;
  }

  /** Ends the signer at the next request to sign. */
  killNext(end: SignerEnd): void {
    this.#end = end;
  }

  /** Starts the signer again after it was killed. */
  async restart(): Promise<void> {
    this.#signer = await this.#options.start();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await this.#signer.stop();
  }

  async #pass(
    asked: IncomingMessage,
  ): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }> {
    const { method = '', url = '', headers } = asked;
    const body = await buffer(asked);
    const end = url === '/sign' ? this.#end : null;
    if (end === 'before it signs') await this.#kill();
    const passed = request({ socketPath: this.#options.signerPath, method, path: url, headers, agent: false });
    const answered = once(passed, 'response') as Promise<[IncomingMessage]>;
    passed.end(body);
    const [answer] = await answered;
    const signed = { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) };
    if (end === 'after it signed' && signed.status === 200) {
      await this.#kill();
      throw new Error('the signer ended before its answer arrived');
    }
    return signed;
  }

  async #kill(): Promise<void> {
    this.#end = null;
    await this.#signer.kill();
    this.kills += 1;
  }
}
