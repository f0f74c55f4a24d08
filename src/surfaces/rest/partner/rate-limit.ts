import type { Authenticator, KeyCaller } from '../../../accounts/partners/authenticator.ts';
import type { Partner } from '../../../accounts/partners/partner.entity.ts';
import { type RequestKind, requestLimit } from '../../../accounts/partners/request-limits.ts';
import type { ParsedKey } from '../../../accounts/partners/secret-key.ts';
import { AppError } from '../../../base/errors.ts';
import {
  addressBuckets,
  type Bucket,
  type BucketName,
  type Limiter,
  type Verdict,
} from '../../../base/limits/limiter.ts';
import type { Config } from '../../../config/settings.ts';
import type { Call } from '../api/call.ts';
import { invalidKey, presentedKey } from './authenticate.ts';
import type { OperationRow } from './operations.ts';

/**
 * Proves the presented key and counts the request. Both come before the body is read and before any
 * other costly step. A request with a genuine key counts for its partner account, never for its
 * address. A failed key counts for the sender's address, never for the key's owner.
 */
export class RateLimit {
  readonly #config: Config;
  readonly #limiter: Limiter;
  readonly #authenticator: Authenticator;

  constructor(config: Config, limiter: Limiter, authenticator: Authenticator) {
    this.#config = config;
    this.#limiter = limiter;
    this.#authenticator = authenticator;
  }

  /** @throws AppError rate_limited with the seconds until the window ends. */
  async admit(call: Call, row: OperationRow): Promise<void> {
    const verdict = await this.#count(call, row);
    call.verdict = verdict;
    if (verdict.allowed) return;
    const seconds = Math.max(1, Math.ceil(verdict.resetMs / 1000));
    const detail = `rate limit exceeded; retry in ${seconds} seconds`;
    throw new AppError('rate_limited', detail, { retryAfterSec: seconds });
  }

  /** Counts a request of an order page by its address. The seconds until it may try again, or 0. */
  async admitPage(call: Call): Promise<number> {
    const verdict = await this.#byAddress(call, 'pages', this.#config.RATE_LIMIT_PAGES_PER_MIN);
    call.verdict = verdict;
    return verdict.allowed ? 0 : Math.max(1, Math.ceil(verdict.resetMs / 1000));
  }

  /** Counts without a separate promise where nothing waits but the limiter. */
  #count(call: Call, row: OperationRow): Promise<Verdict> {
    if (row.bucket === 'assets') return this.#byAddress(call, 'assets', this.#config.RATE_LIMIT_ICONS_PER_MIN);
    const presented = presentedKey(call);
    if (presented.kind === 'none') return this.#anonymous(call);
    if (presented.kind === 'refused') return this.#failed(call, row, presented.error);
    const { key } = presented;
    if (!this.#authenticator.isKnown(key.keyId)) return this.#countUnknown(call, row, key);
    return this.#countKey(call, row, key);
  }

  /**
   * Counts a request whose key id costs a statement to look up. A client that invents key ids
   * cannot keep the database busy. A partner behind the same address is not locked out, because
   * known key ids are not counted here.
   */
  async #countUnknown(call: Call, row: OperationRow, key: ParsedKey): Promise<Verdict> {
    const lookups = await this.#byAddress(call, 'lookup', this.#config.RATE_LIMIT_PARTNER_PER_MIN);
    return lookups.allowed ? this.#countKey(call, row, key) : lookups;
  }

  #countKey(call: Call, row: OperationRow, key: ParsedKey): Promise<Verdict> {
    const proof = this.#authenticator.authenticate(key, call.client.address);
    if (proof instanceof Promise) return proof.then((caller) => this.#countProven(call, row, key, caller));
    return this.#countProven(call, row, key, proof);
  }

  #countProven(call: Call, row: OperationRow, key: ParsedKey, caller: KeyCaller | null): Promise<Verdict> {
    if (!caller) return this.#failed(call, row, invalidKey());
    const usable = caller.partner.status === 'active' && caller.addressAllowed;
    if (row.scope === 'public' && !usable) return this.#anonymous(call);
    call.caller = caller;
    call.secret = key.secret;
    return this.#byPartner(caller, row.bucket);
  }

  async #failed(call: Call, { scope }: OperationRow, error: AppError): Promise<Verdict> {
    call.authFailure = error;
    const failures = await this.#byAddress(call, 'authfail', this.#config.RATE_LIMIT_AUTH_FAILURES_PER_MIN);
    return scope !== 'public' || !failures.allowed ? failures : this.#anonymous(call);
  }

  #anonymous(call: Call): Promise<Verdict> {
    return this.#byAddress(call, 'anon', this.#config.RATE_LIMIT_PUBLIC_PER_MIN);
  }

  #byAddress(call: Call, bucket: BucketName, limit: number): Promise<Verdict> {
    return this.#limiter.consume(...addressBuckets(bucket, call.client.address, limit));
  }

  /** Binding quotes count apart from all other requests. */
  #byPartner({ partner }: KeyCaller, bucket: OperationRow['bucket']): Promise<Verdict> {
    const all = this.#ofPartner('partner', partner);
    if (bucket === 'quotes') return this.#limiter.consume(this.#ofPartner(bucket, partner));
    if (bucket === 'anon' || bucket === 'assets' || bucket === 'partner') return this.#limiter.consume(all);
    return this.#limiter.consume(all, this.#ofPartner(bucket, partner));
  }

  #ofPartner(bucket: RequestKind, partner: Partner): Bucket {
    return { bucket, key: partner.id, limit: requestLimit(bucket, partner, this.#config) };
  }
}
