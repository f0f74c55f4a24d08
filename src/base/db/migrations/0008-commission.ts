import { Migration } from '@mikro-orm/migrations';

/** Where partners are paid their commission. */
const addresses = `
-- An address takes effect 72 hours after it was requested. Until then it can be cancelled.
create table commission_address (
  id uuid primary key,
  partner_id uuid not null references partner (id),
  coin text not null,
  network text not null,
  address text not null,
  tag text,
  requested_at timestamptz not null,
  -- The member of the partner who confirmed it with a passkey, or the action of two members of staff.
  member_id uuid references partner_member (id),
  action_id uuid references staff_action (id),
  -- The partner has lost the address in effect, so nothing is paid to it any more.
  old_is_lost boolean not null default false,
  effective_at timestamptz not null,
  took_effect_at timestamptz,
  cancelled_at timestamptz,
  check (num_nonnulls(member_id, action_id) = 1),
  check (took_effect_at is null or cancelled_at is null)
);
-- One waits at a time. A new request cancels the one that waits.
create unique index commission_address_waiting on commission_address (partner_id)
  where took_effect_at is null and cancelled_at is null;
create index commission_address_partner on commission_address (partner_id, requested_at);

create function keep_commission_address() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.took_effect_at is not null or old.cancelled_at is not null
     or (new.id, new.partner_id, new.coin, new.network, new.address, new.tag, new.requested_at, new.member_id,
         new.action_id, new.old_is_lost)
          is distinct from (old.id, old.partner_id, old.coin, old.network, old.address, old.tag, old.requested_at,
         old.member_id, old.action_id, old.old_is_lost)
     or new.effective_at < old.effective_at or new.took_effect_at < new.effective_at then
    raise exception 'an address of commission does not change' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger commission_address_keep before update or delete on commission_address
  for each row execute function keep_commission_address();
`;

/** The months of partners, and what each is made of. */
const statements = `
create table commission_statement (
  partner_id uuid not null references partner (id),
  -- The first day of the month, in UTC.
  month date not null check (month = date_trunc('month', month::timestamp)::date),
  -- What the month is settled in.
  coin text not null,
  network text not null,
  state text not null default 'open' check (state in ('open', 'closed', 'rolled', 'payable', 'paid')),
  closed_at timestamptz,
  -- By asset, the settlement asset first: coin, network, opening, accrued, converted, corrected,
  -- paid and closing, as decimal text.
  figures jsonb,
  orders integer check (orders >= 0),
  -- SHA-256 of the CSV of the month's entries, in hex.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- What is paid for this month, network fee included, in the settlement asset.
  due numeric(38,18) check (due > 0),
  payment_id uuid unique references payment (id),
  attempts integer not null default 0 check (attempts >= 0),
  -- Why it is not paid yet.
  problem text,
  held_at timestamptz,
  hold_reason text check (length(hold_reason) between 1 and 1000),
  -- Two members of staff decided to pay it although the partner is inactive or payments failed.
  approved_at timestamptz,
  -- The partner was inactive then. A partner that became inactive later is not paid without them.
  approved_inactive boolean not null default false check (not approved_inactive or approved_at is not null),
  paid_at timestamptz,
  primary key (partner_id, month),
  check ((state = 'open') = (closed_at is null)),
  check (num_nulls(closed_at, figures, orders, sha256) in (0, 4)),
  check ((state in ('payable', 'paid')) = (due is not null)),
  check ((state = 'paid') = (paid_at is not null)),
  check ((held_at is null) = (hold_reason is null))
);
create index commission_statement_open on commission_statement (month) where state = 'open';
create index commission_statement_payable on commission_statement (closed_at) where state = 'payable';
create index commission_statement_month on commission_statement (month, partner_id);

create function keep_commission_statement() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a month of a partner stays' using errcode = 'restrict_violation';
  end if;
  if (new.partner_id, new.month) is distinct from (old.partner_id, old.month)
     -- The next payment of a month is decided once the last one has died.
     or old.payment_id is not null and new.payment_id is distinct from old.payment_id
        and not exists (select from payment where id = old.payment_id and state = 'dead')
     or old.state <> 'open' and
        ((new.coin, new.network, new.closed_at, new.figures, new.orders, new.sha256)
           is distinct from (old.coin, old.network, old.closed_at, old.figures, old.orders, old.sha256)
         or old.due is not null and new.due is distinct from old.due
            and (old.state, new.state) is distinct from ('payable', 'rolled')
         -- A balance below the minimum is paid when two members of staff say so. One that cannot be
         -- paid counts in a later month when two say so, once no payment of it can arrive.
         or new.state <> old.state
            and (old.state, new.state) not in (('rolled', 'payable'), ('payable', 'rolled'), ('payable', 'paid'))
         or old.state = 'payable' and new.state = 'rolled'
            and exists (select from payment where id = old.payment_id and state <> 'dead')) then
    raise exception 'a closed month does not change' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger commission_statement_keep before update or delete on commission_statement
  for each row execute function keep_commission_statement();

-- Each change of what a partner has earned. The sum by asset is the balance of the ledger's account
-- partner:<id>, with the sign reversed.
create table commission_entry (
  id uuid primary key,
  -- The order of booking.
  number bigint not null generated always as identity unique,
  partner_id uuid not null,
  month date not null,
  at timestamptz not null,
  -- 'accrual': the markup of a completed order. 'conversion': two entries, out of one asset and into
  -- another. 'correction': by two members of staff. 'payment': of an earlier month.
  kind text not null check (kind in ('accrual', 'conversion', 'correction', 'payment')),
  coin text not null,
  network text not null,
  -- Positive for the partner.
  amount numeric(38,18) not null check (amount <> 0),
  order_id uuid references exchange_order (id),
  -- What was converted into the amount, at these prices in US dollars. Null without a conversion.
  from_coin text,
  from_network text,
  from_amount numeric(38,18) check (from_amount > 0),
  from_price numeric(38,18) check (from_price > 0),
  price numeric(38,18) check (price > 0),
  -- The entry that a correction is about.
  corrects uuid references commission_entry (id),
  action_id uuid references staff_action (id),
  payment_id uuid references payment (id),
  reason text check (length(reason) between 1 and 1000),
  foreign key (partner_id, month) references commission_statement (partner_id, month),
  check ((kind = 'accrual') = (order_id is not null)),
  check ((kind = 'payment') = (payment_id is not null)),
  check ((kind = 'correction') = (action_id is not null)),
  check (num_nulls(from_coin, from_network, from_amount, from_price, price) in (0, 5))
);
create unique index commission_entry_order on commission_entry (order_id) where kind = 'accrual';
create unique index commission_entry_payment on commission_entry (payment_id) where kind = 'payment';
create unique index commission_entry_action on commission_entry (action_id) where kind = 'correction';
create index commission_entry_month on commission_entry (partner_id, month, number);

-- An entry waits for the closing of its month, and comes too late after it.
create function refuse_closed_month() returns trigger language plpgsql as $$
begin
  perform from commission_statement where partner_id = new.partner_id and month = new.month and state = 'open'
    for share;
  if not found then
    raise exception 'the month of this entry is closed' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger commission_entry_open before insert on commission_entry
  for each row execute function refuse_closed_month();
create trigger commission_entry_append_only before update or delete or truncate on commission_entry
  for each statement execute function refuse_change();
`;

/** Payments of commission have no deposit and no order. */
const payments = `
alter table payment drop constraint payment_kind_check,
  add constraint payment_kind_check check (kind in ('payout', 'refund', 'sweep', 'gas', 'setup', 'commission'));
`;

/** Events that are about no order. */
const events = `
alter table webhook_delivery
  -- The members of an event without an order. Null for events of orders, tests and samples.
  add column data jsonb check (data is null or order_id is null);
drop index webhook_delivery_test;
create index webhook_delivery_test on webhook_delivery (endpoint_id, id)
  where state = 'pending' and order_id is null and data is null;
create unique index webhook_delivery_recorded on webhook_delivery ((data ->> 'event_id'), endpoint_id, generation)
  where data is not null;
create index webhook_delivery_recorded_open on webhook_delivery (endpoint_id, (data ->> 'event_id'))
  where state = 'pending' and data is not null;
`;

/** Statements were read by the time of completion. They are made of entries now. */
const completions = `
drop index order_event_completed;
`;

/** Owners get a notice of a changed default markup, which a thief may have set. */
const markups = `
alter table api_key add column markup_changed_at timestamptz;
`;

/** One member of staff with a link for an owner could else move commission to another address. */
const members = `
-- When the member last got a passkey by a link of staff. A link of a member passes on what that
-- member has.
alter table partner_member add column linked_by_staff_at timestamptz;
`;

/** What members of staff decide about the commission of a partner. */
const decisions = `
alter table staff_action
  add column partner_id uuid references partner (id),
  add column month date,
  add column network text,
  -- The entry that a correction is about.
  add column corrects uuid references commission_entry (id),
  -- The partner has lost the address in effect. Of an address.
  add column old_is_lost boolean not null default false,
  drop constraint staff_action_action_check,
  add constraint staff_action_action_check check (action in ('refund', 'retry_payout', 'mark_failed', 'hold',
    'release', 'venue_price', 'resume_payouts', 'venue_opening', 'venue_classify', 'assign_deposit',
    'commission_hold', 'commission_release', 'commission_correct', 'commission_pay', 'commission_cancel',
    'commission_address')),
  drop constraint staff_action_subject,
  add constraint staff_action_subject check (case
    when action = 'resume_payouts'
      then hold_id is not null and num_nonnulls(venue, order_id, deposit_id, partner_id) = 0
    when action in ('venue_opening', 'venue_classify')
      then venue is not null and num_nonnulls(hold_id, order_id, deposit_id, partner_id) = 0
    when action like 'commission!_%' escape '!'
      then partner_id is not null and num_nonnulls(hold_id, venue, order_id, deposit_id) = 0
    else num_nonnulls(hold_id, venue, partner_id) = 0 and num_nonnulls(order_id, deposit_id) >= 1 end),
  drop constraint staff_action_class,
  add constraint staff_action_class check (case action
    when 'venue_classify' then class is not null
      and (reference is null) = (movement_kind is null)
      and (reference is null) = (coin is not null and amount is not null)
    when 'venue_opening' then num_nonnulls(class, movement_kind, coin, amount) = 0
    when 'commission_correct' then num_nonnulls(coin, network, amount) = 3
      and num_nonnulls(class, movement_kind, reference, month) = 0
    when 'commission_address' then num_nonnulls(coin, network, address) = 3
      and num_nonnulls(class, movement_kind, reference, amount, month) = 0
    else num_nonnulls(class, movement_kind, reference, coin, amount, network) = 0 end),
  add constraint staff_action_month check (
    (action in ('commission_hold', 'commission_release', 'commission_pay', 'commission_cancel'))
      = (month is not null)),
  drop constraint staff_action_check2,
  add constraint staff_action_second_member check (
    state <> 'done' or action in ('mark_failed', 'hold', 'commission_hold') or decided_by is distinct from proposed_by);
create index staff_action_partner on staff_action (partner_id) where partner_id is not null;
drop index staff_action_open_once;
create unique index staff_action_open_once
  on staff_action (action, order_id, deposit_id, hold_id, venue, movement_kind,
      (case when action = 'venue_classify' then reference end), coin, partner_id, month)
  nulls not distinct
  where state = 'proposed' and action in ('refund', 'retry_payout', 'release', 'venue_price', 'resume_payouts',
    'venue_opening', 'venue_classify', 'assign_deposit', 'commission_release', 'commission_correct',
    'commission_pay', 'commission_cancel', 'commission_address');
`;

export class Migration0008Commission extends Migration {
  override up(): void {
    for (const part of [addresses, statements, payments, events, completions, markups, members, decisions])
      this.addSql(part);
  }
}
