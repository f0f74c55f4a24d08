import { Migration } from '@mikro-orm/migrations';

/** Two members assign a deposit without an order, or return it, by evidence. */
const decisions = `
alter table staff_action
  -- What proves whose deposit it is.
  add column evidence text check (length(evidence) between 1 and 4000),
  drop constraint staff_action_action_check,
  add constraint staff_action_action_check check (action in ('refund', 'retry_payout', 'mark_failed', 'hold',
    'release', 'venue_price', 'resume_payouts', 'venue_opening', 'venue_classify', 'assign_deposit')),
  add constraint staff_action_assignment check (
    action <> 'assign_deposit' or num_nonnulls(order_id, deposit_id, evidence) = 3);
drop index staff_action_open_once;
create unique index staff_action_open_once
  on staff_action (action, order_id, deposit_id, hold_id, venue, movement_kind,
      (case when action = 'venue_classify' then reference end), coin)
  nulls not distinct
  where state = 'proposed' and action in ('refund', 'retry_payout', 'release', 'venue_price', 'resume_payouts',
                                          'venue_opening', 'venue_classify', 'assign_deposit');
`;

/** Any stranger can send any number of small deposits to a shared address. */
const deposits = `
-- For staff who look for a deposit that a user misses.
create index deposit_unassigned on deposit (id) where order_id is null and purpose = 'order';

-- How many deposits below the minimum came without an order, by chain and day of UTC.
create table small_deposit_day (
  chain text not null,
  day date not null,
  deposits bigint not null check (deposits > 0),
  first_at timestamptz not null,
  primary key (chain, day)
);
create index small_deposit_day_newest on small_deposit_day (first_at);
`;

/** A sandbox chain can move coins by a kind of transaction that pays no order. */
const sandbox = `
alter table sandbox_tx add column unusual boolean not null default false;
`;

export class Migration0005UnassignedDeposits extends Migration {
  override up(): void {
    for (const part of [decisions, deposits, sandbox]) this.addSql(part);
  }
}
