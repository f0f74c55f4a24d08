import { Migration } from '@mikro-orm/migrations';

/** A transaction may expire at a height or at a time. Neither changes once it is written. */
const expiry = `
alter table payment_attempt add column expires_at timestamptz,
  add constraint payment_attempt_one_expiry check (expires_at is null or expires_at_height is null);

create or replace function keep_attempt() returns trigger language plpgsql as $$
begin
  if (new.payment_id, new.attempt, new.chain, new.payload, new.reserves, new.fee,
      new.expires_at_height, new.expires_at)
       is distinct from (old.payment_id, old.attempt, old.chain, old.payload, old.reserves, old.fee,
                         old.expires_at_height, old.expires_at)
     or (old.raw is not null and (new.raw, new.txid) is distinct from (old.raw, old.txid))
     -- One that counted as dead, and is found in a block after all, is alive again.
     or (old.dead_at is not null and new.dead_at is distinct from old.dead_at
         and not (new.dead_at is null and new.mined_height is not null)) then
    raise exception 'a payment attempt is written once' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- For the attention of staff. Rare, so that it costs nothing.
create index payment_paid_twice on payment (ended_at) where problem = 'paid_twice';
`;

/** A sandbox chain may have payments that expire, and payments without a nonce. */
const sandbox = `
alter table sandbox_tx add column expires_at_height bigint, add column expires_at timestamptz,
  drop constraint sandbox_tx_check2, add constraint sandbox_tx_nonce check (sender is not null or nonce is null);
`;

export class Migration0003AttemptExpiry extends Migration {
  override up(): void {
    this.addSql(expiry);
    this.addSql(sandbox);
  }
}
