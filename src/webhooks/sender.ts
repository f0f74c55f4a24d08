import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { prepared } from '../base/db/prepared.ts';
import { sql } from '../base/db/sql.ts';
import { type EventFacts, eventColumns, eventId, eventTables } from '../orders/read/event-facts.ts';
import type { OnWebhookCrashPoint } from './crash-points.ts';
import { eventBody, partnerEventBody, sampleBody, testBody, testEventId, testEventType } from './delivery-body.ts';
import type { Egress, Sent } from './egress.ts';
import type { RecordedEvent } from './partner-events.ts';
import { nextAttemptAt, usualLeaseMs } from './retries.ts';
import type { SecretBox } from './secret-box.ts';
import { signatureHeaders } from './signature.ts';

/** Deliveries under way to one endpoint at a time. */
const mostOfEndpoint = 5;
/** The same to all endpoints of one partner, so that none uses up the senders. */
const mostOfPartner = 15;
/**
 * Due events of an endpoint that a claim reads. An event that waits for an earlier one of its order
 * waits behind it. So the first of them wait for none, or for a delivery under way.
 */
const mostLookedAt = 200;
/** After this many failures in a row an endpoint gets one attempt a minute. */
const probingFailures = 10;
const probeMs = 60_000;
/** A success that took longer does not count as quick. */
const quickMs = 3_000;
/** An endpoint without a success for this long is disabled. */
const disableAfterMs = 5 * 86_400_000;
/** The parts of a process's senders that quick endpoints, and all others, may use at most. */
const poolShare = { quick: 0.75, other: 0.5 } as const;

type Pool = keyof typeof poolShare;

interface WebhookSenderOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly secrets: SecretBox;
  /** Deliveries under way in this process at a time. */
  readonly most: number;
  readonly onCrashPoint?: OnWebhookCrashPoint;
  /** Called with each attempt. */
  readonly onAttempt?: (attempt: AttemptReport) => void;
  /** Called with a failure of ours, such as a lost connection to the database. */
  readonly onFailure: (error: unknown) => void;
}

/** What is measured of an attempt. */
interface AttemptReport {
  readonly sent: Sent;
  /** From the event to the end of the attempt, in milliseconds. Null but for a first attempt. */
  readonly firstMs: number | null;
  /** Whether the endpoint was disabled because of it. */
  readonly isDisabled: boolean;
}

/** A delivery that this process has the lease of. */
type Claimed = Delivered & (EventFacts | { readonly orderId: null });

/** What every delivery has. One with neither an order nor data is a test or a sample. */
interface Delivered {
  readonly id: string;
  readonly endpointId: string;
  readonly type: string;
  /** An event without an order. */
  readonly data: RecordedEvent | null;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly url: string;
  readonly amounts: 'string' | 'number';
  readonly secret: Buffer;
  readonly secretVersion: number;
  readonly oldSecret: Buffer | null;
  readonly oldSecretVersion: number | null;
}

/**
 * The endpoints that have due deliveries and room for more, locked. It walks the index from one
 * endpoint to the next, so that a backlog of one endpoint costs nothing.
 */
const lockEndpoints = `
  with recursive pending (endpoint_id) as (
    (select d.endpoint_id from webhook_delivery d where d.state = 'pending' order by d.endpoint_id limit 1)
    union all
    select (select d.endpoint_id from webhook_delivery d where d.state = 'pending' and d.endpoint_id > p.endpoint_id
             order by d.endpoint_id limit 1)
      from pending p where p.endpoint_id is not null
  )
  select w.id from pending p
    join webhook_endpoint w on w.id = p.endpoint_id
    join partner a on a.id = w.partner_id and a.status = 'active'
   where w.status = 'enabled' and w.is_quick = ? and (w.probe_at is null or w.probe_at <= ?)
     and exists (select from webhook_delivery d
                  where d.endpoint_id = w.id and d.state = 'pending' and d.next_attempt_at <= ?
                    and (d.leased_until is null or d.leased_until <= ?))
   order by random() limit ?
     for no key update of w skip locked`;

/** Whether `e`, an earlier delivery, still keeps the first attempt of a later one waiting. */
const isFirstOpen = `e.state = 'pending' and (e.attempts = 0 or e.attempts = 1 and e.leased_until > :now)`;

/**
 * Takes the lease of due deliveries. The first attempts of one order to one endpoint begin in the
 * order of its events: each begins when the previous one has ended. A second attempt waits for
 * none. The events without an order of one endpoint wait for each other in the same way.
 */
const claim = prepared(
  'webhook_claim',
  `with room as materialized (
    select w.id, w.partner_id, g.n, case when w.is_quick then ${mostOfEndpoint} else 1 end
             - (select count(*)::int from webhook_delivery r where r.endpoint_id = w.id and r.leased_until > :now) as free
      from unnest(:endpoints::uuid[]) with ordinality as g (id, n) join webhook_endpoint w on w.id = g.id
  ), partner_room as materialized (
    select r.partner_id, ${mostOfPartner} - count(d.id)::int as free
      from (select distinct partner_id from room) r
      join webhook_endpoint w on w.partner_id = r.partner_id and w.status <> 'deleted'
      left join webhook_delivery d on d.endpoint_id = w.id and d.leased_until > :now
     group by r.partner_id
  ), wanted as materialized (
    select due.id, r.partner_id, row_number() over (partition by r.partner_id order by r.n, due.place) as n
      from room r cross join lateral (
      (select d.id, 0 as place from webhook_delivery d
        where d.endpoint_id = r.id and d.state = 'pending' and d.order_id is null and d.data is null
          and d.next_attempt_at <= :now and (d.leased_until is null or d.leased_until <= :now)
        order by d.id limit greatest(r.free, 0))
      union all
      (select d.id, d.place from (
         select d.*, row_number() over (order by d.next_attempt_at, d.id) as place from webhook_delivery d
          where d.endpoint_id = r.id and d.state = 'pending' and d.next_attempt_at <= :now
            and (d.order_id is not null or d.data is not null) and (d.leased_until is null or d.leased_until <= :now)
          order by d.next_attempt_at, d.id limit ${mostLookedAt}) d
        where d.attempts > 0 or case when d.data is null then not exists (
           select from webhook_delivery e
            where e.endpoint_id = d.endpoint_id and e.order_id = d.order_id and e.seq < d.seq
              and e.generation = d.generation and ${isFirstOpen})
          else not exists (
           select from webhook_delivery e
            where e.endpoint_id = d.endpoint_id and e.data is not null
              and e.data ->> 'event_id' < d.data ->> 'event_id'
              and e.generation = d.generation and ${isFirstOpen}) end
        order by d.place limit greatest(r.free, 0))
      order by place limit greatest(r.free, 0)) due
  ), chosen as materialized (
    select d.id from wanted w join partner_room p using (partner_id) join webhook_delivery d on d.id = w.id
     where w.n <= p.free and d.state = 'pending' and (d.leased_until is null or d.leased_until <= :now)
     limit :most
       for update of d skip locked
  ), claimed as (
    update webhook_delivery d set attempts = d.attempts + 1, leased_until = :until
      from chosen c where d.id = c.id
    returning d.*
  )
  select d.id::text, d.endpoint_id as "endpointId", d.type, d.data, d.attempts, d.created_at as "createdAt", w.url, w.amounts,
         w.secret, w.secret_version as "secretVersion",
         case when w.old_secret_until > :now then w.old_secret end as "oldSecret",
         w.old_secret_version as "oldSecretVersion", ${eventColumns}
    from claimed d
    join webhook_endpoint w on w.id = d.endpoint_id
    left join order_event e on e.order_id = d.order_id and e.seq = d.seq
    left join exchange_order o on o.id = d.order_id
    ${eventTables}
   order by d.id`,
);

/**
 * Stores the result of an attempt, unless a later attempt began meanwhile. The endpoint's row is
 * written only when something about it changes.
 */
const storeResult = prepared(
  'webhook_result',
  `with done as (
  update webhook_delivery d
     set state = :state::text, next_attempt_at = :nextAt::timestamptz, leased_until = null,
         ended_at = case when :state <> 'pending' then :now::timestamptz end, log = d.log || :entry::jsonb
   where d.id = :id::bigint and d.attempts = :attempt::integer and d.state = 'pending'
  returning d.endpoint_id
), changed as (
  update webhook_endpoint w
     set failures = case when :succeeded::boolean then 0 else w.failures + 1 end,
         failing_since = case when not :succeeded then coalesce(w.failing_since, :now) end,
         probe_at = case when not :succeeded and w.failures + 1 >= ${probingFailures} then :probeAt::timestamptz end,
         is_quick = :succeeded and :quick::boolean,
         last_success_at = case when :succeeded then :now else w.last_success_at end,
         last_failure_at = case when :succeeded then w.last_failure_at else :now end,
         status = case when w.status = 'enabled' and not :succeeded
                         and (:gone::boolean or w.failing_since <= :failingBefore::timestamptz)
                       then 'disabled' else w.status end,
         disabled_reason = case when w.status = 'enabled' and not :succeeded and :gone then 'gone'
                                when w.status = 'enabled' and not :succeeded and w.failing_since <= :failingBefore
                                then 'failing' else w.disabled_reason end,
         disabled_at = case when w.status = 'enabled' and not :succeeded
                              and (:gone or w.failing_since <= :failingBefore)
                            then :now else w.disabled_at end
    from done
   where w.id = done.endpoint_id and (:counts::boolean or :succeeded)
     and (not :succeeded or w.failures > 0 or w.is_quick <> :quick or w.last_success_at is null
          or w.last_success_at < :now::timestamptz - interval '1 minute')
  returning w.status = 'disabled' and w.disabled_at = :now as disabled
)
select (select disabled from changed) as "isDisabled" from done`,
);

/**
 * Sends deliveries. Any number of processes may run it. A sender stores its attempt and a lease,
 * and connects after that commit: it holds no lock and no connection of the database meanwhile. A
 * sender that dies leaves a lease that ends, and another one tries again. So each event is
 * delivered at least once, with the same id each time.
 *
 * Quick endpoints and all others have separate shares of the process's room. An endpoint is
 * quick after a quick success. All others get one delivery at a time, so slow and broken receivers
 * delay themselves.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #em: EntityManager;
  readonly #running: Readonly<Record<Pool, Set<Promise<void>>>> = { quick: new Set(), other: new Set() };

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#em = options.orm.em.fork();
  }

  /**
   * Begins the deliveries that are due and that there is room for. It does not wait for their ends.
   *
   * @returns How many it began.
   */
  async begin(): Promise<number> {
    let begun = 0;
    for (const pool of ['quick', 'other'] as const) {
      const most = this.#room(pool);
      if (most <= 0) continue;
      const claimed = await this.#claim(pool, most);
      for (const delivery of claimed) this.#start(pool, delivery);
      begun += claimed.length;
    }
    return begun;
  }

  /** Waits until a delivery under way ends. Resolves at once when none is. */
  async next(): Promise<void> {
    const running = [...this.#running.quick, ...this.#running.other];
    if (running.length > 0) await Promise.race(running);
  }

  /** Waits until no delivery is under way. */
  async idle(): Promise<void> {
    await Promise.all([...this.#running.quick, ...this.#running.other]);
  }

  #room(pool: Pool): number {
    const { most } = this.#options;
    const all = this.#running.quick.size + this.#running.other.size;
    return Math.min(Math.ceil(most * poolShare[pool]) - this.#running[pool].size, most - all);
  }

  /** Commits the attempts before any of them begins. */
  async #claim(pool: Pool, most: number): Promise<Claimed[]> {
    const { orm, clock, onCrashPoint } = this.#options;
    const now = clock.now();
    const claimed = await orm.em.fork().transactional(async (em) => {
      const values = [pool === 'quick', now, now, now, most];
      const endpoints = await sql<{ id: string }>(em, lockEndpoints, values);
      if (endpoints.length === 0) return [];
      // A separate statement, so that it sees what others have claimed before the locks.
      return sql<Claimed>(em, claim, {
        now: now.toISOString(),
        until: new Date(now.getTime() + usualLeaseMs).toISOString(),
        endpoints: endpoints.map(({ id }) => id),
        most,
      });
    });
    if (claimed.length > 0) await onCrashPoint?.('webhook.claimed');
    return claimed;
  }

  #start(pool: Pool, delivery: Claimed): void {
    const sending = this.#send(delivery)
      .catch((error: unknown) => this.#options.onFailure(error))
      .finally(() => this.#running[pool].delete(sending));
    this.#running[pool].add(sending);
  }

  async #send(delivery: Claimed): Promise<void> {
    const { clock, egress, onCrashPoint } = this.#options;
    const startedAt = clock.now();
    const { id, body, at } = messageOf(delivery);
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'exchange-partner-gateway-webhooks/1',
      ...signatureHeaders({ id, at: startedAt, body }, this.#secretsOf(delivery)),
    };
    const sent = await egress.post(delivery.url, headers, body);
    await onCrashPoint?.('webhook.sent');
    const isDisabled = await this.#store(delivery, startedAt, sent);
    await onCrashPoint?.('webhook.stored');
    const firstMs = at !== null && delivery.attempts === 1 ? clock.now().getTime() - Date.parse(at) : null;
    this.#options.onAttempt?.({ sent, firstMs, isDisabled });
  }

  #secretsOf({ endpointId, secret, secretVersion, oldSecret, oldSecretVersion }: Claimed): Buffer[] {
    const { secrets } = this.#options;
    const newest = secrets.open(endpointId, { bytes: secret, version: secretVersion });
    if (oldSecret === null || oldSecretVersion === null) return [newest];
    return [newest, secrets.open(endpointId, { bytes: oldSecret, version: oldSecretVersion })];
  }

  /** Returns whether the endpoint was disabled because of the result. */
  async #store({ id, attempts, orderId, data }: Claimed, startedAt: Date, sent: Sent): Promise<boolean> {
    const now = this.#options.clock.now();
    const succeeded = sent.fault === null;
    const isTest = orderId === null && data === null;
    const nextAt = succeeded || isTest ? null : nextAttemptAt(attempts, now, sent.retryAfterSec);
    const { status, ms, fault: error, answer } = sent;
    const entry = { attempt: attempts, at: startedAt, status, ms, error, answer };
    const [done] = await sql<{ isDisabled: boolean | null }>(this.#em, storeResult, {
      id,
      attempt: attempts,
      state: succeeded ? 'delivered' : nextAt ? 'pending' : 'failed',
      nextAt: nextAt?.toISOString() ?? null,
      now: now.toISOString(),
      entry: JSON.stringify([entry]),
      succeeded: String(succeeded),
      quick: String(sent.ms <= quickMs),
      // A test that fails says nothing about the deliveries of events.
      counts: String(!isTest),
      gone: String(sent.status === 410),
      probeAt: new Date(now.getTime() + probeMs).toISOString(),
      failingBefore: new Date(now.getTime() - disableAfterMs).toISOString(),
    });
    return done?.isDisabled ?? false;
  }
}

interface Message {
  readonly id: string;
  readonly body: string;
  /** ISO 8601. When the event happened. Null for a test and for a sample. */
  readonly at: string | null;
}

function messageOf(delivery: Claimed): Message {
  const { id, endpointId, type, data, amounts } = delivery;
  if (delivery.orderId !== null) {
    return { id: eventId(delivery), body: eventBody(delivery, amounts), at: delivery.at };
  }
  if (data !== null) return { id: data.event_id, body: partnerEventBody(type, data, amounts), at: data.at };
  const createdAt = new Date(delivery.createdAt);
  const isTest = type === testEventType;
  const body = isTest ? testBody(id, endpointId, createdAt) : sampleBody(id, type, createdAt, amounts);
  return { id: testEventId(id), body, at: null };
}
