import { span } from '../../base/telemetry/tracing.ts';
import type { NodeConfig } from '../networks/network-config.ts';
import { ChainError } from '../port/chain-adapter.ts';
import { NodeFault } from './node-answer.ts';

/** An error that a node answered in place of a result. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface RpcCall {
  readonly method: string;
  readonly params?: readonly unknown[];
}

export interface JsonRpcOptions {
  readonly timeoutMs?: number;
  /** The longest answer that is read. */
  readonly maxBytes?: number;
  /** Numbers in answers stay text, so that no amount passes through a binary float. */
  readonly numbersAsText?: boolean;
}

/** HTTP status codes of a proxy in front of the node, which do not depend on the call. */
const tooBusy: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** JSON-RPC 2.0 over HTTP, as nodes of EVM and of Bitcoin-like chains serve it. */
export class JsonRpcNode {
  /** Scheme, host and port, without credentials or an API key in the path. */
  readonly name: string;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #options: Required<JsonRpcOptions>;
  #id = 0;

  constructor({ url, user, password, headers }: NodeConfig, options: JsonRpcOptions = {}) {
    this.name = new URL(url).origin;
    this.#url = url;
    const basic = user === null ? {} : { Authorization: `Basic ${btoa(`${user}:${password ?? ''}`)}` };
    this.#headers = { 'Content-Type': 'application/json', ...basic, ...headers };
    this.#options = { timeoutMs: 15_000, maxBytes: 256 * 1024 * 1024, numbersAsText: false, ...options };
  }

  /**
   * The result of one call.
   *
   * @throws RpcError when the node refuses it; ChainError when there is no valid answer.
   */
  async call<T>(method: string, params: readonly unknown[] = []): Promise<T> {
    const id = ++this.#id;
    const answer = await this.#traced(method, { jsonrpc: '2.0', id, method, params });
    const result = this.#result<T>(answer);
    // An error may lack the id. A result with another id belongs to another call.
    if (String(asObject(answer)?.id) !== String(id)) throw this.#fault('unsound_answer', 'answered another question');
    return result;
  }

  /**
   * The results of several calls in one request, in their order.
   *
   * @throws RpcError when the node refuses any of them; ChainError when there is no valid answer.
   */
  async batch<T>(calls: readonly RpcCall[]): Promise<T[]> {
    if (calls.length === 0) return [];
    const first = this.#id + 1;
    const requests = calls.map(({ method, params = [] }) => ({ jsonrpc: '2.0', id: ++this.#id, method, params }));
    const answers = await this.#traced(`batch of ${calls[0]?.method}`, requests);
    if (!Array.isArray(answers)) {
      // A node that refuses the request as a whole answers with one error.
      this.#result(answers);
      throw this.#fault('unsound_answer', 'answered several calls with no list');
    }
    const byId = new Map(answers.map((answer) => [String(asObject(answer)?.id), answer]));
    return calls.map((_, index) => this.#result<T>(byId.get(String(first + index))));
  }

  #result<T>(answer: unknown): T {
    const object = asObject(answer);
    if (!object) throw this.#fault('unsound_answer', 'left out an answer');
    const error = asObject(object.error);
    if (error) throw new RpcError(Number.parseInt(String(error.code), 10), String(error.message).slice(0, 300));
    if (!('result' in object)) throw this.#fault('unsound_answer', 'gave an answer without a result');
    return object.result as T;
  }

  #traced(method: string, body: unknown): Promise<unknown> {
    return span(`node ${method}`, { kind: 'client', attributes: { 'server.address': this.name } }, () =>
      this.#post(body),
    );
  }

  async #post(body: unknown): Promise<unknown> {
    const { timeoutMs } = this.#options;
    let text: string;
    let status: number;
    try {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      status = answer.status;
      text = await this.#read(answer);
    } catch (cause) {
      if (cause instanceof ChainError) throw cause;
      throw this.#fault('unreachable', 'does not answer', cause);
    }
    if (status === 401 || status === 403) {
      throw this.#fault('unauthorised', `refuses the credentials (HTTP ${status})`);
    }
    if (tooBusy.has(status)) throw this.#fault('busy', `is busy (HTTP ${status})`);
    try {
      return this.#options.numbersAsText ? parseNumbersAsText(text) : JSON.parse(text);
    } catch (cause) {
      throw this.#fault('unsound_answer', `answered HTTP ${status} and no JSON`, cause);
    }
  }

  async #read(answer: Response): Promise<string> {
    const { maxBytes } = this.#options;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw this.#fault('unsound_answer', `answered more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  #fault(code: string, what: string, cause?: unknown): NodeFault {
    return new NodeFault(code, what, { node: this.name, cause });
  }
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

/** https://github.com/tc39/proposal-json-parse-with-source */
function parseNumbersAsText(text: string): unknown {
  const keepSource = (_name: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' ? (context?.source ?? value) : value;
  return JSON.parse(text, keepSource as (name: string, value: unknown) => unknown);
}
