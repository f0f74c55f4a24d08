import type { MikroORM } from '@mikro-orm/postgresql';
import { validate as isUuid } from 'uuid';
import { type SqlValue, sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import { ownFee } from '../orders/fixed-results.ts';
import { changedOrders, freshOrders, ofParts } from '../orders/fresh-orders.ts';
import type { OrderEvent } from '../orders/order-event.entity.ts';
import type { OrderStatus } from '../orders/order-status.ts';
import { afterCursor, feedOrder } from '../orders/read/order-feed.ts';

export type StatsInterval = 'hour' | 'day' | 'month';
export type StatsDimension = 'partner' | 'pair';

/** The orders created from `from`, inclusive, to `to`, exclusive. Buckets begin in UTC. */
export interface StatsRange {
  readonly from: Date;
  readonly to: Date;
  readonly interval: StatsInterval;
  /** Splits the rows by partner or by pair. Null sums all together. */
  readonly by: StatsDimension | null;
  /** Only this partner (id) or pair ('BTC/BTC-USDT/ERC20'). */
  readonly key?: string;
  /** With `by`: only these partners or pairs. Buckets without orders have no row. */
  readonly keys?: readonly string[];
  /**
   * With `by`: the number of partners or pairs, those with the most orders in the range. Default
   * 20.
   */
  readonly top?: number;
}

/** The current outcomes of the orders that were created in a bucket. */
export interface StatsRow {
  /** Start of the bucket. */
  readonly at: Date;
  /** The partner's id or the pair. Null for all together. */
  readonly key: string | null;
  readonly created: number;
  readonly completed: number;
  readonly expired: number;
  readonly refunded: number;
  readonly failed: number;
  /**
   * completed / created, as a decimal string of at most 6 digits. Null for a bucket without orders.
   */
  readonly conversion: string | null;
  /**
   * The exchanged amount of completed orders, and our fee of it, in US dollars at the time of the
   * trade.
   */
  readonly volumeUsd: string;
  readonly revenueUsd: string;
}

export interface StateTime {
  readonly status: OrderStatus;
  /** How often an order left this status. */
  readonly count: number;
  /** Mean seconds in this status, with at most 3 decimals. */
  readonly meanSeconds: string;
}

/** How long single stays in a status took. A percentile is a stay that happened. */
export interface StatePercentiles {
  readonly status: OrderStatus;
  /** How often an order left this status. */
  readonly count: number;
  /** Half of the stays took at most this long, in seconds with at most 3 decimals. */
  readonly p50Seconds: string;
  /** 95 of 100 stays took at most this long. */
  readonly p95Seconds: string;
}

/** Percentiles of the newest orders of a range. */
export interface TimePercentiles {
  /** How many orders were read. */
  readonly orders: number;
  /** False when the range has more orders, so that only its newest ones were read. */
  readonly isWhole: boolean;
  readonly statuses: readonly StatePercentiles[];
}

export interface FailureCount {
  /** `failed`, or `refunding` for orders that ended without an exchange. */
  readonly status: 'failed' | 'refunding';
  readonly cause: OrderEvent['cause'];
  readonly count: number;
}

/** Events that one transaction folds, and transactions of one call. */
const batchSize = 5_000;
const mostBatches = 200;

/**
 * Most orders whose events one reading of percentiles sorts. It reads 81,000 blocks of two indexes
 * and their tables, in 0.3 to 0.5 seconds (docs/staff.md).
 */
const mostMeasured = 20_000;

const usualTop = 20;
const mostTop = 1_000;
/** Most rows of one answer. A year by day for many partners would be hundreds of thousands. */
const mostRows = 20_000;

const dayMs = 86_400_000;
/**
 * Longest ranges in days. They are shorter by partner, and shorter again by pair, because pairs are
 * many.
 */
const longestDays: Readonly<Record<StatsInterval, Readonly<Record<'together' | StatsDimension, number>>>> = {
  hour: { together: 31, partner: 7, pair: 0 },
  day: { together: 366, partner: 366, pair: 14 },
  month: { together: 3_660, partner: 3_660, pair: 366 },
};

/**
 * Folds one batch: the events after the stored position, into every grain and dimension. It then
 * moves the position to the last of them. Facts are no moves and are left out. One statement, and
 * so one snapshot.
 */
const rollUpBatch = `
  with batch as materialized (
    select e.* from order_event e where ${afterCursor} order by ${feedOrder} limit ?
  ), move as (
    select date_trunc('hour', o.created_at, 'UTC') as hour, date_trunc('day', o.created_at, 'UTC') as day,
           date_trunc('month', o.created_at, 'UTC') as month, o.partner_id::text as partner,
           o.coin_from || '/' || o.network_from || '-' || o.coin_to || '/' || o.network_to as pair,
           coalesce(e.from_status, '') as from_status, e.to_status, e.cause,
           coalesce(extract(epoch from e.at - before.at), 0) as seconds,
           coalesce(round(t.amount_from * t.price_from, 8), 0) as volume_usd,
           coalesce(round(${ownFee} * t.price_to, 8), 0) as revenue_usd
      from batch e
      join exchange_order o on o.id = e.order_id
      left join lateral (
        select b.at from order_event b
         where b.order_id = e.order_id and b.seq < e.seq and b.from_status is distinct from b.to_status
         order by b.seq desc limit 1) before on true
      left join trade t on t.order_id = e.order_id and e.to_status = 'completed'
      left join order_terms m on m.order_id = e.order_id and e.to_status = 'completed'
     where e.from_status is distinct from e.to_status
  ), folded as (
    insert into order_stat as s
           (grain, dimension, key, at, from_status, to_status, cause, moves, seconds, volume_usd, revenue_usd)
    select case when grouping(hour) = 0 then 'hour' when grouping(day) = 0 then 'day' else 'month' end,
           case when grouping(partner) = 0 then 'partner' when grouping(pair) = 0 then 'pair' else 'all' end,
           coalesce(partner, pair, ''), coalesce(hour, day, month), from_status, to_status, cause,
           count(*), sum(seconds), sum(volume_usd), sum(revenue_usd)
      from move
     group by from_status, to_status, cause, grouping sets (
           (hour), (hour, partner), (day), (day, partner), (day, pair), (month), (month, partner), (month, pair))
     order by 1, 2, 3, 4
    on conflict (grain, dimension, key, at, cause) do update
       set moves = s.moves + excluded.moves, seconds = s.seconds + excluded.seconds,
           volume_usd = s.volume_usd + excluded.volume_usd, revenue_usd = s.revenue_usd + excluded.revenue_usd
  ), last as (
    select e.xid, e.order_id, e.seq from batch e order by e.xid desc, e.order_id desc, e.seq desc limit 1
  )
  update order_stat_progress p
     set xid = last.xid, order_id = last.order_id, seq = last.seq, rolled_at = clock_timestamp()
    from last
  returning (select count(*)::int from batch) as events`;

/** Reads order statistics from sums that follow the event feed within seconds. */
export class OrderStats {
  readonly #orm: MikroORM;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  /**
   * Folds new events of the feed, in batches of one transaction each. Any number of processes may
   * call it at any time: one works, the others return at once. Returns how many events it folded.
   */
  async rollUp(options: { batchSize?: number; mostBatches?: number } = {}): Promise<number> {
    const size = options.batchSize ?? batchSize;
    let total = 0;
    for (let batches = 0; batches < (options.mostBatches ?? mostBatches); batches++) {
      const events = await this.#rollUpBatch(size);
      total += events;
      if (events < size) break;
    }
    return total;
  }

  async #rollUpBatch(size: number): Promise<number> {
    return this.#orm.em.fork().transactional(async (em) => {
      const [place] = await sql<{ xid: string; order_id: string; seq: number }>(
        em,
        'select xid::text as xid, order_id, seq from order_stat_progress for update skip locked',
      );
      if (!place) return 0;
      const [done] = await sql<{ events: number }>(em, rollUpBatch, [place.xid, place.order_id, place.seq, size]);
      return done?.events ?? 0;
    });
  }

  /**
   * Reads one row for each bucket, in order of time. Without `by`, or for one key, buckets without
   * orders have rows of zeros. Otherwise a bucket has a row for each of the top partners or pairs
   * that had orders in it.
   *
   * @throws AppError invalid_value for a range that is empty or too long, a key without `by`, or a
   * top outside 1 to 1,000.
   * @throws AppError query_too_complex for more than 20,000 rows.
   */
  async stats(range: StatsRange): Promise<StatsRow[]> {
    const { from, to, interval, by, top = usualTop } = range;
    const { where, values } = conditions(range);
    // The last condition equals that of the index order_stat_series.
    const sums = `
      select at, key,
             coalesce(sum(moves::int) filter (where from_status = ''), 0) as created,
             coalesce(sum(moves::int) filter (where to_status = 'completed'), 0) as completed,
             coalesce(sum(moves::int) filter (where to_status = 'expired'), 0)
               - coalesce(sum(moves::int) filter (where from_status = 'expired'), 0) as expired,
             coalesce(sum(moves::int) filter (where to_status = 'refunded'), 0) as refunded,
             coalesce(sum(moves::int) filter (where to_status = 'failed'), 0)
               - coalesce(sum(moves::int) filter (where from_status = 'failed'), 0) as failed,
             sum(volume_usd) as volume_usd, sum(revenue_usd) as revenue_usd
        from order_stat
       where ${where}
         and (to_status in ('waiting_deposit', 'completed', 'expired', 'refunded', 'failed')
              or from_status in ('expired', 'failed'))
       group by at, key`;
    const isSeries = by === null || range.key !== undefined;
    const rows = await sql<Omit<StatsRow, 'at'> & { at: string | number }>(
      this.#orm.em.fork(),
      `with sums as materialized (${sums})
       select (extract(epoch from at) * 1000)::bigint as at, ${by === null ? 'null' : 'key'} as key,
              coalesce(created, 0)::int as created, coalesce(completed, 0)::int as completed,
              coalesce(expired, 0)::int as expired, coalesce(refunded, 0)::int as refunded,
              coalesce(failed, 0)::int as failed,
              trim_scale(round(completed::numeric / nullif(created, 0), 6))::text as conversion,
              trim_scale(round(coalesce(volume_usd, 0), 6))::text as "volumeUsd",
              trim_scale(round(coalesce(revenue_usd, 0), 6))::text as "revenueUsd"
         from ${
           isSeries
             ? `(select ?::text as key, at at time zone 'UTC' as at
                   from generate_series(date_trunc(?, ?::timestamptz at time zone 'UTC'),
                                        (?::timestamptz - interval '1 microsecond') at time zone 'UTC',
                                        ('1 ' || ?)::interval) as at) as bucket
                left join sums using (at, key)`
             : `sums where key in (select key from sums group by key order by sum(created) desc, key limit ?)`
}
        order by 1, 2 limit ${mostRows + 1}`,
      isSeries ? [...values, range.key ?? '', interval, from, to, interval] : [...values, top],
    );
    if (rows.length > mostRows) {
      throw new AppError(
        'query_too_complex',
        `this has more than ${mostRows} rows; ask for a shorter range or one key`,
      );
    }
    return rows.map(({ at, ...row }) => ({ ...row, at: new Date(Number.parseInt(String(at), 10)) }));
  }

  /**
   * Reads how long the orders created in the range stay in each status before they leave it.
   *
   * @throws AppError invalid_value as `stats`.
   */
  async timeInState(range: StatsRange): Promise<StateTime[]> {
    const { where, values } = conditions(range);
    return sql<StateTime>(
      this.#orm.em.fork(),
      `select from_status as status, sum(moves)::int as count,
              trim_scale(round(sum(seconds) / sum(moves), 3))::text as "meanSeconds"
         from order_stat where ${where} and from_status <> '' group by from_status order by from_status`,
      values,
    );
  }

  /**
   * Reads percentiles of the time in each status, from the events of the range's orders. Sums have
   * no percentiles, so this reads the newest `most` orders of the range by an index, and their
   * events by the primary key. The cost has a bound, however long the range is.
   *
   * @throws AppError invalid_value as `stats`.
   */
  async timePercentiles(range: StatsRange, most = mostMeasured): Promise<TimePercentiles> {
    conditions(range);
    const { from, to, interval, key } = range;
    const { where, values } = key === undefined ? { where: '', values: [] } : ofKey(range.by, key);
    const bound = [interval, from, to, ...values, most + 1];
    const rows = await sql<Omit<StatePercentiles, 'status'> & { status: OrderStatus | null; orders: number }>(
      this.#orm.em.fork(),
      `with newest as materialized (
           select id from (${ofParts(
             [changedOrders, freshOrders],
             ({ condition }) => `select o.id, o.created_at from exchange_order o
               where ${condition} and o.created_at >= date_trunc(?, ?::timestamptz, 'UTC') and o.created_at < ?${where}
               order by o.created_at desc, o.id desc limit ?`,
           )}) as part
            order by created_at desc, id desc limit ?
         ), measured as materialized (
           select id from newest limit ?
         ), stay as (
           select e.from_status as status,
                  extract(epoch from e.at - lag(e.at) over (partition by e.order_id order by e.seq)) as seconds
             from measured m join order_event e on e.order_id = m.id
            where e.from_status is distinct from e.to_status
         )
         select s.status, count(s.seconds)::int as count,
                trim_scale(round(percentile_disc(0.5) within group (order by s.seconds), 3))::text as "p50Seconds",
                trim_scale(round(percentile_disc(0.95) within group (order by s.seconds), 3))::text as "p95Seconds",
                n.orders
           from (select count(*)::int as orders from newest) n left join stay s on s.seconds is not null
          group by s.status, n.orders order by s.status`,
      [...bound, ...bound, most + 1, most],
    );
    const found = rows[0]?.orders ?? 0;
    return {
      orders: Math.min(found, most),
      isWhole: found <= most,
      statuses: rows.flatMap(({ status, count, p50Seconds, p95Seconds }) =>
        status === null ? [] : [{ status, count, p50Seconds, p95Seconds }],
      ),
    };
  }

  /**
   * Counts why orders created in the range failed or were refunded, the most frequent cause first.
   *
   * @throws AppError invalid_value as `stats`.
   */
  async failures(range: StatsRange): Promise<FailureCount[]> {
    const { where, values } = conditions(range);
    return sql<FailureCount>(
      this.#orm.em.fork(),
      `select to_status as status, cause, sum(moves)::int as count
         from order_stat where ${where} and to_status in ('failed', 'refunding') and from_status <> 'failed'
        group by to_status, cause order by count desc, status, cause`,
      values,
    );
  }
}

/** Validates a range. Returns the condition on order_stat and its values. */
function conditions({ from, to, interval, by, key, keys, top = usualTop }: StatsRange): {
  where: string;
  values: SqlValue[];
} {
  const days = (to.getTime() - from.getTime()) / dayMs;
  if (!(days > 0)) throw new AppError('invalid_value', 'from must be before to');
  if (!Number.isInteger(top) || top < 1 || top > mostTop) {
    throw new AppError('invalid_value', `top is a whole number from 1 to ${mostTop}`);
  }
  if (interval === 'hour' && by === 'pair') {
    throw new AppError(
      'invalid_value',
      'statistics by pair need the interval day or month; hours exist in all and by partner',
    );
  }
  const most = longestDays[interval][by === null || key !== undefined ? 'together' : by];
  if (days > most) {
    const apart = by === null ? '' : ` by ${by}`;
    throw new AppError('invalid_value', `statistics by ${interval}${apart} cover at most ${most} days at a time`);
  }
  if (by === null && key !== undefined) {
    throw new AppError('invalid_value', 'key names a partner or a pair, so it needs by');
  }
  const only = by === null || key !== undefined ? [key ?? ''] : keys;
  const marks = only?.map(() => '?').join(', ');
  return {
    where: `grain = ? and dimension = ? and at >= date_trunc(?, ?::timestamptz, 'UTC') and at < ?${only ? ` and key in (${marks})` : ''}`,
    values: [interval, by ?? 'all', interval, from, to, ...(only ?? [])],
  };
}

/** The condition on `o`, an exchange_order, for one partner or one pair. Indexes serve both. */
function ofKey(by: StatsDimension | null, key: string): { where: string; values: SqlValue[] } {
  if (by === 'partner') {
    if (!isUuid(key)) throw new AppError('invalid_value', 'the key of a partner is its id, a UUID');
    return { where: ' and o.partner_id = ?', values: [key] };
  }
  const sides = key.split('-').map((side) => side.split('/'));
  if (sides.length !== 2 || sides.some((side) => side.length !== 2)) {
    throw new AppError('invalid_value', "the key of a pair is like 'BTC/BTC-USDT/ERC20'");
  }
  return {
    where: ' and o.coin_from = ? and o.network_from = ? and o.coin_to = ? and o.network_to = ?',
    values: sides.flat(),
  };
}
