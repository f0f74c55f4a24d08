import { Migration } from '@mikro-orm/migrations';

/** Policies of orders that act: late deposits at the market, and questions to the partner. */
export class Migration0033OrderActions extends Migration {
  override up(): void {
    this.addSql(`
      -- A late deposit is exchanged where its partner asked for that at the create.
      insert into order_status_edge (from_status, to_status) values ('expired', 'exchanging');
      create or replace function check_order_move() returns trigger language plpgsql as $$
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
      create trigger order_action_ends_once before update on order_action
        for each row execute function keep_order_action();
      create trigger order_action_kept before delete or truncate on order_action
        for each statement execute function refuse_change();

      -- At commit, an order stands where its newest event says, and an open question keeps its status.
      create or replace function check_order_history() returns trigger language plpgsql as $$
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
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
