import { Client } from 'pg';
import { advisoryLocks } from './database.ts';

/** A lock that lives as long as this process's session; taken again by itself when the session breaks. */
export interface LimiterLock {
  release(): Promise<void>;
}

/**
 * Keeps two processes from counting the same limits apart: one that counts in memory holds the lock alone, those that
 * count in Redis share it. Returns null when another process is in the way.
 */
export async function takeLimiterLock(url: string, shared: boolean): Promise<LimiterLock | null> {
  let client: Client | undefined;
  let released = false;

  async function take(): Promise<boolean> {
    const session = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true });
    session.on('error', () => {});
    await session.connect();
    const call = shared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
    const { rows } = await session.query<{ taken: boolean }>(`select ${call}($1) as taken`, [advisoryLocks.limiter]);
    if (!rows[0]?.taken) {
      await session.end();
      return false;
    }
    client = session;
    session.once('end', () => void retake());
    return true;
  }

  async function retake(): Promise<void> {
    while (!released) {
      await new Promise((resolve) => setTimeout(resolve, 1_000).unref());
      if (released || (await take().catch(() => false))) return;
    }
  }

  if (!(await take())) return null;
  return {
    release: async () => {
      released = true;
      await client?.end().catch(() => {});
    },
  };
}
