import { Migration } from '@mikro-orm/migrations';

/** What staff work with: members who look after attention items, saved views, API figures. */
export class Migration0044StaffWork extends Migration {
  override up(): void {
    this.addSql(`
      -- The member who works on an attention item. Items are computed, so the key is the item's id.
      -- A worker removes the row when the item ends.
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

      -- Requests of partners in the last hours, added up over all processes. Each process adds its
      -- own requests every few seconds.
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
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
