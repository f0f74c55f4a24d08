import type { EntityManager } from '@mikro-orm/postgresql';

/** Ends all sessions of a member, within the caller's unit of work. */
export async function endSessions(em: EntityManager, staffId: string, now: Date): Promise<void> {
  await em.execute('update staff_session set ended_at = ? where staff_id = ? and ended_at is null', [now, staffId]);
}
