import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes the float orders that have a deposit. The cap on those of all partners is read from it,
 * and creates wait for that read. Unpaid orders have no entry: anyone can make many of them. With
 * all columns of that read, the index is never dearer to PostgreSQL than exchange_order_float_open.
 */
export class Migration0049PaidFloatOrders extends Migration {
  override up(): void {
    this.addSql(`
      -- An index of a table that has grown large takes its time.
      set local statement_timeout = 0;
      create index exchange_order_float_paid on exchange_order (coin_from)
        include (amount_from_expected, max_amount, deposit_id)
        where rate_type = 'float' and status in ('waiting_deposit', 'confirming', 'exchanging', 'sending')
          and deposit_id is not null;
    `);
  }
}
