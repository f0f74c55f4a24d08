import { Migration } from '@mikro-orm/migrations';

/** Accounts of the ledger for coins at an exchange and on the way there or back. */
const ledger = `
-- The old lines have accounts that the old constraint allowed, so that no line is read for it.
alter table ledger_line drop constraint ledger_line_account_check, add constraint ledger_line_account_check check (
  account in ('deposits', 'hot', 'client', 'venue', 'service_fee', 'network_fee', 'network_cost', 'trading',
              'unclaimed', 'suspense', 'opening', 'markup', 'transit', 'treasury_cost')
  or account ~ '^venue:[a-z0-9_]{1,40}$'
  or account ~ '^partner:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$') not valid;
`;

/** What an exchange tells of our account there. */
const account = `
-- The account at an exchange whose balances and movements are read.
create table venue_account (
  venue text primary key check (venue ~ '^[a-z0-9_]{1,40}$'),
  -- Whether the gateway reads it now. Then an arrival at a hot wallet is compared with its list of
  -- withdrawals before it counts as capital.
  is_watched boolean not null,
  -- Movements that had ended when it was read first are not booked.
  watched_from timestamptz not null,
  -- When the newest turn of a worker began.
  turn_at timestamptz,
  -- When the newest complete reading of both lists began, and the newest one of all their rows.
  listed_at timestamptz,
  listed_whole_at timestamptz,
  balances_at timestamptz,
  -- When two members took its balances into the books. Until then they are not compared.
  opened_at timestamptz,
  -- Since when, and why, it gives no answer.
  failing_since timestamptz,
  failure text,
  check ((failing_since is null) = (failure is null))
);

-- What the account holds of a coin, and the newest comparison with the books.
create table venue_balance (
  venue text not null references venue_account (venue),
  coin text not null,
  -- With what open orders and withdrawals lock.
  total numeric(38,18) not null,
  free numeric(38,18) not null,
  read_at timestamptz not null,
  -- The total of the newest reading beside which nothing moved, and the books at that moment.
  compared_total numeric(38,18),
  booked numeric(38,18),
  -- What happened at the exchange and is rightly not booked yet.
  in_flight numeric(38,18),
  compared_at timestamptz,
  -- How many comparisons in a row found too much, or too little; 0 without a difference.
  differing integer not null default 0 check (differing >= 0),
  differing_since timestamptz,
  -- How many of them, the newest ones, found the same amount.
  same_amount integer not null default 0 check (same_amount between 0 and differing),
  primary key (venue, coin),
  check (num_nulls(compared_total, booked, in_flight, compared_at) in (0, 4)),
  check ((differing = 0) = (differing_since is null))
);

-- A deposit or withdrawal, as the list of the exchange shows it.
create table venue_movement (
  venue text not null references venue_account (venue),
  kind text not null check (kind in ('deposit', 'withdrawal')),
  -- Its id at the exchange.
  reference text not null check (length(reference) between 1 and 200),
  coin text not null,
  -- The name of the network there.
  network text,
  txid text,
  -- The exchange says that it moved the coins inside, on no chain.
  is_internal boolean not null,
  address text,
  tag text,
  -- Of a withdrawal what leaves the account, with the fee; of a deposit what the account gets.
  amount numeric(38,18) not null check (amount > 0),
  fee numeric(38,18) not null check (fee >= 0 and (kind = 'deposit' or fee < amount)),
  state text not null check (state in ('pending', 'locked', 'done', 'returned', 'unknown')),
  -- The exchange's own word for its state.
  told text not null,
  -- By the clock of the exchange.
  at timestamptz not null,
  -- When it was seen first, when it changed last, and when the newest reading that shows it began.
  seen_at timestamptz not null,
  changed_at timestamptz not null,
  read_at timestamptz not null,
  -- When a chain was asked last whether the hot wallet paid it.
  looked_at timestamptz,
  -- 'open': not decided. 'none': it needs no entry, because it ended before the account was watched,
  -- or without effect. 'transfer': between the account and a hot wallet. 'foreign': none of ours.
  -- 'classified': two members said what it is.
  part text not null check (part in ('open', 'none', 'transfer', 'foreign', 'classified')),
  primary key (venue, kind, reference)
);
create index venue_movement_open on venue_movement (venue) where part in ('open', 'foreign');
create index venue_movement_pending on venue_movement (venue, at) where state in ('pending', 'locked', 'unknown');
create index venue_movement_at on venue_movement (at desc, kind, reference);
create index venue_movement_tx on venue_movement (txid) where kind = 'deposit';

-- Coins on their way between the account at an exchange and a hot wallet.
create table treasury_transfer (
  id uuid primary key,
  venue text not null,
  movement_kind text not null,
  reference text not null,
  coin text not null,
  -- Ours.
  network text not null,
  chain text not null,
  -- 'asked': accepted, or not in a block. 'sent': on its chain. 'arrived': seen where it goes, and not
  -- final, not credited or locked there. 'done': both sides are booked. 'returned': without effect.
  state text not null check (state in ('asked', 'sent', 'arrived', 'done', 'returned')),
  -- What leaves the source: of a withdrawal with the exchange's fee.
  amount numeric(38,18) not null check (amount > 0),
  -- What the chain took for it from the hot wallet, in the chain's own coin.
  gas numeric(38,18) not null default 0 check (gas >= 0),
  -- What the entries say: what left the source, and the part of it that is the exchange's fee.
  booked_amount numeric(38,18) not null default 0,
  booked_fee numeric(38,18) not null default 0,
  -- What they say of arrivals, and of a remainder that is a cost.
  arrived numeric(38,18) not null default 0,
  written_off numeric(38,18) not null default 0,
  -- A larger remainder that two members called a cost.
  accepted_rest numeric(38,18) not null default 0,
  -- Numbers the entries.
  entries integer not null default 0,
  problem text check (problem in ('short_arrival', 'arrived_after_end', 'not_arrived')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (venue, movement_kind, reference),
  foreign key (venue, movement_kind, reference) references venue_movement (venue, kind, reference)
);
create index treasury_transfer_open on treasury_transfer (venue) where state not in ('done', 'returned');
create index treasury_transfer_problem on treasury_transfer (updated_at) where problem is not null;

-- The transfer that an arrival at a hot wallet belongs to.
alter table deposit add column transfer_id uuid references treasury_transfer (id);
create index deposit_transfer on deposit (transfer_id) where transfer_id is not null;
create index deposit_funding on deposit (chain, coin, network, amount)
  where purpose = 'funding' and transfer_id is null;
create index deposit_funding_tx on deposit (chain, txid) where purpose = 'funding' and transfer_id is null;

create index venue_trade_open on venue_trade (venue) where squared_at is null;
create index trade_intended on trade (venue) where state = 'intended';

alter table venue_history drop constraint venue_history_measure_check, add constraint venue_history_measure_check
  check (measure in ('balance', 'stock', 'buy_depth', 'sell_depth', 'open_usd', 'held', 'held_free'));
`;

/** What two members decide about the account. */
const decisions = `
alter table staff_action
  add column venue text references venue_account (venue),
  -- The movement, or else the coin and the amount of a difference, that is classified.
  add column movement_kind text,
  add column reference text,
  add column coin text,
  add column amount numeric(38,18) check (amount <> 0),
  add column class text check (class in ('capital', 'trading', 'cost')),
  drop constraint staff_action_action_check,
  add constraint staff_action_action_check check (action in ('refund', 'retry_payout', 'mark_failed', 'hold',
    'release', 'venue_price', 'resume_payouts', 'venue_opening', 'venue_classify')),
  drop constraint staff_action_check,
  add constraint staff_action_subject check (case
    when action = 'resume_payouts'
      then hold_id is not null and venue is null and order_id is null and deposit_id is null
    when action in ('venue_opening', 'venue_classify')
      then venue is not null and hold_id is null and order_id is null and deposit_id is null
    else hold_id is null and venue is null and num_nonnulls(order_id, deposit_id) >= 1 end),
  add constraint staff_action_class check (case action
    when 'venue_classify' then class is not null
      and (reference is null) = (movement_kind is null)
      and (reference is null) = (coin is not null and amount is not null)
    -- An opening has a digest of what it books, so that a second member approves the same.
    when 'venue_opening' then num_nonnulls(class, movement_kind, coin, amount) = 0
    else num_nonnulls(class, movement_kind, reference, coin, amount) = 0 end);
drop index staff_action_open_once;
create unique index staff_action_open_once
  on staff_action (action, order_id, deposit_id, hold_id, venue, movement_kind,
      (case when action = 'venue_classify' then reference end), coin)
  nulls not distinct
  where state = 'proposed' and action in ('refund', 'retry_payout', 'release', 'venue_price', 'resume_payouts',
                                          'venue_opening', 'venue_classify');
`;

/** Finds the outputs that a transaction spends. */
const outputs = `
create index own_output_spent_by on own_output (chain, spent_txid) where spent_txid is not null;
`;

/** The imitated exchange of a sandbox. */
const sandboxVenue = `
create table sandbox_venue (
  -- The exchange that is imitated.
  name text primary key,
  -- All that it knows: balances, orders, deposits, withdrawals and faults.
  state jsonb not null
);
`;

/** Finds the oldest movements that need staff. */
const attention = `
create index venue_movement_foreign on venue_movement (seen_at) where part = 'foreign';
create index venue_movement_unknown on venue_movement (changed_at) where state = 'unknown';
`;

/**
 * The account at the exchange: its balances and movements, and transfers to and from hot wallets.
 */
export class Migration0002ExchangeAccount extends Migration {
  override up(): void {
    for (const part of [account, decisions, outputs, sandboxVenue, attention, ledger]) this.addSql(part);
  }
}
