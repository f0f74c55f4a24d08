// Which payments of commission may go on, as SQL for the statements that select payments.

/**
 * SQL: whether the month of a commission payment may be paid now. `month` is the alias of its row.
 * Staff do not hold it, and its partner has not lost the address. Its partner is active, or members
 * decided to pay it nevertheless. It was not marked as not covered.
 */
export const isPayableSql = (month: string): string => `
  (${month}.state = 'payable' and ${month}.held_at is null and ${month}.problem is distinct from 'not_covered'
   and (${month}.approved_inactive
        or exists (select from partner earner where earner.id = ${month}.partner_id and earner.status = 'active'))
   and not exists (select from commission_address lost
                    where lost.partner_id = ${month}.partner_id and lost.old_is_lost
                      and lost.took_effect_at is null and lost.cancelled_at is null))`;

/**
 * SQL: whether the balance of its partner covers a commission payment `p`, network fee included,
 * with the partner's begun payments. `beginning` is a condition on payments `q` that begin together
 * with it.
 */
export function isEarned(beginning = 'false'): string {
  return `exists (
    select from commission_statement earning
     where earning.payment_id = p.id
       and (select coalesce(-sum(l.amount), 0) from ledger_line l
             where l.account = 'partner:' || earning.partner_id and l.coin = p.coin and l.network = p.network)
           >= (select sum(q.amount + q.fee_charged)
                 from commission_statement other join payment q on q.id = other.payment_id
                where other.partner_id = earning.partner_id and q.coin = p.coin and q.network = p.network
                  and (q.id = p.id or q.state in ('prepared', 'signed', 'sent')
                       or (q.state = 'ready' and ${beginning}))))`;
}
