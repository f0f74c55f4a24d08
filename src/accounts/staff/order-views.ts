import type { EntityManager } from '@mikro-orm/postgresql';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';

/** A named filter of the order list. Only its member sees it. */
export interface OrderView {
  readonly id: string;
  readonly name: string;
  /** The filters as the address of the list carries them: 'status=FAILED&coin=BTC'. */
  readonly query: string;
}

/** Most views of a member. */
export const mostViews = 20;
const mostName = 40;
const mostQuery = 1_000;

/** The views of a member, by name. */
export function orderViews(em: EntityManager, staffId: string): Promise<OrderView[]> {
  return sql<OrderView>(
    em,
    'select id, name, query from order_view where staff_id = ? order by lower(name), name limit ?',
    [staffId, mostViews],
  );
}

/**
 * Saves a view under a name. A view of the member with this name is replaced.
 *
 * @param query checked by the caller.
 * @throws AppError invalid_value for a name or a query that is too long, and for a 21st view.
 */
export async function saveOrderView(
  em: EntityManager,
  staffId: string,
  { name, query, now }: { readonly name: string; readonly query: string; readonly now: Date },
): Promise<OrderView> {
  const title = name.trim();
  if (title === '' || title.length > mostName || /\p{Cc}/u.test(title)) {
    throw new AppError('invalid_value', `a view has a name of 1 to ${mostName} characters in one line`);
  }
  if (query === '') throw new AppError('invalid_value', 'a view has at least one filter');
  if (query.length > mostQuery) {
    throw new AppError('invalid_value', `the filters of a view have at most ${mostQuery} characters; shorten them`);
  }
  // Two windows of one member must not pass the limit together.
  await sql(em, 'select 1 from staff_member where id = ? for no key update', [staffId]);
  const [saved] = await sql<OrderView>(
    em,
    `insert into order_view (id, staff_id, name, query, created_at)
     select ?::uuid, ?::uuid, ?, ?, ?::timestamptz
      where (select count(*) from order_view where staff_id = ? and name <> ?) < ?
     on conflict (staff_id, name) do update set query = excluded.query
     returning id, name, query`,
    [uuidv7(), staffId, title, query, now, staffId, title, mostViews],
  );
  if (saved) return saved;
  throw new AppError('invalid_value', `a member has at most ${mostViews} views; remove one first`);
}

/**
 * Removes a view of a member, and returns it.
 *
 * @throws AppError not_found for a view of another member too.
 */
export async function removeOrderView(em: EntityManager, staffId: string, id: string): Promise<OrderView> {
  const [removed] = isUuid(id)
    ? await sql<OrderView>(em, 'delete from order_view where id = ? and staff_id = ? returning id, name, query', [
        id,
        staffId,
      ])
    : [];
  if (removed) return removed;
  throw new AppError('not_found', 'you have no such view; it may be removed already');
}
