import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { AppError } from '../errors.ts';
import type { OrderEvent } from '../orders/order-event.entity.ts';
import type { OrderStatus } from '../orders/order-status.ts';

/** A move of an order, as the feed tells it. */
export interface FeedEvent {
  /** The place in the feed just behind this event. */
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
 * The events behind a place in the feed that are committed for good: no transaction that is still running can add one
 * in front of them. `e` is order_event; the place is bound as xid, order id and seq.
 */
export const behindPlace = `e.xid < pg_snapshot_xmin(pg_current_snapshot())
   and (e.xid, e.order_id, e.seq) > (?::text::xid8, ?::uuid, ?::integer)`;
export const feedOrder = 'e.xid, e.order_id, e.seq';

/**
 * Every move of every order exactly once, whichever process wrote it. A transaction that writes and stays open holds the
 * feed back, and what other transactions committed meanwhile follows once it ends. Two moves of one order that were made
 * in the same moment by two transactions may come in either order: `seq` tells.
 */
export class OrderFeed {
  readonly #orm: MikroORM;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  /** The place in the feed behind which is everything that is committed from now on. */
  async now(): Promise<string> {
    const [row] = await this.#em().execute<{ xid: string }[]>(
      'select pg_snapshot_xmin(pg_current_snapshot())::text as xid',
    );
    return `${row?.xid}-00000000-0000-0000-0000-000000000000-0`;
  }

  /**
   * Up to so many events behind the cursor, 1,000 at most. Ask again with the last one's cursor.
   *
   * @throws AppError invalid_value when the cursor is none of this feed's.
   */
  async since(cursor: string, limit: number): Promise<FeedEvent[]> {
    const [, xid, orderId, seq] = cursorForm.exec(cursor) ?? [];
    if (xid === undefined || BigInt(xid) >= 1n << 64n) {
      throw new AppError('invalid_value', 'this is no cursor of the order feed');
    }
    const rows = await this.#em().execute<(Omit<FeedEvent, 'cursor' | 'at'> & { xid: string; at: Date | string })[]>(
      `select e.xid::text as xid, e.order_id as "orderId", o.partner_id as "partnerId", e.seq, e.at, e.from_status as "fromStatus",
              e.to_status as "toStatus", e.cause
         from order_event e join exchange_order o on o.id = e.order_id
        where ${behindPlace} order by ${feedOrder} limit ?`,
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
 * Whether events bear numbers that this PostgreSQL has not given yet: they came by a dump from another cluster, and
 * neither they nor newer ones are told before `renumberFeed`.
 */
export async function isFeedStalled(em: EntityManager): Promise<boolean> {
  const [row] = await em.execute<{ stalled: boolean }[]>(
    'select exists (select from order_event where xid >= pg_snapshot_xmax(pg_current_snapshot())) as stalled',
  );
  return row?.stalled ?? false;
}

/**
 * Gives all events one number of this cluster and lets the statistics begin anew, in one transaction. Takes time, and
 * keeps orders from moving meanwhile. Returns how many events there are.
 */
export async function renumberFeed(outer: EntityManager): Promise<number> {
  return outer.transactional(async (em) => {
    await em.execute('set local statement_timeout = 0');
    await em.execute('alter table order_event disable trigger order_event_append_only');
    const [row] = await em.execute<{ count: number }[]>(
      `with renumbered as (update order_event set xid = pg_current_xact_id() returning 1)
       select count(*)::int as count from renumbered`,
    );
    await em.execute('alter table order_event enable trigger order_event_append_only');
    await em.execute('truncate order_stat');
    await em.execute(
      `update order_stat_progress set xid = '0', order_id = '00000000-0000-0000-0000-000000000000', seq = 0`,
    );
    return row?.count ?? 0;
  });
}
