import type { EntityManager } from '@mikro-orm/postgresql';
import { systemClock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { overdueMs } from '../orders/read/attention-troubles.ts';

/** A chain as its scanner last saw it. */
interface ChainStatus {
  readonly chain: string;
  readonly head: number;
  readonly height: number;
  /** Blocks that the scanner has not read yet. */
  readonly lag: number;
  readonly problem: string | null;
  /** Why, and since when, the chain's node gives no answer. */
  readonly failure: string | null;
  readonly failingSince: Date | null;
  /** The process that holds the chain's lease. */
  readonly leaseOwner: string | null;
  readonly scannedAt: Date | null;
}

/** A hot wallet's balance as a worker last saw it. Amounts are decimal text. */
interface WalletStatus {
  readonly chain: string;
  readonly coin: string;
  readonly network: string;
  readonly balance: string;
  readonly low: string | null;
  readonly high: string | null;
  readonly seenAt: Date;
}

interface WorkerStatus {
  readonly id: string;
  readonly seenAt: Date;
}

interface QueueStatus {
  readonly name: string;
  readonly waiting: number;
  /** How long the job that is most overdue has waited beyond its time. Null when none waits. */
  readonly oldestSec: number | null;
}

/** The newest finished reconciliation. */
interface ReconciliationStatus {
  readonly endedAt: Date;
  readonly checks: number;
  readonly differences: number;
  /** Number of differences, by check. */
  readonly byCheck: Readonly<Record<string, number>>;
}

export interface SystemStatus {
  readonly chains: ChainStatus[];
  /** Hot wallets of live chains only. */
  readonly wallets: WalletStatus[];
  readonly workers: WorkerStatus[];
  /** Empty before a worker has created the queue. */
  readonly queues: QueueStatus[];
  /** Orders that were due more than 10 minutes ago and are not on hold, counted up to 10,000. */
  readonly overdueOrders: number;
  readonly statistics: {
    /** Events that the statistics lack, counted up to 10,000. */
    readonly eventsBehind: number;
    /** When the oldest of them happened. */
    readonly behindSince: Date | null;
    readonly rolledAt: Date | null;
  };
  /** Null before the first reconciliation. */
  readonly reconciliation: ReconciliationStatus | null;
}

const mostCounted = 10_000;

/** Times as whole milliseconds, which database drivers cannot misread. */
const ms = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

/**
 * Reads the state of the system. Six statements at any size, or seven once the job queue exists.
 */
export async function systemStatus(em: EntityManager, now = systemClock.now()): Promise<SystemStatus> {
  const chains = await sql<
    Omit<ChainStatus, 'scannedAt' | 'failingSince'> & { scannedMs: string | null; failingMs: string | null }
  >(
    em,
    `select chain, head::int as head, height::int as height, greatest(head - height, 0)::int as lag, problem,
            case when lease_until > now() then lease_owner end as "leaseOwner", ${ms('scanned_at')} as "scannedMs",
            failure, ${ms('failing_since')} as "failingMs"
       from chain_state order by chain`,
  );
  const wallets = await sql<Omit<WalletStatus, 'seenAt'> & { seenMs: string }>(
    em,
    `select chain, coin, network, trim_scale(balance)::text as balance, trim_scale(low)::text as low,
            trim_scale(high)::text as high, ${ms('seen_at')} as "seenMs" from wallet_level order by chain, coin`,
  );
  const workers = await sql<{ id: string; seenMs: string }>(
    em,
    `select id, ${ms('seen_at')} as "seenMs" from worker order by id`,
  );
  const [counts] = await sql<{
    overdue: number;
    behind: number;
    behindMs: string | null;
    rolledMs: string | null;
    hasQueue: boolean;
  }>(
    em,
    `select (select count(*)::int from ((select from exchange_order
              where next_action_at < ? and held_at is null and failing_since is null limit ${mostCounted})
              union all (select from exchange_order where failing_since < ? limit ${mostCounted})) as part) as overdue,
            behind.count as behind, behind.ms as "behindMs", ${ms('p.rolled_at')} as "rolledMs",
            to_regclass('pgboss.job') is not null as "hasQueue"
       from order_stat_progress p
      cross join lateral (
        select count(*)::int as count, ${ms('min(at)')} as ms
          from (select e.at from order_event e where (e.xid, e.order_id, e.seq) > (p.xid, p.order_id, p.seq)
                 order by e.xid, e.order_id, e.seq limit ${mostCounted}) as part) as behind`,
    [new Date(now.getTime() - overdueMs), new Date(now.getTime() - overdueMs)],
  );
  const [reconciled] = await sql<{ endedMs: string; checks: number; byCheck: Record<string, number> }>(
    em,
    `select ${ms('ended_at')} as "endedMs", checks, differences as "byCheck"
       from reconciliation where ended_at is not null order by ended_at desc limit 1`,
  );
  const queues = counts?.hasQueue ? await queueStatus(em) : [];
  return {
    chains: chains.map(({ scannedMs, failingMs, ...chain }) => {
      return { ...chain, scannedAt: dateOf(scannedMs), failingSince: dateOf(failingMs) };
    }),
    wallets: wallets.map(({ seenMs, ...wallet }) => ({ ...wallet, seenAt: dateOf(seenMs) ?? now })),
    workers: workers.map(({ id, seenMs }) => ({ id, seenAt: dateOf(seenMs) ?? now })),
    queues,
    overdueOrders: counts?.overdue ?? 0,
    statistics: {
      eventsBehind: counts?.behind ?? 0,
      behindSince: dateOf(counts?.behindMs ?? null),
      rolledAt: dateOf(counts?.rolledMs ?? null),
    },
    reconciliation: reconciled
      ? {
          endedAt: dateOf(reconciled.endedMs) ?? now,
          checks: reconciled.checks,
          differences: Object.values(reconciled.byCheck).reduce((sum, count) => sum + count, 0),
          byCheck: reconciled.byCheck,
        }
      : null,
  };
}

/** Counts the waiting jobs: their state comes before 'active' in the queue's own enumeration. */
async function queueStatus(em: EntityManager): Promise<QueueStatus[]> {
  return sql<QueueStatus>(
    em,
    `select q.name, count(j.id)::int as waiting,
            greatest(extract(epoch from now() - min(j.start_after)), case when count(j.id) > 0 then 0 end)::int as "oldestSec"
       from pgboss.queue q left join pgboss.job j on j.name = q.name and j.state < 'active'
      group by q.name order by q.name`,
  );
}

function dateOf(milliseconds: string | number | null): Date | null {
  return milliseconds === null ? null : new Date(Number.parseInt(String(milliseconds), 10));
}
