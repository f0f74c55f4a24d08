import { formatDecimal, isDecimal } from '../../base/money.ts';
import { span } from '../../base/telemetry/tracing.ts';
import type { NodeConfig } from '../networks/network-config.ts';
import { ChainError } from '../port/chain-adapter.ts';
import { DigestClient } from './digest.ts';
import { NodeFault } from './node-answer.ts';

export interface HttpNodeOptions {
  readonly timeoutMs?: number;
  /** The longest answer that is read. */
  readonly maxBytes?: number;
  /**
   * Numbers in answers stay text, so that no amount passes through a binary float. The text has
   * neither an exponent nor zeros at the end of a fraction.
   */
  readonly numbersAsText?: boolean;
  /**
   * As `numbersAsText`, but whole numbers of up to 15 digits without a sign become numbers, which
   * hold them exactly. An answer without any other number is read several times as fast. With
   * 'whole' that is so too when its other numbers have up to 15 digits before the fraction. It is
   * for nodes whose fractions and negative numbers are not used.
   */
  readonly longNumbersAsText?: boolean | 'whole';
  /**
   * JSON is an answer with any HTTP status. Otherwise it is one with a status of success only: the
   * empty object of a broken proxy must not be read as an account without coins.
   */
  readonly anyStatus?: boolean;
  /** Credentials go by Digest authentication in place of Basic. */
  readonly digest?: boolean;
}

/** HTTP status codes of a proxy in front of the node, which do not depend on the call. */
const tooBusy: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The part of an answer that is no JSON which people are shown. */
const quotedLength = 100;
/** Shorter parts of a URL or a header are words such as 'v1' or 'Bearer', and no keys. */
const leastKeyLength = 8;

interface HttpRequest {
  readonly url: string;
  /** Null for a question without one. */
  readonly body: string | null;
}

/** Parameters of a question by name. A name may occur more than once. */
type QueryParams = Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[];

/** A node that answers HTTP requests with JSON. */
export class HttpNode {
  /** Scheme, host and port, without credentials or an API key in the path. */
  readonly name: string;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #secrets: readonly string[];
  readonly #options: Required<HttpNodeOptions>;
  readonly #digest: DigestClient | null;

  constructor({ url, user, password, headers }: NodeConfig, options: HttpNodeOptions = {}) {
    this.name = new URL(url).origin;
    this.#url = url;
    const isDigest = user !== null && options.digest === true;
    this.#digest = isDigest ? new DigestClient({ user, password: password ?? '' }) : null;
    const basic = user === null || isDigest ? undefined : btoa(`${user}:${password ?? ''}`);
    this.#headers = { ...(basic !== undefined && { Authorization: `Basic ${basic}` }), ...headers };
    this.#secrets = [password ?? '', basic ?? '', ...Object.values(headers).flatMap(partsOf), ...keysOf(url)]
      .filter((secret) => secret !== '')
      .map((secret) => secret.toLowerCase());
    this.#options = {
      ...{ timeoutMs: 15_000, maxBytes: 256 * 1024 * 1024, numbersAsText: false },
      ...{ longNumbersAsText: false, anyStatus: false, digest: false },
      ...options,
    };
  }

  /**
   * Posts JSON and returns the JSON of the answer.
   *
   * @param path Below the node's URL, without a slash at its beginning; '' for the URL itself. The
   *   URL's query, which may be an API key, is kept.
   * @param call What traces call the request.
   * @throws NodeFault when there is no valid answer.
   */
  post(path: string, body: unknown, call = path): Promise<unknown> {
    return this.#traced(call, { url: this.#at(path), body: JSON.stringify(body) });
  }

  /**
   * Asks by GET, and returns the JSON of the answer.
   *
   * @param path As that of `post`.
   * @param params Are added to the URL's query.
   * @param call What traces call the request.
   * @throws NodeFault when there is no valid answer.
   */
  get(path: string, params: QueryParams, call = path): Promise<unknown> {
    const url = new URL(this.#at(path));
    for (const [name, value] of Array.isArray(params) ? params : Object.entries(params)) {
      url.searchParams.append(name, value);
    }
    return this.#traced(call, { url: url.href, body: null });
  }

  #at(path: string): string {
    if (path === '') return this.#url;
    const url = new URL(this.#url);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
    return url.href;
  }

  #traced(call: string, request: HttpRequest): Promise<unknown> {
    return span(`node ${call}`, { kind: 'client', attributes: { 'server.address': this.name } }, () =>
      this.#answer(request),
    );
  }

  async #answer(request: HttpRequest): Promise<unknown> {
    const { status, text } = await this.#exchange(request);
    if (status === 401 || status === 403) {
      throw this.#fault('unauthorised', `refuses the credentials (HTTP ${status})`);
    }
    if (tooBusy.has(status)) throw this.#fault('busy', `is busy (HTTP ${status})`);
    const isSuccess = status >= 200 && status < 300;
    if (!isSuccess && !this.#options.anyStatus) {
      throw this.#fault('unsound_answer', `answered HTTP ${status}${this.#quoted(text)}`);
    }
    try {
      const { numbersAsText, longNumbersAsText } = this.#options;
      const needsText = longNumbersAsText === 'whole' ? longNumber : otherNumber;
      if (numbersAsText || (longNumbersAsText && needsText.test(text))) {
        return parseNumbersAsText(text, numbersAsText ? null : shortNumber);
      }
      return JSON.parse(text);
    } catch {
      // The parser's own error quotes the text too, with the secrets that may be in it.
      throw this.#fault('unsound_answer', `answered HTTP ${status} and no JSON${this.#quoted(text)}`);
    }
  }

  async #exchange({ url, body }: HttpRequest): Promise<{ readonly status: number; readonly text: string }> {
    const headers = { ...(body !== null && { 'Content-Type': 'application/json' }), ...this.#headers };
    const { timeoutMs } = this.#options;
    try {
      if (this.#digest !== null && body !== null) {
        const read = async (answer: { status: number; body: AsyncIterable<Uint8Array> }) => {
          return { status: answer.status, text: await this.#read(answer.body) };
        };
        return await this.#digest.post(url, headers, body, { timeoutMs, read });
      }
      const signal = AbortSignal.timeout(timeoutMs);
      const method = body === null ? 'GET' : 'POST';
      const answer = await fetch(url, { method, headers, body, redirect: 'error', signal });
      return { status: answer.status, text: await this.#read(answer.body ?? []) };
    } catch (cause) {
      if (cause instanceof ChainError) throw cause;
      throw this.#fault('unreachable', 'does not answer', cause);
    }
  }

  async #read(body: AsyncIterable<Uint8Array> | readonly Uint8Array[]): Promise<string> {
    const { maxBytes } = this.#options;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) throw this.#fault('unsound_answer', `answered more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  /** The beginning of an answer as the end of a sentence; '' where it repeats a secret of ours. */
  #quoted(text: string): string {
    const visible = text
      .slice(0, 10 * quotedLength)
      .replace(/[^\x20-\x7e]+/g, ' ')
      .trim();
    const lower = text.toLowerCase();
    if (visible === '' || this.#secrets.some((secret) => lower.includes(secret))) return '';
    return `: "${visible.slice(0, quotedLength)}"`;
  }

  #fault(code: string, what: string, cause?: unknown): NodeFault {
    return new NodeFault(code, what, { node: this.name, cause });
  }
}

/** The parts of a header's value that may be a key: the whole of it, and its long words. */
function partsOf(value: string): string[] {
  return [value, ...value.split(/\s+/).filter((part) => part.length >= leastKeyLength)];
}

/** The parts of a URL that may be a key. Those of the query both raw and decoded. */
function keysOf(url: string): string[] {
  const { pathname, search, searchParams } = new URL(url);
  return [...pathname.split('/'), ...search.slice(1).split(/[&=]/), ...searchParams.values()].filter(
    (part) => part.length >= leastKeyLength,
  );
}

/** A whole number that a float holds exactly. */
const shortNumber = /^(0|[1-9]\d{0,14})$/;
/** Finds each number that is no short one. What it finds in a string only costs time. */
const otherNumber = /(?:^|[:[,])\s*(?:-|\d{16}|\d+[.eE])/;
/** Finds each number of more than 15 digits before its fraction. */
const longNumber = /(?:^|[:[,])\s*-?\d{16}/;

/**
 * Parses JSON whose numbers stay text, except those whose text fits to a pattern. The text is plain
 * decimal notation: nodes may write 0.00000001 as 1e-08. A number that `isDecimal` refuses, such as
 * 1e999999999, stays as it is written.
 * https://github.com/tc39/proposal-json-parse-with-source
 */
function parseNumbersAsText(text: string, except: RegExp | null): unknown {
  const keepSource = (_name: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value !== 'number') return value;
    const source = context?.source ?? String(value);
    const text = /[eE]|\.\d*0$/.test(source) && isDecimal(source) ? formatDecimal(source) : source;
    return except?.test(text) ? value : text;
  };
  return JSON.parse(text, keepSource as (name: string, value: unknown) => unknown);
}
