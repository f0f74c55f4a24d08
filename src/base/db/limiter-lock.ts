import { errorMembers, type Log } from '../log.ts';
import { boundFarewell } from './connection-end.ts';
import { advisoryLocks } from './database.ts';
import { DatabaseClient } from './database-client.ts';

/**
 * A lock that lives as long as a session of this process. When the session breaks, the lock is
 * taken again.
 */
export interface LimiterLock {
  release(): Promise<void>;
}

const retryMs = 1_000;

/**
 * Keeps two processes from counting the same limits apart. A process that counts in memory holds
 * the lock alone. Processes that count in Redis share it. Returns null when another process holds
 * the lock in a conflicting mode.
 */
export async function takeLimiterLock(url: string, shared: boolean, log: Log): Promise<LimiterLock | null> {
  let held: DatabaseClient | undefined;
  let released = false;

  /** Opens a session that holds the lock, or returns null when another process holds it. */
  async function take(): Promise<DatabaseClient | null> {
    const session = new DatabaseClient({
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
    });
    session.on('error', () => {});
    let taken = false;
    try {
      await session.connect();
      boundFarewell(session);
      const call = shared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
      const { rows } = await session.query<{ taken: boolean }>(`select ${call}($1) as taken`, [advisoryLocks.limiter]);
      taken = rows[0]?.taken === true && !released;
      return taken ? session : null;
    } finally {
      if (!taken) await session.end().catch(() => {});
    }
  }

  function hold(session: DatabaseClient): void {
    held = session;
    session.once('end', () => void retake());
  }

  /** Tries until the lock is back: a separate loop, as it ends with the first success. */
  async function retake(): Promise<void> {
    let warned = false;
    while (!released) {
      await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      if (released) return;
      try {
        const session = await take();
        if (session) return hold(session);
        if (!warned && !released) log.error({ event: 'limiter_lock_lost' }, 'another process counts the same limits');
        warned = true;
      } catch (error) {
        log.debug({ event: 'limiter_lock_retry', ...errorMembers(error) }, 'the limiter lock is not held again yet');
      }
    }
  }

  const first = await take();
  if (!first) return null;
  hold(first);
  return {
    release: async () => {
      released = true;
      await held?.end().catch(() => {});
    },
  };
}
