import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';

/** The time that one row of the history covers, in milliseconds. */
export const slotMs = 600_000;
/** How long rows are kept, in days. */
export const keptDays = 92;

export interface HistoryTurnsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  /** Whether trades are made at an exchange. Otherwise they are with our own inventory. */
  readonly isExchange: boolean;
  /** The longest time between two polls of a chain. */
  readonly slowestPollMs: number;
  /** Age up to which the depth of an order book counts for quotes. */
  readonly depthMaxAgeSec: number;
  /** Seconds between two comparisons of the ledger; 0 without any. */
  readonly reconcileEverySec: number;
}

/** A figure of the venue. */
export type VenueMeasure = 'balance' | 'stock' | 'buy_depth' | 'sell_depth' | 'open_usd' | 'held' | 'held_free';

const minuteMs = 60_000;
/** Wallets are looked at each minute. A balance counts until two looks in a row have failed. */
const walletMaxAgeMs = 3 * minuteMs;
/** A chain that its worker read longer ago than this, plus its poll, is not known. */
const chainMaxAgeMs = 3 * minuteMs;
/**
 * An account at an exchange is read each minute. A balance counts until several turns have failed.
 */
const heldMaxAgeMs = 5 * minuteMs;
/** Old rows that one turn removes of each table. A turn adds fewer. */
const removedAtOnce = 2_000;

const histories = ['wallet_history', 'chain_history', 'venue_history'] as const;

/**
 * Writes what is known of wallets, chains and the venue, once a minute for all workers. One
 * statement claims the minute and merges the readings into the rows of their slot: the lowest, the
 * highest and the last. It asks no node and no exchange, as workers keep the readings in the
 * database. What is not known, or too old, is left out.
 */
const takeTurn = `
  with given as (
    select ?::timestamptz as minute, ?::timestamptz as slot, ?::timestamptz as wallets_since,
           ?::timestamptz as chains_since, ?::bigint as depth_since, ?::timestamptz as balances_since,
           ?::timestamptz as held_since, ?::boolean as is_exchange
  ), turn as (
    update history_turn t set taken_at = given.minute
      from given, (select taken_at as before from history_turn for update) as b
     -- A turn far in the future predates a clock correction.
     where b.before < given.minute or b.before > given.minute + interval '10 minutes'
    returning given.*, greatest(b.before, given.minute - interval '2 minutes') as failed_since
  ), wallets as (
    insert into wallet_history as h (at, chain, coin, network, lowest, highest, last, low, high, readings)
    select slot, chain, coin, network, balance, balance, balance, low, high, 1
      from turn join wallet_level on seen_at >= wallets_since
    on conflict (at, chain, coin, network) do update
       set lowest = least(h.lowest, excluded.lowest), highest = greatest(h.highest, excluded.highest),
           last = excluded.last, low = excluded.low, high = excluded.high, readings = h.readings + 1
  ), looked as (
    select slot, chain, height, head, coalesce(failure, problem) as trouble,
           coalesce(failure, problem, case when failed_at > failed_since then failed_as end) as failure,
           -- A node that fails, or a chain that is not read on, leaves the lag unknown.
           case when coalesce(failure, problem) is null and greatest(read_at, scanned_at) >= chains_since
                then greatest(head - height, 0) end as lag
      from turn join chain_state on lease_until > now()
  ), chains as (
    insert into chain_history as h
           (at, chain, height, head, lag_lowest, lag_highest, lag_last, readings, failures, failure)
    select slot, chain, height, case when lag is not null then head end, lag, lag, lag,
           1, (failure is not null)::int, failure
      from looked where lag is not null or failure is not null
    on conflict (at, chain) do update
       set height = excluded.height, head = coalesce(excluded.head, h.head),
           lag_lowest = least(h.lag_lowest, excluded.lag_lowest),
           lag_highest = greatest(h.lag_highest, excluded.lag_highest),
           lag_last = coalesce(excluded.lag_last, h.lag_last), readings = h.readings + 1,
           failures = h.failures + excluded.failures, failure = coalesce(excluded.failure, h.failure)
  ), figures as (
    select turn.slot, f.coin, f.measure, f.value
      from turn cross join lateral (
        select coin, 'balance' as measure, balance as value from venue_level where seen_at >= balances_since
        union all
        select b.coin, h.measure, h.value
          from venue_account v join venue_balance b on b.venue = v.venue and b.read_at >= held_since
         cross join lateral (values ('held', b.total), ('held_free', b.free)) as h (measure, value)
         where v.is_watched
        union all
        select coin, 'stock', amount from sandbox_inventory where not is_exchange
        union all
        select d.key, m.measure, (d.value ->> m.side)::numeric
          from (select depth from price_window where starts_at <= minute + interval '1 minute'
                 order by starts_at desc limit 1) w
         cross join jsonb_each(w.depth) d
         cross join (values ('buy_depth', 'buy'), ('sell_depth', 'sell')) as m (measure, side)
         where is_exchange and (d.value ->> 'atMs')::bigint >= depth_since
        union all
        select '', 'open_usd', (select coalesce(sum(abs(usd)), 0) from venue_position) where is_exchange
      ) as f
  ), venue as (
    insert into venue_history as h (at, coin, measure, lowest, highest, last, readings)
    select slot, coin, measure, value, value, value, 1 from figures
    on conflict (at, coin, measure) do update
       set lowest = least(h.lowest, excluded.lowest), highest = greatest(h.highest, excluded.highest),
           last = excluded.last, readings = h.readings + 1
  )
  select slot from turn`;

/** Writes the history of wallets, chains and the venue, and removes its old rows. */
export class HistoryTurns {
  readonly #options: HistoryTurnsOptions;
  /** The minute that this process asked for last. */
  #askedMs: number | null = null;

  constructor(options: HistoryTurnsOptions) {
    this.#options = options;
  }

  /** Takes the turn of this minute unless another worker has. Returns whether it did. */
  async takeIfDue(): Promise<boolean> {
    const { orm, clock, isExchange, slowestPollMs, depthMaxAgeSec, reconcileEverySec } = this.#options;
    const nowMs = clock.now().getTime();
    const askedMs = nowMs - (nowMs % minuteMs);
    if (this.#askedMs === askedMs) return false;
    const before = (ms: number): Date => new Date(nowMs - ms);
    const taken = await sql(orm.em.fork(), takeTurn, [
      new Date(askedMs),
      new Date(nowMs - (nowMs % slotMs)),
      before(walletMaxAgeMs),
      before(chainMaxAgeMs + slowestPollMs),
      nowMs - depthMaxAgeSec * 1_000,
      // A balance counts until a comparison has been left out.
      before(2 * reconcileEverySec * 1_000),
      before(heldMaxAgeMs),
      isExchange,
    ]);
    this.#askedMs = askedMs;
    if (taken.length === 0) return false;
    await this.#removeOld(new Date(nowMs - keptDays * 86_400_000));
    return true;
  }

  async #removeOld(before: Date): Promise<void> {
    const em = this.#options.orm.em.fork();
    for (const table of histories) {
      await sql(
        em,
        `delete from ${table} where ctid = any(array(select ctid from ${table} where at < ? order by at limit ?))`,
        [before, removedAtOnce],
      );
    }
  }
}

/**
 * Notes our balance with the venue by the ledger, coin by coin. It reads every line of the venue's
 * account, so that it belongs to the comparisons of the ledger, on their patient connection.
 */
export async function noteVenueBalances(orm: MikroORM, now: Date): Promise<void> {
  await sql(
    orm.em.fork(),
    `insert into venue_level as v (coin, balance, seen_at)
     select coin, sum(amount), ? from ledger_line where account = 'venue' or account like 'venue:%' group by coin
     on conflict (coin) do update set balance = excluded.balance, seen_at = excluded.seen_at`,
    [now],
  );
}
