import { Migration } from '@mikro-orm/migrations';

/** Transactions that prepare a hot wallet for payments and pay no one. */
const setup = `
alter table payment add column setup text,
  drop constraint payment_kind_check,
  add constraint payment_kind_check check (kind in ('payout', 'refund', 'sweep', 'gas', 'setup')),
  drop constraint payment_amount_check,
  add constraint payment_amount_check check (amount > 0 or kind = 'setup' and amount = 0),
  add constraint payment_setup_check check ((kind = 'setup') = (setup is not null));

create or replace function keep_payment() returns trigger language plpgsql as $$
begin
  if (new.kind, new.leg, new.chain, new.coin, new.network, new.address, new.amount, new.fee_charged)
       is distinct from (old.kind, old.leg, old.chain, old.coin, old.network, old.address, old.amount, old.fee_charged)
     or new.deposit_id is distinct from old.deposit_id or new.sources is distinct from old.sources
     or new.tag is distinct from old.tag or new.contract is distinct from old.contract
     or new.order_id is distinct from old.order_id or new.setup is distinct from old.setup
     or (old.state in ('confirmed', 'dead') and new.state <> old.state) then
    raise exception 'a payment goes where it was decided to go, and ends once' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

create unique index payment_setup_once on payment (chain)
  where kind = 'setup' and state not in ('confirmed', 'dead');
create index payment_setup_dead on payment (chain, ended_at) where kind = 'setup' and state = 'dead';
`;

export class Migration0006WalletSetup extends Migration {
  override up(): void {
    this.addSql(setup);
  }
}
