import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type Prepared, replanned } from '../../base/db/prepared.ts';
import { sql } from '../../base/db/sql.ts';
import { type EventType, eventTypeSql, eventTypesJson } from '../event-types.ts';
import { type EventFacts, eventColumns, eventTables } from './event-facts.ts';
import { clusterName, feedStart, partnerFeed, placeOf } from './feed-place.ts';
import type { ListCursors } from './list-cursor.ts';

/** The parameters of `PartnerEvents.read`. */
export interface EventRequest {
  /** Null admits all. */
  readonly types: readonly EventType[] | null;
  /** Where the feed begins without a cursor. Null begins with the first event. */
  readonly since: Date | null;
  readonly limit: number;
  readonly cursor: string | null;
}

export interface EventPage {
  /** Each event with the cursor directly behind it. */
  readonly events: readonly (EventFacts & { readonly cursor: string })[];
  readonly hasMore: boolean;
  readonly nextCursor: string;
}

/**
 * Most rows that a page looks at for events of the wanted types. A page may thus be short although
 * more follow.
 */
const mostSteps = 1_000;

const partnerEvents = replanned(
  'partner_events',
  `with ${partnerFeed}, step as (
  select w.*, (:types::text[] is null or ${eventTypeSql(':typeOf::jsonb')} = any (:types)) as fits,
         row_number() over (order by w.xid, w.order_id, w.seq) as n, count(*) over () as scanned
    from walked w
    join order_event e on e.order_id = w.order_id and e.seq = w.seq
    join exchange_order o on o.id = w.order_id
), counted as (
  select s.*, count(*) filter (where s.fits) over (order by s.n) as found from step s
), page as (
  select * from counted where fits and found <= :limit::integer or n = scanned
)
select c.cluster, s.xid::text, (extract(epoch from s.at) * 1000)::bigint::text as ms, s.fits, s.found::integer,
       s.scanned::integer, ${eventColumns}
  from (select ${clusterName} as cluster) c
  left join page s on true
  left join order_event e on e.order_id = s.order_id and e.seq = s.seq
  left join exchange_order o on o.id = s.order_id
  ${eventTables}
 order by s.n`,
);

/** A row of the statement. All but the cluster is null when no event follows the place. */
interface EventRow extends EventFacts {
  readonly cluster: string;
  readonly xid: string | null;
  readonly ms: string;
  readonly fits: boolean;
  /** How many of the events up to this one match. */
  readonly found: number;
  readonly scanned: number;
}

/** The feed of a partner's events: each event once, in an order in which none is ever missed. */
export class PartnerEvents {
  readonly #em: EntityManager;
  readonly #cursors: ListCursors;

  constructor(orm: MikroORM, cursors: ListCursors) {
    this.#em = orm.em.fork();
    this.#cursors = cursors;
  }

  /** The statements of this class, for tests of their plans. */
  get statements(): readonly Prepared[] {
    return [partnerEvents];
  }

  /**
   * Reads the events after a place. One statement, and another one where `since` says where to
   * begin.
   *
   * @throws AppError invalid_cursor for a cursor of another partner or of other types, or for none
   * of ours.
   * @throws AppError cursor_expired after a restore, with the time from which to begin again.
   */
  async read(partnerId: string, { types, since, limit, cursor }: EventRequest): Promise<EventPage> {
    const bound = `${partnerId} events ${types ? [...new Set(types)].sort().join() : '*'}`;
    const place = cursor === null ? null : this.#cursors.read(bound, cursor);
    const start = await feedStart(this.#em, place, since);
    const steps = types === null ? limit + 1 : mostSteps;
    const rows = await sql<EventRow>(this.#em, partnerEvents, {
      partner: partnerId,
      ...start.values,
      steps,
      types,
      typeOf: eventTypesJson,
      limit,
    });
    const [first] = rows;
    if (!first) throw new Error('the feed named no cluster');
    start.requireCluster(first.cluster, 'since');
    const write = (at: string): string => this.#cursors.write(bound, at);
    const passed = rows.filter(({ xid }) => xid !== null);
    const events = passed
      .filter(({ fits, found }) => fits && found <= limit)
      .map((row) => ({ ...row, cursor: write(placeOf(row)) }));
    const last = passed.at(-1);
    // Without the types' filter a page looks at one event more than it shows.
    const isCut = last !== undefined && (last.found > limit || last.scanned >= steps);
    const end = last && last.found <= limit ? write(placeOf(last)) : events.at(-1)?.cursor;
    return { events, hasMore: isCut, nextCursor: end ?? write(start.text(first.cluster)) };
  }
}
