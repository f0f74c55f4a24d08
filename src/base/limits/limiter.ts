import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { systemMs } from '../clock.ts';
import { errorMembers, type Log } from '../log.ts';
import { isTracing, span } from '../telemetry/tracing.ts';
import { addressKeys, blockFactor } from './client-address.ts';
import { type Counted, type Counter, type Counters, RedisCounter, refusalOf } from './redis-counter.ts';

/** Every limit counts in windows of a minute, which begin at the first request. */
export const windowSec = 60;
const windowMs = windowSec * 1000;

/** The buckets and their keys: see docs/adr/0005-rate-limits.md. */
export type BucketName =
  | 'anon'
  | 'partner'
  | 'orders'
  | 'quotes'
  | 'lists'
  | 'validations'
  | 'changes'
  | 'authfail'
  | 'assets'
  | 'pages'
  | 'lookup'
  | 'signin'
  | 'cabinet'
  | 'staff'
  | 'exports';

/** One bucket in which a request counts. */
export interface Bucket {
  readonly bucket: BucketName;
  /** The account, the host or the network that is counted. */
  readonly key: string;
  /** Requests in a window. */
  readonly limit: number;
}

/** The buckets of a request. The second counts only what the first admits. */
export type Buckets = readonly [Bucket, Bucket?];

/**
 * The buckets of a client address: its host, and for IPv6 also its block, with the limit of ten
 * hosts.
 *
 * @param of separates what counts apart in one bucket.
 */
export function addressBuckets(bucket: BucketName, address: string, limit: number, of = ''): Buckets {
  const { host, block } = addressKeys(address);
  const own: Bucket = { bucket, key: `${of}${host}`, limit };
  return block === null ? [own] : [own, { bucket, key: `${of}${block}`, limit: limit * blockFactor }];
}

/** The state of one bucket after a request was counted in it. */
export interface Verdict {
  readonly bucket: BucketName;
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
}

interface LimiterOptions {
  /** Null counts in this process's memory, which is right for a single process only. */
  readonly redisUrl: string | null;
  /** Number of processes that share the limits. Each counts its share while Redis is away. */
  readonly nodeCount: number;
  readonly log: Log;
  /** Separates the counters of several gateways on one Redis. */
  readonly keyPrefix?: string;
  /** As the option of `RedisCounter`. */
  readonly replyMs?: number;
  readonly metrics?: LimiterMetrics;
}

/** Receives the result of each counted request. */
interface LimiterMetrics {
  countLimit(verdict: Verdict): void;
  /** Counts a request that Redis could not count. */
  countInsurance(): void;
}

/** Number of keys over their limit that are remembered, so that a flood costs Redis nothing. */
const keptRefusals = 10_000;

/**
 * Counts requests in Redis. While Redis is away or hangs, an in-memory limiter takes over within
 * 100 ms. So limits always hold, and no request fails because of Redis.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #prefix: string;
  readonly #redis: RedisCounter | null;
  readonly #memory = new Map<string, RateLimiterAbstract>();
  /** By the monotonic clock, which no change of the system time moves. */
  readonly #refused = new LRUCache<string, { limit: number; untilMs: number }>({ max: keptRefusals });
  #warnedAt = 0;
  /** How Redis refused last, unless it has counted since. */
  #refusal: string | null = null;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#prefix = options.keyPrefix ?? 'xp';
    const { redisUrl: url, replyMs } = options;
    const onError = (error: unknown): void => this.#warn(error);
    this.#redis = url === null ? null : new RedisCounter({ url, windowMs, replyMs, onError });
  }

  /**
   * Counts one request in each bucket until one refuses, and returns the bucket that is closest to
   * its limit. Never rejects: if both limiters fail, the request passes and the log says so.
   */
  consume(...buckets: Buckets): Promise<Verdict> {
    const refusal = this.#refused.size > 0 ? this.#knownRefusal(buckets) : null;
    if (refusal) return Promise.resolve(this.#measured(refusal));
    const redis = this.#redis;
    if (!redis) return this.#insured(buckets);
    if (!isTracing()) return this.#counted(redis, buckets);
    return span('redis count', { kind: 'client' }, () => this.#counted(redis, buckets));
  }

  async #counted(redis: RedisCounter, buckets: Buckets): Promise<Verdict> {
    try {
      const counted = await redis.count(this.#countersOf(buckets));
      this.#refusal = null;
      return this.#measured(this.#verdict(buckets, counted));
    } catch (error) {
      this.#options.metrics?.countInsurance();
      this.#warn(error);
      return this.#insured(buckets);
    }
  }

  async #insured(buckets: Buckets): Promise<Verdict> {
    try {
      return this.#measured(await this.#countInMemory(buckets));
    } catch (error) {
      const [{ bucket, limit }] = buckets;
      this.#options.log.error({ event: 'limiter_failed', bucket, ...errorMembers(error) }, 'the rate limiter failed');
      return this.#measured({ bucket, allowed: true, limit, remaining: limit, resetMs: windowMs });
    }
  }

  #measured(verdict: Verdict): Verdict {
    this.#options.metrics?.countLimit(verdict);
    return verdict;
  }

  /**
   * How many requests each bucket has counted in its present window, and counts none. Null while
   * Redis does not answer. Refused requests may be missing.
   */
  async used(buckets: readonly Bucket[]): Promise<readonly number[] | null> {
    const redis = this.#redis;
    if (!redis) return Promise.all(buckets.map((bucket) => this.#usedInMemory(bucket)));
    try {
      return await redis.read(buckets.map((bucket) => this.#counterOf(bucket).key));
    } catch (error) {
      this.#warn(error);
      return null;
    }
  }

  async #usedInMemory({ bucket, key, limit }: Bucket): Promise<number> {
    const counted = await this.#memory.get(`${bucket}:${limit}`)?.get(key);
    return counted?.consumedPoints ?? 0;
  }

  /**
   * Resolves when Redis has answered or the timeout is over; a gateway starts without Redis as
   * well.
   */
  async ready(timeoutMs: number): Promise<boolean> {
    return this.#redis?.ready(timeoutMs) ?? true;
  }

  /** How the server of the counters runs, as `RedisCounter.mode` says; null without one. */
  async mode(): Promise<string | null> {
    return (await this.#redis?.mode()) ?? null;
  }

  close(): void {
    this.#redis?.close();
  }

  /**
   * Logs at intervals only, because every request would repeat the same warning. It names the last
   * refusal, because the errors of the connection that follow say nothing of it.
   */
  #warn(error: unknown): void {
    this.#refusal = refusalOf(error) ?? this.#refusal;
    if (systemMs() - this.#warnedAt < 10_000) return;
    this.#warnedAt = systemMs();
    const { log } = this.#options;
    const members = { event: 'redis_away', ...errorMembers(error) };
    if (this.#refusal === null) log.warn(members, 'Redis is away; limits count in memory');
    else log.warn({ ...members, code: this.#refusal }, 'Redis refuses to count; limits count in memory');
  }

  /** The first bucket that is known to be over its limit until its window ends. */
  #knownRefusal(buckets: Buckets): Verdict | null {
    for (const one of buckets) {
      if (!one) break;
      const { bucket, key, limit } = one;
      const known = this.#refused.get(`${bucket}:${key}`);
      // The limit was raised meanwhile, so that the request is counted again.
      if (!known || known.limit < limit) continue;
      const resetMs = known.untilMs - performance.now();
      if (resetMs > 0) return { bucket, allowed: false, limit, remaining: 0, resetMs };
    }
    return null;
  }

  #countersOf([first, second]: Buckets): Counters {
    return second ? [this.#counterOf(first), this.#counterOf(second)] : [this.#counterOf(first)];
  }

  #counterOf({ bucket, key, limit }: Bucket): Counter {
    return { key: `${this.#prefix}:${bucket}:${key}`, limit };
  }

  #verdict([first, second]: Buckets, [count, leftMs, secondCount, secondLeftMs]: Counted): Verdict {
    const verdict = this.#verdictOf(first, count, leftMs);
    // Redis counts in the second bucket only what the first has admitted.
    if (!second || secondCount === undefined) return verdict;
    return tighter(verdict, this.#verdictOf(second, secondCount, secondLeftMs));
  }

  #verdictOf({ bucket, key, limit }: Bucket, count: number, resetMs = windowMs): Verdict {
    const allowed = count <= limit;
    if (!allowed) this.#refused.set(`${bucket}:${key}`, { limit, untilMs: performance.now() + resetMs });
    return { bucket, allowed, limit, remaining: Math.max(0, limit - count), resetMs };
  }

  /**
   * Counts in memory: the whole limit when this process counts alone, its share while Redis is
   * away.
   */
  async #countInMemory([first, second]: Buckets): Promise<Verdict> {
    const verdict = await this.#countOneInMemory(first);
    if (!second || !verdict.allowed) return verdict;
    return tighter(verdict, await this.#countOneInMemory(second));
  }

  async #countOneInMemory({ bucket, key, limit }: Bucket): Promise<Verdict> {
    const name = `${bucket}:${limit}`;
    let limiter = this.#memory.get(name);
    if (!limiter) {
      const points = this.#redis ? Math.ceil(limit / this.#options.nodeCount) : limit;
      limiter = new RateLimiterMemory({ keyPrefix: bucket, points, duration: windowSec });
      this.#memory.set(name, limiter);
    }
    const [allowed, { remainingPoints, msBeforeNext }] = await limiter.consume(key).then(
      (counted) => [true, counted] as const,
      (refusal: unknown) => {
        if (refusal instanceof RateLimiterRes) return [false, refusal] as const;
        throw refusal;
      },
    );
    return { bucket, allowed, limit, remaining: Math.max(0, remainingPoints), resetMs: Math.max(0, msBeforeNext) };
  }
}

/** Returns the refusal, or else the verdict with the fewest requests left. */
function tighter(a: Verdict, b: Verdict): Verdict {
  return !a.allowed || (b.allowed && a.remaining <= b.remaining) ? a : b;
}
