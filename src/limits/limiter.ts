import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { errorMembers, type Log } from '../log.ts';
import { span } from '../tracing/tracing.ts';
import { Patience } from './patience.ts';

/** Every limit counts in windows of a minute, from the first hit. */
export const windowSec = 60;
const windowMs = windowSec * 1000;

/** What is counted, and by what: see docs/adr/0005-rate-limits.md. */
export type BucketName = 'anon' | 'partner' | 'orders' | 'authfail' | 'assets' | 'lookup' | 'signin' | 'staff';

/** One bucket that a request counts in. */
export interface Bucket {
  readonly bucket: BucketName;
  /** Who is counted: an account, a host, a network. */
  readonly key: string;
  /** Requests in a window. */
  readonly limit: number;
}

/** The state of one bucket after a request was counted in it. */
export interface Verdict {
  readonly bucket: BucketName;
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetMs: number;
}

export interface LimiterOptions {
  /** Null counts in this process's memory, which is right for one process only. */
  readonly redisUrl: string | null;
  /** How many processes share the limits; each counts its share while Redis is away. */
  readonly nodeCount: number;
  readonly log: Log;
  /** Keeps the counters of several gateways on one Redis apart. */
  readonly keyPrefix?: string;
  readonly metrics?: LimiterMetrics;
}

/** Told of each request that was counted. */
export interface LimiterMetrics {
  countLimit(verdict: Verdict): void;
  /** One that Redis could not count. */
  countInsurance(): void;
}

/**
 * Counts one request in each bucket in turn, up to and including the first that refuses it, all at once. Answers the
 * count and the milliseconds left of each window that was counted in.
 */
const countScript = `
local counted = {}
for i, key in ipairs(KEYS) do
  local count = redis.call('INCR', key)
  local left = count > 1 and redis.call('PTTL', key) or -1
  if left < 0 then
    left = tonumber(ARGV[1])
    redis.call('PEXPIRE', key, left)
  end
  counted[#counted + 1] = count
  counted[#counted + 1] = left
  if count > tonumber(ARGV[i + 1]) then break end
end
return counted`;

/** A connection that knows the script above. */
interface CountingRedis extends Redis {
  countRequest(keyCount: number, ...keysWindowAndLimits: (string | number)[]): Promise<number[]>;
}

/** Redis answers well within it, or is taken to hang. */
const replyMs = 80;

/** Keys that are over their limit, so that a flood costs Redis nothing. */
const keptRefusals = 10_000;

/**
 * Counts requests, in Redis by one atomic command each. While Redis is away or hangs, an in-memory limiter of the same
 * size takes over within 100 ms, so that limits always hold and no request fails for it.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #prefix: string;
  readonly #redis: CountingRedis | null;
  readonly #memory = new Map<string, RateLimiterAbstract>();
  /** By a clock that nobody sets. */
  readonly #refused = new LRUCache<string, { limit: number; untilMs: number }>({ max: keptRefusals });
  readonly #patience = new Patience(replyMs);
  #warnedAt = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#prefix = options.keyPrefix ?? 'xp';
    this.#redis = options.redisUrl === null ? null : this.#connect(options.redisUrl);
  }

  /**
   * Counts one request in each bucket until one refuses, and tells of the bucket that is closest to its limit. Never
   * rejects: a limiter that fails altogether lets the request pass and says so in the log.
   */
  async consume(...buckets: readonly [Bucket, ...Bucket[]]): Promise<Verdict> {
    const verdict = await this.#count(buckets);
    this.#options.metrics?.countLimit(verdict);
    return verdict;
  }

  async #count(buckets: readonly [Bucket, ...Bucket[]]): Promise<Verdict> {
    const refusal = this.#refused.size > 0 ? this.#refusal(buckets) : null;
    if (refusal) return refusal;
    if (this.#redis) {
      try {
        const redis = this.#redis;
        return await span('redis count', { kind: 'client' }, () => this.#countInRedis(redis, buckets));
      } catch (error) {
        this.#options.metrics?.countInsurance();
        this.#warn(error);
      }
    }
    try {
      return await this.#countInMemory(buckets);
    } catch (error) {
      const [{ bucket, limit }] = buckets;
      this.#options.log.error({ event: 'limiter_failed', bucket, ...errorMembers(error) }, 'the rate limiter failed');
      return { bucket, allowed: true, limit, remaining: limit, resetMs: windowMs };
    }
  }

  /** Resolves when Redis has answered or the time is over; a gateway starts without Redis as well. */
  async ready(timeoutMs: number): Promise<boolean> {
    const redis = this.#redis;
    if (!redis || redis.status === 'ready') return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      redis.once('ready', () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  close(): void {
    this.#redis?.disconnect();
  }

  #connect(url: string): CountingRedis {
    const redis = new Redis(url, {
      enableOfflineQueue: false,
      // What was asked on a connection that ends is refused at once. Kept back for the next one it would be forgotten there, and
      // all that is to travel with it.
      maxRetriesPerRequest: 0,
      connectTimeout: 500,
      // A connection that owes answers and gives none is made anew: a firewall may have forgotten it.
      socketTimeout: 2_000,
      // Requests of one turn of the event loop travel together.
      enableAutoPipelining: true,
      autoResendUnfulfilledCommands: false,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    });
    redis.defineCommand('countRequest', { lua: countScript });
    redis.on('error', (error) => this.#warn(error));
    return redis as CountingRedis;
  }

  /** Now and then, as every request would have something to say. */
  #warn(error: unknown): void {
    if (Date.now() - this.#warnedAt < 10_000) return;
    this.#warnedAt = Date.now();
    this.#options.log.warn({ event: 'redis_away', ...errorMembers(error) }, 'Redis is away; limits count in memory');
  }

  /** The first bucket that is known to be over its limit until its window ends. */
  #refusal(buckets: readonly Bucket[]): Verdict | null {
    for (const { bucket, key, limit } of buckets) {
      const known = this.#refused.get(`${bucket}:${key}`);
      // A limit that was raised meanwhile lets the request be counted.
      if (!known || known.limit < limit) continue;
      const resetMs = known.untilMs - performance.now();
      if (resetMs > 0) return { bucket, allowed: false, limit, remaining: 0, resetMs };
    }
    return null;
  }

  async #countInRedis(redis: CountingRedis, buckets: readonly [Bucket, ...Bucket[]]): Promise<Verdict> {
    const keys = buckets.map(({ bucket, key }) => `${this.#prefix}:${bucket}:${key}`);
    const limits = buckets.map(({ limit }) => limit);
    const counted = await this.#patience.within(redis.countRequest(keys.length, ...keys, windowMs, ...limits));
    let tightest: Verdict | undefined;
    for (const [i, { bucket, key, limit }] of buckets.entries()) {
      const count = counted[2 * i];
      if (count === undefined) break;
      const resetMs = counted[2 * i + 1] ?? windowMs;
      const allowed = count <= limit;
      if (!allowed) this.#refused.set(`${bucket}:${key}`, { limit, untilMs: performance.now() + resetMs });
      tightest = tighter(tightest, { bucket, allowed, limit, remaining: Math.max(0, limit - count), resetMs });
    }
    if (!tightest) throw new Error('Redis counted nothing');
    return tightest;
  }

  /** As large as the limit when this process alone counts, or its share while Redis is away. */
  async #countInMemory(buckets: readonly [Bucket, ...Bucket[]]): Promise<Verdict> {
    const [first, ...others] = buckets;
    let tightest = await this.#countOneInMemory(first);
    for (const bucket of others) {
      if (!tightest.allowed) break;
      tightest = tighter(tightest, await this.#countOneInMemory(bucket));
    }
    return tightest;
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

/** A refusal, or else the one with the fewest requests left. */
function tighter(a: Verdict | undefined, b: Verdict): Verdict {
  return a && (!a.allowed || (b.allowed && a.remaining <= b.remaining)) ? a : b;
}
