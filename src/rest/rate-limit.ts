import type { NextFunction, Request, Response } from 'express';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { addressKeys } from '../limits/client-address.ts';
import { type BucketName, type Limiter, type Verdict, windowSec } from '../limits/limiter.ts';
import type { Authenticator, Caller } from '../partners/authenticator.ts';
import type { ParsedKey } from '../partners/secret-key.ts';
import { invalidKey, presentedKey } from './authenticate.ts';

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

  /** Express middleware. */
  readonly handle = async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const verdicts = await this.#count(req, res);
    const tightest = verdicts.reduce((a, b) => (isTighter(b, a) ? b : a));
    setHeaders(res, tightest);
    if (!tightest.allowed) {
      const seconds = Math.max(1, Math.ceil(tightest.resetMs / 1000));
      throw new AppError('rate_limited', `rate limit exceeded; retry in ${seconds} seconds`, {
        retryAfterSec: seconds,
      });
    }
    next();
  };

  /** Counts in one bucket after another until one refuses. */
  async #count(req: Request, res: Response): Promise<[Verdict, ...Verdict[]]> {
    const { state } = res.locals;
    const path = req.path.toLowerCase();
    if (path.startsWith('/api/v1/coin-icons') || path.startsWith('/api/v1/docs')) {
      return this.#byAddress(req, 'assets', this.#config.RATE_LIMIT_ICONS_PER_MIN);
    }
    const needsKey = path.startsWith('/api/v1/partner/orders');
    const presented = presentedKey(req);
    if (presented.kind === 'none') return this.#anonymous(req);

    if (presented.kind === 'key') {
      const proof = await this.#prove(req, presented.key);
      if (proof.kind === 'limited') return [proof.verdict];
      if (proof.kind === 'caller') {
        const { caller } = proof;
        const usable = caller.partner.status === 'active' && caller.addressAllowed;
        if (!needsKey && !usable) return this.#anonymous(req);
        state.caller = caller;
        state.secret = presented.key.secret;
        return this.#byPartner(caller, req.method === 'POST' && needsKey);
      }
      state.authFailure = invalidKey();
    } else {
      state.authFailure = presented.error;
    }
    const failures = await this.#byAddress(req, 'authfail', this.#config.RATE_LIMIT_AUTH_FAILURES_PER_MIN);
    if (needsKey || failures.some((verdict) => !verdict.allowed)) return failures;
    return this.#anonymous(req);
  }

  /**
   * Looking up an unknown key id costs a statement, so those are counted too: a stranger who invents key ids
   * cannot keep the database busy, and a partner behind the same address is not locked out.
   */
  async #prove(
    req: Request,
    key: ParsedKey,
  ): Promise<{ kind: 'caller'; caller: Caller } | { kind: 'failed' } | { kind: 'limited'; verdict: Verdict }> {
    if (!this.#authenticator.isKnown(key.keyId)) {
      const limit = this.#config.RATE_LIMIT_PARTNER_PER_MIN;
      const verdicts = await this.#byAddress(req, 'lookup', limit);
      const refused = verdicts.find((verdict) => !verdict.allowed);
      if (refused) return { kind: 'limited', verdict: refused };
    }
    const caller = await this.#authenticator.authenticate(key, req.ip ?? '');
    return caller ? { kind: 'caller', caller } : { kind: 'failed' };
  }

  #anonymous(req: Request): Promise<[Verdict, ...Verdict[]]> {
    return this.#byAddress(req, 'anon', this.#config.RATE_LIMIT_PUBLIC_PER_MIN);
  }

  async #byAddress(req: Request, bucket: BucketName, limit: number): Promise<[Verdict, ...Verdict[]]> {
    const { host, block } = addressKeys(req.ip ?? '');
    const verdict = await this.#limiter.consume(bucket, host, limit);
    if (!verdict.allowed || block === null) return [verdict];
    return [verdict, await this.#limiter.consume(bucket, block, limit * blockFactor)];
  }

  async #byPartner(caller: Caller, createsOrder: boolean): Promise<[Verdict, ...Verdict[]]> {
    const { id, rateLimitPerMin, ordersLimitPerMin } = caller.partner;
    const limit = rateLimitPerMin ?? this.#config.RATE_LIMIT_PARTNER_PER_MIN;
    const verdict = await this.#limiter.consume('partner', id, limit);
    if (!verdict.allowed || !createsOrder) return [verdict];
    const ordersLimit = ordersLimitPerMin ?? this.#config.RATE_LIMIT_ORDERS_PER_MIN;
    return [verdict, await this.#limiter.consume('orders', id, ordersLimit)];
  }
}

function isTighter(a: Verdict, b: Verdict): boolean {
  if (a.allowed !== b.allowed) return !a.allowed;
  return a.remaining < b.remaining;
}

/** https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ and the older X- family with it. */
function setHeaders(res: Response, { bucket, limit, remaining, resetMs }: Verdict): void {
  const seconds = Math.ceil(resetMs / 1000);
  res.set({
    'RateLimit-Policy': `"${bucket}";q=${limit};w=${windowSec}`,
    RateLimit: `"${bucket}";r=${remaining};t=${seconds}`,
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil((Date.now() + resetMs) / 1000)),
  });
}
