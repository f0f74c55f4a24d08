import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';

// Outcomes that partners force on the payments of their orders. The table is empty except where the
// sandbox is served by API.

/** Why a payment can be forced to wait, unsigned, by the names of its problems elsewhere. */
export const forcedProblems = ['would_fail', 'gas_above_maximum', 'token_refused', 'signer_unavailable'] as const;
export type ForcedProblem = (typeof forcedProblems)[number];

/** SQL: whether a waiting transaction `t` is a payment that has to fail in its block. */
export const isForcedToFail = (t: string): string => `exists (
  select from payment_attempt a join payment p on p.id = a.payment_id
    join sandbox_outcome f on f.order_id = p.order_id and f.outcome = p.kind || '_dead'
   where a.chain = ${t}.chain and a.txid = ${t}.txid)`;

/** SQL: what a payment meets before it is built: a problem, or a high fee. No row for nothing. */
export const forcedOnPayment = `select f.outcome from payment p join sandbox_outcome f on f.order_id = p.order_id
  where p.id = ? and f.outcome in ('fee_spike', ${forcedProblems.map((name) => `'${name}'`).join(', ')})
  order by f.outcome = 'fee_spike', f.at desc limit 1`;

/**
 * SQL: whether a partner took a deposit of an order out of its chain by a reorganisation. `order`
 * is the order's id. What such an order lacks is no loss of the house.
 */
export const hasForcedReorg = (order: string): string => `exists (
  select from deposit taken join sandbox_tx f on f.chain = taken.chain and f.txid = taken.txid and f.forced
   where taken.order_id = ${order})`;

/**
 * Loses the transactions that were just accepted and are payouts that no node is to find. The
 * account's later transactions go without them. Once the order has failed, the same bytes are kept
 * when they come again.
 */
export async function loseForced(
  em: EntityManager,
  chain: string,
  txs: readonly { readonly txid: string }[],
): Promise<void> {
  await sql(
    em,
    `update sandbox_tx t set state = 'dropped', forced = true
      where t.chain = ? and t.txid in (select jsonb_array_elements_text(?::jsonb)) and t.state = 'mempool' and exists (
        select from payment_attempt a join payment p on p.id = a.payment_id and p.kind = 'payout'
          join exchange_order o on o.id = p.order_id and o.status = 'sending'
          join sandbox_outcome f on f.order_id = o.id and f.outcome = 'payout_unknown'
         where a.chain = t.chain and a.txid = t.txid)`,
    [chain, JSON.stringify(txs.map(({ txid }) => txid))],
  );
}
