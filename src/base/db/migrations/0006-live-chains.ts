import { Migration } from '@mikro-orm/migrations';

/**
 * Real chains: what a chain is, our outputs, coins from outside, sweeps, and transactions that replace one another; and
 * prices that processes share.
 */
export class Migration0006LiveChains extends Migration {
  override up(): void {
    this.addSql(`
      -- Which chain it is: 'sandbox', 'evm:<chain id>:<genesis>' or 'utxo:<genesis>'. Written once: what was booked on
      -- one chain says nothing about another.
      alter table chain_state add identity text;
      -- Since when, and why, its node gives no answer.
      alter table chain_state add failing_since timestamptz, add failure text;
      -- When it was last read to its head: what came before is known.
      alter table chain_state add read_at timestamptz;
      -- The height up to which the chain itself called its blocks final; null where confirmations alone decide.
      alter table chain_state add final_height bigint;
      -- Index of the deposit address whose balance was compared last, of all that were given out; -1 begins anew.
      alter table chain_state add compared_index bigint not null default -1;
      update chain_state set identity = 'sandbox';

      -- Outputs to our addresses that are in a block, on chains of outputs. Who spent them stays, for the search of what
      -- became of a payment.
      create table own_output (
        chain text not null,
        key text not null,
        address text not null,
        amount numeric(38,0) not null check (amount > 0),
        -- Index of the deposit address; null for the hot wallet.
        index bigint,
        height bigint not null,
        block_hash text not null,
        spent_txid text,
        spent_height bigint,
        spent_hash text,
        primary key (chain, key),
        check ((spent_txid is null) = (spent_height is null) and (spent_txid is null) = (spent_hash is null))
      );
      create index own_output_unspent on own_output (chain, height) where spent_txid is null;
      create index own_output_block on own_output (chain, block_hash);
      create index own_output_spent on own_output (chain, spent_hash) where spent_hash is not null;

      -- Coins that came to the hot wallet from outside are deposits of nobody, and ours.
      alter table deposit
        add purpose text not null default 'order' check (purpose in ('order', 'funding')),
        add check (purpose = 'order' or order_id is null),
        -- The payment that brings it to the hot wallet.
        add swept_by uuid references payment (id);
      create index deposit_unswept on deposit (chain, credited_at)
        where state = 'credited' and swept_by is null and purpose = 'order';
      create index deposit_swept on deposit (swept_by) where swept_by is not null;
      create index deposit_orphaned on deposit (chain) where state = 'orphaned';
      create index deposit_address_of_chain on deposit (chain, address);

      -- Ids follow from what is paid, so they say nothing of what came first.
      alter table payment add number bigint;
      update payment set number = counted.number
        from (select id, row_number() over (order by created_at, id) as number from payment) counted
       where counted.id = payment.id;
      alter table payment alter number set not null, alter number add generated always as identity;
      select setval(pg_get_serial_sequence('payment', 'number'), (select count(*) + 1 from payment), false);

      -- A sweep brings what 'sources' names to the hot wallet; gas brings the hot wallet's coins to an address that needs
      -- them for its fee. Neither settles a deposit.
      alter table payment drop constraint payment_kind_check, drop constraint payment_check;
      alter table payment
        alter column deposit_id drop not null,
        add sources text[],
        add constraint payment_kind_check check (kind in ('payout', 'refund', 'sweep', 'gas')),
        add constraint payment_settles_check check ((kind in ('payout', 'refund')) = (deposit_id is not null)),
        add constraint payment_order_check check (case kind when 'payout' then order_id is not null and leg = 'main'
                                                            when 'refund' then true
                                                            else order_id is null and leg = 'main' end),
        add constraint payment_sources_check check ((kind = 'sweep') = (sources is not null));
      -- One at a time for each address and asset. Outputs are reserved one by one besides.
      create unique index payment_sweep_once on payment (chain, sources, coalesce(contract, ''))
        where kind = 'sweep' and state not in ('confirmed', 'dead');
      create unique index payment_gas_once on payment (chain, address)
        where kind = 'gas' and state not in ('confirmed', 'dead');

      -- What ever moved coins of an address.
      create index payment_sweep_of on payment (chain, sources) where kind = 'sweep';
      create index payment_gas_of on payment (chain, address) where kind = 'gas';
      -- Sweeps that came to nothing, which are not decided again at once.
      create index payment_sweep_dead on payment (chain, ended_at) where kind = 'sweep' and state = 'dead';

      create or replace function keep_payment() returns trigger language plpgsql as $$
      begin
        if (new.kind, new.leg, new.chain, new.coin, new.network, new.address, new.amount, new.fee_charged)
             is distinct from (old.kind, old.leg, old.chain, old.coin, old.network, old.address, old.amount, old.fee_charged)
           or new.deposit_id is distinct from old.deposit_id or new.sources is distinct from old.sources
           or new.tag is distinct from old.tag or new.contract is distinct from old.contract
           or new.order_id is distinct from old.order_id
           or (old.state in ('confirmed', 'dead') and new.state <> old.state) then
          raise exception 'a payment goes where it was decided to go, and ends once' using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;

      create index payment_sent on payment (sent_at, id) where state = 'sent';

      -- A payment may have several transactions alive, of which at most one can confirm: each spends all that the ones
      -- before it spend.
      drop index payment_attempt_alive;
      create index payment_attempt_alive on payment_attempt (payment_id) where dead_at is null;
      create function check_attempt_family() returns trigger language plpgsql as $$
      begin
        if exists (select 1 from payment_attempt a
                    where a.payment_id = new.payment_id and a.dead_at is null and not (new.reserves @> a.reserves)) then
          raise exception 'two transactions of a payment could both confirm' using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;
      create trigger payment_attempt_family before insert on payment_attempt
        for each row execute function check_attempt_family();

      -- Coins that a sandbox chain made out of nothing for the hot wallet: booked by who made them, and no transfer.
      alter table sandbox_tx add minted boolean not null default false;

      -- The hot wallets as a worker last saw them, and what the settings want them to be.
      create table wallet_level (
        chain text not null,
        coin text not null,
        network text not null,
        balance numeric(38,18) not null,
        low numeric(38,18),
        high numeric(38,18),
        level text not null check (level in ('ok', 'low', 'high')),
        -- Since when it has been outside its bounds.
        outside_since timestamptz,
        seen_at timestamptz not null,
        primary key (chain, coin, network),
        check ((level = 'ok') = (outside_since is null))
      );

      -- What all processes quote alike during one window of fixed rates: {"<coin>": "<US dollars>"}, and what staff had
      -- set by hand, {"<coin>-<coin>": "<units of the second>"}. Old ones are deleted.
      create table price_window (
        starts_at timestamptz primary key,
        fixed jsonb not null,
        reference jsonb not null,
        overrides jsonb not null
      );
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
