import type { MikroORM } from '@mikro-orm/postgresql';
import { allNetworks } from '../chains/networks.ts';
import type { Clock } from '../clock.ts';

/** Orders that one statement moves; a sweep goes on until none is left. */
const batch = 500;

/** Ends the wait of orders whose deposit window has passed and that have no deposit at all. */
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
   *
   * An order is due once its chain was read to its head after the window's end, by any process: a deposit that came in
   * time counts although no process was there to see it. An order with a deposit, which is below its minimum or late, is
   * left to `awaitDeposit`.
   */
  async sweep(): Promise<void> {
    const networks = JSON.stringify(allNetworks().map(({ id, chain }) => ({ network: id, chain })));
    for (;;) {
      const now = this.#clock.now();
      const [moved] = await this.#orm.em.fork().execute<{ count: number }[]>(
        `with due as (
           select o.id from exchange_order o
             join jsonb_to_recordset(?::jsonb) as n (network text, chain text) on n.network = o.network_from
             join chain_state c on c.chain = n.chain
            where o.next_action_at <= ? and o.status = 'waiting_deposit' and o.expires_at <= c.read_at
              and not exists (select from deposit d where d.order_id = o.id and d.state <> 'orphaned')
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
        [networks, now, batch, now, now],
      );
      if (!moved || moved.count < batch) return;
    }
  }
}
