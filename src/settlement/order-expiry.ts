import type { MikroORM } from '@mikro-orm/postgresql';
import { allNetworks } from '../chains/networks.ts';
import type { Clock } from '../clock.ts';
import { secondsAfter } from './settling.ts';

/** Orders that one statement moves; a sweep goes on until none is left. */
const batch = 500;

/** Ends the wait of orders whose deposit window has passed with no deposit seen. */
export class OrderExpiry {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #graceSec: number;

  /** @param graceSec an order waits so much longer at most for a chain that cannot be read. */
  constructor(orm: MikroORM, clock: Clock, graceSec: number) {
    this.#orm = orm;
    this.#clock = clock;
    this.#graceSec = graceSec;
  }

  /**
   * Moves every due order from waiting_deposit to expired and writes its event, in one statement: either both or
   * neither. Rows that another process holds are left to it, so any number of processes may sweep at once.
   *
   * An order is due once its chain was read to its head after the window's end: a deposit that came in time counts even
   * when nobody was there to see it.
   *
   * @param looked when each chain was last read to its head, by this process.
   */
  async sweep(looked: ReadonlyMap<string, Date>): Promise<void> {
    for (;;) {
      const now = this.#clock.now();
      const blind = secondsAfter(now, -this.#graceSec);
      const networks = allNetworks().map(({ id, chain }) => ({ network: id, seen: looked.get(chain) ?? blind }));
      const [moved] = await this.#orm.em.fork().execute<{ count: number }[]>(
        `with due as (
           select o.id from exchange_order o
             join jsonb_to_recordset(?::jsonb) as n (network text, seen timestamptz) on n.network = o.network_from
            where o.next_action_at <= ? and o.status = 'waiting_deposit' and o.expires_at <= n.seen
            order by o.next_action_at limit ? for update of o skip locked
         ), moved as (
           update exchange_order o
              set status = 'expired', event_seq = event_seq + 1, next_action_at = null, updated_at = ?
             from due where o.id = due.id returning o.id, o.event_seq
         ), event as (
           insert into order_event (order_id, seq, at, from_status, to_status, cause, actor)
           select id, event_seq, ?, 'waiting_deposit', 'expired', 'window_passed', 'system' from moved
         )
         select count(*)::int as count from moved`,
        [JSON.stringify(networks), now, batch, now, now],
      );
      if (!moved || moved.count < batch) return;
    }
  }
}
