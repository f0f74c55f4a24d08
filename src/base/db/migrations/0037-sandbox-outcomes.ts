import { Migration } from '@mikro-orm/migrations';

/** Outcomes that partners force on orders of a sandbox. */
export class Migration0037SandboxOutcomes extends Migration {
  override up(): void {
    this.addSql(`
      create table sandbox_outcome (
        order_id uuid not null references exchange_order (id),
        outcome text not null
          check (outcome in ('venue_rejects', 'payout_dead', 'payout_unknown', 'refund_dead', 'fee_spike')),
        at timestamptz not null,
        primary key (order_id, outcome)
      );
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
