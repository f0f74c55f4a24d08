import { Migration } from '@mikro-orm/migrations';

/** Deposits, exchanges, payments, the ledger, the chains' cursors, staff decisions, and the sandbox chain. */
export class Migration0002Settlement extends Migration {
  override up(): void {
    this.addSql(`
      -- Every edge of the order's life. The code has the same table; a test compares the two.
      create table order_status_edge (
        from_status text not null,
        to_status text not null,
        primary key (from_status, to_status)
      );
      insert into order_status_edge (from_status, to_status) values
        ('waiting_deposit', 'confirming'),
        ('waiting_deposit', 'expired'),
        ('confirming', 'waiting_deposit'),
        ('confirming', 'expired'),
        ('confirming', 'exchanging'),
        ('confirming', 'refunding'),
        ('expired', 'refunding'),
        ('exchanging', 'sending'),
        ('exchanging', 'refunding'),
        ('sending', 'completed'),
        ('sending', 'failed'),
        ('refunding', 'refunded'),
        ('refunding', 'failed'),
        ('failed', 'refunding'),
        ('failed', 'sending');

      -- A transfer to one of our addresses. Without an order when its tag is nobody's.
      create table deposit (
        id uuid primary key,
        chain text not null,
        key text not null,
        order_id uuid references exchange_order (id),
        txid text not null,
        address text not null,
        tag text,
        contract text,
        coin text,
        network text,
        amount numeric(38,18) not null check (amount > 0),
        state text not null check (state in ('mempool', 'mined', 'credited', 'orphaned')),
        height bigint,
        block_hash text,
        confirmations_required integer not null check (confirmations_required > 0),
        seen_at timestamptz not null,
        mined_at timestamptz,
        credited_at timestamptz,
        -- How often: a reorganisation takes it back, and it may return.
        credits integer not null default 0,
        -- Why nothing is done with it by itself: 'no_refund_address', 'below_fee', 'unknown_tag', 'wrong_asset'.
        problem text,
        unique (chain, key),
        check ((state in ('mined', 'credited')) = (height is not null and block_hash is not null)),
        check (state <> 'credited' or (credited_at is not null and credits > 0))
      );
      create index deposit_order on deposit (order_id);
      create index deposit_ripening on deposit (chain, height) where state = 'mined';
      create index deposit_block on deposit (chain, block_hash) where block_hash is not null;
      create index deposit_mempool on deposit (chain) where state = 'mempool';
      create index deposit_problem on deposit (seen_at) where problem is not null;

      alter table exchange_order
        add deposit_id uuid references deposit (id),
        add min_amount numeric(38,18),
        add max_amount numeric(38,18),
        add amount_from_actual numeric(38,18) check (amount_from_actual > 0),
        add amount_to_actual numeric(38,18) check (amount_to_actual > 0),
        add exchange_deadline timestamptz,
        -- Number of the newest event.
        add event_seq integer not null default 1,
        add held_at timestamptz,
        add hold_reason text,
        add check ((held_at is null) = (hold_reason is null));
      update exchange_order o
         set event_seq = (select max(seq) from order_event e where e.order_id = o.id)
       where exists (select 1 from order_event e where e.order_id = o.id and seq > 1);
      alter table order_event add detail text;

      -- One exchange at the liquidity venue for each order, decided before the venue is asked.
      create table trade (
        order_id uuid primary key references exchange_order (id),
        venue text not null,
        state text not null check (state in ('intended', 'filled', 'abandoned', 'unwound')),
        coin_from text not null,
        network_from text not null,
        coin_to text not null,
        network_to text not null,
        amount_from numeric(38,18) not null check (amount_from > 0),
        amount_to numeric(38,18) not null check (amount_to > 0),
        service_fee numeric(38,18) not null check (service_fee >= 0),
        network_fee numeric(38,18) not null check (network_fee >= 0),
        min_bought numeric(38,18) not null check (min_bought > 0),
        bought numeric(38,18) check (bought > 0),
        tries integer not null default 0,
        problem text,
        created_at timestamptz not null,
        settled_at timestamptz,
        check ((state in ('filled', 'unwound')) = (bought is not null))
      );

      -- A payment to a user: the payout of an order, or the refund of a deposit's leg.
      create table payment (
        id uuid primary key,
        kind text not null check (kind in ('payout', 'refund')),
        order_id uuid references exchange_order (id),
        deposit_id uuid not null references deposit (id),
        -- 'main' is the deposit itself, exchanged or refunded; 'excess' is what of it was not exchanged.
        leg text not null check (leg in ('main', 'excess')),
        chain text not null,
        coin text not null,
        network text not null,
        contract text,
        address text not null,
        tag text,
        amount numeric(38,18) not null check (amount > 0),
        -- Kept of the leg for the network's fee; for payouts it was taken with the exchange.
        fee_charged numeric(38,18) not null check (fee_charged >= 0),
        state text not null check (state in ('ready', 'prepared', 'signed', 'sent', 'confirmed', 'dead')),
        attempt integer not null default 0,
        problem text,
        problem_since timestamptz,
        next_action_at timestamptz,
        created_at timestamptz not null,
        sent_at timestamptz,
        ended_at timestamptz,
        check (kind = 'refund' or (order_id is not null and leg = 'main')),
        check ((state in ('confirmed', 'dead')) = (ended_at is not null)),
        check ((state in ('confirmed', 'dead')) = (next_action_at is null))
      );
      -- At most one payment of a leg is alive or has succeeded, be it the payout or a refund.
      create unique index payment_once on payment (deposit_id, leg) where state <> 'dead';
      create unique index payment_payout_once on payment (order_id) where kind = 'payout' and state <> 'dead';
      create index payment_order on payment (order_id);
      create index payment_due on payment (chain, next_action_at) where next_action_at is not null;

      -- One transaction for a payment. Payload, bytes and txid are written once.
      create table payment_attempt (
        payment_id uuid not null references payment (id),
        attempt integer not null check (attempt > 0),
        chain text not null,
        payload text not null,
        reserves text[] not null check (cardinality(reserves) > 0),
        fee numeric(38,18) not null check (fee >= 0),
        expires_at_height bigint,
        txid text,
        raw text,
        mined_height bigint,
        prepared_at timestamptz not null,
        signed_at timestamptz,
        sent_at timestamptz,
        dead_at timestamptz,
        dead_why text,
        primary key (payment_id, attempt),
        unique (chain, txid),
        check ((txid is null) = (raw is null)),
        check (sent_at is null or raw is not null),
        check ((dead_at is null) = (dead_why is null))
      );
      create unique index payment_attempt_alive on payment_attempt (payment_id) where dead_at is null;

      -- What a live attempt spends. Two transactions that hold nothing in common could both confirm; these cannot.
      create table payment_reservation (
        chain text not null,
        resource text not null,
        payment_id uuid not null references payment (id),
        attempt integer not null,
        -- Set when the attempt was never signed or is dead for good; a spent resource stays.
        released_at timestamptz
      );
      create unique index payment_reservation_held on payment_reservation (chain, resource) where released_at is null;
      create index payment_reservation_payment on payment_reservation (payment_id);

      create function keep_attempt() returns trigger language plpgsql as $$
      begin
        if (new.payment_id, new.attempt, new.chain, new.payload, new.reserves, new.fee)
             is distinct from (old.payment_id, old.attempt, old.chain, old.payload, old.reserves, old.fee)
           or (old.raw is not null and (new.raw, new.txid) is distinct from (old.raw, old.txid))
           or (old.dead_at is not null and new.dead_at is distinct from old.dead_at) then
          raise exception 'a payment attempt is written once' using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;
      create trigger payment_attempt_kept before update on payment_attempt
        for each row execute function keep_attempt();
      create trigger payment_attempt_not_removed before delete or truncate on payment_attempt
        for each statement execute function refuse_change();

      create function keep_payment() returns trigger language plpgsql as $$
      begin
        if (new.kind, new.deposit_id, new.leg, new.chain, new.coin, new.network, new.address, new.amount, new.fee_charged)
             is distinct from
           (old.kind, old.deposit_id, old.leg, old.chain, old.coin, old.network, old.address, old.amount, old.fee_charged)
           or new.tag is distinct from old.tag or new.contract is distinct from old.contract
           or new.order_id is distinct from old.order_id
           or (old.state in ('confirmed', 'dead') and new.state <> old.state) then
          raise exception 'a payment goes where it was decided to go, and ends once' using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;
      create trigger payment_kept before update on payment for each row execute function keep_payment();
      create trigger payment_not_removed before delete or truncate on payment
        for each statement execute function refuse_change();

      -- Double entry. Debits are positive: what we hold is positive, what we owe is negative.
      create table ledger_transaction (
        id uuid primary key,
        kind text not null,
        -- What it books, so that nothing is booked twice.
        reference text not null,
        order_id uuid references exchange_order (id),
        at timestamptz not null,
        unique (kind, reference)
      );
      create index ledger_transaction_order on ledger_transaction (order_id);
      create table ledger_line (
        transaction_id uuid not null references ledger_transaction (id),
        line integer not null check (line > 0),
        account text not null check (account in ('deposits', 'hot', 'client', 'venue', 'service_fee', 'network_fee',
                                                 'network_cost', 'trading', 'unclaimed', 'suspense', 'opening')),
        coin text not null,
        network text not null,
        amount numeric(38,18) not null check (amount <> 0),
        primary key (transaction_id, line)
      );
      create index ledger_line_account on ledger_line (account, coin, network) include (amount);
      create trigger ledger_transaction_append_only before update or delete or truncate on ledger_transaction
        for each statement execute function refuse_change();
      create trigger ledger_line_append_only before update or delete or truncate on ledger_line
        for each statement execute function refuse_change();

      create function ledger_balanced() returns trigger language plpgsql as $$
      begin
        if exists (select 1 from ledger_line where transaction_id = new.transaction_id
                    group by coin, network having sum(amount) <> 0) then
          raise exception 'ledger transaction % does not sum to zero', new.transaction_id using errcode = 'check_violation';
        end if;
        return null;
      end $$;
      create constraint trigger ledger_zero_sum after insert on ledger_line deferrable initially deferred
        for each row execute function ledger_balanced();

      -- A chain as its scanner last saw it, and which process works on it. 'fence' grows with each change of hands.
      create table chain_state (
        chain text primary key,
        lease_owner uuid,
        lease_until timestamptz,
        fence bigint not null default 0,
        -- Grows with each stored scan.
        version bigint not null default 0,
        cursor_blocks jsonb not null default '[]',
        height bigint not null default 0,
        head bigint not null default 0,
        scanned_at timestamptz,
        -- Set by a command: the next scan forgets what lies above and reads it again.
        rescan_from bigint,
        problem text
      );

      -- Processes that share the chains, by their last sign of life.
      create table worker (
        id uuid primary key,
        seen_at timestamptz not null
      );

      -- What staff propose and decide. What moves money needs a second member.
      create table staff_action (
        id uuid primary key,
        action text not null check (action in ('refund', 'retry_payout', 'mark_failed', 'hold', 'release')),
        order_id uuid references exchange_order (id),
        deposit_id uuid references deposit (id),
        address text,
        tag text,
        reason text not null check (length(reason) between 1 and 1000),
        state text not null check (state in ('proposed', 'done', 'rejected')),
        proposed_by uuid not null references staff_member (id),
        proposed_at timestamptz not null,
        decided_by uuid references staff_member (id),
        decided_at timestamptz,
        check (num_nonnulls(order_id, deposit_id) >= 1),
        check ((state = 'proposed') = (decided_at is null)),
        check (state <> 'done' or action in ('mark_failed', 'hold') or decided_by is distinct from proposed_by)
      );
      create index staff_action_open on staff_action (proposed_at) where state = 'proposed';
      create index staff_action_order on staff_action (order_id);

      -- The order's moves are a path through the table of edges, whoever writes them.
      create function check_order_move() returns trigger language plpgsql as $$
      begin
        if not exists (select 1 from order_status_edge where from_status = old.status and to_status = new.status) then
          raise exception 'an order does not go from % to %', old.status, new.status using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;
      create trigger exchange_order_edge before update of status on exchange_order
        for each row when (old.status is distinct from new.status) execute function check_order_move();

      create function check_order_start() returns trigger language plpgsql as $$
      begin
        if new.status <> 'waiting_deposit' then
          raise exception 'an order begins with waiting_deposit' using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;
      create trigger exchange_order_start before insert on exchange_order
        for each row execute function check_order_start();

      create function check_order_event() returns trigger language plpgsql as $$
      declare
        last record;
      begin
        select seq, to_status into last from order_event where order_id = new.order_id order by seq desc limit 1;
        if new.seq <> coalesce(last.seq, 0) + 1 or new.from_status is distinct from last.to_status then
          raise exception 'event % of order % does not follow its history', new.seq, new.order_id
            using errcode = 'restrict_violation';
        end if;
        return new;
      end $$;
      create trigger order_event_follows before insert on order_event
        for each row execute function check_order_event();

      -- At commit, an order stands where its newest event says.
      create function check_order_history() returns trigger language plpgsql as $$
      begin
        if (select status from exchange_order where id = new.id) is distinct from
           (select to_status from order_event where order_id = new.id order by seq desc limit 1) then
          raise exception 'order % moved without an event', new.id using errcode = 'restrict_violation';
        end if;
        return null;
      end $$;
      create constraint trigger exchange_order_has_event after insert or update of status on exchange_order
        deferrable initially deferred for each row execute function check_order_history();
      create trigger exchange_order_not_removed before delete or truncate on exchange_order
        for each statement execute function refuse_change();

      -- The sandbox: chains that live in this database, so that every process sees the same ones.
      create table sandbox_chain (
        chain text primary key,
        height bigint not null default 0,
        -- Blocks are made by the clock until here; a transaction moves it ahead.
        busy_until bigint not null default 0,
        mined_at timestamptz
      );
      create table sandbox_block (
        chain text not null references sandbox_chain (chain),
        height bigint not null,
        hash text not null,
        parent text not null,
        mined_at timestamptz not null,
        primary key (chain, height)
      );
      create table sandbox_tx (
        chain text not null references sandbox_chain (chain),
        txid text not null,
        -- Null for coins from outside, which always have them.
        sender text,
        nonce bigint,
        recipient text not null,
        tag text,
        contract text,
        -- In the smallest unit.
        amount numeric(78,0) not null check (amount > 0),
        fee numeric(78,0) not null check (fee >= 0),
        raw text,
        state text not null check (state in ('mempool', 'mined', 'dropped')),
        height bigint,
        -- Null until it is mined; false when it moved nothing.
        success boolean,
        seen_at timestamptz not null,
        seq bigint generated always as identity,
        primary key (chain, txid),
        check ((state = 'mined') = (height is not null)),
        check ((state = 'mined') = (success is not null)),
        check ((sender is null) = (nonce is null))
      );
      create index sandbox_tx_block on sandbox_tx (chain, height) where state = 'mined';
      create index sandbox_tx_mempool on sandbox_tx (chain, seq) where state = 'mempool';
      create index sandbox_tx_recipient on sandbox_tx (chain, recipient);
      create index sandbox_tx_sender on sandbox_tx (chain, sender, nonce) where sender is not null;
      -- Accounts that can pay. Balances of others follow from the transactions.
      create table sandbox_account (
        chain text not null references sandbox_chain (chain),
        address text not null,
        nonce bigint not null default 0,
        primary key (chain, address)
      );
      create table sandbox_balance (
        chain text not null,
        address text not null,
        -- '' for the chain's own coin.
        contract text not null,
        amount numeric(78,0) not null check (amount >= 0),
        primary key (chain, address, contract),
        foreign key (chain, address) references sandbox_account (chain, address)
      );
      -- Recipients that take nothing: payments to them are mined and move nothing.
      create table sandbox_refusing (
        chain text not null,
        address text not null,
        primary key (chain, address)
      );
      create table sandbox_price (
        coin text primary key,
        price numeric(38,18) not null check (price > 0),
        set_at timestamptz not null
      );
      -- What the sandbox venue has to sell; a coin without a row is there in plenty.
      create table sandbox_inventory (
        coin text primary key,
        amount numeric(38,18) not null check (amount >= 0)
      );
      create table sandbox_fill (
        client_id text primary key,
        sell_coin text not null,
        sell_amount numeric(38,18) not null,
        buy_coin text not null,
        bought numeric(38,18) not null,
        at timestamptz not null
      );
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
