import { Migration } from '@mikro-orm/migrations';

/** What hot wallets, the venue and chains were like, in slots of ten minutes. */
export class Migration0045SystemHistory extends Migration {
  override up(): void {
    this.addSql(`
      -- When the readings were last written. One row.
      create table history_turn (
        only_row boolean primary key default true check (only_row),
        taken_at timestamptz not null
      );
      insert into history_turn (taken_at) values ('1970-01-01T00:00:00Z');

      -- A hot wallet in a slot of ten minutes. 'readings' counts the minutes in which its balance was known.
      create table wallet_history (
        at timestamptz not null,
        chain text not null,
        coin text not null,
        network text not null,
        lowest numeric(38,18) not null,
        highest numeric(38,18) not null,
        last numeric(38,18) not null,
        -- The bounds of the last reading.
        low numeric(38,18),
        high numeric(38,18),
        readings integer not null check (readings > 0),
        primary key (at, chain, coin, network),
        check (last between lowest and highest)
      );

      -- A chain in a slot. No lag and no head while it is not known how far the chain has come.
      create table chain_history (
        at timestamptz not null,
        chain text not null,
        height bigint not null,
        head bigint,
        lag_lowest bigint check (lag_lowest >= 0),
        lag_highest bigint,
        lag_last bigint,
        -- Minutes in which its lag was known or it could not be read, and the latter of these.
        readings integer not null check (readings > 0),
        failures integer not null check (failures between 0 and readings),
        -- Why it could not be read, the last time.
        failure text,
        primary key (at, chain),
        check (lag_last between lag_lowest and lag_highest),
        check (num_nulls(head, lag_lowest, lag_highest, lag_last) in (0, 4)),
        check ((failures = 0) = (failure is null))
      );

      -- A figure of the venue in a slot. The coin is empty where the figure is of all coins together.
      create table venue_history (
        at timestamptz not null,
        coin text not null,
        measure text not null check (measure in ('balance', 'stock', 'buy_depth', 'sell_depth', 'open_usd')),
        lowest numeric not null,
        highest numeric not null,
        last numeric not null,
        readings integer not null check (readings > 0),
        primary key (at, coin, measure),
        check (last between lowest and highest)
      );

      -- Our balance with the venue by the ledger, as each comparison of the ledger notes it.
      create table venue_level (
        coin text primary key,
        balance numeric not null,
        seen_at timestamptz not null
      );

      -- When and how its node failed the last time, so that a failure between two readings is not missed.
      alter table chain_state add failed_at timestamptz, add failed_as text;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
