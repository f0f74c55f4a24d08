import { Migration } from '@mikro-orm/migrations';

/** Changes of orders by their partners: a refund address that is set once, after the create. */
export class Migration0032OrderChanges extends Migration {
  override up(): void {
    this.addSql(`
      alter table exchange_order
        -- When the partner set the refund address after the create. Null for one of the create, and without one.
        add column refund_address_set_at timestamptz
          constraint exchange_order_refund_address_set check (refund_address_set_at is null or refund_address is not null);

      -- A refund address is set once. A stolen key must not redirect money.
      create function keep_refund_address() returns trigger language plpgsql as $$
      begin
        if old.refund_address is not null or new.refund_address is null or new.refund_address_set_at is null then
          raise exception 'the refund address of order % is set once', old.id using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;
      create trigger exchange_order_refund_address_once
        before update of refund_address, refund_address_tag, refund_address_set_at on exchange_order
        for each row when ((old.refund_address, old.refund_address_tag, old.refund_address_set_at)
          is distinct from (new.refund_address, new.refund_address_tag, new.refund_address_set_at))
        execute function keep_refund_address();

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
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
