import { Migration } from '@mikro-orm/migrations';

/** Currencies, partners and keys, staff, deposit addresses, orders with their events, idempotent creates. */
export class Migration0001Foundation extends Migration {
  override up(): void {
    this.addSql(`
      create table setting (
        name text primary key,
        value text not null
      );

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
        updated_at timestamptz not null
      );

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
        last_used_at timestamptz
      );
      create index api_key_partner on api_key (partner_id);

      create table staff_member (
        id uuid primary key,
        email text not null check (email = lower(email)),
        role text not null check (role in ('viewer', 'support', 'operator', 'admin')),
        token_id text not null unique,
        token_mac bytea not null check (length(token_mac) = 32),
        pepper_version integer not null,
        created_at timestamptz not null,
        revoked_at timestamptz,
        unique (email)
      );

      create table deposit_account (
        keychain text primary key,
        signer text not null,
        xpub text,
        shared_address text,
        created_at timestamptz not null,
        check (num_nonnulls(xpub, shared_address) <= 1)
      );

      -- Each number ends a block of 50 indexes: 50 stands for 1 to 50.
      create sequence deposit_index_block as bigint start 50 increment 50 minvalue 50 maxvalue 2147483600 no cycle;

      create table deposit_address (
        id uuid primary key,
        keychain text not null references deposit_account (keychain),
        index bigint not null,
        address text not null,
        tag text,
        created_at timestamptz not null,
        leased_at timestamptz,
        unique (keychain, index),
        unique nulls not distinct (address, tag)
      );
      create index deposit_address_free on deposit_address (keychain, index) where leased_at is null;

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
        foreign key (coin_from, network_from) references currency (coin, network),
        foreign key (coin_to, network_to) references currency (coin, network),
        check ((coin_from, network_from) <> (coin_to, network_to)),
        check (refund_address is not null or refund_address_tag is null)
      );
      create index exchange_order_partner on exchange_order (partner_id, created_at desc, id desc);
      create index exchange_order_due on exchange_order (next_action_at) where next_action_at is not null;

      create table order_event (
        order_id uuid not null references exchange_order (id),
        seq integer not null check (seq > 0),
        at timestamptz not null,
        from_status text,
        to_status text not null,
        cause text not null,
        actor text not null,
        primary key (order_id, seq)
      );

      create table idempotency_key (
        partner_id uuid not null references partner (id),
        key text not null check (length(key) between 1 and 255),
        fingerprint bytea not null check (length(fingerprint) = 32),
        order_id uuid not null references exchange_order (id),
        status integer not null,
        body text not null,
        created_at timestamptz not null,
        primary key (partner_id, key)
      );
      create index idempotency_key_age on idempotency_key (created_at);

      create function refuse_change() returns trigger language plpgsql as $$
      begin
        raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
      end $$;
      create trigger order_event_append_only before update or delete or truncate on order_event
        for each statement execute function refuse_change();

      create function refuse_new_identity() returns trigger language plpgsql as $$
      begin
        if (new.keychain, new.index, new.address) is distinct from (old.keychain, old.index, old.address)
           or new.tag is distinct from old.tag or (old.leased_at is not null and new.leased_at is distinct from old.leased_at) then
          raise exception 'a deposit address is given once and never changes' using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;
      create trigger deposit_address_given_once before update on deposit_address
        for each row execute function refuse_new_identity();
      create trigger deposit_address_kept before delete or truncate on deposit_address
        for each statement execute function refuse_change();
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
