import { Migration } from '@mikro-orm/migrations';

/** Webhooks: endpoints of partners, and the deliveries of their events. */
export class Migration0036Webhooks extends Migration {
  override up(): void {
    this.addSql(`
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

      -- Up to where the feed of events was turned into deliveries. One row. It begins now.
      create table webhook_place (
        only_row boolean primary key default true check (only_row),
        xid xid8 not null,
        order_id uuid not null,
        seq integer not null
      );
      insert into webhook_place (xid, order_id, seq)
      values (pg_snapshot_xmin(pg_current_snapshot()), '00000000-0000-0000-0000-000000000000', 0);

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
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
