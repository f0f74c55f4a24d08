import { Migration } from '@mikro-orm/migrations';

/**
 * A migration for the rehearsal of an upgrade, while the newest real one is the baseline. It
 * expands as a migration may: columns, a table with a row for each order, an index and a trigger.
 */
export class Migration9999Rehearsal extends Migration {
  override up(): void {
    this.addSql(`
      alter table exchange_order add column rehearsed_at timestamptz;
      alter table order_event add column rehearsal text not null default 'expanded';
      create table rehearsed_order (
        order_id uuid primary key references exchange_order (id),
        was_there boolean not null
      );
      insert into rehearsed_order (order_id, was_there) select id, true from exchange_order;
      create index exchange_order_rehearsed on exchange_order (rehearsed_at) where rehearsed_at is not null;
      create function rehearse_order() returns trigger language plpgsql as $$
      begin
        insert into rehearsed_order (order_id, was_there) values (new.id, false);
        return null;
      end $$;
      create trigger exchange_order_rehearsed after insert on exchange_order
        for each row execute function rehearse_order();
    `);
  }
}
