import { Migration } from '@mikro-orm/migrations';

/**
 * Checks the first event of many new orders by one query, and calls no function for rows that a
 * condition of the trigger already shows to be right.
 */
export class Migration0046CheaperChecks extends Migration {
  override up(): void {
    this.addSql(`
      drop trigger exchange_order_start on exchange_order;
      create trigger exchange_order_start before insert on exchange_order for each row
        when (new.status <> 'waiting_deposit') execute function check_order_start();

      -- The primary key refuses a second event 1.
      drop trigger order_event_follows on order_event;
      create trigger order_event_follows before insert on order_event for each row
        when (new.seq <> 1 or new.from_status is not null or new.partner_id is null)
        execute function check_order_event();

      drop trigger exchange_order_has_event on exchange_order;
      create constraint trigger exchange_order_has_event after update of status on exchange_order
        deferrable initially deferred for each row execute function check_order_history();

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
      create trigger exchange_order_has_first_event after insert on exchange_order
        referencing new table as made for each statement execute function check_first_events();
    `);
  }
}
