import type { EntityManager } from '@mikro-orm/postgresql';
import { type Prepared, replanned } from '../../base/db/prepared.ts';
import { anyOrders, type OrderPart, ofParts } from '../fresh-orders.ts';
import { type PartnerScope, ScopedStatement, type StaffScope, sqlFor } from '../order-scope.ts';
import { clusterName, feedStart, partnerFeed, placeOf, placeOfTime } from './feed-place.ts';
import { type FilterSql, filterParts, filterSql, type OrderFilter } from './order-filter.ts';

export interface OrderSorting {
  readonly field: 'created' | 'updated';
  readonly direction: 'asc' | 'desc';
}

export const newestFirst: OrderSorting = { field: 'created', direction: 'desc' };

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
  /** Each order once, with the places directly before and behind it. */
  readonly found: readonly { readonly id: string; readonly before: string; readonly behind: string }[];
  readonly end: string;
  /** Whether the walk stopped before the end of the list. */
  readonly isCut: boolean;
}

/**
 * Most rows that a page of a partner looks at for orders that match a filter. A page may thus be
 * short although more follow. A rare filter costs no more than a common one.
 */
const mostSteps = 1_000;

/** What a walk by a time passes. */
interface Passage {
  readonly filter: OrderFilter;
  readonly field: OrderSorting['field'];
  readonly isAscending: boolean;
  /** Whether it begins behind a place, which it has as `us` and `id`. */
  readonly isBehind: boolean;
  readonly sql: FilterSql;
  /**
   * Whether rows that do not match count as passed. Otherwise it passes matching rows only, however
   * far apart they are.
   */
  readonly isBounded: boolean;
}

/**
 * Passes visible orders by a time and their id: the columns `id`, `at` and `fits` of at most
 * `steps` rows of each part, to be merged.
 */
function passed(orders: string, passage: Passage): string {
  const { filter, field, isAscending, isBehind, sql, isBounded } = passage;
  const way = isAscending ? 'asc' : 'desc';
  const where = isBounded ? sql.created : [...sql.created, ...sql.others];
  const fits = isBounded ? all(sql.others) : 'true';
  return ofParts(isBounded ? [anyOrders] : filterParts(filter), (part) => {
    const column = timeOf(part, field);
    const behind = isBehind ? [`(${column}, o.id) ${isAscending ? '>' : '<'} (${placeAt}, :id::uuid)`] : [];
    return `select o.id, ${column} as at, ${fits} as fits from ${sourceOf(orders, sql)}
             where ${all([part.condition, ...where, ...behind])}
             order by ${column} ${way}, o.id ${way} limit :steps::integer`;
  });
}

const placeAt = `'epoch'::timestamptz + :us::bigint * interval '1 microsecond'`;

function timeOf(part: OrderPart, field: OrderSorting['field']): string {
  return field === 'created' ? 'o.created_at' : part.updatedAt;
}

/** Named orders are found by their names, so that a list of them reads no others. */
function sourceOf(orders: string, { named }: FilterSql): string {
  if (named === null) return `${orders} o`;
  return `(select * from ${orders} e where e.id = any (:ids::uuid[])
           union select * from ${orders} e where e.short_id = any (:shortIds::text[])) o`;
}

function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.join('\n   and ');
}

/** The statement of a page by a time. Rows that do not match are left out, but for the last one. */
function pageStatement(passage: Passage): ScopedStatement {
  const way = passage.isAscending ? 'asc' : 'desc';
  return new ScopedStatement(
    passage.sql.named === null ? `orders_${passage.field}` : 'orders_named',
    ({ orders }) => `with scanned as materialized (
  select * from (${passed(orders, passage)}) part order by at ${way}, id ${way} limit :steps::integer
), step as (
  select id, (extract(epoch from at) * 1000000)::bigint::text as us, fits,
         row_number() over (order by at ${way}, id ${way}) as n, count(*) over () as scanned
    from scanned
)
select id, us, fits, scanned::integer from step where fits or n = scanned order by n`,
    replanned,
  );
}

interface PageRow {
  readonly id: string;
  readonly us: string;
  readonly fits: boolean;
  readonly scanned: number;
}

/** What a page begins with: for whom, its filter, its size, and the place of a cursor. */
interface WalkStart<Scope = PartnerScope | StaffScope> {
  readonly scope: Scope;
  readonly filter: OrderFilter;
  readonly limit: number;
  /** Null begins at the start of the list. */
  readonly place: string | null;
  /** The moment that decides what is overdue. */
  readonly now: Date;
}

/** A walk by a time, with its sorting. It may go against it. */
interface KeysetStart extends WalkStart {
  readonly field: OrderSorting['field'];
  readonly isAscending: boolean;
}

/**
 * Finds a page of orders by a time and their id. One statement. A page of a partner looks at a
 * bounded number of rows, a page of staff at as many as it takes.
 */
export async function keysetPage(em: EntityManager, start: KeysetStart): Promise<Walk> {
  const { scope, filter, limit, place, field, isAscending } = start;
  const sql = filterSql(filter, start.now);
  const isBounded = scope.kind === 'partner';
  const steps = isBounded && sql.others.length > 0 ? mostSteps : limit + 1;
  const [us = null, id = null] = place?.split('.') ?? [];
  const statement = pageStatement({ filter, field, isAscending, isBehind: place !== null, sql, isBounded });
  const rows = await sqlFor<PageRow>(em, scope, statement, { ...sql.values, us, id, steps });
  const steppedOn = rows.map((row) => ({ id: row.id, place: `${row.us}.${row.id}`, fits: row.fits }));
  return walkOf(steppedOn, limit, place ?? '', (rows[0]?.scanned ?? 0) >= steps);
}

/** Orders of a filter from the newest on, without the bound of a partner's page. */
function newest(filter: OrderFilter, sql: FilterSql): Passage {
  return { filter, sql, field: 'created', isAscending: false, isBehind: false, isBounded: false };
}

/** Counts the orders that match a filter, up to `most`. */
export async function countMatches(
  em: EntityManager,
  scope: StaffScope,
  { filter, most, now }: { readonly filter: OrderFilter; readonly most: number; readonly now: Date },
): Promise<number> {
  const sql = filterSql(filter, now);
  // Reads in the order of an index, so that a capped count does not read the whole table.
  const statement = new ScopedStatement(
    'orders_count',
    ({ orders }) => `select least(count(*), :steps::integer)::integer as count
       from (${passed(orders, newest(filter, sql))}) as part`,
    replanned,
  );
  const [row] = await sqlFor<{ count: number }>(em, scope, statement, { ...sql.values, steps: most });
  return row?.count ?? 0;
}

/**
 * Finds the ids of the newest orders that match a filter, newest first, in the transaction of `em`.
 */
export async function newestMatches(
  em: EntityManager,
  scope: StaffScope,
  { filter, most, now }: { readonly filter: OrderFilter; readonly most: number; readonly now: Date },
): Promise<string[]> {
  const sql = filterSql(filter, now);
  const statement = new ScopedStatement(
    'orders_newest',
    ({ orders }) => `select id from (${passed(orders, newest(filter, sql))}) as part
      order by at desc, id desc limit :steps::integer`,
    replanned,
  );
  const rows = await sqlFor<{ id: string }>(em, scope, statement, { ...sql.values, steps: most });
  return rows.map(({ id }) => id);
}

/** Walks the events of a partner behind a place, with the orders that match a filter. */
function feedStatement({ created, others, named }: FilterSql): ScopedStatement {
  const conditions = [...others, ...(named === null ? [] : [named]), ...created];
  return new ScopedStatement(
    'orders_updated',
    ({ orders }) => `with ${partnerFeed}, step as (
  select w.*, ${all(conditions)} as fits,
         row_number() over (order by w.xid, w.order_id, w.seq) as n, count(*) over () as scanned
    from walked w join ${orders} o on o.id = w.order_id
)
select c.cluster, s.xid::text, s.order_id as id, s.seq, (extract(epoch from s.at) * 1000)::bigint::text as ms, s.fits,
       s.scanned::integer
  from (select ${clusterName} as cluster) c left join step s on s.fits or s.n = s.scanned
 order by s.n`,
    replanned,
  );
}

/** A row of the feed. All but the cluster is null when no event follows the place. */
interface FeedRow {
  readonly cluster: string;
  readonly xid: string | null;
  readonly id: string;
  readonly seq: number;
  readonly ms: string;
  readonly fits: boolean;
  readonly scanned: number;
}

/**
 * Finds a page of a partner's orders by their events, in the order of the feed, which misses no
 * move. One statement, and another one where `since` says where to begin.
 *
 * @throws AppError cursor_expired when the place is one of another cluster.
 */
export async function feedPage(
  em: EntityManager,
  start: WalkStart<PartnerScope> & { readonly since: Date | null },
): Promise<Walk> {
  const { scope, filter, limit, place, since, now } = start;
  const sql = filterSql(filter, now);
  const begin = await feedStart(em, place, since);
  const rows = await sqlFor<FeedRow>(em, scope, feedStatement(sql), {
    ...sql.values,
    ...begin.values,
    steps: mostSteps,
  });
  const [first] = rows;
  if (!first) throw new Error('the feed named no cluster');
  begin.requireCluster(first.cluster, 'updated_since');
  const steps = rows
    .filter((row) => row.xid !== null)
    .map((row) => ({ id: row.id, place: placeOf({ ...row, orderId: row.id }), fits: row.fits }));
  return walkOf(steps, limit, begin.text(first.cluster), (first.scanned ?? 0) >= mostSteps);
}

/** Takes the orders of a page from the rows that a statement passed. */
function walkOf(steps: readonly Step[], limit: number, begin: string, isCut: boolean): Walk {
  const found: { id: string; before: string; behind: string }[] = [];
  const seen = new Set<string>();
  let place = begin;
  for (const step of steps) {
    if (step.fits && !seen.has(step.id)) {
      if (found.length === limit) return { found, end: place, isCut: true };
      found.push({ id: step.id, before: place, behind: step.place });
      seen.add(step.id);
    }
    place = step.place;
  }
  return { found, end: place, isCut };
}

/** The statements of a partner's lists by a filter, with its values, for tests of their plans. */
export function walkStatements(filter: OrderFilter): (readonly [Prepared, FilterSql['values']])[] {
  const now = new Date(0);
  const own = filterSql({ ...filter, names: null }, now);
  const named = filterSql({ names: [], ...filter }, now);
  const passage = { filter, field: 'created', isAscending: false, isBehind: true, isBounded: true } as const;
  return [
    [pageStatement({ ...passage, sql: own }).of('partner'), own.values],
    [pageStatement({ ...passage, sql: named }).of('partner'), named.values],
    [feedStatement(named).of('partner'), named.values],
    [placeOfTime, {}],
  ];
}
