import { Migration } from '@mikro-orm/migrations';

/** Values of the database, and the refusal of changes to append-only tables. */
const general = `
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

-- Named values of this database.
create table setting (
  name text primary key,
  value text not null
);

-- The key that tags are encrypted with: two random UUIDs, 244 random bits in 64 hexadecimal digits.
insert into setting (name, value)
  select 'deposit_tag_key', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
`;

/** Members of staff, their sessions and what is decided about them. */
const staff = `
-- A member of staff. One who signs in at the identity provider needs no token.
create table staff_member (
  id uuid primary key,
  email text not null check (email = lower(email)),
  role text not null check (role in ('viewer', 'support', 'operator', 'admin')),
  token_id text unique,
  token_mac bytea check (length(token_mac) = 32),
  pepper_version integer,
  created_at timestamptz not null,
  revoked_at timestamptz,
  -- Before it the member approves nothing. Null for a member who may.
  approves_from timestamptz,
  -- Suspended at once by one admin, until a second one decides.
  suspended_at timestamptz,
  -- The subject at the identity provider. Bound at the first sign-in there.
  oidc_subject text unique,
  -- Hash of a code with which the member makes a token, once.
  enrolment_hash bytea unique,
  enrolment_ends_at timestamptz,
  unique (email),
  constraint staff_member_whole_token check (num_nulls(token_id, token_mac, pepper_version) in (0, 3)),
  check ((enrolment_hash is null) = (enrolment_ends_at is null))
);

-- Sessions of staff in a browser.
create table staff_session (
  id uuid primary key,
  -- SHA-256 of the 256 random bits that the browser holds: a row alone cannot be used as a session.
  secret_hash bytea not null unique check (length(secret_hash) = 32),
  staff_id uuid not null references staff_member (id),
  via text not null check (via in ('token', 'oidc')),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- The end of the session, used or not.
  expires_at timestamptz not null,
  ended_at timestamptz,
  check (expires_at > created_at and last_seen_at >= created_at)
);
create index staff_session_open on staff_session (staff_id, created_at) where ended_at is null;
create index staff_session_old on staff_session (expires_at);

-- Sign-ins in progress at the identity provider. Each is deleted when the browser comes back, so it
-- is used once.
create table staff_sign_in (
  -- SHA-256 of what the browser that began it holds.
  browser_hash bytea primary key check (length(browser_hash) = 32),
  state text not null,
  nonce text not null,
  code_verifier text not null,
  return_to text not null,
  expires_at timestamptz not null
);
create index staff_sign_in_old on staff_sign_in (expires_at);

-- Changes of staff. Where another admin may approve, they wait for one.
create table staff_change (
  id uuid primary key,
  change text not null check (change in ('invite', 'role', 'token', 'revoke')),
  member_id uuid references staff_member (id),
  email text,
  role text check (role in ('viewer', 'support', 'operator', 'admin')),
  reason text not null check (length(reason) between 1 and 1000),
  state text not null check (state in ('proposed', 'done', 'rejected')),
  -- Carried out by one admin, as no other could approve it.
  alone boolean not null,
  proposed_by uuid not null references staff_member (id),
  proposed_at timestamptz not null,
  decided_by uuid references staff_member (id),
  decided_at timestamptz,
  check ((change = 'invite') = (email is not null)),
  check (change = 'invite' or member_id is not null),
  check ((change in ('invite', 'role')) = (role is not null)),
  check ((state = 'proposed') = (decided_at is null)),
  check (state <> 'done' or alone or decided_by is distinct from proposed_by)
);
create index staff_change_open on staff_change (proposed_at) where state = 'proposed';
create unique index staff_change_open_once on staff_change (change, member_id, email)
  nulls not distinct where state = 'proposed';
`;

/** Currencies and prices. */
const prices = `
-- A coin on a network.
create table currency (
  id uuid primary key,
  coin text not null check (coin ~ '^[A-Z0-9]{1,12}$'),
  network text not null check (network ~ '^[A-Z0-9]{1,16}$'),
  name text not null,
  is_active boolean not null,
  is_deposit_enabled boolean not null,
  is_withdraw_enabled boolean not null,
  min_amount numeric(38,18) not null check (min_amount > 0),
  max_amount numeric(38,18) not null,
  min_confirmations integer not null check (min_confirmations > 0),
  decimals integer not null check (decimals between 0 and 18),
  is_memo boolean not null,
  network_fee numeric(38,18) not null check (network_fee >= 0),
  contract text,
  explorer_tx_url text,
  explorer_address_url text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (coin, network),
  check (max_amount >= min_amount)
);

-- What all processes quote during one window of fixed rates: {"<coin>": "<US dollars>"}, and what
-- staff had set by hand, {"<coin>-<coin>": "<units of the second>"}. Old ones are deleted.
create table price_window (
  starts_at timestamptz primary key,
  fixed jsonb not null,
  reference jsonb not null,
  overrides jsonb not null,
  -- By coin, in US dollars: what the venue's order books hold near the price, on either side.
  depth jsonb not null default '{}'
);

-- Prices that staff set by hand.
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
);
create unique index price_override_live on price_override (coin_from, coin_to) where ended_at is null;
`;

/** Partners, their keys and their people. */
const partners = `
-- A partner, its terms and its limits. Null limits are those of the gateway.
create table partner (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  status text not null check (status in ('active', 'inactive')),
  fee_rate_float numeric(9,6) check (fee_rate_float >= 0 and fee_rate_float < 0.5),
  fee_rate_fixed numeric(9,6) check (fee_rate_fixed >= 0 and fee_rate_fixed < 0.5),
  rate_limit_per_min integer check (rate_limit_per_min > 0),
  orders_limit_per_min integer check (orders_limit_per_min > 0),
  require_signature boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  max_open_orders integer check (max_open_orders > 0),
  max_fixed_exposure_usd integer check (max_fixed_exposure_usd > 0),
  -- max_fixed_exposure_usd is what fixed orders created within an hour may be worth, and this
  -- within a day.
  max_fixed_day_usd integer check (max_fixed_day_usd > 0),
  max_float_exposure_usd integer check (max_float_exposure_usd > 0),
  -- Whether its fixed caps stay when its fixed orders cost more than they bring.
  keeps_fixed_caps boolean not null default false,
  -- Whether everyone who knows the UUID of an order may read its status.
  public_status boolean not null default false,
  lists_limit_per_min integer check (lists_limit_per_min > 0),
  -- Largest markup in basis points. Null for the gateway's.
  max_markup_bps integer check (max_markup_bps between 0 and 500),
  -- Seconds for which its binding quotes hold. Null for the gateway's.
  quote_hold_sec integer check (quote_hold_sec between 15 and 300),
  -- By how many basis points its used quotes exceeded the market in the last 24 hours. A worker
  -- sets both.
  quote_adverse_bps numeric(12, 1),
  -- Since when that is above its fixed fee, so that its quotes hold for 15 seconds.
  quote_cut_since timestamptz,
  -- Whether its orders have a page for their users.
  order_page boolean not null default false,
  -- What the page calls the partner.
  display_name text check (length(display_name) between 1 and 60),
  check (not order_page or display_name is not null)
);
-- The list of partners.
create index partner_name on partner (lower(name), id);

-- API keys of partners. Only a MAC of a key is stored.
create table api_key (
  key_id text primary key check (key_id ~ '^xp_(live|test)_[0-9A-Za-z]{12}$'),
  partner_id uuid not null references partner (id),
  mac bytea not null check (length(mac) = 32),
  pepper_version integer not null,
  last4 text not null check (length(last4) = 4),
  label text not null,
  scopes text[] not null,
  allowed_cidrs text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- The markup of quotes and creates by this key that name none, in basis points.
  default_markup_bps integer check (default_markup_bps between 1 and 500),
  -- The address that used the key last.
  last_used_from text
);
create index api_key_partner on api_key (partner_id);

-- Refused requests of a key by hour, for two days. Processes add to the rows every some seconds.
create table key_refusal (
  key_id text not null references api_key (key_id),
  hour timestamptz not null,
  -- Answers 400 to 499 but 429, and answers 429.
  refused bigint not null check (refused >= 0),
  limited bigint not null check (limited >= 0),
  primary key (key_id, hour)
) with (fillfactor = 50);
create index key_refusal_hour on key_refusal (hour);

-- People of partners.
create table partner_member (
  id uuid primary key,
  partner_id uuid not null references partner (id),
  name text not null check (length(name) between 1 and 100),
  role text not null check (role in ('owner', 'developer', 'finance', 'viewer')),
  created_at timestamptz not null,
  removed_at timestamptz
);
create index partner_member_partner on partner_member (partner_id, created_at) where removed_at is null;

-- A link that makes a member, or gives a member a new passkey. Only a hash of its token is kept.
create table partner_invitation (
  id uuid primary key,
  partner_id uuid not null references partner (id),
  -- The member who has lost all passkeys. Null for a new member.
  member_id uuid references partner_member (id),
  name text not null check (length(name) between 1 and 100),
  role text not null check (role in ('owner', 'developer', 'finance', 'viewer')),
  token_hash bytea not null unique,
  -- Null for an invitation by staff or an operator.
  invited_by uuid references partner_member (id),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When it was accepted or withdrawn.
  ended_at timestamptz
);
create index partner_invitation_open on partner_invitation (partner_id, created_at) where ended_at is null;

-- Passkeys of members.
create table partner_passkey (
  id uuid primary key,
  member_id uuid not null references partner_member (id),
  credential_id bytea not null unique,
  public_key bytea not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  name text not null check (length(name) <= 100),
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index partner_passkey_member on partner_passkey (member_id);

-- Sessions of members.
create table partner_session (
  id uuid primary key,
  member_id uuid not null references partner_member (id),
  secret_hash bytea not null unique,
  network text not null,
  browser text not null check (length(browser) <= 200),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index partner_session_member on partner_session (member_id, created_at);
create index partner_session_expires on partner_session (expires_at);

-- What a passkey must sign. Deleted when it is answered, so each has one answer.
create table partner_challenge (
  challenge text primary key,
  purpose text not null check (purpose in ('sign_in', 'invitation', 'passkey', 'confirmation')),
  -- The invitation or the session that it belongs to. Null for a sign-in.
  subject uuid,
  -- The operation that is confirmed.
  operation text,
  expires_at timestamptz not null,
  check ((purpose = 'sign_in') = (subject is null)),
  check ((purpose = 'confirmation') = (operation is not null))
);
create index partner_challenge_expires on partner_challenge (expires_at);

-- An operation that a passkey has confirmed. Deleted by the operation.
create table partner_confirmation (
  token_hash bytea primary key,
  session_id uuid not null references partner_session (id),
  operation text not null,
  expires_at timestamptz not null
);
create index partner_confirmation_expires on partner_confirmation (expires_at);
`;

/** The audit log. */
const auditLog = `
-- What staff, operators and members of partners do.
create table audit_log (
  id uuid primary key,
  at timestamptz not null,
  staff_id uuid references staff_member (id),
  operation text not null,
  target text not null,
  reason text not null check (length(reason) between 1 and 1000),
  before jsonb,
  after jsonb,
  request_id text not null,
  ip text not null,
  -- An operator by command line: 'cli:' and the name of the account on the machine.
  actor text check (actor ~ '^cli:'),
  member_id uuid references partner_member (id),
  constraint audit_log_actor check (num_nonnulls(staff_id, actor, member_id) = 1)
);
create index audit_log_staff on audit_log (staff_id, id);
create index audit_log_target on audit_log (target, id);
create index audit_log_member on audit_log (member_id, id) where member_id is not null;
create index audit_log_operation on audit_log (operation, id);
create index audit_log_at on audit_log (at);
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
`;

/** Deposit addresses. */
const addresses = `
-- The source of deposit addresses of a keychain: an extended public key, or one address with tags.
create table deposit_account (
  keychain text primary key,
  signer text not null,
  xpub text,
  shared_address text,
  created_at timestamptz not null,
  check (num_nonnulls(xpub, shared_address) <= 1)
);

-- Each number ends a block of 50 indexes: 50 stands for 1 to 50.
create sequence deposit_index_block as bigint start 50 increment 50
  minvalue 50 maxvalue 2147483600 no cycle;

create function refuse_new_identity() returns trigger language plpgsql as $$
begin
  if (new.keychain, new.index, new.address) is distinct from (old.keychain, old.index, old.address)
     or new.tag is distinct from old.tag or (old.leased_at is not null and new.leased_at is distinct from old.leased_at) then
    raise exception 'a deposit address is given once and never changes' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- Addresses, each given to one order once.
create table deposit_address (
  id uuid primary key,
  keychain text not null references deposit_account (keychain),
  index bigint not null,
  address text not null,
  tag text,
  created_at timestamptz not null,
  leased_at timestamptz,
  -- Forms of the key that its address does not show.
  nested_form text,
  taproot_form text,
  unique (keychain, index),
  unique nulls not distinct (address, tag),
  check ((nested_form is null) = (taproot_form is null))
);
create index deposit_address_free on deposit_address (keychain, index) where leased_at is null;
-- Addresses that wait in the pool belong to no order.
create index deposit_address_search on deposit_address (lower(address) text_pattern_ops)
  where leased_at is not null;
create index deposit_address_nested_form on deposit_address (nested_form) where nested_form is not null;
create index deposit_address_taproot_form on deposit_address (taproot_form) where taproot_form is not null;
create trigger deposit_address_given_once before update on deposit_address
  for each row execute function refuse_new_identity();
create trigger deposit_address_kept before delete or truncate on deposit_address
  for each statement execute function refuse_change();
`;

/** Orders, their events and what belongs to one order. */
const orders = `
-- Every edge of the order's life. The code has the same table; a test compares the two.
create table order_status_edge (
  from_status text not null,
  to_status text not null,
  primary key (from_status, to_status)
);

insert into order_status_edge (from_status, to_status) values
  ('waiting_deposit', 'confirming'),
  ('waiting_deposit', 'expired'),
  ('confirming', 'waiting_deposit'),
  ('confirming', 'expired'),
  ('confirming', 'exchanging'),
  ('confirming', 'refunding'),
  ('expired', 'refunding'),
  ('exchanging', 'sending'),
  ('exchanging', 'refunding'),
  ('sending', 'completed'),
  ('sending', 'failed'),
  ('refunding', 'refunded'),
  ('refunding', 'failed'),
  ('failed', 'refunding'),
  ('failed', 'sending'),
  ('waiting_deposit', 'refunding'),
  -- A late deposit is exchanged where its partner asked for that at the create.
  ('expired', 'exchanging');

create function check_order_start() returns trigger language plpgsql as $$
begin
  if new.status <> 'waiting_deposit' then
    raise exception 'an order begins with waiting_deposit' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- The order's moves are a path through the table of edges, for every writer.
create function check_order_move() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from order_status_edge where from_status = old.status and to_status = new.status) then
    raise exception 'an order does not go from % to %', old.status, new.status using errcode = 'restrict_violation';
  end if;
  if old.status = 'expired' and new.status = 'exchanging' and not exists (
       select from order_terms where order_id = new.id and policy ->> 'on_late' in ('market', 'ask')) then
    raise exception 'order % did not ask for the exchange of a late deposit', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- At commit, the newest event of an order names its status, and an open question keeps it.
create function check_order_history() returns trigger language plpgsql as $$
begin
  if (select status from exchange_order where id = new.id) is distinct from
     (select to_status from order_event where order_id = new.id order by seq desc limit 1) then
    raise exception 'order % moved without an event', new.id using errcode = 'restrict_violation';
  end if;
  if tg_op = 'UPDATE' and new.status not in ('confirming', 'expired')
     and exists (select from order_action where order_id = new.id and outcome is null) then
    raise exception 'order % moved with an open action', new.id using errcode = 'restrict_violation';
  end if;
  return null;
end $$;

-- Orders and their first events are stored by one statement. This runs at its end.
create function check_first_events() returns trigger language plpgsql as $$
declare
  bare uuid;
begin
  select m.id into bare from made m
   where not exists (select from order_event e where e.order_id = m.id and e.to_status = m.status)
   limit 1;
  if found then
    raise exception 'order % begins without an event', bare using errcode = 'restrict_violation';
  end if;
  return null;
end $$;

-- A refund address is set once. A stolen key must not redirect money.
create function keep_refund_address() returns trigger language plpgsql as $$
begin
  if old.refund_address is not null or new.refund_address is null or new.refund_address_set_at is null then
    raise exception 'the refund address of order % is set once', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- An order of a partner. Its status moves along order_status_edge.
create table exchange_order (
  id uuid primary key,
  short_id text not null unique check (short_id ~ '^[A-Z][A-Z0-9]{0,7}-[A-Z0-9]{6}$'),
  partner_id uuid not null references partner (id),
  status text not null check (status in ('waiting_deposit', 'confirming', 'exchanging', 'sending', 'completed',
                                         'expired', 'refunding', 'refunded', 'failed')),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  updated_at timestamptz not null,
  next_action_at timestamptz,
  coin_from text not null,
  network_from text not null,
  coin_to text not null,
  network_to text not null,
  amount_from_expected numeric(38,18) not null check (amount_from_expected > 0),
  amount_to_expected numeric(38,18) not null check (amount_to_expected > 0),
  rate_type text not null check (rate_type in ('float', 'fixed')),
  rate_quoted numeric(38,18) not null check (rate_quoted > 0),
  fee_rate numeric(9,6) not null,
  service_fee_quoted numeric(38,18) not null check (service_fee_quoted >= 0),
  network_fee_quoted numeric(38,18) not null check (network_fee_quoted >= 0),
  deposit_address_id uuid not null unique references deposit_address (id),
  recipient_address text not null,
  recipient_address_tag text,
  refund_address text,
  refund_address_tag text,
  deposit_txid text,
  deposit_confirmations integer check (deposit_confirmations >= 0),
  deposit_confirmations_required integer not null check (deposit_confirmations_required > 0),
  payout_txid text,
  deposit_id uuid,
  min_amount numeric(38,18) not null,
  max_amount numeric(38,18) not null,
  amount_from_actual numeric(38,18) check (amount_from_actual > 0),
  amount_to_actual numeric(38,18) check (amount_to_actual > 0),
  exchange_deadline timestamptz,
  -- Number of the newest event.
  event_seq integer not null default 1,
  held_at timestamptz,
  hold_reason text,
  -- When the partner set the refund address after the create. Null for one of the create, and
  -- without one.
  refund_address_set_at timestamptz
    constraint exchange_order_refund_address_set check (refund_address_set_at is null or refund_address is not null),
  -- Since when no try to settle the order has succeeded.
  failing_since timestamptz,
  foreign key (coin_from, network_from) references currency (coin, network),
  foreign key (coin_to, network_to) references currency (coin, network),
  check ((coin_from, network_from) <> (coin_to, network_to)),
  check (refund_address is not null or refund_address_tag is null),
  check ((held_at is null) = (hold_reason is null))
);
create index exchange_order_partner on exchange_order (partner_id, created_at desc, id desc);
create index exchange_order_due on exchange_order (next_action_at) where next_action_at is not null;
-- Orders in progress or failed, by status. Completed and expired orders are most of the table: a
-- list of them fills its page from the index on created_at, and they cost no entry here.
create index exchange_order_open on exchange_order (status, created_at, id)
  where status not in ('completed', 'expired');
-- Orders that wait until staff act.
create index exchange_order_held on exchange_order (held_at) where held_at is not null;
create index exchange_order_failed on exchange_order (updated_at) where status = 'failed';
-- Exchanges that should have been over long ago.
create index exchange_order_exchanging on exchange_order (exchange_deadline, id) where status = 'exchanging';
-- Float orders that wait, or are between deposit and payout: few of all orders.
create index exchange_order_float_open on exchange_order (partner_id, coin_from)
  include (amount_from_expected, max_amount, status, created_at, deposit_id)
  where rate_type = 'float' and status in ('waiting_deposit', 'confirming', 'exchanging', 'sending');
-- The order list, newest first or last, and its pages in both directions. Fresh orders are in none
-- of these indexes, so that a create writes fewer entries. fresh-orders.ts has the same condition.
create index exchange_order_created on exchange_order (created_at, id)
  where status <> 'waiting_deposit' or updated_at <> created_at;
-- The same by the last change.
create index exchange_order_updated on exchange_order (updated_at, id)
  where status <> 'waiting_deposit' or updated_at <> created_at;
-- A pair, or its first coin. Few orders of a coin are sorted, and of many the newest are near the
-- end of the index on created_at, so only the whole pair has the time behind it.
create index exchange_order_pair
  on exchange_order (coin_from, network_from, coin_to, network_to, created_at, id)
  where status <> 'waiting_deposit' or updated_at <> created_at;
create index exchange_order_to on exchange_order (coin_to, network_to, created_at, id)
  where status <> 'waiting_deposit' or updated_at <> created_at;
-- Search by the beginning of an address or a transaction, in either case: explorers write 0x
-- addresses in lower case, and we store them with their checksum. Byte order, so that a prefix is a
-- range in any collation of the database. Ids need none: the indexes of id and short_id serve their
-- prefixes.
create index exchange_order_recipient on exchange_order (lower(recipient_address) text_pattern_ops)
  where status <> 'waiting_deposit' or updated_at <> created_at;
create index exchange_order_refund on exchange_order (lower(refund_address) text_pattern_ops)
  where refund_address is not null and (status <> 'waiting_deposit' or updated_at <> created_at);
-- Float orders that have a deposit. The cap on those of all partners is read from it, and creates
-- wait for that read. Unpaid orders have no entry: anyone can make many of them. With all columns
-- of that read, PostgreSQL never prefers exchange_order_float_open.
create index exchange_order_float_paid on exchange_order (coin_from)
  include (amount_from_expected, max_amount, deposit_id)
  where rate_type = 'float' and status in ('waiting_deposit', 'confirming', 'exchanging', 'sending')
    and deposit_id is not null;
create index exchange_order_failing on exchange_order (failing_since) where failing_since is not null;
create trigger exchange_order_edge before update of status on exchange_order
  for each row when (old.status is distinct from new.status) execute function check_order_move();
create trigger exchange_order_not_removed before delete or truncate on exchange_order
  for each statement execute function refuse_change();
create trigger exchange_order_refund_address_once
  before update of refund_address, refund_address_tag, refund_address_set_at on exchange_order
  for each row when ((old.refund_address, old.refund_address_tag, old.refund_address_set_at)
    is distinct from (new.refund_address, new.refund_address_tag, new.refund_address_set_at))
  execute function keep_refund_address();
create trigger exchange_order_start before insert on exchange_order for each row
  when (new.status <> 'waiting_deposit') execute function check_order_start();
create constraint trigger exchange_order_has_event after update of status on exchange_order
  deferrable initially deferred for each row execute function check_order_history();
create trigger exchange_order_has_first_event after insert on exchange_order
  referencing new table as made for each statement execute function check_first_events();

create function check_order_event() returns trigger language plpgsql as $$
declare
  last record;
begin
  select seq, to_status into last from order_event where order_id = new.order_id order by seq desc limit 1;
  if new.seq <> coalesce(last.seq, 0) + 1 or new.from_status is distinct from last.to_status then
    raise exception 'event % of order % does not follow its history', new.seq, new.order_id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- The history of orders. Append-only.
create table order_event (
  order_id uuid not null references exchange_order (id),
  seq integer not null check (seq > 0),
  at timestamptz not null,
  from_status text,
  to_status text not null,
  cause text not null,
  actor text not null,
  detail text,
  -- The feed of events. Numbers of transactions are given in order, but they commit in any order.
  -- What is older than the oldest transaction that runs has been committed for good. A reader that
  -- stops there misses nothing.
  xid xid8 not null default pg_current_xact_id(),
  partner_id uuid not null,
  primary key (order_id, seq)
);
create index order_event_feed on order_event (xid, order_id, seq);
-- The feed of a partner.
create index order_event_partner on order_event (partner_id, xid, order_id, seq);
-- The completions of a partner by time, for its statements.
create index order_event_completed on order_event (partner_id, at, order_id)
  where to_status = 'completed' and from_status <> 'completed';
create trigger order_event_append_only before update or delete or truncate on order_event
  for each statement execute function refuse_change();
create trigger order_event_follows before insert on order_event for each row
  when (new.seq <> 1 or new.from_status is not null)
  execute function check_order_event();

-- One row for an order whose create said more than the pair, the amount and the addresses.
create table order_terms (
  order_id uuid primary key references exchange_order (id),
  partner_id uuid not null references partner (id),
  -- The partner's own name of the order, unique for ever.
  external_id text check (length(external_id) between 1 and 128),
  -- The 64 random bits of the binding quote that the order used. A quote is used once.
  quote_nonce bytea check (length(quote_nonce) = 8),
  -- The partner's share of the fee in basis points. fee_rate of the order contains it.
  markup_bps integer check (markup_bps >= 0),
  -- The user accepts no smaller payout.
  min_amount_to numeric(38, 18) check (min_amount_to > 0),
  -- What to do in each case that the default does not suit.
  policy jsonb check (jsonb_typeof(policy) = 'object'),
  -- Notes of the partner, never read by the gateway.
  metadata jsonb check (jsonb_typeof(metadata) = 'object'),
  -- How much more the quote gave than the market at the create, and the order's worth in US dollars
  -- by its quote.
  quote_adverse_bps numeric(12, 4),
  quote_usd numeric(38, 18) check (quote_usd > 0),
  check ((quote_adverse_bps is null) = (quote_usd is null))
);
create unique index order_terms_external_id on order_terms (partner_id, external_id)
  where external_id is not null;
create unique index order_terms_quote on order_terms (partner_id, quote_nonce)
  where quote_nonce is not null;
-- For staff who search an order by its beginning.
create index order_terms_external_search on order_terms (lower(external_id) text_pattern_ops)
  where external_id is not null;

-- The link of an order's page. The token of the link is a MAC of the order and the nonce under a
-- key that the database does not have. A revoked link has none of them.
create table order_page (
  order_id uuid primary key references exchange_order (id),
  nonce bytea check (length(nonce) = 16),
  key_version integer,
  -- SHA-256 of the token.
  token_hash bytea check (length(token_hash) = 32),
  changed_at timestamptz not null,
  check ((nonce is null) = (token_hash is null) and (nonce is null) = (key_version is null))
);
create unique index order_page_token on order_page (token_hash) where token_hash is not null;

-- Notes of staff on orders.
create table order_note (
  id uuid primary key,
  order_id uuid not null references exchange_order (id),
  staff_id uuid not null references staff_member (id),
  at timestamptz not null,
  text text not null check (length(text) between 1 and 4000)
);
create index order_note_order on order_note (order_id, id);
create trigger order_note_append_only before update or delete or truncate on order_note
  for each statement execute function refuse_change();

-- Answers to requests with an Idempotency-Key. Without an order where the request is about none.
create table idempotency_key (
  partner_id uuid not null references partner (id),
  key text not null check (length(key) between 1 and 255),
  fingerprint bytea not null check (length(fingerprint) = 32),
  order_id uuid references exchange_order (id),
  status integer not null,
  body text not null,
  created_at timestamptz not null,
  primary key (partner_id, key)
);
create index idempotency_key_age on idempotency_key (created_at);
`;

/** Caps on orders that are open, and what fixed rates cost. */
const caps = `
-- The worth of the fixed orders that a partner created, in US dollars, in steps of five minutes.
-- The statement that creates an order raises a row, and its lock makes it exact. Half of a page
-- stays free, so that a raise moves no row.
create table fixed_turnover (
  partner_id uuid not null references partner (id),
  slot timestamptz not null,
  usd numeric(38, 18) not null check (usd > 0),
  primary key (partner_id, slot)
) with (fillfactor = 50);
create index fixed_turnover_slot on fixed_turnover (slot);

-- What the fixed orders exchanged in an hour came to, by the prices at the decision of each trade,
-- in US dollars.
create table fixed_result (
  partner_id uuid not null references partner (id),
  hour timestamptz not null,
  orders integer not null check (orders > 0),
  -- What users sent, what they were owed for it before fees, and the service fees on it.
  sent_usd numeric(38, 18) not null check (sent_usd > 0),
  owed_usd numeric(38, 18) not null check (owed_usd > 0),
  fees_usd numeric(38, 18) not null check (fees_usd >= 0),
  primary key (partner_id, hour)
);
create index fixed_result_hour on fixed_result (hour);

-- The used fixed quotes of an hour. 'adverse_usd' is what they gave more than the market. Both
-- again for the orders that got a deposit.
create table quote_result (
  partner_id uuid not null references partner (id),
  hour timestamptz not null,
  orders integer not null check (orders > 0),
  usd numeric(38, 18) not null check (usd > 0),
  adverse_usd numeric(38, 18) not null,
  paid_usd numeric(38, 18) not null check (paid_usd >= 0),
  paid_adverse_usd numeric(38, 18) not null,
  primary key (partner_id, hour)
);
create index quote_result_hour on quote_result (hour);

-- What each process may admit, or is creating, in US dollars. Others count it as used while it
-- lasts.
create table exposure_share (
  process uuid primary key,
  usd numeric(38, 18) not null check (usd >= 0),
  until timestamptz not null
);
`;

/** Deposits and questions about them. */
const deposits = `
-- A transfer to one of our addresses. Without an order when its tag belongs to none.
create table deposit (
  id uuid primary key,
  chain text not null,
  key text not null,
  order_id uuid references exchange_order (id),
  txid text not null,
  address text not null,
  tag text,
  contract text,
  coin text,
  network text,
  amount numeric(38,18) not null check (amount > 0),
  state text not null check (state in ('mempool', 'mined', 'credited', 'orphaned')),
  height bigint,
  block_hash text,
  confirmations_required integer not null check (confirmations_required > 0),
  seen_at timestamptz not null,
  mined_at timestamptz,
  credited_at timestamptz,
  -- How often it was credited: a reorganisation takes it back, and it may return.
  credits integer not null default 0,
  -- Why it is not settled automatically: 'no_refund_address', 'below_fee', 'unknown_tag',
  -- 'wrong_asset'.
  problem text,
  -- Whether it is decided that its sighting is an event of its order, or is none.
  is_reported boolean not null default false,
  -- Coins that came to the hot wallet from outside belong to no order, and are ours.
  purpose text not null default 'order' check (purpose in ('order', 'funding')),
  -- The payment that brings it to the hot wallet.
  swept_by uuid,
  -- The earliest and the latest time that it can have come. The earliest is null where nothing
  -- bounds it.
  arrived_after timestamptz,
  arrived_by timestamptz not null default now(),
  -- The earliest time that its block can have been made. Null while it is in no block, or nothing
  -- bounds it.
  mined_after timestamptz,
  -- Of a deposit that a balance showed: the final block of that balance. The deposit is for coins
  -- that no transaction names and that came in this block or below.
  compared_height bigint,
  unique (chain, key),
  check ((state in ('mined', 'credited')) = (height is not null and block_hash is not null)),
  check (state <> 'credited' or (credited_at is not null and credits > 0)),
  check (purpose = 'order' or order_id is null),
  check (arrived_after <= arrived_by)
);
create index deposit_order on deposit (order_id);
create index deposit_ripening on deposit (chain, height) where state = 'mined';
create index deposit_block on deposit (chain, block_hash) where block_hash is not null;
create index deposit_mempool on deposit (chain) where state = 'mempool';
create index deposit_problem on deposit (seen_at) where problem is not null;
create index deposit_txid on deposit (lower(txid) text_pattern_ops);
create index deposit_unswept on deposit (chain, credited_at)
  where state = 'credited' and swept_by is null and purpose = 'order';
create index deposit_swept on deposit (swept_by) where swept_by is not null;
create index deposit_orphaned on deposit (chain) where state = 'orphaned';
create index deposit_address_of_chain on deposit (chain, address);
-- Deposits that were credited and are gone. Each may have left its order's account in debit.
create index deposit_taken_back on deposit (order_id)
  where credits > 0 and state <> 'credited' and order_id is not null;

alter table exchange_order add foreign key (deposit_id) references deposit (id);

-- Transfers that traces showed later, of coins that a deposit by balance is for. They are no
-- deposits.
create table deposit_part (
  chain text not null,
  key text not null,
  address text not null,
  amount numeric(38,18) not null check (amount > 0),
  height bigint not null,
  -- Parts with a deposit are the outputs of one payment. The others are known by a comparison of
  -- balances.
  deposit_id uuid references deposit (id),
  primary key (chain, key)
);
create index deposit_part_address on deposit_part (chain, address);
create index deposit_part_deposit on deposit_part (deposit_id) where deposit_id is not null;

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

-- A question never changes, and it ends once.
create function keep_order_action() returns trigger language plpgsql as $$
begin
  if old.outcome is not null
     or (new.order_id, new.seq, new.reason, new.deposit_id, new.amount, new.amount_from, new.asked_at, new.deadline)
        is distinct from
        (old.order_id, old.seq, old.reason, old.deposit_id, old.amount, old.amount_from, old.asked_at, old.deadline)
  then
    raise exception 'action % of order % does not change', old.seq, old.order_id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- A question to the partner about a deposit. Its number is that of its event.
create table order_action (
  order_id uuid not null references exchange_order (id),
  seq integer not null,
  reason text not null check (reason in ('late', 'underpaid', 'overpaid', 'price_moved')),
  deposit_id uuid not null references deposit (id),
  -- What arrived and is owed, and the part that would be exchanged.
  amount numeric(38, 18) not null check (amount > 0),
  amount_from numeric(38, 18) not null check (amount_from > 0 and amount_from <= amount),
  asked_at timestamptz not null,
  -- From then on the deposit is refunded without an answer.
  deadline timestamptz not null check (deadline >= asked_at),
  -- How the question ended. Null while it is open.
  outcome text check (outcome in ('exchange', 'refund', 'deadline', 'deposit_lost')),
  ended_at timestamptz,
  actor text,
  -- The terms of the exchange that the partner chose, in units of coin_to.
  amount_to numeric(38, 18) check (amount_to > 0),
  service_fee numeric(38, 18) check (service_fee >= 0),
  network_fee numeric(38, 18) check (network_fee >= 0),
  primary key (order_id, seq),
  foreign key (order_id, seq) references order_event (order_id, seq) deferrable initially deferred,
  check ((outcome is null) = (ended_at is null) and (outcome is null) = (actor is null)),
  check ((outcome is not distinct from 'exchange') = (amount_to is not null)
     and (amount_to is null) = (service_fee is null) and (amount_to is null) = (network_fee is null))
);
create unique index order_action_open on order_action (order_id) where outcome is null;
create index order_action_deadline on order_action (deadline) where outcome is null;
create trigger order_action_ends_once before update on order_action
  for each row execute function keep_order_action();
create trigger order_action_kept before delete or truncate on order_action
  for each statement execute function refuse_change();
`;

/** Exchanges at the liquidity venue. */
const trades = `
-- One exchange at the liquidity venue for each order, decided before the venue is asked.
create table trade (
  order_id uuid primary key references exchange_order (id),
  venue text not null,
  state text not null check (state in ('intended', 'filled', 'abandoned', 'unwound')),
  coin_from text not null,
  network_from text not null,
  coin_to text not null,
  network_to text not null,
  amount_from numeric(38,18) not null check (amount_from > 0),
  amount_to numeric(38,18) not null check (amount_to > 0),
  service_fee numeric(38,18) not null check (service_fee >= 0),
  network_fee numeric(38,18) not null check (network_fee >= 0),
  min_bought numeric(38,18) not null check (min_bought > 0),
  bought numeric(38,18) check (bought > 0),
  tries integer not null default 0,
  problem text,
  created_at timestamptz not null,
  settled_at timestamptz,
  -- Prices in US dollars when the trade was decided, so that volume and revenue sum up in one
  -- currency.
  price_from numeric(38,18) not null check (price_from > 0),
  price_to numeric(38,18) not null check (price_to > 0),
  -- US dollars per unit by the market, when the terms were decided: of either coin, and of the
  -- venue's cash.
  market_from numeric(38,18) check (market_from > 0),
  market_to numeric(38,18) check (market_to > 0),
  market_cash numeric(38,18) check (market_cash > 0),
  -- US dollars that the legs may lose together, fees in.
  max_loss numeric(38,18) check (max_loss >= 0),
  check ((state in ('filled', 'unwound')) = (bought is not null))
);
-- The fills of trades by time. A trade may fill long after it was made.
create index trade_settled on trade (settled_at) where state = 'filled';

-- Trades at exchanges.
create table venue_trade (
  -- Id of the order that it is for.
  client_id uuid primary key,
  venue text not null,
  sell_coin text not null,
  sell_amount numeric(38,18) not null check (sell_amount > 0),
  buy_coin text not null,
  buy_amount numeric(38,18) not null check (buy_amount > 0),
  min_buy_amount numeric(38,18) not null check (min_buy_amount >= 0),
  valid_until timestamptz not null,
  -- Null while it is not decided. Filled is final.
  outcome text check (outcome in ('filled', 'rejected')),
  bought numeric(38,18) check (bought > 0),
  created_at timestamptz not null,
  decided_at timestamptz,
  -- When what was sold had been turned into cash, but for what is too little to be sold.
  squared_at timestamptz,
  -- When a sale was last tried, after the trade itself had tried.
  sale_tried_at timestamptz,
  -- The coin between the legs.
  cash text not null,
  -- The bound, as trade has it.
  price_sell numeric(38,18) check (price_sell > 0),
  price_buy numeric(38,18) check (price_buy > 0),
  price_cash numeric(38,18) check (price_cash > 0),
  max_loss numeric(38,18) check (max_loss >= 0),
  -- The worst prices of its orders, in cash for one coin. Stored before the first order, once.
  main_limit numeric(38,18) check (main_limit > 0),
  main_fee numeric(38,18) check (main_fee >= 0),
  sale_limit numeric(38,18) check (sale_limit > 0),
  -- The worst price of the way back. Stored when the trade is rejected.
  return_limit numeric(38,18) check (return_limit >= 0),
  check ((outcome is null) = (decided_at is null)),
  check ((bought is not null) = (outcome is not distinct from 'filled')),
  check ((main_limit is null) = (main_fee is null)),
  check (squared_at is null or outcome is not null)
);
create index venue_trade_unsquared on venue_trade (decided_at) where outcome is not null and squared_at is null;
create index venue_trade_squared on venue_trade (squared_at) where squared_at is not null;

-- One order at an exchange, written before it is sent.
create table venue_order (
  -- The client id under which the exchange has it.
  id uuid primary key,
  client_id uuid not null references venue_trade (client_id),
  -- main: what fills the trade. return: the way back, when it fell short. sale: what was sold, for
  -- cash.
  leg text not null check (leg in ('main', 'return', 'sale')),
  number integer not null check (number > 0),
  base text not null,
  quote text not null,
  side text not null check (side in ('buy', 'sell')),
  amount numeric(38,18) not null check (amount > 0),
  limit_price numeric(38,18) not null check (limit_price > 0),
  -- After it the exchange does not accept the order.
  not_after timestamptz not null,
  sent_at timestamptz not null,
  -- sent: not known yet. closed: over, with these figures. void: never executed.
  state text not null check (state in ('sent', 'closed', 'void')),
  filled numeric(38,18) check (filled >= 0),
  cost numeric(38,18) check (cost >= 0),
  -- [{"coin": "BTC", "amount": "0.001"}]
  fees jsonb,
  unique (client_id, leg, number),
  check ((state = 'closed') = (filled is not null and cost is not null and fees is not null))
);
-- One order of a leg at a time: the next waits until the fate of the previous one is known.
create unique index venue_order_sent on venue_order (client_id, (leg = 'sale')) where state = 'sent';

-- What decided trades have left to trade at exchanges: above zero to sell, below zero to buy back.
create view venue_position as
  select v.client_id as order_id, v.venue, p.coin, p.amount, v.cash,
         case v.outcome when 'filled' then v.sale_limit else v.return_limit end as limit_price,
         round(p.amount * case p.coin when v.sell_coin then v.price_sell else v.price_buy end, 2) as usd,
         v.decided_at as since
    from venue_trade v
    cross join lateral (
      select case when v.outcome = 'filled' or v.buy_coin = v.cash then v.sell_coin else v.buy_coin end as coin
    ) as held
    cross join lateral (
      select held.coin,
             case when v.outcome = 'rejected' then 0 when v.sell_coin in (v.cash, v.buy_coin) then 0
                  else v.sell_amount end + coalesce(sum(c.amount), 0) as amount
        from venue_order o
        cross join lateral (
          select case when o.base = held.coin then case o.side when 'buy' then o.filled else -o.filled end
                      else 0 end
               - coalesce((select sum((fee ->> 'amount')::numeric) from jsonb_array_elements(o.fees) as fee
                            where fee ->> 'coin' = held.coin), 0) as amount
        ) as c
       where o.client_id = v.client_id and o.state = 'closed'
    ) as p
   where v.outcome is not null and v.squared_at is null and (v.sell_coin <> v.cash or v.outcome = 'rejected');

-- What each trade at an exchange that is over won or lost, in US dollars at the prices of its
-- bound: what the account moved, less what was agreed with the user. A fee in another coin is not
-- in it.
create view venue_result as
  select v.client_id as order_id, v.venue, v.sell_coin as coin_from, v.buy_coin as coin_to,
         round(m.usd + case v.outcome
                         when 'filled' then v.sell_amount * v.price_sell - v.buy_amount * v.price_buy
                         else 0 end, 6) as usd,
         v.squared_at as at
    from venue_trade v
    cross join lateral (
      select coalesce(sum(c.amount * case c.coin when v.cash then v.price_cash when v.sell_coin then v.price_sell
                                                 when v.buy_coin then v.price_buy else 0 end), 0) as usd,
             count(*) as orders
        from venue_order o
        cross join lateral (
          select o.base as coin, case o.side when 'buy' then o.filled else -o.filled end as amount
          union all
          select o.quote, case o.side when 'buy' then -o.cost else o.cost end
          union all
          select fee ->> 'coin', -(fee ->> 'amount')::numeric from jsonb_array_elements(o.fees) as fee
        ) as c
       where o.client_id = v.client_id and o.filled > 0
    ) as m
   where v.squared_at is not null and v.price_cash is not null and m.orders > 0;
`;

/** Payments, their transactions, and the outputs that they spend. */
const payments = `
create function keep_payment() returns trigger language plpgsql as $$
begin
  if (new.kind, new.leg, new.chain, new.coin, new.network, new.address, new.amount, new.fee_charged)
       is distinct from (old.kind, old.leg, old.chain, old.coin, old.network, old.address, old.amount, old.fee_charged)
     or new.deposit_id is distinct from old.deposit_id or new.sources is distinct from old.sources
     or new.tag is distinct from old.tag or new.contract is distinct from old.contract
     or new.order_id is distinct from old.order_id
     or (old.state in ('confirmed', 'dead') and new.state <> old.state) then
    raise exception 'a payment goes where it was decided to go, and ends once' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- A payment: the payout of an order, the refund of a deposit's leg, a sweep or gas. A sweep brings
-- what 'sources' names to the hot wallet. Gas brings coins of the hot wallet to an address that
-- needs them for its fee. Neither of these two settles a deposit.
create table payment (
  id uuid primary key,
  kind text not null check (kind in ('payout', 'refund', 'sweep', 'gas')),
  order_id uuid references exchange_order (id),
  deposit_id uuid references deposit (id),
  -- 'main' is the deposit itself, exchanged or refunded; 'excess' is the part that was not
  -- exchanged.
  leg text not null check (leg in ('main', 'excess')),
  chain text not null,
  coin text not null,
  network text not null,
  contract text,
  address text not null,
  tag text,
  amount numeric(38,18) not null check (amount > 0),
  -- Kept of the leg for the network's fee; for payouts it was taken with the exchange.
  fee_charged numeric(38,18) not null check (fee_charged >= 0),
  state text not null check (state in ('ready', 'prepared', 'signed', 'sent', 'confirmed', 'dead')),
  attempt integer not null default 0,
  problem text,
  problem_since timestamptz,
  next_action_at timestamptz,
  created_at timestamptz not null,
  sent_at timestamptz,
  ended_at timestamptz,
  -- The order of creation. Ids follow from what is paid.
  number bigint not null generated always as identity,
  sources text[],
  -- Since it last went on: how often its transaction could not be built or was refused. It waits
  -- longer each time, and payments that never failed go first.
  tries integer not null default 0 check (tries >= 0),
  -- Worth in US dollars, rounded up: when it began, or when it last had to wait for room.
  value_usd numeric(24,2) check (value_usd >= 0),
  -- When it began and was counted. Null before, and again when its transaction was given up
  -- unsigned.
  begun_at timestamptz check (begun_at is null or value_usd is not null),
  check ((state in ('confirmed', 'dead')) = (ended_at is not null)),
  check ((state in ('confirmed', 'dead')) = (next_action_at is null)),
  constraint payment_settles_check check ((kind in ('payout', 'refund')) = (deposit_id is not null)),
  constraint payment_order_check check (case kind when 'payout' then order_id is not null and leg = 'main'
                                                  when 'refund' then true
                                                  else order_id is null and leg = 'main' end),
  constraint payment_sources_check check ((kind = 'sweep') = (sources is not null))
);
-- At most one payment of a leg is alive or has succeeded, as the payout or as a refund.
create unique index payment_once on payment (deposit_id, leg) where state <> 'dead';
create unique index payment_payout_once on payment (order_id) where kind = 'payout' and state <> 'dead';
create index payment_order on payment (order_id);
create index payment_due on payment (chain, next_action_at) where next_action_at is not null;
create index payment_address on payment (lower(address) text_pattern_ops);
-- Payments that have a problem. Ended payments show in their order or deposit.
create index payment_problem on payment (problem_since) where problem is not null and ended_at is null;
-- One at a time for each address and asset. Outputs are also reserved one by one.
create unique index payment_sweep_once on payment (chain, sources, coalesce(contract, ''))
  where kind = 'sweep' and state not in ('confirmed', 'dead');
create unique index payment_gas_once on payment (chain, address)
  where kind = 'gas' and state not in ('confirmed', 'dead');
-- What moved coins of an address.
create index payment_sweep_of on payment (chain, sources) where kind = 'sweep';
create index payment_gas_of on payment (chain, address) where kind = 'gas';
-- Sweeps that failed, which are not decided again at once.
create index payment_sweep_dead on payment (chain, ended_at) where kind = 'sweep' and state = 'dead';
create index payment_sent on payment (sent_at, id) where state = 'sent';
create index payment_tried on payment (chain, next_action_at) where state = 'ready' and tries > 0;
create index payment_awaits_room on payment (number) include (coin, network, problem, value_usd, next_action_at)
  where state = 'ready' and problem in ('payout_limit', 'payout_limit_asset');
create index payment_ready on payment (coin, network) where state = 'ready';
create trigger payment_kept before update on payment for each row execute function keep_payment();
create trigger payment_not_removed before delete or truncate on payment
  for each statement execute function refuse_change();

alter table deposit add foreign key (swept_by) references payment (id);

create function keep_attempt() returns trigger language plpgsql as $$
begin
  if (new.payment_id, new.attempt, new.chain, new.payload, new.reserves, new.fee)
       is distinct from (old.payment_id, old.attempt, old.chain, old.payload, old.reserves, old.fee)
     or (old.raw is not null and (new.raw, new.txid) is distinct from (old.raw, old.txid))
     or (old.dead_at is not null and new.dead_at is distinct from old.dead_at) then
    raise exception 'a payment attempt is written once' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

create function check_attempt_family() returns trigger language plpgsql as $$
begin
  if exists (select 1 from payment_attempt a
              where a.payment_id = new.payment_id and a.dead_at is null and not (new.reserves @> a.reserves)) then
    raise exception 'two transactions of a payment could both confirm' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- One transaction for a payment. Payload, bytes and txid are written once.
create table payment_attempt (
  payment_id uuid not null references payment (id),
  attempt integer not null check (attempt > 0),
  chain text not null,
  payload text not null,
  reserves text[] not null check (cardinality(reserves) > 0),
  fee numeric(38,18) not null check (fee >= 0),
  expires_at_height bigint,
  txid text,
  raw text,
  mined_height bigint,
  prepared_at timestamptz not null,
  signed_at timestamptz,
  sent_at timestamptz,
  dead_at timestamptz,
  dead_why text,
  primary key (payment_id, attempt),
  unique (chain, txid),
  check ((txid is null) = (raw is null)),
  check (sent_at is null or raw is not null),
  check ((dead_at is null) = (dead_why is null))
);
create index payment_attempt_txid on payment_attempt (lower(txid) text_pattern_ops) where txid is not null;
-- A payment may have several live transactions, of which at most one can confirm: each spends all
-- that the earlier ones spend.
create index payment_attempt_alive on payment_attempt (payment_id) where dead_at is null;
-- The fees of a day are summed by who caused them.
create index payment_attempt_signed on payment_attempt (chain, signed_at) where signed_at is not null;
create trigger payment_attempt_kept before update on payment_attempt
  for each row execute function keep_attempt();
create trigger payment_attempt_not_removed before delete or truncate on payment_attempt
  for each statement execute function refuse_change();
create trigger payment_attempt_family before insert on payment_attempt
  for each row execute function check_attempt_family();

-- What a live attempt spends. Two transactions that hold nothing in common could both confirm;
-- these cannot.
create table payment_reservation (
  chain text not null,
  resource text not null,
  payment_id uuid not null references payment (id),
  attempt integer not null,
  -- Set when the attempt was never signed or is dead for good; a spent resource stays.
  released_at timestamptz
);
create unique index payment_reservation_held on payment_reservation (chain, resource) where released_at is null;
create index payment_reservation_payment on payment_reservation (payment_id);

-- Outputs to our addresses that are in a block, on chains of outputs. The spending transaction
-- stays, for the search of what became of a payment.
create table own_output (
  chain text not null,
  key text not null,
  address text not null,
  amount numeric(38,0) not null check (amount > 0),
  -- Index of the deposit address; null for the hot wallet.
  index bigint,
  height bigint not null,
  block_hash text not null,
  spent_txid text,
  spent_height bigint,
  spent_hash text,
  primary key (chain, key),
  check ((spent_txid is null) = (spent_height is null) and (spent_txid is null) = (spent_hash is null))
);
create index own_output_unspent on own_output (chain, height) where spent_txid is null;
create index own_output_block on own_output (chain, block_hash);
create index own_output_spent on own_output (chain, spent_hash) where spent_hash is not null;

-- Refunds that went to an address set after the create without a member of staff, and their worth.
create table late_refund (
  payment_id uuid primary key references payment (id),
  partner_id uuid not null references partner (id),
  at timestamptz not null,
  usd numeric(24, 2) not null check (usd >= 0)
);
create index late_refund_partner on late_refund (partner_id, at);
create trigger late_refund_append_only before update or delete or truncate on late_refund
  for each statement execute function refuse_change();
`;

/** Limits on automatic payments, and holds. */
const brakes = `
-- What automatic payments began in each minute are worth. Coin and network are empty for all assets
-- together.
create table payout_spent (
  coin text not null,
  network text not null,
  minute timestamptz not null,
  usd numeric(24,2) not null check (usd >= 0),
  primary key (coin, network, minute)
);

-- What refunds, and the payouts and refunds of a partner, began in each minute is worth. Coin and
-- network are empty for all assets together.
create table payout_share_spent (
  -- 'refunds', or the id of a partner.
  share text not null,
  coin text not null,
  network text not null,
  minute timestamptz not null,
  usd numeric(24,2) not null check (usd >= 0),
  primary key (share, coin, network, minute)
);
create index payout_share_spent_minute on payout_share_spent (minute);

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
  -- When a check last found the cause, and when findings were last added to it.
  found_at timestamptz not null,
  changed_at timestamptz not null,
  -- Since when checks do not find the cause. Always null for a stop by staff.
  cleared_at timestamptz,
  closed_at timestamptz,
  proposed_by uuid references staff_member (id),
  closed_by uuid references staff_member (id),
  -- Closed although the cause remained: the same findings open no other.
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

-- When the causes of holds were last looked for. One row.
create table payout_watch (
  only_row boolean primary key default true check (only_row),
  looked_at timestamptz
);

insert into payout_watch default values;
`;

/** What staff propose and work on. */
const staffWork = `
-- What staff propose and decide. What moves money needs a second member.
create table staff_action (
  id uuid primary key,
  action text not null check (action in ('refund', 'retry_payout', 'mark_failed', 'hold', 'release', 'venue_price',
                                           'resume_payouts')),
  order_id uuid references exchange_order (id),
  deposit_id uuid references deposit (id),
  address text,
  tag text,
  reason text not null check (length(reason) between 1 and 1000),
  state text not null check (state in ('proposed', 'done', 'rejected')),
  proposed_by uuid not null references staff_member (id),
  proposed_at timestamptz not null,
  decided_by uuid references staff_member (id),
  decided_at timestamptz,
  -- The price at which the rest of a trade may be closed, as a second member approved it.
  price numeric(38,18) check (price > 0),
  hold_id uuid references payout_hold (id),
  -- The proposer knows that the cause of the hold remains.
  acknowledges boolean not null default false,
  check (case action when 'resume_payouts'
    then hold_id is not null and order_id is null and deposit_id is null
    else hold_id is null and num_nonnulls(order_id, deposit_id) >= 1 end),
  check ((state = 'proposed') = (decided_at is null)),
  check (state <> 'done' or action in ('mark_failed', 'hold') or decided_by is distinct from proposed_by),
  check ((action = 'venue_price') = (price is not null))
);
create index staff_action_open on staff_action (proposed_at) where state = 'proposed';
create index staff_action_order on staff_action (order_id);
create unique index staff_action_open_once on staff_action (action, order_id, deposit_id, hold_id)
  nulls not distinct
  where state = 'proposed' and action in ('refund', 'retry_payout', 'release', 'venue_price', 'resume_payouts');
create index staff_action_decided on staff_action (decided_at desc, id desc) where decided_at is not null;

-- The member who works on an attention item. Items are computed, so the key is the item's id. A
-- worker removes the row when the item ends.
create table attention_assignee (
  item_id text primary key check (length(item_id) between 3 and 300),
  staff_id uuid not null references staff_member (id),
  since timestamptz not null
);

-- Named filters of the order list. Each belongs to one member.
create table order_view (
  id uuid primary key,
  staff_id uuid not null references staff_member (id),
  name text not null check (length(name) between 1 and 40),
  -- The filters as the address of the page carries them: 'status=FAILED&coin=BTC'.
  query text not null check (length(query) between 1 and 1000),
  created_at timestamptz not null,
  unique (staff_id, name)
);
`;

/** The ledger and its comparisons. */
const ledger = `
-- Double entry. Debits are positive: what we hold is positive, what we owe is negative.
create table ledger_transaction (
  id uuid primary key,
  kind text not null,
  -- What it books, so that nothing is booked twice.
  reference text not null,
  order_id uuid references exchange_order (id),
  at timestamptz not null,
  unique (kind, reference)
);
create index ledger_transaction_order on ledger_transaction (order_id);
-- Entries come in the order of their times.
create index ledger_transaction_at on ledger_transaction using brin (at) with (autosummarize = on);
create trigger ledger_transaction_append_only before update or delete or truncate on ledger_transaction
  for each statement execute function refuse_change();

create function ledger_balanced() returns trigger language plpgsql as $$
begin
  if exists (select 1 from ledger_line where transaction_id = new.transaction_id
              group by coin, network having sum(amount) <> 0) then
    raise exception 'ledger transaction % does not sum to zero', new.transaction_id using errcode = 'check_violation';
  end if;
  return null;
end $$;

create table ledger_line (
  transaction_id uuid not null references ledger_transaction (id),
  line integer not null check (line > 0),
  account text not null check (
    account in ('deposits', 'hot', 'client', 'venue', 'service_fee', 'network_fee', 'network_cost', 'trading',
                'unclaimed', 'suspense', 'opening', 'markup')
    or account ~ '^partner:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  coin text not null,
  network text not null,
  amount numeric(38,18) not null check (amount <> 0),
  primary key (transaction_id, line)
);
create index ledger_line_account on ledger_line (account, coin, network) include (amount);
create trigger ledger_line_append_only before update or delete or truncate on ledger_line
  for each statement execute function refuse_change();
create constraint trigger ledger_zero_sum after insert on ledger_line deferrable initially deferred
  for each row execute function ledger_balanced();

-- One row for each time that the book was due to be compared. The process that writes it compares.
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
`;

/** Chains, the processes that work on them, and hot wallets. */
const chains = `
-- A chain as its scanner last saw it, and which process works on it. 'fence' grows with each change
-- of that process.
create table chain_state (
  chain text primary key,
  lease_owner uuid,
  lease_until timestamptz,
  fence bigint not null default 0,
  -- Grows with each stored scan.
  version bigint not null default 0,
  cursor_blocks jsonb not null default '[]',
  height bigint not null default 0,
  head bigint not null default 0,
  scanned_at timestamptz,
  -- Set by a command: the next scan forgets what lies above and reads it again.
  rescan_from bigint,
  problem text,
  -- Which chain it is: 'sandbox', 'evm:<chain id>:<genesis>' or 'utxo:<genesis>'. Written once: an
  -- entry of one chain says nothing about another.
  identity text,
  -- Since when, and why, its node gives no answer.
  failing_since timestamptz,
  failure text,
  -- When it was last read to its head: what came before is known.
  read_at timestamptz,
  -- The height up to which the chain itself called its blocks final; null where confirmations alone
  -- decide.
  final_height bigint,
  -- Index of the deposit address whose balance was compared last, of all that were given out. -1
  -- restarts.
  compared_index bigint not null default -1,
  -- How the last process to read the chain found coins that contracts send on: 'none', 'trace',
  -- 'balances'.
  internal_transfers text,
  -- When and how its node failed the last time, so that a failure between two readings is not
  -- missed.
  failed_at timestamptz,
  failed_as text,
  -- Blocks that are not in the cursor and whose transfers may be stored, as an array of hashes.
  unsettled_blocks jsonb not null default '[]'
);

-- Processes that share the chains, by their last sign of life.
create table worker (
  id uuid primary key,
  seen_at timestamptz not null
);

-- The hot wallets as a worker last saw them, and the bounds that the settings give them.
create table wallet_level (
  chain text not null,
  coin text not null,
  network text not null,
  balance numeric(38,18) not null,
  low numeric(38,18),
  high numeric(38,18),
  level text not null check (level in ('ok', 'low', 'high')),
  -- Since when it has been outside its bounds.
  outside_since timestamptz,
  seen_at timestamptz not null,
  primary key (chain, coin, network),
  check ((level = 'ok') = (outside_since is null))
);
`;

/** Webhooks. */
const webhooks = `
-- Endpoints of partners.
create table webhook_endpoint (
  id uuid primary key,
  partner_id uuid not null references partner (id),
  url text not null check (length(url) between 1 and 2048),
  -- Types of events that it gets. Null for all.
  types text[] check (cardinality(types) > 0),
  -- Only events of orders with these coins. Null for all.
  coin_from text,
  coin_to text,
  -- How amounts are written in its events.
  amounts text not null check (amounts in ('string', 'number')),
  -- A deleted endpoint is kept until its deliveries are forgotten.
  status text not null check (status in ('enabled', 'disabled', 'deleted')),
  disabled_reason text check (disabled_reason in ('partner', 'staff', 'gone', 'failing')),
  disabled_at timestamptz,
  -- The signing secret, encrypted. The version names the key that encrypted it.
  secret bytea not null,
  secret_version integer not null,
  -- The secret before the last rotation, which signs too until its end.
  old_secret bytea,
  old_secret_version integer,
  old_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Failed attempts since the last success, and since when.
  failures integer not null default 0 check (failures >= 0),
  failing_since timestamptz,
  -- No attempt before this time. Set after ten failures in a row.
  probe_at timestamptz,
  -- Its last answer was a quick success. Only then it gets several deliveries at a time.
  is_quick boolean not null default false,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  check ((status = 'disabled') = (disabled_reason is not null)),
  check ((disabled_reason is null) = (disabled_at is null)),
  check ((old_secret is null) = (old_secret_version is null) and (old_secret is null) = (old_secret_until is null)),
  check ((failures = 0) = (failing_since is null))
);
create index webhook_endpoint_partner on webhook_endpoint (partner_id, created_at) where status <> 'deleted';

-- Deliveries of events to endpoints.
create table webhook_delivery (
  id bigint primary key generated always as identity,
  endpoint_id uuid not null references webhook_endpoint (id),
  -- The event. Null for a test of the endpoint.
  order_id uuid,
  seq integer,
  type text not null,
  -- Counts the replays of the event to the endpoint.
  generation integer not null default 0,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz,
  -- A sender works on it until then.
  leased_until timestamptz,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- One member for each attempt that a sender could tell about.
  log jsonb not null default '[]',
  check ((order_id is null) = (seq is null)),
  check ((state = 'pending') = (next_attempt_at is not null)),
  check ((state = 'pending') = (ended_at is null)),
  check (state = 'pending' or leased_until is null)
);
create unique index webhook_delivery_once on webhook_delivery (endpoint_id, order_id, seq, generation)
  where order_id is not null;
create index webhook_delivery_due on webhook_delivery (endpoint_id, next_attempt_at, id) where state = 'pending';
create index webhook_delivery_test on webhook_delivery (endpoint_id, id) where state = 'pending' and order_id is null;
create index webhook_delivery_leased on webhook_delivery (endpoint_id, leased_until) where leased_until is not null;
create index webhook_delivery_newest on webhook_delivery (endpoint_id, id);
create index webhook_delivery_created on webhook_delivery (created_at);

-- The deliveries that each partner asked for in a day: replays, tests and samples.
create table webhook_allowance (
  partner_id uuid primary key references partner (id),
  -- A day of UTC, and the deliveries that were made in it.
  day date not null,
  made integer not null check (made >= 0)
);

-- Up to where the feed of events was turned into deliveries. One row.
create table webhook_place (
  only_row boolean primary key default true check (only_row),
  xid xid8 not null,
  order_id uuid not null,
  seq integer not null
);

-- It begins now.
insert into webhook_place (xid, order_id, seq)
values (pg_snapshot_xmin(pg_current_snapshot()), '00000000-0000-0000-0000-000000000000', 0);
`;

/** Statistics of orders and of the API, and histories. */
const figures = `
-- Moves of orders, summed up. Each counts in the bucket in which its ORDER was made, in UTC, so
-- that the outcomes of a day's orders are in that day's rows. No changing column is indexed: an
-- update stays on its page.
create table order_stat (
  grain text not null check (grain in ('hour', 'day', 'month')),
  dimension text not null check (dimension in ('all', 'partner', 'pair')),
  -- '', the partner's id, or a pair like 'BTC/BTC-USDT/ERC20'.
  key text collate "C" not null,
  at timestamptz not null,
  -- '' for orders that were made.
  from_status text not null default '',
  to_status text not null,
  cause text not null,
  moves bigint not null,
  -- Spent in from_status before the move, by all of them together.
  seconds numeric not null,
  -- Both are counted with the move to completed.
  volume_usd numeric not null,
  revenue_usd numeric not null,
  -- A cause belongs to one move from one status to another.
  primary key (grain, dimension, key, at, cause),
  -- Nearly every order would have rows of its own.
  check (grain <> 'hour' or dimension <> 'pair')
) with (fillfactor = 80);
-- All partners or pairs of a time, of what a series is made of.
create index order_stat_series on order_stat (grain, dimension, at)
  where to_status in ('waiting_deposit', 'completed', 'expired', 'refunded', 'failed')
     or from_status in ('expired', 'failed');

-- How far the feed has been summed up.
create table order_stat_progress (
  only_row boolean primary key default true check (only_row),
  xid xid8 not null,
  order_id uuid not null,
  seq integer not null,
  rolled_at timestamptz
);

insert into order_stat_progress (xid, order_id, seq) values ('0', '00000000-0000-0000-0000-000000000000', 0);

-- Requests of partners in the last hours, added up over all processes. Each process adds its own
-- requests every few seconds.
create table api_traffic (
  at timestamptz not null,
  -- Method and path template, such as 'GET /partner/orders/{order_id}'.
  endpoint text not null check (length(endpoint) between 1 and 300),
  outcome text not null check (outcome in ('ok', 'client_error', 'server_error')),
  -- Index of the histogram's bucket, the shortest first.
  bucket smallint not null check (bucket between 0 and 100),
  requests bigint not null check (requests > 0),
  primary key (at, endpoint, outcome, bucket)
);

-- A hot wallet in a slot of ten minutes. 'readings' counts the minutes in which its balance was
-- known.
create table wallet_history (
  at timestamptz not null,
  chain text not null,
  coin text not null,
  network text not null,
  lowest numeric(38,18) not null,
  highest numeric(38,18) not null,
  last numeric(38,18) not null,
  -- The bounds of the last reading.
  low numeric(38,18),
  high numeric(38,18),
  readings integer not null check (readings > 0),
  primary key (at, chain, coin, network),
  check (last between lowest and highest)
);

-- A chain in a slot. No lag and no head while it is not known how far the chain has come.
create table chain_history (
  at timestamptz not null,
  chain text not null,
  height bigint not null,
  head bigint,
  lag_lowest bigint check (lag_lowest >= 0),
  lag_highest bigint,
  lag_last bigint,
  -- Minutes in which its lag was known or it could not be read, and the latter of these.
  readings integer not null check (readings > 0),
  failures integer not null check (failures between 0 and readings),
  -- Why it could not be read, the last time.
  failure text,
  primary key (at, chain),
  check (lag_last between lag_lowest and lag_highest),
  check (num_nulls(head, lag_lowest, lag_highest, lag_last) in (0, 4)),
  check ((failures = 0) = (failure is null))
);

-- A figure of the venue in a slot. The coin is empty where the figure is of all coins together.
create table venue_history (
  at timestamptz not null,
  coin text not null,
  measure text not null check (measure in ('balance', 'stock', 'buy_depth', 'sell_depth', 'open_usd')),
  lowest numeric not null,
  highest numeric not null,
  last numeric not null,
  readings integer not null check (readings > 0),
  primary key (at, coin, measure),
  check (last between lowest and highest)
);

-- Our balance with the venue by the ledger, as each comparison of the ledger notes it.
create table venue_level (
  coin text primary key,
  balance numeric not null,
  seen_at timestamptz not null
);

-- When the readings were last written. One row.
create table history_turn (
  only_row boolean primary key default true check (only_row),
  taken_at timestamptz not null
);

insert into history_turn (taken_at) values ('1970-01-01T00:00:00Z');
`;

/** The sandbox: chains, a venue and what partners force in it. */
const sandbox = `
-- Chains that live in this database, so that every process sees the same ones.
create table sandbox_chain (
  chain text primary key,
  height bigint not null default 0,
  -- Blocks are made by the clock until here; a transaction moves it ahead.
  busy_until bigint not null default 0,
  mined_at timestamptz
);

create table sandbox_block (
  chain text not null references sandbox_chain (chain),
  height bigint not null,
  hash text not null,
  parent text not null,
  mined_at timestamptz not null,
  primary key (chain, height)
);

create table sandbox_tx (
  chain text not null references sandbox_chain (chain),
  txid text not null,
  -- Null for coins from outside, which are always covered.
  sender text,
  nonce bigint,
  recipient text not null,
  tag text,
  contract text,
  -- In the smallest unit.
  amount numeric(78,0) not null check (amount > 0),
  fee numeric(78,0) not null check (fee >= 0),
  raw text,
  state text not null check (state in ('mempool', 'mined', 'dropped')),
  height bigint,
  -- Null until it is mined; false when it moved nothing.
  success boolean,
  seen_at timestamptz not null,
  seq bigint generated always as identity,
  -- Coins that a sandbox chain made out of nothing for the hot wallet. Their maker books them.
  minted boolean not null default false,
  -- A partner of the sandbox has taken it out of the chain, for its order alone.
  forced boolean not null default false,
  primary key (chain, txid),
  check ((state = 'mined') = (height is not null)),
  check ((state = 'mined') = (success is not null)),
  check ((sender is null) = (nonce is null))
);
create index sandbox_tx_block on sandbox_tx (chain, height) where state = 'mined';
create index sandbox_tx_mempool on sandbox_tx (chain, seq) where state = 'mempool';
create index sandbox_tx_recipient on sandbox_tx (chain, recipient);
create index sandbox_tx_sender on sandbox_tx (chain, sender, nonce) where sender is not null;

-- Accounts that can pay. Balances of others follow from the transactions.
create table sandbox_account (
  chain text not null references sandbox_chain (chain),
  address text not null,
  nonce bigint not null default 0,
  primary key (chain, address)
);

create table sandbox_balance (
  chain text not null,
  address text not null,
  -- '' for the chain's own coin.
  contract text not null,
  amount numeric(78,0) not null check (amount >= 0),
  primary key (chain, address, contract),
  foreign key (chain, address) references sandbox_account (chain, address)
);

-- Recipients that accept nothing: payments to them are mined and move nothing.
create table sandbox_refusing (
  chain text not null,
  address text not null,
  primary key (chain, address)
);

-- Prices that were set in the sandbox.
create table sandbox_price (
  coin text primary key,
  price numeric(38,18) not null check (price > 0),
  set_at timestamptz not null
);

-- What the sandbox venue has to sell; a coin without a row is there in plenty.
create table sandbox_inventory (
  coin text primary key,
  amount numeric(38,18) not null check (amount >= 0)
);

-- Trades that the sandbox venue has filled.
create table sandbox_fill (
  client_id text primary key,
  sell_coin text not null,
  sell_amount numeric(38,18) not null,
  buy_coin text not null,
  bought numeric(38,18) not null,
  at timestamptz not null
);

-- Outcomes that partners force on orders of a sandbox.
create table sandbox_outcome (
  order_id uuid not null references exchange_order (id),
  outcome text not null
    check (outcome in ('venue_rejects', 'venue_silent', 'payout_dead', 'payout_unknown', 'refund_dead', 'fee_spike',
                       'would_fail', 'gas_above_maximum', 'token_refused', 'signer_unavailable')),
  at timestamptz not null,
  primary key (order_id, outcome)
);

-- How many deposits the sandbox has sent to an order.
create table sandbox_deposits (
  order_id uuid primary key references exchange_order (id),
  count integer not null check (count > 0)
);

-- Up to where the sandbox has read the moves of orders, for magic values. One row.
create table sandbox_place (
  only_row boolean primary key default true check (only_row),
  cursor text not null
);

-- It begins now.
insert into sandbox_place (cursor)
values (pg_snapshot_xmin(pg_current_snapshot())::text || '-00000000-0000-0000-0000-000000000000-0');
`;

/** The whole schema of the first release, with its rows. */
export class Migration0001Baseline extends Migration {
  override up(): void {
    const parts = [
      general,
      staff,
      prices,
      partners,
      auditLog,
      addresses,
      orders,
      caps,
      deposits,
      trades,
      payments,
      brakes,
      staffWork,
      ledger,
      chains,
      webhooks,
      figures,
      sandbox,
    ];
    for (const sql of parts) this.addSql(sql);
  }
}
