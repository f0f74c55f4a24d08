import { Migration } from '@mikro-orm/migrations';

/**
 * Lets a scan store its rows in several transactions, and an order that cannot be settled wait by
 * itself. Makes the outputs of one transaction to one order one deposit with parts.
 */
export class Migration0052BoundedRows extends Migration {
  override up(): void {
    this.addSql(`
      -- An index of a table that has grown large takes its time.
      set local statement_timeout = 0;

      -- Blocks that are not in the cursor and whose transfers may be stored, as an array of hashes.
      alter table chain_state add unsettled_blocks jsonb not null default '[]';

      -- Since when no try to settle the order has succeeded.
      alter table exchange_order add failing_since timestamptz;
      create index exchange_order_failing on exchange_order (failing_since) where failing_since is not null;

      -- Parts with a deposit are the outputs of one payment. The others are known by a comparison of balances.
      alter table deposit_part add deposit_id uuid references deposit (id);
      create index deposit_part_deposit on deposit_part (deposit_id) where deposit_id is not null;
    `);
  }
}
