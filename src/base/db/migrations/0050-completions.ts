import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes the completions of each partner by time, for its statements, and the fills of trades, for
 * what they cost. An order may complete, and a trade may fill, long after it was made.
 */
export class Migration0050Completions extends Migration {
  override up(): void {
    this.addSql(`
      -- Indexes of tables that have grown large take their time.
      set local statement_timeout = 0;
      create index order_event_completed on order_event (partner_id, at, order_id)
        where to_status = 'completed' and from_status <> 'completed';
      create index trade_settled on trade (settled_at) where state = 'filled';
      drop index trade_created;
    `);
  }
}
