-- Generated from the migrations by npm run generate. Do not edit.

create table api_key (
  key_id text not null,
  partner_id uuid not null,
  mac bytea not null,
  pepper_version integer not null,
  last4 text not null,
  label text not null,
  scopes text[] not null,
  allowed_cidrs text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (key_id),
  constraint api_key_key_id_check CHECK ((key_id ~ '^xp_(live|test)_[0-9A-Za-z]{12}$'::text)),
  constraint api_key_last4_check CHECK ((length(last4) = 4)),
  constraint api_key_mac_check CHECK ((length(mac) = 32)),
  constraint api_key_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id)
);
CREATE INDEX api_key_partner ON public.api_key USING btree (partner_id);

create table currency (
  id uuid not null,
  coin text not null,
  network text not null,
  name text not null,
  is_active boolean not null,
  is_deposit_enabled boolean not null,
  is_withdraw_enabled boolean not null,
  min_amount numeric(38,18) not null,
  max_amount numeric(38,18) not null,
  min_confirmations integer not null,
  decimals integer not null,
  is_memo boolean not null,
  network_fee numeric(38,18) not null,
  contract text,
  explorer_tx_url text,
  explorer_address_url text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint currency_pkey PRIMARY KEY (id),
  constraint currency_check CHECK ((max_amount >= min_amount)),
  constraint currency_coin_check CHECK ((coin ~ '^[A-Z0-9]{1,12}$'::text)),
  constraint currency_coin_network_key UNIQUE (coin, network),
  constraint currency_decimals_check CHECK (((decimals >= 0) AND (decimals <= 18))),
  constraint currency_min_amount_check CHECK ((min_amount > (0)::numeric)),
  constraint currency_min_confirmations_check CHECK ((min_confirmations > 0)),
  constraint currency_network_check CHECK ((network ~ '^[A-Z0-9]{1,16}$'::text)),
  constraint currency_network_fee_check CHECK ((network_fee >= (0)::numeric))
);

create table deposit_account (
  keychain text not null,
  signer text not null,
  xpub text,
  shared_address text,
  created_at timestamp with time zone not null,
  constraint deposit_account_pkey PRIMARY KEY (keychain),
  constraint deposit_account_check CHECK ((num_nonnulls(xpub, shared_address) <= 1))
);

create table deposit_address (
  id uuid not null,
  keychain text not null,
  index bigint not null,
  address text not null,
  tag text,
  created_at timestamp with time zone not null,
  leased_at timestamp with time zone,
  constraint deposit_address_pkey PRIMARY KEY (id),
  constraint deposit_address_address_tag_key UNIQUE NULLS NOT DISTINCT (address, tag),
  constraint deposit_address_keychain_fkey FOREIGN KEY (keychain) REFERENCES deposit_account(keychain),
  constraint deposit_address_keychain_index_key UNIQUE (keychain, index)
);
CREATE INDEX deposit_address_free ON public.deposit_address USING btree (keychain, index) WHERE (leased_at IS NULL);
CREATE TRIGGER deposit_address_given_once BEFORE UPDATE ON public.deposit_address FOR EACH ROW EXECUTE FUNCTION refuse_new_identity();
CREATE TRIGGER deposit_address_kept BEFORE DELETE OR TRUNCATE ON public.deposit_address FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table exchange_order (
  id uuid not null,
  short_id text not null,
  partner_id uuid not null,
  status text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  next_action_at timestamp with time zone,
  coin_from text not null,
  network_from text not null,
  coin_to text not null,
  network_to text not null,
  amount_from_expected numeric(38,18) not null,
  amount_to_expected numeric(38,18) not null,
  rate_type text not null,
  rate_quoted numeric(38,18) not null,
  fee_rate numeric(9,6) not null,
  service_fee_quoted numeric(38,18) not null,
  network_fee_quoted numeric(38,18) not null,
  deposit_address_id uuid not null,
  recipient_address text not null,
  recipient_address_tag text,
  refund_address text,
  refund_address_tag text,
  deposit_txid text,
  deposit_confirmations integer,
  deposit_confirmations_required integer not null,
  payout_txid text,
  constraint exchange_order_pkey PRIMARY KEY (id),
  constraint exchange_order_amount_from_expected_check CHECK ((amount_from_expected > (0)::numeric)),
  constraint exchange_order_amount_to_expected_check CHECK ((amount_to_expected > (0)::numeric)),
  constraint exchange_order_check CHECK ((expires_at > created_at)),
  constraint exchange_order_check1 CHECK (((coin_from <> coin_to) OR (network_from <> network_to))),
  constraint exchange_order_check2 CHECK (((refund_address IS NOT NULL) OR (refund_address_tag IS NULL))),
  constraint exchange_order_coin_from_network_from_fkey FOREIGN KEY (coin_from, network_from) REFERENCES currency(coin, network),
  constraint exchange_order_coin_to_network_to_fkey FOREIGN KEY (coin_to, network_to) REFERENCES currency(coin, network),
  constraint exchange_order_deposit_address_id_fkey FOREIGN KEY (deposit_address_id) REFERENCES deposit_address(id),
  constraint exchange_order_deposit_address_id_key UNIQUE (deposit_address_id),
  constraint exchange_order_deposit_confirmations_check CHECK ((deposit_confirmations >= 0)),
  constraint exchange_order_deposit_confirmations_required_check CHECK ((deposit_confirmations_required > 0)),
  constraint exchange_order_network_fee_quoted_check CHECK ((network_fee_quoted >= (0)::numeric)),
  constraint exchange_order_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint exchange_order_rate_quoted_check CHECK ((rate_quoted > (0)::numeric)),
  constraint exchange_order_rate_type_check CHECK ((rate_type = ANY (ARRAY['float'::text, 'fixed'::text]))),
  constraint exchange_order_service_fee_quoted_check CHECK ((service_fee_quoted >= (0)::numeric)),
  constraint exchange_order_short_id_check CHECK ((short_id ~ '^[A-Z][A-Z0-9]{0,7}-[A-Z0-9]{6}$'::text)),
  constraint exchange_order_short_id_key UNIQUE (short_id),
  constraint exchange_order_status_check CHECK ((status = ANY (ARRAY['waiting_deposit'::text, 'confirming'::text, 'exchanging'::text, 'sending'::text, 'completed'::text, 'expired'::text, 'refunding'::text, 'refunded'::text, 'failed'::text])))
);
CREATE INDEX exchange_order_due ON public.exchange_order USING btree (next_action_at) WHERE (next_action_at IS NOT NULL);
CREATE INDEX exchange_order_partner ON public.exchange_order USING btree (partner_id, created_at DESC, id DESC);

create table idempotency_key (
  partner_id uuid not null,
  key text not null,
  fingerprint bytea not null,
  order_id uuid not null,
  status integer not null,
  body text not null,
  created_at timestamp with time zone not null,
  constraint idempotency_key_pkey PRIMARY KEY (partner_id, key),
  constraint idempotency_key_fingerprint_check CHECK ((length(fingerprint) = 32)),
  constraint idempotency_key_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255))),
  constraint idempotency_key_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint idempotency_key_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id)
);
CREATE INDEX idempotency_key_age ON public.idempotency_key USING btree (created_at);

create table order_event (
  order_id uuid not null,
  seq integer not null,
  at timestamp with time zone not null,
  from_status text,
  to_status text not null,
  cause text not null,
  actor text not null,
  constraint order_event_pkey PRIMARY KEY (order_id, seq),
  constraint order_event_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint order_event_seq_check CHECK ((seq > 0))
);
CREATE TRIGGER order_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.order_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table partner (
  id uuid not null,
  name text not null,
  status text not null,
  fee_rate_float numeric(9,6),
  fee_rate_fixed numeric(9,6),
  rate_limit_per_min integer,
  orders_limit_per_min integer,
  require_signature boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint partner_pkey PRIMARY KEY (id),
  constraint partner_fee_rate_fixed_check CHECK (((fee_rate_fixed >= (0)::numeric) AND (fee_rate_fixed < 0.5))),
  constraint partner_fee_rate_float_check CHECK (((fee_rate_float >= (0)::numeric) AND (fee_rate_float < 0.5))),
  constraint partner_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint partner_orders_limit_per_min_check CHECK ((orders_limit_per_min > 0)),
  constraint partner_rate_limit_per_min_check CHECK ((rate_limit_per_min > 0)),
  constraint partner_status_check CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text])))
);

create table setting (
  name text not null,
  value text not null,
  constraint setting_pkey PRIMARY KEY (name)
);

create table staff_member (
  id uuid not null,
  email text not null,
  role text not null,
  token_id text not null,
  token_mac bytea not null,
  pepper_version integer not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint staff_member_pkey PRIMARY KEY (id),
  constraint staff_member_email_check CHECK ((email = lower(email))),
  constraint staff_member_email_key UNIQUE (email),
  constraint staff_member_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'operator'::text, 'admin'::text]))),
  constraint staff_member_token_id_key UNIQUE (token_id),
  constraint staff_member_token_mac_check CHECK ((length(token_mac) = 32))
);

create sequence deposit_index_block as bigint start 50 increment 50 minvalue 50 maxvalue 2147483600;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
      end $function$
;

CREATE OR REPLACE FUNCTION public.refuse_new_identity()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        if (new.keychain, new.index, new.address) is distinct from (old.keychain, old.index, old.address)
           or new.tag is distinct from old.tag or (old.leased_at is not null and new.leased_at is distinct from old.leased_at) then
          raise exception 'a deposit address is given once and never changes' using errcode = 'restrict_violation';
        end if;
        return new;
      end $function$
;
