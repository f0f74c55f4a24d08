import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import { type RequestCount, requestBuckets } from '../base/telemetry/process-metrics.ts';

/** How often each process adds its requests to the common figures. */
export const trafficFlushMs = 10_000;
/** Longest time that figures can be read for. */
export const mostTrafficMinutes = 60;

const minuteMs = 60_000;
/** Older minutes are removed. */
const keptMs = 2 * mostTrafficMinutes * minuteMs;

/** The requests of an endpoint in the last minutes. */
interface EndpointTraffic {
  readonly endpoint: string;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  /**
   * Milliseconds, estimated within a bucket of the histogram. The largest bound stands for it and
   * all longer times.
   */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Traffic {
  /** From this moment, a whole minute, until now. */
  readonly from: Date;
  readonly to: Date;
  /** With the most requests first. */
  readonly endpoints: readonly EndpointTraffic[];
}

/**
 * Adds the requests of one process to the figures of all processes. The process counts in memory
 * anyway, and this stores what came since the last flush. No request waits for it.
 */
export class TrafficRecorder {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #counts: () => Promise<readonly RequestCount[]>;
  /** Requests that were stored, by their cell. */
  readonly #stored = new Map<string, number>();
  #cleanedAt = 0;

  /** @param counts the counts of the process since it began. */
  constructor(orm: MikroORM, clock: Clock, counts: () => Promise<readonly RequestCount[]>) {
    this.#orm = orm;
    this.#clock = clock;
    this.#counts = counts;
  }

  /** Stores the requests since the last flush. After a failure the next flush stores them. */
  async flush(): Promise<void> {
    const now = this.#clock.now();
    const grown = (await this.#counts()).flatMap(({ endpoint, outcome, bucket, requests }) => {
      const cell = `${endpoint} ${outcome} ${bucket}`;
      const more = requests - (this.#stored.get(cell) ?? 0);
      return more > 0 ? [{ cell, total: requests, row: { endpoint, outcome, bucket, requests: more } }] : [];
    });
    const em = this.#orm.em.fork();
    if (grown.length > 0) {
      // Sorted, so that two processes lock the rows in the same order.
      await sql(
        em,
        `insert into api_traffic as t (at, endpoint, outcome, bucket, requests)
         select date_trunc('minute', ?::timestamptz, 'UTC'), g.endpoint, g.outcome, g.bucket, g.requests
           from jsonb_to_recordset(?::jsonb) as g (endpoint text, outcome text, bucket smallint, requests bigint)
          order by g.endpoint, g.outcome, g.bucket
         on conflict (at, endpoint, outcome, bucket) do update set requests = t.requests + excluded.requests`,
        [now, JSON.stringify(grown.map(({ row }) => row))],
      );
      for (const { cell, total } of grown) this.#stored.set(cell, total);
    }
    if (now.getTime() - this.#cleanedAt < minuteMs) return;
    await sql(
      em,
      `delete from api_traffic where ctid in
         (select ctid from api_traffic where at < ? order by at limit 10000 for update skip locked)`,
      [new Date(now.getTime() - keptMs)],
    );
    this.#cleanedAt = now.getTime();
  }
}

/**
 * Reads the requests of the last minutes by endpoint: of all processes that use this database. They
 * are at most one flush behind.
 *
 * @throws AppError invalid_value for less than 1 or more than 60 minutes.
 */
export async function apiTraffic(em: EntityManager, minutes: number, now: Date): Promise<Traffic> {
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > mostTrafficMinutes) {
    throw new AppError('invalid_value', `minutes is a whole number from 1 to ${mostTrafficMinutes}`);
  }
  const from = new Date((Math.floor(now.getTime() / minuteMs) - minutes + 1) * minuteMs);
  const cells = await sql<RequestCount>(
    em,
    `select endpoint, outcome, bucket::int as bucket, sum(requests)::int as requests
       from api_traffic where at >= ? and at <= ? group by endpoint, outcome, bucket`,
    [from, now],
  );
  const endpoints = [...Map.groupBy(cells, ({ endpoint }) => endpoint)].map(([endpoint, own]) => {
    const of = (outcome: RequestCount['outcome']): number =>
      own.reduce((sum, cell) => sum + (cell.outcome === outcome ? cell.requests : 0), 0);
    const byBucket = Array.from({ length: requestBuckets.length + 1 }, (_, bucket) =>
      own.reduce((sum, cell) => sum + (cell.bucket === bucket ? cell.requests : 0), 0),
    );
    return {
      endpoint,
      requests: own.reduce((sum, { requests }) => sum + requests, 0),
      clientErrors: of('client_error'),
      serverErrors: of('server_error'),
      p50Ms: quantileMs(byBucket, 0.5),
      p99Ms: quantileMs(byBucket, 0.99),
    };
  });
  endpoints.sort((a, b) => b.requests - a.requests || (a.endpoint < b.endpoint ? -1 : 1));
  return { from, to: now, endpoints };
}

/** Assumes that requests spread evenly within a bucket, as Prometheus' histogram_quantile does. */
function quantileMs(byBucket: readonly number[], share: number): number {
  const rank = share * byBucket.reduce((sum, requests) => sum + requests, 0);
  let below = 0;
  for (const [bucket, requests] of byBucket.entries()) {
    const high = requestBuckets[bucket];
    if (high === undefined) break;
    if (requests > 0 && below + requests >= rank) {
      const low = requestBuckets[bucket - 1] ?? 0;
      return 1000 * (low + ((high - low) * (rank - below)) / requests);
    }
    below += requests;
  }
  return 1000 * (requestBuckets.at(-1) ?? 0);
}
