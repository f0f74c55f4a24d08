import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { addressKeys } from '../limits/client-address.ts';
import type { Bucket, BucketName, Limiter, Verdict } from '../limits/limiter.ts';
import type { Authenticator, Caller } from '../partners/authenticator.ts';
import { invalidKey, presentedKey } from './authenticate.ts';
import type { Call } from './call.ts';
import { apiRoot } from './contract.ts';

/** One customer's IPv6 block may hold this many hosts that are each at their limit. */
const blockFactor = 10;

/**
 * Proves the key that a request presents and counts the request, before its body is read and before anything else that
 * costs. A request with a genuine key counts for its partner account and never for its address; a failed key counts
 * for the address that sent it and never for the key's owner.
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

  /** @throws AppError rate_limited, with the seconds until the window ends. */
  async admit(call: Call): Promise<void> {
    const verdict = await this.#count(call);
    call.verdict = verdict;
    if (verdict.allowed) return;
    const seconds = Math.max(1, Math.ceil(verdict.resetMs / 1000));
    const detail = `rate limit exceeded; retry in ${seconds} seconds`;
    throw new AppError('rate_limited', detail, { retryAfterSec: seconds });
  }

  async #count(call: Call): Promise<Verdict> {
    const path = call.path.toLowerCase();
    if (path.startsWith(`${apiRoot}/coin-icons`) || path.startsWith(`${apiRoot}/docs`)) {
      return this.#byAddress(call, 'assets', this.#config.RATE_LIMIT_ICONS_PER_MIN);
    }
    const needsKey = path.startsWith(`${apiRoot}/partner/orders`);
    const presented = presentedKey(call);
    if (presented.kind === 'none') return this.#anonymous(call);

    if (presented.kind === 'key') {
      const { key } = presented;
      // Looking up an unknown key id costs a statement, so those are counted too: a stranger who invents key ids cannot
      // keep the database busy, and a partner behind the same address is not locked out.
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
        return this.#byPartner(caller, call.method === 'POST' && needsKey);
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

  #byPartner({ partner: { id, rateLimitPerMin, ordersLimitPerMin } }: Caller, createsOrder: boolean): Promise<Verdict> {
    const all: Bucket = {
      bucket: 'partner',
      key: id,
      limit: rateLimitPerMin ?? this.#config.RATE_LIMIT_PARTNER_PER_MIN,
    };
    if (!createsOrder) return this.#limiter.consume(all);
    const limit = ordersLimitPerMin ?? this.#config.RATE_LIMIT_ORDERS_PER_MIN;
    return this.#limiter.consume(all, { bucket: 'orders', key: id, limit });
  }
}
