import type { EntityManager } from '@mikro-orm/postgresql';
import { overdueMs } from './order-search.ts';

export type AttentionKind =
  | 'held_order'
  | 'failed_order'
  | 'overdue_order'
  | 'deposit_problem'
  | 'payment_unknown'
  | 'payment_problem'
  | 'trade_stuck'
  | 'proposal_open'
  | 'chain_problem'
  | 'wallet_level';

/** Something that staff must look at. */
export interface AttentionItem {
  /** The same as long as the trouble lasts. */
  readonly id: string;
  readonly kind: AttentionKind;
  readonly orderId: string | null;
  /** Id of the order, deposit, payment or staff action, or name of the chain. */
  readonly subjectId: string;
  readonly since: Date;
  /** What is wrong, in the words of the row: a reason, a cause, a problem or a status. */
  readonly detail: string;
}

const mostItems = 1_000;
/** A node that is away for a moment mends by itself. */
const failingMs = 60_000;
/** By then the venue has been asked for the last word. */
const undecidedMs = 300_000;
/** A transaction that no block has taken by then is too cheap, or behind a gap of nonces. */
const waitingMs = 3_600_000;
/** The sale is tried again every few seconds. */
const unsoldMs = 600_000;

/** Each takes its oldest from an index of its own, so that the whole costs the same however many orders there are. */
const sources = [
  `select 'held_order' as kind, id as order_id, id::text as subject_id, held_at as since, hold_reason as detail
     from exchange_order where held_at is not null order by held_at, exchange_order.id limit ?`,
  `select 'failed_order', o.id, o.id::text, o.updated_at, e.cause
     from (select id, event_seq, updated_at from exchange_order where status = 'failed' order by updated_at, id limit ?) as o
     join order_event e on e.order_id = o.id and e.seq = o.event_seq`,
  `select 'overdue_order', id, id::text, next_action_at, status
     from exchange_order where next_action_at < ? and held_at is null order by next_action_at, exchange_order.id limit ?`,
  `select 'deposit_problem', order_id, id::text, seen_at, problem
     from deposit where problem is not null order by seen_at, deposit.id limit ?`,
  `select case problem when 'unknown' then 'payment_unknown' else 'payment_problem' end, order_id, id::text,
          coalesce(problem_since, created_at), problem
     from payment where problem is not null and ended_at is null order by problem_since, payment.id limit ?`,
  `select 'payment_problem', order_id, id::text, sent_at, 'not_in_a_block'
     from payment where state = 'sent' and sent_at < ? and problem is null
      and not exists (select from payment_attempt a
                       where a.payment_id = payment.id and a.dead_at is null and a.mined_height is not null)
    order by sent_at, payment.id limit ?`,
  `select 'trade_stuck', o.id, o.id::text, o.exchange_deadline, coalesce(t.problem, t.state)
     from exchange_order o join trade t on t.order_id = o.id and t.state = 'intended'
    where o.status = 'exchanging' and o.exchange_deadline < ? order by o.exchange_deadline, o.id limit ?`,
  // One that waits for its answer as well is above, once.
  `select 'trade_stuck', o.id, v.client_id::text, v.decided_at, 'not_sold'
     from venue_trade v left join exchange_order o on o.id = v.client_id
    where v.outcome = 'filled' and v.squared_at is null and v.decided_at < ?
      and not exists (select from trade t where t.order_id = v.client_id and t.state = 'intended')
    order by v.decided_at, v.client_id limit ?`,
  `select 'proposal_open', order_id, id::text, proposed_at, action
     from staff_action where state = 'proposed' order by proposed_at, staff_action.id limit ?`,
  `select 'chain_problem', null::uuid, chain, coalesce(failing_since, scanned_at, ?), coalesce(problem, failure)
     from chain_state where problem is not null or failing_since < ? order by 4, chain limit ?`,
  `select 'wallet_level', null::uuid, chain, outside_since,
          case when balance < low then 'low' else 'high' end || ': ' || coin || ' on ' || network
     from wallet_level where outside_since is not null order by outside_since, chain limit ?`,
];

/** Everything that staff must look at, oldest first: up to so many items, 1,000 at most. One statement. */
export async function attention(em: EntityManager, limit: number, now = new Date()): Promise<AttentionItem[]> {
  const most = Math.max(0, Math.min(limit, mostItems));
  const overdue = new Date(now.getTime() - overdueMs);
  const failing = new Date(now.getTime() - failingMs);
  const undecided = new Date(now.getTime() - undecidedMs);
  const waiting = new Date(now.getTime() - waitingMs);
  const unsold = new Date(now.getTime() - unsoldMs);
  const rows = await em.execute<(Omit<AttentionItem, 'id' | 'since'> & { ms: string | number })[]>(
    `select kind, order_id as "orderId", subject_id as "subjectId", floor(extract(epoch from since) * 1000)::bigint as ms,
            detail
       from (${sources.map((source) => `(${source})`).join('\nunion all\n')}) as item
      order by since, kind, subject_id limit ?`,
    [
      most,
      most,
      overdue,
      most,
      most,
      most,
      waiting,
      most,
      undecided,
      most,
      unsold,
      most,
      most,
      now,
      failing,
      most,
      most,
      most,
    ],
  );
  return rows.map(({ ms, ...item }) => {
    return { id: `${item.kind}:${item.subjectId}`, ...item, since: new Date(Number.parseInt(String(ms), 10)) };
  });
}
