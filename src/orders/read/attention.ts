import type { EntityManager } from '@mikro-orm/postgresql';
import { systemClock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { type AttentionKind, bound, troubles } from './attention-troubles.ts';

/** An item for staff to look at. */
export interface AttentionItem {
  /** Stays the same as long as the trouble lasts. */
  readonly id: string;
  readonly kind: AttentionKind;
  readonly orderId: string | null;
  /**
   * Id of the order, deposit, payment, staff action, hold, partner or left-out transfer; of the
   * movement at an exchange, or of the transfer to or from one. Or name of the chain, the limit,
   * the exchange or its coin; or the chain and the day.
   */
  readonly subjectId: string;
  readonly since: Date;
  /** The reason, cause, problem or status that the row holds. */
  readonly detail: string;
  /** The member who works on it. */
  readonly assignee: { readonly staffId: string; readonly since: Date } | null;
}

const mostItems = 1_000;
/**
 * Lists everything that staff must look at, oldest first: up to `limit` items, 1,000 at most. One
 * statement.
 *
 * When there are more, every kind gets the same number of places for its oldest items. Otherwise a
 * stranger who sends dust to many addresses could fill the list and hide a payout hold.
 */
export async function attention(em: EntityManager, limit: number, now = systemClock.now()): Promise<AttentionItem[]> {
  const most = Math.max(0, Math.min(limit, mostItems));
  const items = troubles.map(
    ({ kind, order, subject, since, detail, rows, sorting }) =>
      `(select ${kind} as kind, ${order ?? 'null::uuid'} as order_id, ${subject} as subject_id, ${since} as since,
               ${detail} as detail
          from ${rows} order by ${sorting} limit ?)`,
  );
  const found = await sql<FoundItem>(
    em,
    `select kind, order_id as "orderId", subject_id as "subjectId", ${milliseconds('chosen.since')} as ms, detail,
            a.staff_id as "staffId", ${milliseconds('a.since')} as "assignedMs"
       from (select *, row_number() over (partition by kind order by since, subject_id) as place
               from (${items.join('\nunion all\n')}) as item
              order by place, since, kind, subject_id limit ?) as chosen
       left join attention_assignee a on a.item_id = kind || ':' || subject_id
      order by chosen.since, kind, subject_id`,
    [...troubles.flatMap((trouble) => [...bound(trouble, now), most]), most],
  );
  return found.map(({ ms, staffId, assignedMs, ...item }) => ({
    id: `${item.kind}:${item.subjectId}`,
    ...item,
    since: momentOf(ms),
    assignee: staffId === null || assignedMs === null ? null : { staffId, since: momentOf(assignedMs) },
  }));
}

interface FoundItem extends Omit<AttentionItem, 'id' | 'since' | 'assignee'> {
  readonly ms: string | number;
  readonly staffId: string | null;
  readonly assignedMs: string | number | null;
}

const milliseconds = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

function momentOf(ms: string | number): Date {
  return new Date(Number.parseInt(String(ms), 10));
}

/**
 * Removes the members of items that have ended, and members who were revoked. A problem that comes
 * again thus begins without a member. Returns how many items lost theirs.
 */
export async function forgetEndedAssignees(em: EntityManager, now: Date): Promise<number> {
  const assigned = await sql<{ item_id: string; is_revoked: boolean }>(
    em,
    `select a.item_id, m.revoked_at is not null as is_revoked
       from attention_assignee a join staff_member m on m.id = a.staff_id limit ${mostItems}`,
  );
  if (assigned.length === 0) return 0;
  const items = await attention(em, mostItems, now);
  const present = new Set(items.map(({ id }) => id));
  // A full list may lack items that last.
  const isFull = items.length === mostItems;
  const ended = assigned.filter(({ item_id, is_revoked }) => is_revoked || (!isFull && !present.has(item_id)));
  if (ended.length === 0) return 0;
  await sql(
    em,
    `delete from attention_assignee where item_id in (${ended.map(() => '?').join(', ')})`,
    ended.map(({ item_id }) => item_id),
  );
  return ended.length;
}

/**
 * Selects the ids of all orders with an `attention` item, as SQL and the values it binds. They are
 * few among all orders.
 */
export function ordersThatNeedAttention(now: Date): { readonly sql: string; readonly values: readonly unknown[] } {
  const about = troubles.filter(({ order }) => order !== null);
  return {
    sql: about.map(({ order, rows }) => `select ${order} from ${rows} and ${order} is not null`).join('\nunion\n'),
    values: about.flatMap((trouble) => bound(trouble, now)),
  };
}
