import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { PaymentIntent, PreparedTx, SignedTx } from './chain-adapter.ts';
import { type Signer, SignerError } from './signer.ts';

export interface SocketSignerOptions {
  /** Where `serveSigner` listens. */
  readonly socketPath: string;
  /** From the connection to the last byte of the answer. */
  readonly timeoutMs?: number;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * A signer in another process, asked over its unix socket. Whatever keeps a sound answer from arriving is
 * `unavailable`; only the signer's own word is `refused`.
 */
export class SocketSigner implements Signer {
  readonly #socketPath: string;
  readonly #timeoutMs: number;

  constructor({ socketPath, timeoutMs = 5_000 }: SocketSignerOptions) {
    this.#socketPath = socketPath;
    this.#timeoutMs = timeoutMs;
  }

  async sign(chain: string, intent: PaymentIntent, tx: PreparedTx): Promise<SignedTx> {
    const body = JSON.stringify({ chain, intent, tx }, (_name, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
    const signed = await this.#ask('POST', '/sign', body);
    if (!isSignedTx(signed)) throw unavailable('its answer is no signed transaction');
    const { txid, raw, reserves, expiresAt } = signed;
    return { txid, raw, reserves, expiresAt };
  }

  async hotWallet(chain: string): Promise<string> {
    const found = await this.#ask('GET', `/hot-wallet?chain=${encodeURIComponent(chain)}`);
    if (!isObject(found) || !isName(found.address)) throw unavailable('its answer is no address');
    return found.address;
  }

  /** The body of a successful answer. */
  async #ask(method: string, path: string, requestBody = ''): Promise<unknown> {
    const { status, body } = await this.#exchange(method, path, requestBody);
    if (status === 200) return body;
    const { code, detail } = isObject(body) ? body : {};
    const said = typeof detail === 'string' ? detail : 'without a reason';
    if (status === 409 && code === 'refused') throw new SignerError('refused', said);
    // Also a request that it does not understand: another version may have signed it before.
    throw unavailable(`it answered ${status}: ${said}`);
  }

  async #exchange(method: string, path: string, requestBody: string): Promise<Answer> {
    let deadline: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(requestBody) };
        // A connection of its own: a kept one would fail after a restart of the signer.
        const options = { socketPath: this.#socketPath, method, path, headers, agent: false };
        const req = request(options, (res) => {
          text(res)
            .then((body) => resolve({ status: res.statusCode ?? 0, body: JSON.parse(body) }))
            .catch(reject);
        });
        req.on('error', reject);
        deadline = setTimeout(() => {
          const late = new Error(`no answer within ${this.#timeoutMs} ms`);
          reject(late);
          req.destroy(late);
        }, this.#timeoutMs);
        req.end(requestBody);
      });
    } catch (error) {
      throw unavailable(error instanceof Error ? error.message : 'the connection failed', error);
    } finally {
      clearTimeout(deadline);
    }
  }
}

function unavailable(why: string, cause?: unknown): SignerError {
  return new SignerError('unavailable', `the signer gave no usable answer: ${why}`, cause);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isSignedTx(value: unknown): value is SignedTx {
  return (
    isObject(value) &&
    isName(value.txid) &&
    isName(value.raw) &&
    Array.isArray(value.reserves) &&
    value.reserves.every(isName) &&
    (value.expiresAt === null || Number.isSafeInteger(value.expiresAt))
  );
}
