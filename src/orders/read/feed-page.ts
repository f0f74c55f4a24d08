import type { EntityManager } from '@mikro-orm/postgresql';
import { type Prepared, replanned } from '../../base/db/prepared.ts';
import { sql } from '../../base/db/sql.ts';
import { clusterName, disorderMs, feedStart, partnerFeed, placeOf } from './feed-place.ts';
import type { ListCursors } from './list-cursor.ts';

/**
 * Most events that a page looks at for events that fit. A page may thus be short although more
 * follow.
 */
export const mostSteps = 1_000;

/** What a page of a partner's feed has, as SQL. */
interface PageParts {
  /** Whether the event `e` is part of the page. */
  readonly fits: string;
  /** Joins what `fits` reads besides `e`. */
  readonly fitsBy?: string;
  /** What is read of an event that fits, with its place as `orderId` and `seq`. */
  readonly columns: string;
  /** Joins what `columns` read to `s`, the step, which is null when no event follows. */
  readonly tables: string;
}

/** The statement of a page of a partner's feed. It binds what `readFeedPage` says. */
export function feedPage(name: string, { fits, fitsBy = '', columns, tables }: PageParts): Prepared {
  return replanned(
    name,
    `with ${partnerFeed}, step as (
  select w.*, (${fits}) as fits,
         row_number() over (order by w.xid, w.order_id, w.seq) as n, count(*) over () as scanned
    from walked w
    join order_event e on e.order_id = w.order_id and e.seq = w.seq
    ${fitsBy}
), counted as (
  select s.*, count(*) filter (where s.fits) over (order by s.n) as found from step s
), page as (
  select * from counted where fits and found <= :limit::integer or n = scanned
)
select c.cluster, s.xid::text, (extract(epoch from s.at) * 1000)::bigint::text as ms, s.fits, s.found::integer,
       s.scanned::integer, ${columns}
  from (select ${clusterName} as cluster) c
  left join page s on true
  ${tables}
 order by s.n`,
  );
}

/** A row of the statement. All but the cluster is null when no event follows the place. */
interface PageRow {
  readonly cluster: string;
  readonly xid: string | null;
  readonly orderId: string;
  readonly seq: number;
  readonly ms: string;
  readonly fits: boolean;
  /** How many of the events up to this one fit. */
  readonly found: number;
  readonly scanned: number;
}

interface PageRequest {
  readonly partnerId: string;
  /** Whose list a cursor is of, and with which filter. */
  readonly bound: string;
  readonly cursor: string | null;
  /** Where the list begins without a cursor. Null begins with the first event. */
  readonly since: Date | null;
  /** The parameter that sets `since`. */
  readonly parameter: string;
  /** Events from this moment on do not fit. Null for none. */
  readonly until?: Date | null;
  readonly limit: number;
  /** Most events that the page looks at. */
  readonly steps: number;
  /** What the parts of the statement bind. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Events of a page, each with the cursor directly behind it. */
export interface FeedPage<Facts> {
  readonly rows: readonly (Facts & { readonly cursor: string })[];
  readonly hasMore: boolean;
  readonly nextCursor: string;
}

/**
 * Reads a page of a partner's feed: each event once, in an order in which none comes late. One
 * statement, and another one where `since` says where to begin.
 *
 * @throws AppError invalid_cursor for a cursor of another partner or filter, or for none of ours.
 * @throws AppError cursor_expired after a restore, with the time from which to begin again.
 */
export async function readFeedPage<Facts>(
  em: EntityManager,
  cursors: ListCursors,
  statement: Prepared,
  { partnerId, bound, cursor, since, parameter, until = null, limit, steps, values }: PageRequest,
): Promise<FeedPage<Facts>> {
  const start = await feedStart(em, cursor === null ? null : cursors.read(bound, cursor), since);
  const bindings = { partner: partnerId, ...start.values, steps, limit, ...values };
  const found = await sql<PageRow & Facts>(em, statement, bindings);
  const [first] = found;
  if (!first) throw new Error('the feed named no cluster');
  start.requireCluster(first.cluster, parameter);
  const write = (at: string): string => cursors.write(bound, at);
  const passed = found.filter(({ xid }) => xid !== null);
  const rows = passed
    .filter((row) => row.fits && row.found <= limit)
    .map((row) => ({ ...row, cursor: write(placeOf(row)) }));
  const last = passed.at(-1);
  if (!last) return { rows, hasMore: false, nextCursor: write(start.text(first.cluster)) };
  const isFull = last.found > limit;
  const isOver = until !== null && Number.parseInt(last.ms, 10) >= until.getTime() + disorderMs;
  const end = isFull ? rows.at(-1)?.cursor : undefined;
  return { rows, hasMore: isFull || (last.scanned >= steps && !isOver), nextCursor: end ?? write(placeOf(last)) };
}
