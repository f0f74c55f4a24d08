import { replanned, type Statements } from '../../base/db/prepared.ts';
import { type PartnerScope, ScopedStatement, type ScopedStatements } from '../order-scope.ts';
import type { OrderStatus } from '../order-status.ts';
import { orderNamed } from '../short-id.ts';
import { clusterName, feedStart, partnerFeed, placeOf, placeOfTime } from './feed-place.ts';

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
const walkCreated = (name: string, source: (orders: string) => string): ScopedStatement =>
  new ScopedStatement(
    name,
    ({ orders }) => `with scanned as materialized (
  select o.* from ${source(orders)}
   where ${isCreatedInRange}
     and (o.created_at, o.id) < (coalesce('epoch'::timestamptz + :us::bigint * interval '1 microsecond', 'infinity'),
                                 coalesce(:id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
   order by o.created_at desc, o.id desc limit :steps::integer
), step as (
  select o.id, (extract(epoch from o.created_at) * 1000000)::bigint::text as us, (${fits}) as fits,
         row_number() over (order by o.created_at desc, o.id desc) as n, count(*) over () as scanned
    from scanned o
)
select id, us, fits, scanned::integer from step where fits or n = scanned order by n`,
    replanned,
  );

const allCreated = walkCreated('orders_created', (orders) => `${orders} o`);
const namedCreated = walkCreated(
  'orders_named',
  (orders) => `(select * from ${orders} e where e.id = any (:ids::uuid[])
           union select * from ${orders} e where e.short_id = any (:shortIds::text[])) o`,
);

/** Walks the events of a partner behind a place, with the orders that match a filter. */
const walkUpdated = new ScopedStatement(
  'orders_updated',
  ({ orders }) => `with ${partnerFeed}, step as (
  select w.*, ${fits} and ${isNamed} and ${isCreatedInRange} as fits,
         row_number() over (order by w.xid, w.order_id, w.seq) as n, count(*) over () as scanned
    from walked w join ${orders} o on o.id = w.order_id
)
select c.cluster, s.xid::text, s.order_id as id, s.seq, (extract(epoch from s.at) * 1000)::bigint::text as ms, s.fits,
       s.scanned::integer
  from (select ${clusterName} as cluster) c left join step s on s.fits or s.n = s.scanned
 order by s.n`,
  replanned,
);

/** The statements of lists, for tests of their plans. */
export const walkStatements = [
  ...[allCreated, namedCreated, walkUpdated].map((statement) => statement.of('partner')),
  placeOfTime,
];

interface CreatedRow {
  readonly id: string;
  readonly us: string;
  readonly fits: boolean;
  readonly scanned: number;
}

/** What a page begins with: for whom, its filter, its size, and the place of a cursor. */
export interface WalkStart {
  readonly scope: PartnerScope;
  readonly filter: OrderListFilter;
  readonly limit: number;
  /** Null begins at the start of the list. */
  readonly place: string | null;
}

/** Finds a page of orders from the newest to the oldest. One statement. */
export async function createdPage(statements: ScopedStatements, start: WalkStart): Promise<Walk> {
  const { scope, filter, limit, place } = start;
  const [us = null, id = null] = place?.split('.') ?? [];
  const isPlain = filter.statuses === null && filter.coinFrom === null && filter.coinTo === null;
  const steps = isPlain ? limit + 1 : mostSteps;
  const rows = await statements.run<CreatedRow>(scope, filter.names ? namedCreated : allCreated, {
    ...filterValues(filter),
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

/**
 * Finds a page of orders by their events, in the order of the feed. One statement, and another one
 * where `since` says where to begin.
 *
 * @throws AppError cursor_expired when the place is one of another cluster.
 */
export async function updatedPage(
  statements: ScopedStatements,
  places: Statements,
  start: WalkStart & { readonly since: Date | null },
): Promise<Walk> {
  const { scope, filter, limit, place, since } = start;
  const begin = await feedStart(places, place, since);
  const rows = await statements.run<UpdatedRow>(scope, walkUpdated, {
    ...filterValues(filter),
    ...begin.values,
    steps: mostSteps,
  });
  const [first] = rows;
  if (!first) throw new Error('the feed named no cluster');
  begin.requireCluster(first.cluster, 'updated_since');
  const passed = rows
    .filter((row) => row.xid !== null)
    .map((row) => ({ id: row.id, place: placeOf({ ...row, orderId: row.id }), fits: row.fits }));
  return walkOf(passed, limit, begin.text(first.cluster), (first.scanned ?? 0) >= mostSteps);
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
