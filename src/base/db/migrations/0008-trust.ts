import { Migration } from '@mikro-orm/migrations';

/** Caps on what a partner may have open without paying, and what the reconciler found. */
export class Migration0008Trust extends Migration {
  override up(): void {
    this.addSql(`
      alter table partner
        add column max_open_orders integer check (max_open_orders > 0),
        add column max_fixed_exposure_usd integer check (max_fixed_exposure_usd > 0);

      -- One row for each time that the book was due to be compared with everything else. Whoever writes it does so.
      create table reconciliation (
        due_at timestamptz primary key,
        started_at timestamptz not null,
        -- Null while it goes on, and for ever when it could not be ended.
        ended_at timestamptz,
        checks integer check (checks >= 0),
        -- How many, by what was compared: {"hot": 1}
        differences jsonb,
        check ((ended_at is null) = (checks is null) and (ended_at is null) = (differences is null))
      );
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
