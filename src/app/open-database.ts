import type { MikroORM } from '@mikro-orm/postgresql';
import type { QueueBounds } from '../base/limits/partner-queues.ts';
import type { Config } from '../config/settings.ts';
import { replayPoolSize } from '../webhooks/replays.ts';
import type { Foundation } from './foundation.ts';
import { createOrm, type OrmOptions } from './orm.ts';

/** How long a request waits for a row that another holds: the same create sent twice at once. */
const requestLockMs = 2_000;
/**
 * PostgreSQL ends a longer statement of a request, so that no answer keeps a partner waiting for 10
 * seconds.
 */
const requestStatementMs = 5_000;
/** Connections of the partner cabinet. Its people wait for each other, and no program waits. */
const cabinetPoolSize = 4;
/** PostgreSQL ends a longer statement of the staff API, and of the partner cabinet. */
const staffStatementMs = 5_000;

type Bounds = Pick<OrmOptions, 'poolSize' | 'lockTimeoutMs' | 'statementTimeoutMs' | 'prefersIndexes'>;

/** Each pool of connections by its use, so that no use waits for the connections of another. */
export const pools = {
  requests: (config: Config): Bounds => ({
    poolSize: config.DATABASE_POOL_SIZE,
    lockTimeoutMs: requestLockMs,
    statementTimeoutMs: requestStatementMs,
    prefersIndexes: true,
  }),
  replays: (): Bounds => ({
    poolSize: replayPoolSize,
    lockTimeoutMs: requestLockMs,
    statementTimeoutMs: requestStatementMs,
    prefersIndexes: true,
  }),
  settlement: (config: Config): Bounds => ({ poolSize: config.WORKER_POOL_SIZE }),
  webhooks: (config: Config): Bounds => ({ poolSize: config.WEBHOOK_POOL_SIZE }),
  cabinet: (): Bounds => ({
    poolSize: cabinetPoolSize,
    lockTimeoutMs: requestLockMs,
    statementTimeoutMs: staffStatementMs,
  }),
  staff: (config: Config): Bounds => ({
    poolSize: config.STAFF_POOL_SIZE,
    lockTimeoutMs: requestLockMs,
    statementTimeoutMs: staffStatementMs,
  }),
};

/** A partner holds at most this fraction of the request connections (1/n), and at least one. */
const requestParts = 4;
/**
 * Requests of a partner that wait for its connections: more than its limit of a minute, which may
 * come at once. Each keeps a body of 16 KiB at most.
 */
const mostWaiting = 1_000;
/** How long such a request waits. */
const longestWaitMs = 10_000;

export function requestQueues({ DATABASE_POOL_SIZE }: Config): QueueBounds {
  const working = Math.max(1, Math.floor(DATABASE_POOL_SIZE / requestParts));
  return { working, waiting: mostWaiting, waitMs: longestWaitMs };
}

type Pools = keyof typeof pools;

/** Opens a mapper on a pool of connections. It closes with the gateway. */
export async function openDatabase(foundation: Foundation, use: Pools): Promise<MikroORM> {
  const orm = await connect(foundation, use);
  foundation.closing.add(() => orm.close(true));
  return orm;
}

/**
 * Offers what is built on a pool of connections. The first use opens them, and the next one tries
 * again after a failure.
 */
export function databaseOnDemand<Built>(
  foundation: Foundation,
  use: Pools,
  build: (orm: MikroORM) => Built,
): () => Promise<Built> {
  let opened: Promise<MikroORM> | undefined;
  let built: Built | undefined;
  foundation.closing.add(async () => (await opened?.catch(() => undefined))?.close(true));
  return async () => {
    opened ??= connect(foundation, use).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    const orm = await opened;
    built ??= build(orm);
    return built;
  };
}

function connect({ config, databaseUrl, metrics, outside }: Foundation, use: Pools): Promise<MikroORM> {
  const { onStatement } = outside;
  return createOrm({
    url: databaseUrl,
    onPool: (pool) => metrics.watchPool(use, pool),
    ...pools[use](config),
    ...(onStatement ? { onStatement } : {}),
  });
}
