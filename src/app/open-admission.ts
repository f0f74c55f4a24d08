import type { MikroORM } from '@mikro-orm/postgresql';
import { Authenticator } from '../accounts/partners/authenticator.ts';
import { type LimiterLock, takeLimiterLock } from '../base/db/limiter-lock.ts';
import { Limiter } from '../base/limits/limiter.ts';
import { oneRedis } from '../config/parsers.ts';
import { type Foundation, inBackground } from './foundation.ts';
import type { Shared } from './services.ts';
import { StartError } from './start-error.ts';

const lastUsedFlushMs = 60_000;
/** How long the start waits for Redis. */
const redisWaitMs = 1_000;

/** Who is let in, and how often. */
export interface Admission {
  readonly authenticator: Authenticator;
  /** Counts the requests of every surface, in Redis or, without REDIS_URL, in memory. */
  readonly limiter: Limiter;
}

/**
 * Opens the check of partner keys, and the rate limits.
 *
 * @throws StartError when another process would count the same limits apart, or when REDIS_URL
 *   leads to a server that cannot count them.
 */
export async function openAdmission(foundation: Foundation, shared: Shared, orm: MikroORM): Promise<Admission> {
  const authenticator = openAuthenticator(foundation, shared, orm);
  return { authenticator, limiter: await openLimits(foundation) };
}

/** Writes now and then, and at the end, when each key was last used. */
function openAuthenticator(foundation: Foundation, { hasher }: Shared, orm: MikroORM): Authenticator {
  const authenticator = new Authenticator(orm, hasher, foundation.clock, foundation.outside.keyRowMs);
  foundation.closing.add(() => authenticator.flushUsed());
  inBackground(foundation, lastUsedFlushMs, 'last_used_failed', () => authenticator.flushUsed());
  return authenticator;
}

async function openLimits(foundation: Foundation): Promise<Limiter> {
  const { config, servesPartners, outside, log, metrics, closing, onProgress } = foundation;
  const limiter = new Limiter({
    metrics,
    redisUrl: config.REDIS_URL,
    nodeCount: config.NODE_COUNT * config.API_PROCESSES,
    log,
    ...(outside.limiterPrefix === undefined ? {} : { keyPrefix: outside.limiterPrefix }),
    ...(outside.limiterReplyMs === undefined ? {} : { replyMs: outside.limiterReplyMs }),
  });
  closing.add(() => limiter.close());
  if (servesPartners) {
    const lock = await limiterLock(foundation);
    closing.add(() => lock.release());
  }
  if (!(await limiter.ready(redisWaitMs))) onProgress('Redis does not answer; limits count in memory until it does');
  else await refuseOtherModes(limiter);
  return limiter;
}

/** One script counts in several keys, which a cluster keeps on several servers. */
async function refuseOtherModes(limiter: Limiter): Promise<void> {
  const mode = await limiter.mode();
  if (mode !== 'cluster' && mode !== 'sentinel') return;
  const server = mode === 'cluster' ? 'a server of Redis Cluster (cluster_enabled:1)' : 'a Redis Sentinel';
  throw new StartError(`REDIS_URL leads to ${server}, which the gateway cannot use: ${oneRedis} (docs/fail-over.md)`);
}

async function limiterLock({ config, databaseUrl, log }: Foundation): Promise<LimiterLock> {
  const lock = await takeLimiterLock(databaseUrl, config.REDIS_URL !== null, log);
  if (lock) return lock;
  throw new StartError(
    config.REDIS_URL === null
      ? 'another gateway process uses this database, and without REDIS_URL each would count its own limits; set REDIS_URL for both (for example redis://127.0.0.1:6379), or stop the other'
      : 'a gateway process without REDIS_URL uses this database and counts limits by itself; set REDIS_URL for it as well, or stop it',
  );
}
