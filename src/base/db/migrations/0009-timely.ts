import { Migration } from '@mikro-orm/migrations';

/** When a deposit came, by its chain, and what becomes of orders that got less than their minimum only. */
export class Migration0009Timely extends Migration {
  override up(): void {
    this.addSql(`
      alter table deposit
        -- The earliest and the latest time that it can have come; the earliest is null where nothing bounds it.
        add column arrived_after timestamptz,
        add column arrived_by timestamptz not null default now(),
        -- The earliest time that its block can have been made; null while no block holds it, or nothing bounds it.
        add column mined_after timestamptz;
      -- Deposits of before count by when they were noticed.
      update deposit set arrived_by = seen_at, mined_after = case when height is not null then mined_at end;
      alter table deposit add check (arrived_after <= arrived_by);

      insert into order_status_edge (from_status, to_status) values ('waiting_deposit', 'refunding');
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
