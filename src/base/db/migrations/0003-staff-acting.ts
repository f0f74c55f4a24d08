import { Migration } from '@mikro-orm/migrations';

/** What staff do: the log of it, notes on orders, and prices that they set by hand. */
export class Migration0003StaffActing extends Migration {
  override up(): void {
    this.addSql(`
      create table audit_log (
        id uuid primary key,
        at timestamptz not null,
        staff_id uuid not null references staff_member (id),
        operation text not null,
        target text not null,
        reason text not null check (length(reason) between 1 and 1000),
        before jsonb,
        after jsonb,
        request_id text not null,
        ip text not null
      )`);
    this.addSql('create index audit_log_staff on audit_log (staff_id, id)');
    this.addSql('create index audit_log_target on audit_log (target, id)');
    this.addSql(`create trigger audit_log_append_only before update or delete or truncate on audit_log
      for each statement execute function refuse_change()`);

    this.addSql(`
      create table order_note (
        id uuid primary key,
        order_id uuid not null references exchange_order (id),
        staff_id uuid not null references staff_member (id),
        at timestamptz not null,
        text text not null check (length(text) between 1 and 4000)
      )`);
    this.addSql('create index order_note_order on order_note (order_id, id)');
    this.addSql(`create trigger order_note_append_only before update or delete or truncate on order_note
      for each statement execute function refuse_change()`);

    this.addSql(`
      create table price_override (
        id uuid primary key,
        coin_from text not null,
        coin_to text not null,
        price numeric(38,18) not null check (price > 0),
        staff_id uuid not null references staff_member (id),
        created_at timestamptz not null,
        ends_at timestamptz not null check (ends_at > created_at),
        ended_at timestamptz,
        check (coin_from <> coin_to)
      )`);
    this.addSql(`create unique index staff_action_open_once on staff_action (action, order_id, deposit_id)
      nulls not distinct where state = 'proposed' and action in ('refund', 'retry_payout', 'release')`);

    // At most one that was not ended by hand, so that it is never a question which one counts.
    this.addSql(
      'create unique index price_override_live on price_override (coin_from, coin_to) where ended_at is null',
    );
  }
}
