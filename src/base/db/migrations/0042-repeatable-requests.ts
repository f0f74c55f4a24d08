import { Migration } from '@mikro-orm/migrations';

/** Answers to requests that are about no order, and more outcomes of the sandbox. */
export class Migration0042RepeatableRequests extends Migration {
  override up(): void {
    this.addSql(`
      alter table idempotency_key alter column order_id drop not null;

      alter table sandbox_outcome drop constraint sandbox_outcome_outcome_check;
      alter table sandbox_outcome add constraint sandbox_outcome_outcome_check
        check (outcome in ('venue_rejects', 'venue_silent', 'payout_dead', 'payout_unknown', 'refund_dead', 'fee_spike',
                           'would_fail', 'gas_above_maximum', 'token_refused', 'signer_unavailable'));

      -- How many deposits the sandbox has sent to an order.
      create table sandbox_deposits (
        order_id uuid primary key references exchange_order (id),
        count integer not null check (count > 0)
      );
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
