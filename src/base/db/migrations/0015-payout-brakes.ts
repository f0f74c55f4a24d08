import { Migration } from '@mikro-orm/migrations';

/** Limits on automatic payments in an hour and a day, and holds of whole assets. */
export class Migration0015PayoutBrakes extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment
        -- Worth in US dollars, rounded up: when it began, or when it was last told to wait for room.
        add column value_usd numeric(24,2) check (value_usd >= 0),
        -- When it began and was counted. Null before, and again when its transaction was given up unsigned.
        add column begun_at timestamptz check (begun_at is null or value_usd is not null);
      create index payment_awaits_room on payment (number) include (coin, network, problem, value_usd, next_action_at)
        where state = 'ready' and problem in ('payout_limit', 'payout_limit_asset');
      create index payment_ready on payment (coin, network) where state = 'ready';

      -- What automatic payments began in each minute are worth. Coin and network are empty for all assets together.
      create table payout_spent (
        coin text not null,
        network text not null,
        minute timestamptz not null,
        usd numeric(24,2) not null check (usd >= 0),
        primary key (coin, network, minute)
      );

      -- While one is open, no payout or refund of its asset begins.
      create table payout_hold (
        id uuid primary key,
        -- Both null for every asset.
        coin text,
        network text,
        cause text not null check (cause in ('reconciliation', 'client_debit', 'venue_loss', 'staff')),
        detail text not null,
        -- What was found, each by a name that stays while it is the same.
        findings text[] not null,
        opened_at timestamptz not null,
        -- Null for one that the gateway opened, or an operator by command.
        opened_by uuid references staff_member (id),
        -- When a look last found the cause, and when findings were last added to it.
        found_at timestamptz not null,
        changed_at timestamptz not null,
        -- Since when looks find the cause no more. Always null for a stop by staff.
        cleared_at timestamptz,
        closed_at timestamptz,
        proposed_by uuid references staff_member (id),
        closed_by uuid references staff_member (id),
        -- Closed although the cause stood: the same findings open no other.
        acknowledged boolean not null default false,
        check ((coin is null) = (network is null)),
        check (cause = 'staff' or opened_by is null),
        check ((closed_at is null) = (closed_by is null) and (closed_at is null) = (proposed_by is null)),
        check (closed_by <> proposed_by)
      );
      create unique index payout_hold_open on payout_hold (cause, coin, network) nulls not distinct
        where closed_at is null;
      create index payout_hold_acknowledged on payout_hold (cause, closed_at) where acknowledged;
      create trigger payout_hold_not_removed before delete or truncate on payout_hold
        for each statement execute function refuse_change();

      -- When the looks for causes were last begun. One row.
      create table payout_watch (
        only_row boolean primary key default true check (only_row),
        looked_at timestamptz
      );
      insert into payout_watch default values;

      -- Bookings come in the order of their times.
      create index ledger_transaction_at on ledger_transaction using brin (at) with (autosummarize = on);

      alter table staff_action
        add column hold_id uuid references payout_hold (id),
        -- The proposer knows that the cause of the hold stands.
        add column acknowledges boolean not null default false,
        drop constraint staff_action_action_check,
        add constraint staff_action_action_check
          check (action in ('refund', 'retry_payout', 'mark_failed', 'hold', 'release', 'venue_price',
                            'resume_payouts')),
        drop constraint staff_action_check,
        add constraint staff_action_check check (case action when 'resume_payouts'
          then hold_id is not null and order_id is null and deposit_id is null
          else hold_id is null and num_nonnulls(order_id, deposit_id) >= 1 end);
      drop index staff_action_open_once;
      create unique index staff_action_open_once on staff_action (action, order_id, deposit_id, hold_id)
        nulls not distinct
        where state = 'proposed' and action in ('refund', 'retry_payout', 'release', 'venue_price', 'resume_payouts');
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
