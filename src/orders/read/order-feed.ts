import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { OrderEvent } from '../order-event.entity.ts';
import type { OrderStatus } from '../order-status.ts';

/** A move of an order, as the feed reports it. */
export interface FeedEvent {
  /** The position in the feed directly after this event. */
  readonly cursor: string;
  readonly orderId: string;
  readonly partnerId: string;
  readonly seq: number;
  readonly at: Date;
  readonly fromStatus: OrderStatus | null;
  readonly toStatus: OrderStatus;
  readonly cause: OrderEvent['cause'];
}

const cursorForm = /^(\d{1,20})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,9})$/;
const mostEvents = 1_000;

/**
 * Condition for the events after a position in the feed that no running transaction can still
 * precede. `e` is order_event; the position is bound as xid, order id and seq.
 */
export const afterCursor = `e.xid < pg_snapshot_xmin(pg_current_snapshot())
   and (e.xid, e.order_id, e.seq) > (?::text::xid8, ?::uuid, ?::integer)`;
export const feedOrder = 'e.xid, e.order_id, e.seq';

/**
 * Reports every move of every order exactly once, from all processes. Facts are no moves. An open
 * transaction that writes delays the feed: events that others commit meanwhile follow once it ends.
 * Two moves of one order that two transactions make at the same moment may come in either order;
 * `seq` gives the true order.
 */
export class OrderFeed {
  readonly #orm: MikroORM;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  /** The current position: everything that commits from now on comes after it. */
  async now(): Promise<string> {
    const [row] = await sql<{ xid: string }>(this.#em(), 'select pg_snapshot_xmin(pg_current_snapshot())::text as xid');
    return `${row?.xid}-00000000-0000-0000-0000-000000000000-0`;
  }

  /**
   * Reads up to `limit` events after the cursor, 1,000 at most. Continue with the last event's
   * cursor.
   *
   * @throws AppError invalid_value when the cursor is not one of this feed's.
   */
  async since(cursor: string, limit: number): Promise<FeedEvent[]> {
    const [, xid, orderId, seq] = cursorForm.exec(cursor) ?? [];
    if (xid === undefined || orderId === undefined || seq === undefined || BigInt(xid) >= 1n << 64n) {
      throw new AppError('invalid_value', 'this is not a cursor of the order feed');
    }
    const rows = await sql<Omit<FeedEvent, 'cursor' | 'at'> & { xid: string; at: Date | string }>(
      this.#em(),
      `select e.xid::text as xid, e.order_id as "orderId", o.partner_id as "partnerId", e.seq, e.at, e.from_status as "fromStatus",
              e.to_status as "toStatus", e.cause
         from order_event e join exchange_order o on o.id = e.order_id
        where ${afterCursor} and e.from_status is distinct from e.to_status order by ${feedOrder} limit ?`,
      [xid, orderId, seq, Math.min(limit, mostEvents)],
    );
    return rows.map(({ xid, at, ...event }) => {
      return { cursor: `${xid}-${event.orderId}-${event.seq}`, ...event, at: new Date(at) };
    });
  }

  #em(): EntityManager {
    return this.#orm.em.fork();
  }
}

/**
 * Whether events have transaction numbers above those of this PostgreSQL cluster. Such events came
 * with a dump of another cluster. Neither they nor newer events are reported before `renumberFeed`.
 */
export async function isFeedStalled(em: EntityManager): Promise<boolean> {
  const [row] = await sql<{ stalled: boolean }>(
    em,
    'select exists (select from order_event where xid >= pg_snapshot_xmax(pg_current_snapshot())) as stalled',
  );
  return row?.stalled ?? false;
}

/**
 * Gives all events transaction numbers of this cluster, moves the places of webhooks and of the
 * sandbox, and restarts the statistics, in one transaction. It takes long, and orders cannot move
 * meanwhile. Returns the number of events.
 */
export async function renumberFeed(outer: EntityManager): Promise<number> {
  return outer.transactional(async (em) => {
    await sql(em, 'set local statement_timeout = 0');
    await sql(em, 'alter table order_event disable trigger order_event_append_only');
    const [row] = await sql<{ count: number }>(
      em,
      `with renumbered as (
         -- What webhooks have dispatched stays behind their place, and the rest before it.
         update order_event e
            set xid = case when (e.xid, e.order_id, e.seq) <= (w.xid, w.order_id, w.seq) then '3'::xid8 else pg_current_xact_id() end
           from webhook_place w returning 1)
       select count(*)::int as count from renumbered`,
    );
    await sql(em, 'alter table order_event enable trigger order_event_append_only');
    await sql(
      em,
      `update webhook_place set xid = pg_current_xact_id(), order_id = '00000000-0000-0000-0000-000000000000', seq = 0`,
    );
    await sql(
      em,
      `update sandbox_place set cursor = pg_current_xact_id()::text || '-00000000-0000-0000-0000-000000000000-0'`,
    );
    await sql(em, 'truncate order_stat');
    await sql(
      em,
      `update order_stat_progress set xid = '0', order_id = '00000000-0000-0000-0000-000000000000', seq = 0`,
    );
    return row?.count ?? 0;
  });
}
