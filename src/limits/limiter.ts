import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { errorMembers, type Log } from '../log.ts';

/** Every limit counts in windows of a minute, from the first hit. */
export const windowSec = 60;

/** What is counted, and by what: see docs/adr/0005-rate-limits.md. */
export type BucketName = 'anon' | 'partner' | 'orders' | 'authfail' | 'assets' | 'lookup' | 'signin' | 'staff';

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
}

/**
 * Counts requests, in Redis by one atomic command each. While Redis is away or hangs, an in-memory limiter of the same
 * size takes over within 100 ms, so that limits always hold and no request fails for it.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #redis: Redis | null;
  readonly #limiters = new Map<string, RateLimiterAbstract>();
  #insuranceUses = 0;
  #lastErrorAt = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#redis = options.redisUrl === null ? null : this.#connect(options.redisUrl);
  }

  /** How many requests were counted in memory because Redis could not. */
  get insuranceUses(): number {
    return this.#insuranceUses;
  }

  /** Counts one request. Never rejects: a limiter that fails altogether lets the request pass and says so in the log. */
  async consume(bucket: BucketName, key: string, limit: number): Promise<Verdict> {
    try {
      const result = await this.#limiter(bucket, limit).consume(key);
      return verdict(bucket, true, limit, result);
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return verdict(bucket, false, limit, refusal);
      this.#options.log.error({ event: 'limiter_failed', bucket, ...errorMembers(refusal) }, 'the rate limiter failed');
      return { bucket, allowed: true, limit, remaining: limit, resetMs: windowSec * 1000 };
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

  #connect(url: string): Redis {
    const redis = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      connectTimeout: 500,
      commandTimeout: 100,
      autoResendUnfulfilledCommands: false,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    });
    redis.on('error', (error) => {
      if (Date.now() - this.#lastErrorAt < 10_000) return;
      this.#lastErrorAt = Date.now();
      this.#options.log.warn({ event: 'redis_away', ...errorMembers(error) }, 'Redis is away; limits count in memory');
    });
    return redis;
  }

  #limiter(bucket: BucketName, limit: number): RateLimiterAbstract {
    const name = `${bucket}:${limit}`;
    let limiter = this.#limiters.get(name);
    if (!limiter) {
      limiter = this.#create(bucket, limit);
      this.#limiters.set(name, limiter);
    }
    return limiter;
  }

  #create(bucket: BucketName, limit: number): RateLimiterAbstract {
    const keyPrefix = `${this.#options.keyPrefix ?? 'xp'}:${bucket}`;
    if (!this.#redis) return new RateLimiterMemory({ keyPrefix, points: limit, duration: windowSec });
    const insurance = new RateLimiterMemory({
      keyPrefix,
      points: Math.ceil(limit / this.#options.nodeCount),
      duration: windowSec,
    });
    const consume = insurance.consume.bind(insurance);
    insurance.consume = (...args) => {
      this.#insuranceUses++;
      return consume(...args);
    };
    return new RateLimiterRedis({
      storeClient: this.#redis,
      keyPrefix,
      points: limit,
      duration: windowSec,
      rejectIfRedisNotReady: true,
      inMemoryBlockOnConsumed: limit,
      insuranceLimiter: insurance,
    });
  }
}

function verdict(bucket: BucketName, allowed: boolean, limit: number, result: RateLimiterRes): Verdict {
  return {
    bucket,
    allowed,
    limit,
    remaining: Math.max(0, result.remainingPoints),
    resetMs: Math.max(0, result.msBeforeNext),
  };
}
