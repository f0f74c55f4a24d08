import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { eventTypeSql, eventTypesJson } from '../orders/event-types.ts';
import { afterCursor, feedOrder } from '../orders/read/order-feed.ts';

/** Events that one transaction turns into deliveries. */
const batchSize = 1_000;

/**
 * Whether an endpoint `w` wants an event of the type `type` of the order `orderId`. A replay asks
 * the same.
 */
export const isWanted = (type: string, orderId: string): string => `(w.types is null or ${type} = any (w.types))
   and (w.coin_from is null and w.coin_to is null
        or exists (select from exchange_order o
                    where o.id = ${orderId} and (w.coin_from is null or o.coin_from = w.coin_from)
                      and (w.coin_to is null or o.coin_to = w.coin_to)))`;

/**
 * Makes the deliveries of one batch: the events after the stored place. It then moves the place to
 * the last of them. One statement, and so one snapshot.
 */
const dispatchBatch = `
  with batch as materialized (
    select e.*, ${eventTypeSql('?::jsonb')} as type from order_event e
     where ${afterCursor} order by ${feedOrder} limit ?
  ), made as (
    insert into webhook_delivery (endpoint_id, order_id, seq, type, state, next_attempt_at, created_at)
    select w.id, b.order_id, b.seq, b.type, 'pending', ?::timestamptz, ?::timestamptz
      from batch b join webhook_endpoint w on w.partner_id = b.partner_id
     where w.status = 'enabled' and ${isWanted('b.type', 'b.order_id')}
     order by b.xid, b.order_id, b.seq
    on conflict do nothing
    returning 1
  ), last as (
    select b.xid, b.order_id, b.seq from batch b order by b.xid desc, b.order_id desc, b.seq desc limit 1
  )
  update webhook_place p set xid = last.xid, order_id = last.order_id, seq = last.seq from last
  returning (select count(*)::int from batch) as events, (select count(*)::int from made) as deliveries`;

interface Dispatched {
  readonly events: number;
  readonly deliveries: number;
}

/**
 * Turns the feed of events into deliveries: one for each event and each endpoint that wants it. The
 * deliveries and the place in the feed commit together, so that each is made exactly once.
 */
export class WebhookDispatcher {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Makes the deliveries of all new events, in batches of one transaction each. Any number of
   * processes may call it at any time: one works, the others return at once.
   *
   * @param options.size Events of a batch, for tests.
   * @param options.onBatch Called after each commit.
   */
  async dispatch(options: { size?: number; onBatch?: () => Promise<void> } = {}): Promise<Dispatched> {
    const { size = batchSize, onBatch } = options;
    const total = { events: 0, deliveries: 0 };
    for (;;) {
      const done = await this.#batch(size);
      if (done.events > 0) await onBatch?.();
      total.events += done.events;
      total.deliveries += done.deliveries;
      if (done.events < size) return total;
    }
  }

  #batch(size: number): Promise<Dispatched> {
    return this.#orm.em.fork().transactional(async (em) => {
      const [place] = await sql<{ xid: string; order_id: string; seq: number }>(
        em,
        'select xid::text as xid, order_id, seq from webhook_place for update skip locked',
      );
      if (!place) return { events: 0, deliveries: 0 };
      const now = this.#clock.now();
      const [done] = await sql<Dispatched>(em, dispatchBatch, [
        eventTypesJson,
        place.xid,
        place.order_id,
        place.seq,
        size,
        now,
        now,
      ]);
      return done ?? { events: 0, deliveries: 0 };
    });
  }
}
