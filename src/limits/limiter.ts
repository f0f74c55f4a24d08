import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { systemMs } from '../clock.ts';
import { errorMembers, type Log } from '../log.ts';
import { isTracing, span } from '../telemetry/tracing.ts';
import { Timeouts } from './timeouts.ts';

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
  | 'authfail'
  | 'assets'
  | 'lookup'
  | 'signin'
  | 'staff';

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

/** The state of one bucket after a request was counted in it. */
export interface Verdict {
  readonly bucket: BucketName;
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
}

export interface LimiterOptions {
  /** Null counts in this process's memory, which is right for a single process only. */
  readonly redisUrl: string | null;
  /** Number of processes that share the limits. Each counts its share while Redis is away. */
  readonly nodeCount: number;
  readonly log: Log;
  /** Separates the counters of several gateways on one Redis. */
  readonly keyPrefix?: string;
  readonly metrics?: LimiterMetrics;
}

/** Receives the result of each counted request. */
export interface LimiterMetrics {
  countLimit(verdict: Verdict): void;
  /** Counts a request that Redis could not count. */
  countInsurance(): void;
}

/**
 * Counts one request in each bucket in turn, up to and including the first that refuses it, in one
 * atomic step. Returns, for each bucket that was counted, the count and the milliseconds left of
 * its window.
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

/** Redis usually answers well within this time. Later answers count as a hang. */
const replyMs = 80;

/** Number of keys over their limit that are remembered, so that a flood costs Redis nothing. */
const keptRefusals = 10_000;

/**
 * Counts requests in Redis, by one atomic command each. While Redis is away or hangs, an in-memory
 * limiter takes over within 100 ms. So limits always hold, and no request fails because of Redis.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #prefix: string;
  readonly #redis: CountingRedis | null;
  readonly #memory = new Map<string, RateLimiterAbstract>();
  /** By the monotonic clock, which no change of the system time moves. */
  readonly #refused = new LRUCache<string, { limit: number; untilMs: number }>({ max: keptRefusals });
  readonly #timeouts = new Timeouts(replyMs);
  #warnedAt = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#prefix = options.keyPrefix ?? 'xp';
    this.#redis = options.redisUrl === null ? null : this.#connect(options.redisUrl);
  }

  /**
   * Counts one request in each bucket until one refuses, and returns the bucket that is closest to
   * its limit. Never rejects: if both limiters fail, the request passes and the log says so.
   */
  consume(...buckets: Buckets): Promise<Verdict> {
    const refusal = this.#refused.size > 0 ? this.#refusal(buckets) : null;
    if (refusal) return Promise.resolve(this.#told(refusal));
    const redis = this.#redis;
    if (!redis) return this.#insured(buckets);
    if (!isTracing()) return this.#counted(redis, buckets);
    return span('redis count', { kind: 'client' }, () => this.#counted(redis, buckets));
  }

  async #counted(redis: CountingRedis, buckets: Buckets): Promise<Verdict> {
    try {
      return this.#told(this.#verdict(buckets, await this.#timeouts.within(this.#ask(redis, buckets))));
    } catch (error) {
      this.#options.metrics?.countInsurance();
      this.#warn(error);
      return this.#insured(buckets);
    }
  }

  async #insured(buckets: Buckets): Promise<Verdict> {
    try {
      return this.#told(await this.#countInMemory(buckets));
    } catch (error) {
      const [{ bucket, limit }] = buckets;
      this.#options.log.error({ event: 'limiter_failed', bucket, ...errorMembers(error) }, 'the rate limiter failed');
      return this.#told({ bucket, allowed: true, limit, remaining: limit, resetMs: windowMs });
    }
  }

  #told(verdict: Verdict): Verdict {
    this.#options.metrics?.countLimit(verdict);
    return verdict;
  }

  /**
   * Resolves when Redis has answered or the timeout is over; a gateway starts without Redis as
   * well.
   */
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
      // A command on a connection that breaks fails at once. ioredis would otherwise keep it for
      // the next connection, and all commands of a turn travel together.
      maxRetriesPerRequest: 0,
      connectTimeout: 500,
      // A connection that owes replies and sends none is opened anew: a firewall may have dropped
      // its state.
      socketTimeout: 2_000,
      // Commands of one turn of the event loop travel together.
      enableAutoPipelining: true,
      autoResendUnfulfilledCommands: false,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    });
    redis.defineCommand('countRequest', { lua: countScript });
    redis.on('error', (error) => this.#warn(error));
    return redis as CountingRedis;
  }

  /** Logs at intervals only, because every request would repeat the same warning. */
  #warn(error: unknown): void {
    if (systemMs() - this.#warnedAt < 10_000) return;
    this.#warnedAt = systemMs();
    this.#options.log.warn({ event: 'redis_away', ...errorMembers(error) }, 'Redis is away; limits count in memory');
  }

  /** The first bucket that is known to be over its limit until its window ends. */
  #refusal(buckets: Buckets): Verdict | null {
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

  #ask(redis: CountingRedis, buckets: Buckets): Promise<number[]> {
    const [first, second] = buckets;
    const key = this.#keyOf(first);
    if (!second) return redis.countRequest(1, key, windowMs, first.limit);
    return redis.countRequest(2, key, this.#keyOf(second), windowMs, first.limit, second.limit);
  }

  #keyOf({ bucket, key }: Bucket): string {
    return `${this.#prefix}:${bucket}:${key}`;
  }

  /** @param counted by Redis: a count and the milliseconds left, for each counted bucket. */
  #verdict([first, second]: Buckets, counted: readonly number[]): Verdict {
    const [count, leftMs, secondCount, secondLeftMs] = counted;
    if (count === undefined) throw new Error('Redis counted nothing');
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
