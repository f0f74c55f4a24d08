import type { EntityManager } from '@mikro-orm/postgresql';
import { replanned } from '../../base/db/prepared.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';

/**
 * How far the order of events by their times may differ from the order of the feed. It covers the
 * longest transaction and clocks of several machines.
 */
export const disorderMs = 600_000;

const zeroId = '00000000-0000-0000-0000-000000000000';

/**
 * What the places of the feed are relative to: the cluster and its timeline. Both stay while
 * transaction numbers only grow. A restore or a failover begins another one.
 */
export const clusterName = `(select system_identifier::text from pg_control_system())
         || '-' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)`;

/**
 * The events of a partner behind a place, as the common table expression `walked`. They are
 * committed for good: no running transaction can still precede them (docs/adr/0029-order-feed.md).
 */
export const partnerFeed = `walked as (
  select e.xid, e.order_id, e.seq, e.at from order_event e
   where e.partner_id = :partner::uuid and e.xid < pg_snapshot_xmin(pg_current_snapshot())
     and (e.xid, e.order_id, e.seq) > (:xid::text::xid8, :orderId::uuid, :seq::integer)
   order by e.xid, e.order_id, e.seq limit :steps::integer
)`;

/**
 * Finds a place before all events from a moment on. Times and places grow together but for a
 * bounded disorder, so that halving the range of transactions finds the place by few index probes.
 */
export const placeOfTime = replanned(
  'feed_place_of_time',
  `with recursive range (low, high) as (
  select 0::numeric, pg_snapshot_xmin(pg_current_snapshot())::text::numeric
  union all
  select case when e.is_before then e.xid else r.low end, case when e.is_before then r.high else r.middle end
    from (select low, high, ceil((low + high) / 2) as middle from range where high - low > 1) r
    left join lateral (
      select e.xid::text::numeric as xid, e.at < :before::timestamptz as is_before from order_event e
       where e.xid >= r.middle::text::xid8 and e.xid < r.high::text::xid8
       order by e.xid, e.order_id, e.seq limit 1) e on true
)
select low::text as xid from range order by high - low limit 1`,
);

/** What a row of the feed says of its place. */
interface PlaceRow {
  readonly cluster: string;
  readonly xid: string | null;
  readonly orderId: string;
  readonly seq: number;
  /** The time of the event in milliseconds since 1970. */
  readonly ms: string;
}

/** The place directly behind an event, as a cursor carries it. */
export function placeOf({ cluster, xid, orderId, seq, ms }: PlaceRow): string {
  return `${xid}.${orderId}.${seq}.${ms}.${cluster}`;
}

/** Where a walk of the feed begins. */
interface FeedStart {
  /** The values of `partnerFeed`. */
  readonly values: { readonly xid: string; readonly orderId: string; readonly seq: string };
  /** The same place as a cursor carries it. */
  text(cluster: string): string;
  /**
   * @param parameter The one by which a list begins at a time.
   * @throws AppError cursor_expired when the place is one of another cluster.
   */
  requireCluster(cluster: string, parameter: string): void;
}

const placeForm = /^(\d+)\.([0-9a-f-]{36})\.(\d+)\.(-?\d+)\.(.+)$/;

/**
 * Finds where a walk begins: at the place of a cursor, before all events from a moment on, or
 * before the first event. A moment takes a statement.
 */
export async function feedStart(em: EntityManager, place: string | null, since: Date | null): Promise<FeedStart> {
  const [, fromXid, orderId = zeroId, seq = '0', ms, named] = placeForm.exec(place ?? '') ?? [];
  const xid = fromXid ?? (await firstXid(em, since));
  const beganMs = ms ?? String(since?.getTime() ?? 0);
  return {
    values: { xid, orderId, seq },
    text: (cluster) => `${xid}.${orderId}.${seq}.${beganMs}.${cluster}`,
    requireCluster: (cluster, parameter) => {
      if (named !== undefined && named !== cluster) throw cursorExpired(beganMs, parameter);
    },
  };
}

async function firstXid(em: EntityManager, since: Date | null): Promise<string> {
  if (since === null) return '0';
  const before = new Date(since.getTime() - disorderMs).toISOString();
  const [row] = await sql<{ xid: string }>(em, placeOfTime, { before });
  return row?.xid ?? '0';
}

function cursorExpired(ms: string, parameter: string): AppError {
  const restartFrom = new Date(Number.parseInt(ms, 10)).toISOString();
  const detail = `the data was restored, and places in the old list mean nothing now; begin again without a cursor and with ${parameter}=${restartFrom}`;
  return new AppError('cursor_expired', detail, { restartFrom });
}
