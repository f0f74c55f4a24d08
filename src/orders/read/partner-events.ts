import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Prepared } from '../../base/db/prepared.ts';
import { type EventType, eventTypeSql, eventTypesJson } from '../event-types.ts';
import { type EventFacts, eventColumns, eventTables } from './event-facts.ts';
import { feedPage, mostSteps, readFeedPage } from './feed-page.ts';
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

const partnerEvents = feedPage('partner_events', {
  fits: `:types::text[] is null or ${eventTypeSql(':typeOf::jsonb')} = any (:types)`,
  fitsBy: 'join exchange_order o on o.id = w.order_id',
  columns: eventColumns,
  tables: `left join order_event e on e.order_id = s.order_id and e.seq = s.seq
  left join exchange_order o on o.id = s.order_id
  ${eventTables}`,
});

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
   * Reads the events after a place.
   *
   * @throws AppError invalid_cursor, cursor_expired as `readFeedPage` does.
   */
  async read(partnerId: string, { types, since, limit, cursor }: EventRequest): Promise<EventPage> {
    const bound = `${partnerId} events ${types ? [...new Set(types)].sort().join() : '*'}`;
    // Without a filter a page looks at one event more than it shows.
    const steps = types === null ? limit + 1 : mostSteps;
    const { rows, ...page } = await readFeedPage<EventFacts>(this.#em, this.#cursors, partnerEvents, {
      ...{ partnerId, bound, cursor, since, parameter: 'since', limit, steps },
      values: { types, typeOf: eventTypesJson },
    });
    return { events: rows, ...page };
  }
}
