import type { EntityManager } from '@mikro-orm/postgresql';

// Outcomes that partners force on the payments of their orders. The table is empty except where the
// sandbox is served by API.

/** SQL: whether a waiting transaction `t` is a payment that has to fail in its block. */
export const isForcedToFail = (t: string): string => `exists (
  select from payment_attempt a join payment p on p.id = a.payment_id
    join sandbox_outcome f on f.order_id = p.order_id and f.outcome = p.kind || '_dead'
   where a.chain = ${t}.chain and a.txid = ${t}.txid)`;

/** SQL: a row when the payment meets a high fee. */
export const isFeeForced = `select 1 as forced from payment p
   join sandbox_outcome f on f.order_id = p.order_id and f.outcome = 'fee_spike' where p.id = ?`;

/**
 * Loses a transaction that was just accepted, when it is a payout that no node is to find. Once its
 * order has failed, the same bytes are kept when they come again: the account's later transactions
 * wait for them.
 */
export async function loseForced(em: EntityManager, chain: string, txid: string): Promise<void> {
  await em.execute(
    `update sandbox_tx t set state = 'dropped'
      where t.chain = ? and t.txid = ? and t.state = 'mempool' and exists (
        select from payment_attempt a join payment p on p.id = a.payment_id and p.kind = 'payout'
          join exchange_order o on o.id = p.order_id and o.status = 'sending'
          join sandbox_outcome f on f.order_id = o.id and f.outcome = 'payout_unknown'
         where a.chain = t.chain and a.txid = t.txid)`,
    [chain, txid],
  );
}
