import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';

/** Ends all sessions of a member, within the caller's unit of work. */
export async function endSessions(em: EntityManager, staffId: string, now: Date): Promise<void> {
  await sql(em, 'update staff_session set ended_at = ? where staff_id = ? and ended_at is null', [now, staffId]);
}
