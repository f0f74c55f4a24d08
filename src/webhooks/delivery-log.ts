import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { prepared, replanned } from '../base/db/prepared.ts';
import { sql } from '../base/db/sql.ts';
import { fieldError } from '../base/errors.ts';
import { eventTypeSql, eventTypesJson } from '../orders/event-types.ts';
import { isoTime } from '../orders/order-statements.ts';
import { eventId, eventNamed } from '../orders/read/event-facts.ts';
import { clusterName, feedStart, partnerFeed, placeOf } from '../orders/read/feed-place.ts';
import type { ListCursors } from '../orders/read/list-cursor.ts';
import { takeAllowance } from './allowance.ts';
import { testEventId } from './delivery-body.ts';
import { isWanted } from './dispatcher.ts';
import { requireEnabled } from './endpoint-service.ts';
import type { AttemptView, DeliveryState } from './webhook-delivery.entity.ts';
import type { WebhookEndpoint } from './webhook-endpoint.entity.ts';

/** How long deliveries are kept, and how far back a replay reaches. */
const keptDays = 30;
const dayMs = 86_400_000;
/** Most events of one replay. */
const mostReplayed = 10_000;
/**
 * How often an event is sent to one endpoint again. As its deliveries are kept as long as a replay
 * reaches back, it is never more. A delivery has as many attempts.
 */
export const mostReplaysOfEvent = 10;
/** How long the row of a deleted endpoint is kept: until no transaction that found it is left. */
const deletedMs = 3_600_000;
/** Deliveries that one statement forgets. */
const forgetBatch = 5_000;

export interface DeliveryView {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  /** Null for a test, a sample, and an event without an order. */
  readonly orderId: string | null;
  readonly isReplay: boolean;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly endedAt: string | null;
  readonly log: readonly AttemptView[];
}

interface DeliveryPage {
  readonly deliveries: readonly DeliveryView[];
  readonly nextCursor: string | null;
}

/** What is sent again. Either ids of events, or a range of time. */
export type ReplayRequest =
  | { readonly eventIds: readonly string[] }
  | {
      /** Null begins 30 days ago. */
      readonly from: Date | null;
      /** Null ends now. */
      readonly to: Date | null;
      /** Only events of which no delivery succeeded or waits. */
      readonly failedOnly: boolean;
      readonly cursor: string | null;
    };

interface Replayed {
  readonly count: number;
  /** Where to go on. Null when the range is done. */
  readonly nextCursor: string | null;
}

const newest = prepared(
  'webhook_deliveries',
  `select d.id::text, d.order_id as "orderId", d.seq, d.data ->> 'event_id' as named, d.type, d.generation > 0 as "isReplay", d.state, d.attempts,
       ${isoTime('d.created_at')} as "createdAt", ${isoTime('d.next_attempt_at')} as "nextAttemptAt",
       ${isoTime('d.ended_at')} as "endedAt", d.log
  from webhook_delivery d
 where d.endpoint_id = :endpoint::uuid and d.id < coalesce(:before::bigint, 9223372036854775807)
   and (:state::text is null or d.state = :state)
 order by d.id desc limit :limit::integer`,
);

/**
 * An event that waits for its delivery is not added once more. So a replay, however often it is
 * asked for, never makes more waiting deliveries than an endpoint has events.
 */
const isWaiting = `exists (select from webhook_delivery d where d.endpoint_id = w.id and d.order_id = e.order_id
                   and d.seq = e.seq and d.state = 'pending')`;

/** Counts the earlier deliveries of an event to an endpoint. An event has none before its first. */
const generationOf = `cross join lateral (
    select coalesce(max(d.generation) + 1, 0) as next from webhook_delivery d
     where d.endpoint_id = w.id and d.order_id = e.order_id and d.seq = e.seq) g`;

/** Whether the endpoint may get the event once more. */
const mayGetAgain = `w.status = 'enabled' and g.next <= ${mostReplaysOfEvent} and not ${isWaiting}`;

/** Makes one more delivery of each of the given events that the endpoint's partner has. */
const replayNamed = prepared(
  'webhook_replay_named',
  `insert into webhook_delivery (endpoint_id, order_id, seq, type, generation, state, next_attempt_at, created_at)
select w.id, e.order_id, e.seq, ${eventTypeSql(':typeOf::jsonb')}, g.next, 'pending', :now::timestamptz, :now
  from webhook_endpoint w, unnest(:orderIds::uuid[], :seqs::integer[]) as given (order_id, seq)
  join order_event e on e.order_id = given.order_id and e.seq = given.seq
  join exchange_order o on o.id = e.order_id
  ${generationOf}
 where w.id = :endpoint::uuid and o.partner_id = w.partner_id and e.at >= :oldest::timestamptz
   and e.xid < pg_snapshot_xmin(pg_current_snapshot()) and ${mayGetAgain}
on conflict do nothing
returning 1`,
);

/** The same of events without an order, as long as a delivery of them to any endpoint is kept. */
const replayRecorded = prepared(
  'webhook_replay_recorded',
  `insert into webhook_delivery (endpoint_id, type, data, generation, state, next_attempt_at, created_at)
select w.id, e.type, e.data, g.next, 'pending', :now::timestamptz, :now
  from webhook_endpoint w
 cross join lateral (
    select distinct on (d.data ->> 'event_id') d.type, d.data from webhook_delivery d
      join webhook_endpoint o on o.id = d.endpoint_id
     where d.data is not null and d.data ->> 'event_id' = any (:ids::text[]) and o.partner_id = w.partner_id
       and (d.data ->> 'at')::timestamptz >= :oldest::timestamptz) e
 cross join lateral (
    select coalesce(max(d.generation) + 1, 0) as next, coalesce(bool_or(d.state = 'pending'), false) as waits
      from webhook_delivery d
     where d.endpoint_id = w.id and d.data is not null and d.data ->> 'event_id' = e.data ->> 'event_id') g
 where w.id = :endpoint::uuid and w.status = 'enabled' and g.next <= ${mostReplaysOfEvent} and not g.waits
on conflict do nothing
returning 1`,
);

/** Walks a range of the partner's feed, and makes one more delivery of each wanted event. */
const replayRange = replanned(
  'webhook_replay_range',
  `with ${partnerFeed}, step as materialized (
  select w.xid, w.order_id, w.seq, w.at, e.cause, row_number() over (order by w.xid, w.order_id, w.seq) as n,
         count(*) over () as scanned
    from walked w
    join order_event e on e.order_id = w.order_id and e.seq = w.seq
    join exchange_order o on o.id = w.order_id and o.partner_id = :partner
), made as (
  insert into webhook_delivery (endpoint_id, order_id, seq, type, generation, state, next_attempt_at, created_at)
  select w.id, e.order_id, e.seq, ${eventTypeSql(':typeOf::jsonb')}, g.next, 'pending', :now::timestamptz, :now
    from step e cross join webhook_endpoint w
    ${generationOf}
   where w.id = :endpoint::uuid and e.at >= :from::timestamptz and e.at < :to::timestamptz
     and ${isWanted(eventTypeSql(':typeOf::jsonb'), 'e.order_id')} and ${mayGetAgain}
     and (not :failedOnly::boolean or exists (
       select from webhook_delivery d where d.endpoint_id = w.id and d.order_id = e.order_id and d.seq = e.seq
      having bool_or(d.state = 'failed') and not bool_or(d.state <> 'failed')))
   order by e.n
  on conflict do nothing
  returning 1
)
select c.cluster, s.xid::text, s.order_id as "orderId", s.seq, (extract(epoch from s.at) * 1000)::bigint::text as ms,
       coalesce(s.scanned, 0)::integer as scanned, (select count(*) from made)::integer as count,
       coalesce(s.at >= :to::timestamptz + interval '10 minutes', false) as "isPast"
  from (select ${clusterName} as cluster) c left join step s on s.n = s.scanned`,
);

interface RangeRow {
  readonly cluster: string;
  readonly xid: string | null;
  readonly orderId: string;
  readonly seq: number;
  readonly ms: string;
  readonly scanned: number;
  readonly count: number;
  /** Whether the walk went beyond the end of the range. */
  readonly isPast: boolean;
}

/** The deliveries of endpoints: what was sent, and sending it again. */
export class DeliveryLog {
  readonly #orm: MikroORM;
  readonly #em: EntityManager;
  readonly #clock: Clock;
  readonly #cursors: ListCursors;

  constructor(orm: MikroORM, clock: Clock, cursors: ListCursors) {
    this.#orm = orm;
    this.#em = orm.em.fork();
    this.#clock = clock;
    this.#cursors = cursors;
  }

  /**
   * Reads a page of an endpoint's deliveries, newest first.
   *
   * @throws AppError invalid_cursor
   */
  async list(
    { id, partner }: Pick<WebhookEndpoint, 'id' | 'partner'>,
    options: { readonly state: DeliveryState | null; readonly limit: number; readonly cursor: string | null },
  ): Promise<DeliveryPage> {
    const { state, limit, cursor } = options;
    const bound = `${partner.id} deliveries ${id} ${state ?? '*'}`;
    const before = cursor === null ? null : this.#cursors.read(bound, cursor);
    const values = { endpoint: id, before, state, limit: limit + 1 };
    const rows = await sql<DeliveryView & { readonly seq: number; readonly named: string | null }>(
      this.#em,
      newest,
      values,
    );
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      deliveries: shown.map(({ seq, named, ...row }) => {
        const unnamed = row.orderId === null ? testEventId(row.id) : eventId({ orderId: row.orderId, seq });
        return { ...row, eventId: named ?? unnamed };
      }),
      nextCursor: rows.length > limit && last ? this.#cursors.write(bound, last.id) : null,
    };
  }

  /**
   * Makes deliveries of events of the last 30 days again, also of events that were never sent. The
   * events keep their ids. Left out are unknown ids, ids of others' events, and events that the
   * endpoint got ten times again.
   *
   * @param em the transaction, which holds the partner's allowance until it ends.
   * @throws AppError invalid_value, invalid_cursor, and cursor_expired after a restore.
   * @throws AppError endpoint_disabled.
   * @throws AppError rate_limited while another replay of the partner runs, when it has asked for
   *   all deliveries of a day, or names more events than are left of them.
   */
  async replay(
    endpoint: Pick<WebhookEndpoint, 'id' | 'partner' | 'status'>,
    request: ReplayRequest,
    em: EntityManager,
  ): Promise<Replayed> {
    requireEnabled(endpoint);
    const now = this.#clock.now();
    // Ids have no cursor, so that those beyond the allowance could not be asked for again.
    const least = 'eventIds' in request ? new Set(request.eventIds).size : 1;
    const allowance = await takeAllowance(em, endpoint.partner.id, now, 'refuse', least);
    const replayed = await this.#replayed(em, endpoint, request, now, allowance.left);
    if (replayed.count > 0) await allowance.use(replayed.count);
    return replayed;
  }

  /** @param most the most deliveries that it may make: no fewer than the ids of the request. */
  async #replayed(
    em: EntityManager,
    endpoint: Pick<WebhookEndpoint, 'id' | 'partner'>,
    request: ReplayRequest,
    now: Date,
    most: number,
  ): Promise<Replayed> {
    const oldest = new Date(now.getTime() - keptDays * dayMs);
    if ('eventIds' in request) {
      return replayEvents(em, endpoint, request.eventIds, now, oldest);
    }
    const { failedOnly, cursor } = request;
    const steps = Math.min(mostReplayed, most);
    const from = request.from && request.from > oldest ? request.from : oldest;
    // Clocks of several machines differ, and all that has happened counts.
    const to = request.to ?? new Date(now.getTime() + dayMs);
    if (to <= from) throw fieldError('invalid_value', 'to', `to must be later than from, and within ${keptDays} days`);
    const range = `${request.from?.toISOString() ?? ''} ${request.to?.toISOString() ?? ''}`;
    const bound = `${endpoint.partner.id} replay ${endpoint.id} ${range} ${failedOnly}`;
    const place = cursor === null ? null : this.#cursors.read(bound, cursor);
    const start = await feedStart(em, place, from);
    const [row] = await sql<RangeRow>(em, replayRange, {
      partner: endpoint.partner.id,
      endpoint: endpoint.id,
      ...start.values,
      steps,
      typeOf: eventTypesJson,
      now: now.toISOString(),
      from: from.toISOString(),
      to: to.toISOString(),
      failedOnly: String(failedOnly),
    });
    if (!row) throw new Error('the feed named no cluster');
    start.requireCluster(row.cluster, 'from');
    const isOver = row.xid === null || row.scanned < steps || row.isPast;
    return { count: row.count, nextCursor: isOver ? null : this.#cursors.write(bound, placeOf(row)) };
  }

  /**
   * Removes deliveries that are older than 30 days or of deleted endpoints, and deleted endpoints
   * that have none left. Any number of processes may call it.
   *
   * @returns How many deliveries it removed.
   */
  async forgetOld(): Promise<number> {
    const em = this.#orm.em.fork();
    const now = this.#clock.now();
    const oldest = new Date(now.getTime() - keptDays * dayMs);
    const old = 'select d.id from webhook_delivery d where d.created_at < ?::timestamptz order by d.created_at';
    const ofDeleted = `select d.id from webhook_endpoint w join webhook_delivery d on d.endpoint_id = w.id
                        where w.status = 'deleted' and w.updated_at < ?::timestamptz`;
    const forgotten = (await this.#forget(old, oldest)) + (await this.#forget(ofDeleted, now));
    await sql(
      em,
      `delete from webhook_endpoint w where w.status = 'deleted' and w.updated_at < ?::timestamptz
          and not exists (select from webhook_delivery d where d.endpoint_id = w.id)`,
      [new Date(now.getTime() - deletedMs)],
    );
    return forgotten;
  }

  /** Removes the deliveries that a query names by their ids before a time, in batches. */
  async #forget(ids: string, before: Date): Promise<number> {
    const em = this.#orm.em.fork();
    for (let forgotten = 0; ; ) {
      const rows = await sql(
        em,
        `delete from webhook_delivery where id = any (array(${ids} limit ${forgetBatch} for update of d skip locked))
         returning 1`,
        [before],
      );
      forgotten += rows.length;
      if (rows.length < forgetBatch) return forgotten;
    }
  }
}

async function replayEvents(
  em: EntityManager,
  { id }: Pick<WebhookEndpoint, 'id'>,
  eventIds: readonly string[],
  now: Date,
  oldest: Date,
): Promise<Replayed> {
  const ids = [...new Set(eventIds)];
  const named = ids.flatMap((text) => eventNamed(text) ?? []);
  const made = await sql(em, replayNamed, {
    endpoint: id,
    typeOf: eventTypesJson,
    now: now.toISOString(),
    oldest: oldest.toISOString(),
    orderIds: named.map(({ orderId }) => orderId),
    seqs: named.map(({ seq }) => String(seq)),
  });
  const recorded = await sql(em, replayRecorded, {
    endpoint: id,
    now: now.toISOString(),
    oldest: oldest.toISOString(),
    ids: ids.filter((text) => eventNamed(text) === null),
  });
  return { count: made.length + recorded.length, nextCursor: null };
}
