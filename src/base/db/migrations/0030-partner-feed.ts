import { Migration } from '@mikro-orm/migrations';

/** Events name their partner, so that an index serves a partner's feed. Public status of orders. */
export class Migration0030PartnerFeed extends Migration {
  override up(): void {
    this.addSql(`
      alter table order_event add column partner_id uuid;
      -- Without the events that have no partner yet, the index is empty and made in one reading of the table.
      create index order_event_partner on order_event (partner_id, xid, order_id, seq) where partner_id is not null;

      -- Up to where events from before this migration have got their partner. One row.
      create table order_event_filling (
        only_row boolean primary key default true check (only_row),
        xid xid8 not null,
        order_id uuid not null,
        seq integer not null,
        -- No event from this transaction on lacks its partner. Null when none does.
        until_xid xid8
      );
      insert into order_event_filling (xid, order_id, seq, until_xid)
      values ('0', '00000000-0000-0000-0000-000000000000', 0,
              case when exists (select from order_event) then pg_snapshot_xmax(pg_current_snapshot()) end);

      create or replace function check_order_event() returns trigger language plpgsql as $$
      declare
        last record;
      begin
        select seq, to_status, partner_id into last from order_event where order_id = new.order_id order by seq desc limit 1;
        if new.seq <> coalesce(last.seq, 0) + 1 or new.from_status is distinct from last.to_status then
          raise exception 'event % of order % does not follow its history', new.seq, new.order_id
            using errcode = 'restrict_violation';
        end if;
        -- The version before names no partner. The statement that creates an order has not stored it yet.
        new.partner_id := coalesce(new.partner_id, last.partner_id,
          (select partner_id from exchange_order where id = new.order_id),
          case when new.actor like 'partner:%' then substr(new.actor, 9)::uuid end);
        return new;
      end $$;

      -- An event may get its order's partner once. Nothing else of it ever changes.
      create function check_event_partner() returns trigger language plpgsql as $$
      begin
        if old.partner_id is null
           and new.partner_id = (select partner_id from exchange_order where id = old.order_id)
           and to_jsonb(new) - 'partner_id' = to_jsonb(old) - 'partner_id' then
          return new;
        end if;
        raise exception 'order_event is append-only' using errcode = 'restrict_violation';
      end $$;
      drop trigger order_event_append_only on order_event;
      create trigger order_event_append_only before update on order_event
        for each row execute function check_event_partner();
      create trigger order_event_not_removed before delete or truncate on order_event
        for each statement execute function refuse_change();

      alter table partner
        -- Whether everyone who knows the UUID of an order may read its status.
        add column public_status boolean not null default false,
        add column lists_limit_per_min integer check (lists_limit_per_min > 0);
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
