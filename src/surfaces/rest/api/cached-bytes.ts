import { createHash } from 'node:crypto';
import { type Coding, codingFor, compressors, leastBytes } from '../../pages/coding.ts';
import { amountsAsText } from './amounts.ts';
import type { Call } from './call.ts';
import { matchesEtag } from './etag.ts';

interface Variant {
  readonly body: Buffer;
  /** Strong, so that each coding has its own. */
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Bytes that are answered many times: with an entity tag, and compressed for clients that accept
 * it. They are compressed once, concurrently with requests; until that is done, clients get them
 * plain.
 */
export class CachedBytes {
  readonly #plain: Variant;
  readonly #digest: string;
  readonly #compressed = new Map<Coding, Variant | null>();
  readonly #vary: string;

  /** @param vary the request headers that choose among several of these bytes. */
  constructor(body: string | Buffer, vary: readonly string[] = []) {
    this.#vary = ['Accept-Encoding', ...vary].join(', ');
    const bytes = Buffer.from(body);
    this.#digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    this.#plain = { body: bytes, etag: `"${this.#digest}"`, headers: {} };
  }

  /**
   * The answer to a request for the bytes: 304 without a body when the client has them already.
   *
   * @param headers of the answer, besides `ETag`, `Vary` and `Content-Encoding`.
   */
  answer(
    call: Call,
    headers: Readonly<Record<string, string>>,
  ):
    | { readonly status: 200; readonly body: Buffer; readonly headers: Record<string, string> }
    | { readonly status: 304; readonly headers: Record<string, string> } {
    const variant = this.#variant(codingFor(call.header('accept-encoding')));
    const known = call.header('if-none-match');
    // The bytes that a client has stay right, in any coding.
    const kept = known === undefined ? undefined : this.#variants.find(({ etag }) => matchesEtag(known, etag));
    const all = { ...headers, ETag: (kept ?? variant).etag, Vary: this.#vary };
    if (kept) return { status: 304, headers: all };
    return { status: 200, body: variant.body, headers: { ...all, ...variant.headers } };
  }

  get #variants(): Variant[] {
    return [...this.#compressed.values(), this.#plain].filter((variant) => variant !== null);
  }

  #variant(coding: Coding | 'identity'): Variant {
    if (coding === 'identity' || this.#plain.body.length < leastBytes) return this.#plain;
    const variant = this.#compressed.get(coding);
    if (variant === undefined) this.#compress(coding).catch(() => this.#compressed.delete(coding));
    return variant ?? this.#plain;
  }

  async #compress(coding: Coding): Promise<void> {
    this.#compressed.set(coding, null);
    const body = await compressors[coding](this.#plain.body);
    const etag = `"${this.#digest}-${coding}"`;
    this.#compressed.set(coding, { body, etag, headers: { 'Content-Encoding': coding } });
  }
}

/** Cached JSON in both forms of its amounts. The second one is made when it is first requested. */
export class CachedJson {
  readonly #json: string;
  readonly #vary: readonly string[];
  readonly #numbers: CachedBytes;
  #texts: CachedBytes | undefined;

  /**
   * @param json with its amounts as numbers.
   * @param vary further request headers that choose among several cached answers.
   */
  constructor(json: string, vary: readonly string[] = []) {
    this.#json = json;
    this.#vary = ['Amounts', ...vary];
    this.#numbers = new CachedBytes(json, this.#vary);
  }

  /** Answers as `CachedBytes` does, in the form that the request asks for. */
  answer(call: Call, headers: Readonly<Record<string, string>>): ReturnType<CachedBytes['answer']> {
    if (!call.wantsTextAmounts) return this.#numbers.answer(call, headers);
    this.#texts ??= new CachedBytes(amountsAsText(this.#json), this.#vary);
    return this.#texts.answer(call, headers);
  }
}
