import { type Prepared, type PreparedStatements, replanned } from '../db/prepared.ts';
import { AppError } from '../errors.ts';
import type { OrderStatus } from '../orders/order-status.ts';
import { orderNamed } from '../orders/short-id.ts';

/** Which of a partner's orders are listed. Null members admit all. */
export interface OrderListFilter {
  readonly statuses: readonly OrderStatus[] | null;
  /** UUIDs and short ids. Text that is neither matches no order. */
  readonly names: readonly string[] | null;
  /** The partner's own id of an order. */
  readonly externalId: string | null;
  /** From this moment, inclusive, to that moment, exclusive. */
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  readonly coinFrom: string | null;
  readonly coinTo: string | null;
}

/** A row that a walk passed, in the order of the walk. */
interface Step {
  readonly id: string;
  /** The place directly behind the row, as a cursor carries it. */
  readonly place: string;
  /** Whether the order matches the filter. */
  readonly fits: boolean;
}

/** The orders of a page, and where the next page begins. */
export interface Walk {
  /** Each order once, with the place directly before it. */
  readonly found: readonly { readonly id: string; readonly before: string }[];
  readonly end: string;
  /** Whether the walk stopped before the end of the list. */
  readonly isCut: boolean;
}

/**
 * Most rows that a page looks at for orders that match a filter. A page may thus be short although
 * more follow. A rare filter costs no more than a common one.
 */
const mostSteps = 1_000;

/**
 * How far the order of events by their times may differ from the order of the feed. It covers the
 * longest transaction and clocks of several machines.
 */
const disorderMs = 600_000;

const zeroId = '00000000-0000-0000-0000-000000000000';

/**
 * The conditions of a filter on `o`, an exchange_order, that no index serves. A new filter is one
 * line here, a member of `OrderListFilter`, and a value in `filterValues`.
 */
const fits = `(:statuses::text[] is null or o.status = any (:statuses))
       and (:coinFrom::text is null or o.coin_from = :coinFrom)
       and (:coinTo::text is null or o.coin_to = :coinTo)`;

const isNamed = '(:ids::uuid[] is null or o.id = any (:ids) or o.short_id = any (:shortIds::text[]))';
const isCreatedInRange = `o.created_at >= coalesce(:createdFrom::timestamptz, '-infinity')
       and o.created_at < coalesce(:createdTo::timestamptz, 'infinity')`;

function filterValues({ statuses, names, createdFrom, createdTo, coinFrom, coinTo }: OrderListFilter) {
  const named = names?.map(orderNamed) ?? [];
  return {
    statuses,
    ids: names && named.flatMap((name) => (name && 'id' in name ? [name.id] : [])),
    shortIds: names && named.flatMap((name) => (name && 'shortId' in name ? [name.shortId] : [])),
    createdFrom: createdFrom?.toISOString() ?? null,
    createdTo: createdTo?.toISOString() ?? null,
    coinFrom,
    coinTo,
  };
}

/** The text of a filter that is the same for the same filter. Cursors are bound to it. */
export function filterText(filter: OrderListFilter): string {
  const values = filterValues(filter);
  const sorted = (texts: readonly string[] | null): readonly string[] | null => texts && [...new Set(texts)].sort();
  const { statuses, ids, shortIds } = values;
  const { externalId } = filter;
  return JSON.stringify({
    ...values,
    externalId,
    statuses: sorted(statuses),
    ids: sorted(ids),
    shortIds: sorted(shortIds),
  });
}

/** Walks orders from the newest to the oldest, by (created_at, id). */
const walkCreated = (name: string, source: string): Prepared =>
  replanned(
    name,
    `with scanned as materialized (
  select o.* from ${source}
   where o.partner_id = :partner::uuid and ${isCreatedInRange}
     and (o.created_at, o.id) < (coalesce('epoch'::timestamptz + :us::bigint * interval '1 microsecond', 'infinity'),
                                 coalesce(:id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
   order by o.created_at desc, o.id desc limit :steps::integer
), step as (
  select o.id, (extract(epoch from o.created_at) * 1000000)::bigint::text as us, (${fits}) as fits,
         row_number() over (order by o.created_at desc, o.id desc) as n, count(*) over () as scanned
    from scanned o
)
select id, us, fits, scanned::integer from step where fits or n = scanned order by n`,
  );

const allCreated = walkCreated('orders_created', 'exchange_order o');
const namedCreated = walkCreated(
  'orders_named',
  `(select * from exchange_order where id = any (:ids::uuid[])
           union select * from exchange_order where short_id = any (:shortIds::text[])) o`,
);

/**
 * What the places of the feed are relative to: the cluster and its timeline. Both stay while
 * transaction numbers only grow. A restore or a failover begins another one.
 */
const clusterName = `(select system_identifier::text from pg_control_system())
         || '-' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)`;

/**
 * Walks the events behind a place that are committed for good: no running transaction can still
 * precede them (docs/adr/0029-order-feed.md). Events without a partner are older than the column.
 * They lie in one range of the feed, which is walked for all partners, and merged with the events
 * that have one.
 */
export const walkUpdated = replanned(
  'orders_updated',
  `with filling as (
  select f.until_xid, p.* from order_event_filling f
    cross join lateral (select f.xid, f.order_id, f.seq union all select :xid::text::xid8, :orderId::uuid, :seq::integer
                         order by 1 desc, 2 desc, 3 desc limit 1) p
   where f.until_xid is not null
), walked as (
  (select e.xid, e.order_id, e.seq, e.at, true as own from order_event e
    where e.partner_id = :partner::uuid and e.xid < pg_snapshot_xmin(pg_current_snapshot())
      and (e.xid, e.order_id, e.seq) > (:xid::text::xid8, :orderId::uuid, :seq::integer)
    order by e.xid, e.order_id, e.seq limit :steps::integer)
  union all
  (select e.xid, e.order_id, e.seq, e.at, false from filling f cross join lateral (
     select e.xid, e.order_id, e.seq, e.at from order_event e
      where e.partner_id is null and e.xid < least(f.until_xid, pg_snapshot_xmin(pg_current_snapshot()))
        and (e.xid, e.order_id, e.seq) > (f.xid, f.order_id, f.seq)
      order by e.xid, e.order_id, e.seq limit :steps::integer) e)
  order by xid, order_id, seq limit :steps::integer
), step as (
  select w.*, (w.own or o.partner_id = :partner) and ${fits} and ${isNamed} and ${isCreatedInRange} as fits,
         row_number() over (order by w.xid, w.order_id, w.seq) as n, count(*) over () as scanned
    from walked w join exchange_order o on o.id = w.order_id
)
select c.cluster, s.xid::text, s.order_id as id, s.seq, (extract(epoch from s.at) * 1000)::bigint::text as ms, s.fits,
       s.scanned::integer
  from (select ${clusterName} as cluster) c left join step s on s.fits or s.n = s.scanned
 order by s.n`,
);

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

export const walkStatements: readonly Prepared[] = [allCreated, namedCreated, walkUpdated, placeOfTime];

interface CreatedRow {
  readonly id: string;
  readonly us: string;
  readonly fits: boolean;
  readonly scanned: number;
}

/** What a page begins with: the partner, its filter, its size, and the place of a cursor. */
export interface WalkStart {
  readonly partnerId: string;
  readonly filter: OrderListFilter;
  readonly limit: number;
  /** Null begins at the start of the list. */
  readonly place: string | null;
}

/** Finds a page of orders from the newest to the oldest. One statement. */
export async function createdPage(statements: PreparedStatements, start: WalkStart): Promise<Walk> {
  const { partnerId, filter, limit, place } = start;
  const [us = null, id = null] = place?.split('.') ?? [];
  const isPlain = filter.statuses === null && filter.coinFrom === null && filter.coinTo === null;
  const steps = isPlain ? limit + 1 : mostSteps;
  const rows = await statements.run<CreatedRow>(filter.names ? namedCreated : allCreated, {
    ...filterValues(filter),
    partner: partnerId,
    us,
    id,
    steps,
  });
  const passed = rows.map((row) => ({ id: row.id, place: `${row.us}.${row.id}`, fits: row.fits }));
  return walkOf(passed, limit, place ?? '', (rows[0]?.scanned ?? 0) >= steps);
}

/** A row of the feed. All but the cluster is null when no event follows the place. */
interface UpdatedRow {
  readonly cluster: string;
  readonly xid: string | null;
  readonly id: string;
  readonly seq: number;
  readonly ms: string;
  readonly fits: boolean;
  readonly scanned: number;
}

const updatedPlace = /^(\d+)\.([0-9a-f-]{36})\.(\d+)\.(-?\d+)\.(.+)$/;

/**
 * Finds a page of orders by their events, in the order of the feed. One statement, and another one
 * where `since` says where to begin.
 *
 * @throws AppError cursor_expired when the place is one of another cluster.
 */
export async function updatedPage(
  statements: PreparedStatements,
  start: WalkStart & { readonly since: Date | null },
): Promise<Walk> {
  const { partnerId, filter, limit, place, since } = start;
  const [, fromXid, orderId = zeroId, seq = '0', ms, cluster] = updatedPlace.exec(place ?? '') ?? [];
  const xid = fromXid ?? (await firstXid(statements, since));
  const beganMs = ms ?? String(since?.getTime() ?? 0);
  const rows = await statements.run<UpdatedRow>(walkUpdated, {
    ...filterValues(filter),
    partner: partnerId,
    xid,
    orderId,
    seq,
    steps: mostSteps,
  });
  const [first] = rows;
  if (!first) throw new Error('the feed named no cluster');
  if (cluster !== undefined && cluster !== first.cluster) throw cursorExpired(beganMs);
  const passed = rows
    .filter((row) => row.xid !== null)
    .map((row) => {
      return { id: row.id, place: `${row.xid}.${row.id}.${row.seq}.${row.ms}.${first.cluster}`, fits: row.fits };
    });
  const begin = `${xid}.${orderId}.${seq}.${beganMs}.${first.cluster}`;
  return walkOf(passed, limit, begin, (first.scanned ?? 0) >= mostSteps);
}

async function firstXid(statements: PreparedStatements, since: Date | null): Promise<string> {
  if (since === null) return '0';
  const before = new Date(since.getTime() - disorderMs).toISOString();
  const [row] = await statements.run<{ xid: string }>(placeOfTime, { before });
  return row?.xid ?? '0';
}

function cursorExpired(ms: string): AppError {
  const restartFrom = new Date(Number.parseInt(ms, 10)).toISOString();
  const detail = `the data was restored, and places in the old list mean nothing now; begin again without a cursor and with updated_since=${restartFrom}`;
  return new AppError('cursor_expired', detail, { restartFrom });
}

/** Takes the orders of a page from the rows that a statement passed. */
function walkOf(steps: readonly Step[], limit: number, begin: string, isCut: boolean): Walk {
  const found: { id: string; before: string }[] = [];
  const seen = new Set<string>();
  let place = begin;
  for (const step of steps) {
    if (step.fits && !seen.has(step.id)) {
      if (found.length === limit) return { found, end: place, isCut: true };
      found.push({ id: step.id, before: place });
      seen.add(step.id);
    }
    place = step.place;
  }
  return { found, end: place, isCut };
}
