import { isBrowser, refuseKey } from './environment.ts';
import type { ErrorBody } from './generated/contract.ts';
import { PartnerError } from './partner-error.ts';
import { abortedError, pause } from './pause.ts';

export interface ClientOptions {
  /** Address of the gateway. Without a path, the API is below `/api/v1`. */
  readonly url: string;
  /** The whole key, `<KEY_ID>.<SECRET>`. Public operations work without one. */
  readonly key?: string | undefined;
  /** Longest wait for one answer in milliseconds, 30,000 unless given. A repetition has its own. */
  readonly timeoutMs?: number;
  /** How often a failed request is repeated: twice unless given. */
  readonly maxRetries?: number;
  /** Milliseconds before the first repetition, 500 unless given. The pause doubles each time. */
  readonly retryDelayMs?: number;
  /** Sends `X-Signature` with each request, for accounts that require it. Needs a key. */
  readonly signRequests?: boolean;
  /** Takes the place of the platform's own `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Allows a key in a browser. Each visitor of the page can then read it. */
  readonly dangerouslyAllowBrowser?: boolean;
}

export interface RequestOptions {
  /** Ends the call and its repetitions. */
  readonly signal?: AbortSignal;
  /** In place of the client's. */
  readonly timeoutMs?: number;
  /** In place of the client's. */
  readonly maxRetries?: number;
  /** For a call that writes: your own key, kept over repetitions. A random one unless given. */
  readonly idempotencyKey?: string;
}

/** A request as it is sent, and sent again. */
export interface Outgoing {
  readonly method: string;
  /** Path below the root of the API, with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; null without a body. */
  readonly body: string | null;
  /** Null for a request that writes nothing. */
  readonly idempotencyKey: string | null;
  /** Whether it may be sent again when its effect is unknown. */
  readonly isRepeatable: boolean;
  readonly hasAmounts: boolean;
}

/** A success, or 304. */
export interface Incoming {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or the text of another type; undefined without a body. */
  readonly body: unknown;
}

/** A longer pause is left to the caller. */
const maxRetryAfterMs = 60_000;
const maxDelayMs = 8_000;
/** The longest time of a timer. */
const maxTimerMs = 2_147_483_647;

/** Sends requests to one gateway. Repeats a failed request that may succeed later. */
export class Transport {
  /** Private, so that no log of the client shows it. */
  readonly #key: string | null;
  readonly #signs: boolean;
  readonly #root: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #retryDelayMs: number;

  /** Throws a TypeError for options that cannot work or are not safe. */
  constructor(options: ClientOptions) {
    const { key, timeoutMs = 30_000, maxRetries = 2, retryDelayMs = 500 } = options;
    if (key !== undefined && options.dangerouslyAllowBrowser !== true && isBrowser()) refuseKey();
    // The message must not show the key.
    if (key !== undefined && !/^[!-~]+$/.test(key)) throw new TypeError('The key must be visible ASCII text.');
    this.#key = key ?? null;
    this.#signs = options.signRequests ?? false;
    if (this.#signs && !key?.includes('.')) throw new TypeError('signRequests needs a key, <KEY_ID>.<SECRET>.');
    this.#root = rootOf(options.url, key !== undefined);
    this.#fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
    this.#timeoutMs = checkedTime('timeoutMs', timeoutMs);
    this.#maxRetries = checkedCount('maxRetries', maxRetries);
    this.#retryDelayMs = checkedTime('retryDelayMs', retryDelayMs);
  }

  /** Sends a request. Throws a PartnerError for each answer but a success. */
  async send(request: Outgoing, options: RequestOptions = {}): Promise<Incoming> {
    const { signal } = options;
    const timeoutMs = checkedTime('timeoutMs', options.timeoutMs ?? this.#timeoutMs);
    const maxRetries = checkedCount('maxRetries', options.maxRetries ?? this.#maxRetries);
    for (let retries = 0; ; retries++) {
      try {
        return await this.#once(request, timeoutMs, signal);
      } catch (error) {
        if (!(error instanceof PartnerError) || !error.isTemporary || retries >= maxRetries) throw error;
        if (!request.isRepeatable && !hadNoEffect(error)) throw error;
        if ((error.retryAfterMs ?? 0) > maxRetryAfterMs) throw error;
        await pause(this.#delay(retries, error.retryAfterMs), signal, request.idempotencyKey);
      }
    }
  }

  /** Half of the pause is chance, so that clients that failed together come back one by one. */
  #delay(retries: number, retryAfterMs: number | null): number {
    const base = Math.min(this.#retryDelayMs * 2 ** retries, maxDelayMs);
    return retryAfterMs === null ? base * (0.5 + Math.random() / 2) : retryAfterMs + (base * Math.random()) / 2;
  }

  async #once(request: Outgoing, timeoutMs: number, signal: AbortSignal | undefined): Promise<Incoming> {
    const { method, target, body, idempotencyKey } = request;
    if (signal?.aborted) throw abortedError(signal, idempotencyKey);
    const ending = new AbortController();
    const abort = (): void => ending.abort();
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(abort, timeoutMs);
    try {
      const response = await this.#fetch(`${this.#root}${target}`, {
        method,
        headers: await this.#headers(request),
        body,
        // The key goes to the address that was given, and to no other.
        redirect: 'manual',
        signal: ending.signal,
      });
      return read(request, response, await response.text());
    } catch (error) {
      if (error instanceof PartnerError) throw error;
      if (signal?.aborted) throw abortedError(signal, idempotencyKey);
      throw ending.signal.aborted
        ? new PartnerError('timeout', `No answer in ${timeoutMs} ms.`, { idempotencyKey })
        : new PartnerError('connection_failed', 'The gateway gave no answer.', { idempotencyKey, cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  async #headers({ body, idempotencyKey, hasAmounts, headers: more }: Outgoing): Promise<Headers> {
    const headers = new Headers({ Accept: 'application/json, image/svg+xml', ...more });
    if (this.#key !== null) headers.set('Authorization', `Bearer ${this.#key}`);
    if (this.#key !== null && this.#signs) headers.set('X-Signature', await signature(this.#key, body ?? ''));
    if (hasAmounts) headers.set('Amounts', 'string');
    if (body !== null) headers.set('Content-Type', 'application/json');
    if (idempotencyKey !== null) headers.set('Idempotency-Key', idempotencyKey);
    return headers;
  }
}

/** Hexadecimal HMAC-SHA256 of a body, with the secret of the key. */
async function signature(key: string, body: string): Promise<string> {
  const text = new TextEncoder();
  const secret = text.encode(key.slice(key.indexOf('.') + 1));
  const hmac = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hexadecimal(new Uint8Array(await crypto.subtle.sign('HMAC', hmac, text.encode(body))));
}

/** Writes bytes as lower-case hexadecimal digits. */
export function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Whether the gateway refused the request before it looked at it. */
function hadNoEffect({ status, body }: PartnerError): boolean {
  return body !== null && (status === 408 || status === 429);
}

/** The root of the API: a key must not travel in clear, except on this machine. */
function rootOf(url: string, hasKey: boolean): string {
  const parsed = new URL(url);
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(parsed.hostname);
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') throw new TypeError('The url must be https.');
  if (hasKey && parsed.protocol === 'http:' && !isLocal) {
    throw new TypeError('The url must be https: over http the key would travel in clear.');
  }
  if (parsed.username || parsed.password || parsed.search || parsed.hash) {
    throw new TypeError('The url must have no user, password, query or fragment.');
  }
  const path = parsed.pathname.replace(/\/+$/, '');
  return `${parsed.origin}${path === '' ? '/api/v1' : path}`;
}

/** Reads an answer. Throws a PartnerError for each one but a success. */
function read({ idempotencyKey, hasAmounts }: Outgoing, response: Response, text: string): Incoming {
  const { status, headers } = response;
  const facts = { status, requestId: headers.get('x-request-id'), idempotencyKey };
  const isJson = /^application\/json\b/i.test(headers.get('content-type') ?? '');
  const invalid = (why: string, cause?: unknown): PartnerError =>
    new PartnerError('invalid_answer', `The answer ${status} ${why}.`, { ...facts, cause });
  let body: unknown;
  try {
    if (text !== '') body = isJson ? JSON.parse(text, hasAmounts ? exactNumber : undefined) : text;
  } catch (error) {
    throw invalid(error instanceof RangeError ? error.message : 'is not valid JSON', error);
  }
  const isSuccess = body === undefined ? status === 204 || status === 304 : status >= 200 && status <= 202;
  if (isSuccess) return { status, headers, body };
  if (!isErrorBody(body)) throw invalid('is not one of the contract; is the url right?');
  throw new PartnerError(body.code, body.detail, { ...facts, body, retryAfterMs: retryAfterMs(headers) });
}

/** Refuses amounts that are numbers: their digits are lost before the client sees them. */
function exactNumber(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError('has an amount as a number: this gateway does not know the header Amounts');
  }
  return value;
}

function isErrorBody(body: unknown): body is ErrorBody {
  const { code, detail } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ErrorBody>;
  return typeof code === 'string' && typeof detail === 'string';
}

/** Reads `Retry-After`: seconds, or a time. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const ms = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Milliseconds that a timer can count. Throws a RangeError for others. */
export function checkedTime(name: string, ms: number): number {
  if (!(ms >= 0 && ms <= maxTimerMs)) throw new RangeError(`${name} must be a number from 0 to ${maxTimerMs}.`);
  return ms;
}

function checkedCount(name: string, count: number): number {
  if (!(Number.isInteger(count) && count >= 0 && count <= 10)) throw new RangeError(`${name} must be from 0 to 10.`);
  return count;
}
