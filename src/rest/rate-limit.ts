import type { Config } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import { addressKeys } from '../limits/client-address.ts';
import type { Bucket, BucketName, Limiter, Verdict } from '../limits/limiter.ts';
import type { Authenticator, Caller } from '../partners/authenticator.ts';
import { invalidKey, presentedKey } from './authenticate.ts';
import type { Call } from './call.ts';
import type { OperationRow } from './operations.ts';

/** An IPv6 block gets the limit of this many hosts. */
const blockFactor = 10;

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

  async #count(call: Call, { scope, bucket }: OperationRow): Promise<Verdict> {
    if (bucket === 'assets') return this.#byAddress(call, 'assets', this.#config.RATE_LIMIT_ICONS_PER_MIN);
    const needsKey = scope !== 'public';
    const presented = presentedKey(call);
    if (presented.kind === 'none') return this.#anonymous(call);

    if (presented.kind === 'key') {
      const { key } = presented;
      // The lookup of an unknown key id costs a statement, so such requests are counted too. A
      // client that invents key ids cannot keep the database busy. A partner behind the same
      // address is not locked out, because known key ids are not counted here.
      if (!this.#authenticator.isKnown(key.keyId)) {
        const lookups = await this.#byAddress(call, 'lookup', this.#config.RATE_LIMIT_PARTNER_PER_MIN);
        if (!lookups.allowed) return lookups;
      }
      const proof = this.#authenticator.authenticate(key, call.client.address);
      const caller = proof instanceof Promise ? await proof : proof;
      if (caller) {
        const usable = caller.partner.status === 'active' && caller.addressAllowed;
        if (!needsKey && !usable) return this.#anonymous(call);
        call.caller = caller;
        call.secret = key.secret;
        return this.#byPartner(caller, bucket);
      }
      call.authFailure = invalidKey();
    } else {
      call.authFailure = presented.error;
    }
    const failures = await this.#byAddress(call, 'authfail', this.#config.RATE_LIMIT_AUTH_FAILURES_PER_MIN);
    return needsKey || !failures.allowed ? failures : this.#anonymous(call);
  }

  #anonymous(call: Call): Promise<Verdict> {
    return this.#byAddress(call, 'anon', this.#config.RATE_LIMIT_PUBLIC_PER_MIN);
  }

  #byAddress(call: Call, bucket: BucketName, limit: number): Promise<Verdict> {
    const { host, block } = addressKeys(call.client.address);
    const own: Bucket = { bucket, key: host, limit };
    if (block === null) return this.#limiter.consume(own);
    return this.#limiter.consume(own, { bucket, key: block, limit: limit * blockFactor });
  }

  #byPartner({ partner }: Caller, bucket: OperationRow['bucket']): Promise<Verdict> {
    const { id, rateLimitPerMin, ordersLimitPerMin, listsLimitPerMin } = partner;
    const { RATE_LIMIT_PARTNER_PER_MIN, RATE_LIMIT_ORDERS_PER_MIN, RATE_LIMIT_LISTS_PER_MIN } = this.#config;
    const all: Bucket = { bucket: 'partner', key: id, limit: rateLimitPerMin ?? RATE_LIMIT_PARTNER_PER_MIN };
    if (bucket === 'orders') {
      return this.#limiter.consume(all, { bucket, key: id, limit: ordersLimitPerMin ?? RATE_LIMIT_ORDERS_PER_MIN });
    }
    if (bucket === 'lists') {
      return this.#limiter.consume(all, { bucket, key: id, limit: listsLimitPerMin ?? RATE_LIMIT_LISTS_PER_MIN });
    }
    return this.#limiter.consume(all);
  }
}
