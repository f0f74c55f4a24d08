import { Migration } from '@mikro-orm/migrations';

/** What staff read by: indexes for the order list and search, the event feed, and the rollup of statistics. */
export class Migration0005StaffReading extends Migration {
  override up(): void {
    this.addSql(`
      -- Indexes of a table that has grown large take their time.
      set local statement_timeout = 0;

      -- The order list, newest first or last, and its pages in both directions.
      create index exchange_order_created on exchange_order (created_at, id);
      -- The same by the last change. It costs an entry for each change of an order, which the next move due, indexed as
      -- well, costs already.
      create index exchange_order_updated on exchange_order (updated_at, id);
      -- What is under way or went wrong, by status. Completed and expired orders are most of the table: a list of them
      -- fills its page from the index on created_at, and they cost no entry here.
      create index exchange_order_open on exchange_order (status, created_at, id)
        where status not in ('completed', 'expired');
      -- What stands still until staff act.
      create index exchange_order_held on exchange_order (held_at) where held_at is not null;
      create index exchange_order_failed on exchange_order (updated_at) where status = 'failed';
      -- A pair, or its first coin. Few orders of a coin are sorted, and of many the newest are near the end of the index
      -- on created_at, so only the whole pair has the time behind it.
      create index exchange_order_pair
        on exchange_order (coin_from, network_from, coin_to, network_to, created_at, id);
      create index exchange_order_to on exchange_order (coin_to, network_to, created_at, id);

      -- Search by the beginning of an address or a transaction, in either case: explorers write 0x addresses in lower
      -- case, and we store them with their checksum. Byte order, so that a prefix is a range whatever the database's
      -- collation. Ids need none: the indexes of id and short_id serve their prefixes.
      create index exchange_order_recipient on exchange_order (lower(recipient_address) text_pattern_ops);
      create index exchange_order_refund on exchange_order (lower(refund_address) text_pattern_ops)
        where refund_address is not null;
      -- Addresses that wait in the pool belong to nobody.
      create index deposit_address_search on deposit_address (lower(address) text_pattern_ops)
        where leased_at is not null;
      create index deposit_txid on deposit (lower(txid) text_pattern_ops);
      create index payment_attempt_txid on payment_attempt (lower(txid) text_pattern_ops) where txid is not null;
      create index payment_address on payment (lower(address) text_pattern_ops);
      -- Payments in whose way something stands. Those that ended are told by their order or deposit.
      create index payment_problem on payment (problem_since) where problem is not null and ended_at is null;

      -- The feed of events. Numbers of transactions are given in order, but they commit in any order; what is older than
      -- the oldest one still running has been committed for good, so a reader that stops there misses nothing. Rows that
      -- were there before get the number of this migration.
      alter table order_event add xid xid8 not null default pg_current_xact_id();
      create index order_event_feed on order_event (xid, order_id, seq);

      -- Prices in US dollars when the trade was decided, so that volume and revenue sum up in one currency. Null on
      -- trades that are older.
      alter table trade
        add price_from numeric(38,18) check (price_from > 0),
        add price_to numeric(38,18) check (price_to > 0);

      -- Moves of orders, summed up. Each counts in the bucket in which its ORDER was made, in UTC, so that what became of
      -- a day's orders is found in that day's rows. No column that changes is indexed: an update stays on its page.
      create table order_stat (
        grain text not null check (grain in ('hour', 'day', 'month')),
        dimension text not null check (dimension in ('all', 'partner', 'pair')),
        -- '', the partner's id, or a pair like 'BTC/BTC-USDT/ERC20'.
        key text collate "C" not null,
        at timestamptz not null,
        -- '' for orders that were made.
        from_status text not null default '',
        to_status text not null,
        cause text not null,
        moves bigint not null,
        -- Spent in from_status before the move, by all of them together.
        seconds numeric not null,
        -- Both are counted with the move to completed.
        volume_usd numeric not null,
        revenue_usd numeric not null,
        -- A cause belongs to one move from one status to another.
        primary key (grain, dimension, key, at, cause),
        -- Nearly every order would have rows of its own.
        check (grain <> 'hour' or dimension <> 'pair')
      ) with (fillfactor = 80);
      -- All partners or pairs of a time, of what a series is made of.
      create index order_stat_series on order_stat (grain, dimension, at)
        where to_status in ('waiting_deposit', 'completed', 'expired', 'refunded', 'failed')
           or from_status in ('expired', 'failed');

      -- How far the feed has been summed up.
      create table order_stat_progress (
        only_row boolean primary key default true check (only_row),
        xid xid8 not null,
        order_id uuid not null,
        seq integer not null,
        rolled_at timestamptz
      );
      insert into order_stat_progress (xid, order_id, seq) values ('0', '00000000-0000-0000-0000-000000000000', 0);
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
