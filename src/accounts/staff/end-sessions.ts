import type { EntityManager } from '@mikro-orm/postgresql';
import { StaffSession } from './staff-session.entity.ts';

/** Ends all sessions of a member, within the caller's unit of work. */
export async function endSessions(em: EntityManager, staffId: string, now: Date): Promise<void> {
  await em.nativeUpdate(StaffSession, { staff: staffId, endedAt: null }, { endedAt: now });
}
