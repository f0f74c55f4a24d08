import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import { leavesUsSql } from '../settlement/rows/payment.entity.ts';

export interface PayoutHold {
  readonly id: string;
  readonly cause: 'reconciliation' | 'client_debit' | 'venue_loss' | 'staff';
  /** Both null when the hold covers every asset. */
  readonly coin: string | null;
  readonly network: string | null;
  readonly detail: string;
  readonly openedAt: Date;
  /** Null when the gateway opened the hold, or an operator by command. */
  readonly openedBy: string | null;
  /** Whether the last check still found the cause. A hold by staff lasts until it is ended. */
  readonly isStanding: boolean;
  /** Payments that leave us, are ready and wait for the hold, counted up to 10,000. */
  readonly waiting: number;
  readonly closedAt: Date | null;
  readonly proposedBy: string | null;
  readonly closedBy: string | null;
  readonly isAcknowledged: boolean;
}

/**
 * The value of automatic payments of an asset that began in an hour and in a day, in US dollars.
 */
export interface PayoutSpending {
  /** Both null for all assets together. */
  readonly coin: string | null;
  readonly network: string | null;
  readonly hourUsd: string;
  readonly dayUsd: string;
  /** Payments that wait for room in this limit. */
  readonly waiting: number;
  readonly waitingSince: Date | null;
}

const mostCounted = 10_000;
const minuteMs = 60_000;

const ms = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

type HoldRow = Omit<PayoutHold, 'openedAt' | 'closedAt'> & { openedMs: string; closedMs: string | null };

const holdSql = `
  select h.id, h.cause, h.coin, h.network, h.detail, ${ms('h.opened_at')} as "openedMs", h.opened_by as "openedBy",
         h.cleared_at is null and h.closed_at is null as "isStanding", ${ms('h.closed_at')} as "closedMs",
         h.proposed_by as "proposedBy", h.closed_by as "closedBy", h.acknowledged as "isAcknowledged",
         case when h.closed_at is null then (
           select count(*)::int from (
             select from payment p
              where p.state = 'ready' and ${leavesUsSql('p')}
                and (h.coin is null or (p.coin = h.coin and p.network = h.network)) limit ${mostCounted}) as part)
              else 0 end as waiting
    from payout_hold h`;

/** Lists the open holds, oldest first. One statement. */
export async function openHolds(em: EntityManager): Promise<PayoutHold[]> {
  const rows = await sql<HoldRow>(em, `${holdSql} where h.closed_at is null order by h.opened_at, h.id`);
  return rows.map(holdOf);
}

/** Reads holds. Unknown ids are left out. One statement. */
export async function holdsById(em: EntityManager, ids: readonly string[]): Promise<PayoutHold[]> {
  const rows = await sql<HoldRow>(em, `${holdSql} where h.id in (${ids.map(() => '?').join(', ')})`, [...ids]);
  return rows.map(holdOf);
}

/**
 * Reads the used part of the limits: of all assets first, then of each asset with spending or
 * waiting payments. One statement.
 */
export async function payoutSpending(em: EntityManager, now: Date): Promise<PayoutSpending[]> {
  const rows = await sql<Omit<PayoutSpending, 'waitingSince'> & { waitingMs: string | null }>(
    em,
    `with spent as (
       select coin, network, sum(usd) filter (where minute > ?) as hour, sum(usd) as day
         from payout_spent where minute > ? group by coin, network
     ), waits as (
       select case problem when 'payout_limit' then '' else coin end as coin,
              case problem when 'payout_limit' then '' else network end as network,
              count(*)::int as waiting, min(problem_since) as since
         from payment where state = 'ready' and problem in ('payout_limit', 'payout_limit_asset') group by 1, 2
     )
     select nullif(coin, '') as coin, nullif(network, '') as network, coalesce(s.hour, 0)::text as "hourUsd",
            coalesce(s.day, 0)::text as "dayUsd", coalesce(w.waiting, 0) as waiting, ${ms('w.since')} as "waitingMs"
       from spent s full join waits w using (coin, network)
       full join (values ('', '')) as every (coin, network) using (coin, network)
      order by coin nulls first, network`,
    [new Date(now.getTime() - 61 * minuteMs), new Date(now.getTime() - 1_441 * minuteMs)],
  );
  return rows.map(({ waitingMs, ...row }) => ({ ...row, waitingSince: dateOf(waitingMs) }));
}

function holdOf({ openedMs, closedMs, ...row }: HoldRow): PayoutHold {
  return { ...row, openedAt: dateOf(openedMs) ?? new Date(0), closedAt: dateOf(closedMs) };
}

function dateOf(milliseconds: string | number | null): Date | null {
  return milliseconds === null ? null : new Date(Number.parseInt(String(milliseconds), 10));
}
