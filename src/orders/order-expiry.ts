import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';

/** Orders that one statement moves; a sweep goes on until none is left. */
const batch = 500;

/** Ends the wait of orders whose deposit window has passed with no deposit seen. */
export class OrderExpiry {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Moves every due order from waiting_deposit to expired and writes its event, in one statement: either both or
   * neither. Rows that another process holds are left to it, so any number of processes may sweep at once.
   */
  async sweep(): Promise<void> {
    for (;;) {
      const now = this.#clock.now();
      const [moved] = await this.#orm.em.fork().execute<{ count: number }[]>(
        `with due as (
           select id from exchange_order
            where next_action_at <= ? and status = 'waiting_deposit' and expires_at <= ?
            order by next_action_at limit ? for update skip locked
         ), moved as (
           update exchange_order o set status = 'expired', next_action_at = null, updated_at = ?
             from due where o.id = due.id returning o.id
         ), event as (
           insert into order_event (order_id, seq, at, from_status, to_status, cause, actor)
           select id, (select max(seq) + 1 from order_event e where e.order_id = moved.id), ?,
                  'waiting_deposit', 'expired', 'window_passed', 'system'
             from moved
         )
         select count(*)::int as count from moved`,
        [now, now, batch, now, now],
      );
      if (!moved || moved.count < batch) return;
    }
  }
}
