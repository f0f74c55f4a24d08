import type { NodeConfig } from '../networks/network-config.ts';
import { HttpNode, type HttpNodeOptions } from './http-node.ts';
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
  readonly params?: readonly unknown[] | object;
}

/** JSON-RPC 2.0 over HTTP, as nodes of EVM and of Bitcoin-like chains serve it. */
export class JsonRpcNode {
  readonly #http: HttpNode;
  #id = 0;

  constructor(config: NodeConfig, options: Omit<HttpNodeOptions, 'anyStatus'> = {}) {
    // A refusal comes with any status.
    this.#http = new HttpNode(config, { ...options, anyStatus: true });
  }

  /** Scheme, host and port, without credentials or an API key in the path. */
  get name(): string {
    return this.#http.name;
  }

  /**
   * The result of one call.
   *
   * @throws RpcError when the node refuses it; ChainError when there is no valid answer.
   */
  async call<T>(method: string, params: readonly unknown[] | object = []): Promise<T> {
    const id = ++this.#id;
    const answer = await this.#http.post('', { jsonrpc: '2.0', id, method, params }, method);
    const result = this.#result<T>(answer);
    // An error may lack the id. A result with another id belongs to another call.
    if (String(asObject(answer)?.id) !== String(id)) throw this.#unsound('answered another question');
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
    const answers = await this.#http.post('', requests, `batch of ${calls[0]?.method}`);
    if (!Array.isArray(answers)) {
      // A node that refuses the request as a whole answers with one error.
      this.#result(answers);
      throw this.#unsound('answered several calls with no list');
    }
    const byId = new Map(answers.map((answer) => [String(asObject(answer)?.id), answer]));
    return calls.map((_, index) => this.#result<T>(byId.get(String(first + index))));
  }

  #result<T>(answer: unknown): T {
    const object = asObject(answer);
    if (!object) throw this.#unsound('left out an answer');
    const error = asObject(object.error);
    if (error) throw new RpcError(Number.parseInt(String(error.code), 10), String(error.message).slice(0, 300));
    if (!('result' in object)) throw this.#unsound('gave an answer without a result');
    return object.result as T;
  }

  #unsound(what: string): NodeFault {
    return new NodeFault('unsound_answer', what, { node: this.name });
  }
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}
