import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { allNetworks } from '../../chains/networks/networks.ts';

/** Orders that one statement moves. A sweep repeats it until no order is due. */
const batch = 500;

/** Expires orders whose deposit window has passed without any deposit. */
export class OrderExpiry {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Moves every due order from waiting_deposit to expired and writes its event, in one statement.
   * Rows that another process has locked are skipped, so any number of processes may sweep at once.
   *
   * An order is due once any process read its chain to the head after the window's end. A deposit
   * that came in time thus counts even if no process ran at that time. A time of reading in the
   * future, from before the clock was set back, proves nothing. Orders with a deposit that is too
   * small or late are left to `awaitDeposit`.
   */
  async sweep(): Promise<void> {
    const networks = JSON.stringify(allNetworks().map(({ id, chain }) => ({ network: id, chain })));
    for (;;) {
      const now = this.#clock.now();
      const [moved] = await sql<{ count: number }>(
        this.#orm.em.fork(),
        `with due as (
           select o.id from exchange_order o
             join jsonb_to_recordset(?::jsonb) as n (network text, chain text) on n.network = o.network_from
             join chain_state c on c.chain = n.chain
            where o.next_action_at <= ? and o.status = 'waiting_deposit' and o.expires_at <= c.read_at
              and c.read_at <= ?
              and not exists (select from deposit d where d.order_id = o.id and d.state <> 'orphaned')
            order by o.next_action_at limit ? for update of o skip locked
         ), moved as (
           update exchange_order o
              set status = 'expired', event_seq = event_seq + 1, next_action_at = null, updated_at = ?
             from due where o.id = due.id returning o.id, o.partner_id, o.event_seq
         ), event as (
           insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor)
           select id, partner_id, event_seq, ?, 'waiting_deposit', 'expired', 'window_passed', 'system' from moved
         )
         select count(*)::int as count from moved`,
        [networks, now, now, batch, now, now],
      );
      if (!moved || moved.count < batch) return;
    }
  }
}
