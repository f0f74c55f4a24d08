import { Migration } from '@mikro-orm/migrations';

/** Accounts in debit, one identity of coins whatever the way of reading, and transfers that cannot be stored. */
export class Migration0010Identity extends Migration {
  override up(): void {
    this.addSql(`
      -- Deposits that were credited and are gone. Each may have left its order's account in debit.
      create index deposit_taken_back on deposit (order_id)
        where credits > 0 and state <> 'credited' and order_id is not null;

      -- How the last process to read the chain found coins that contracts send on: 'none', 'trace', 'balances'.
      alter table chain_state add column internal_transfers text;

      -- Of a deposit that a balance showed: the final block of that balance. The deposit stands for coins that no
      -- transaction names and that came in this block or below.
      alter table deposit add column compared_height bigint;
      update deposit d set compared_height = coalesce(d.height, c.height)
        from chain_state c where c.chain = d.chain and d.key like 'balance:%';

      -- Transfers that traces showed later, of coins that such deposits stand for. They are no deposits of their own.
      create table deposit_part (
        chain text not null,
        key text not null,
        address text not null,
        amount numeric(38,18) not null check (amount > 0),
        height bigint not null,
        primary key (chain, key)
      );
      create index deposit_part_address on deposit_part (chain, address);

      -- Transfers to our addresses that could not become deposits. The scan went on without them.
      create table left_out_transfer (
        id bigint generated always as identity primary key,
        chain text not null,
        key text not null,
        txid text not null,
        address text not null,
        contract text,
        -- In the smallest unit, digits only: no numeric type of this database need hold it.
        amount text not null,
        height bigint,
        reason text not null,
        seen_at timestamptz not null,
        acknowledged_at timestamptz,
        unique (chain, key, reason)
      );
      create index left_out_transfer_open on left_out_transfer (seen_at) where acknowledged_at is null;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
