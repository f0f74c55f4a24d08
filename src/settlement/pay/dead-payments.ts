import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { Order } from '../../orders/order.entity.ts';
import { Deposit } from '../rows/deposit.entity.ts';
import type { Payment } from '../rows/payment.entity.ts';
import { showDeadCommission } from './commission-months.ts';
import { type LockedPayment, noteProblem } from './payment-writer.ts';
import { noteDeadSweep } from './sweep-refusals.ts';

/** Ends payments without a booking, for a reason. Their orders, if any, continue from there. */
export async function endDead(
  em: EntityManager,
  ending: readonly LockedPayment[],
  problem: string,
  now: Date,
): Promise<void> {
  for (const { payment, order } of ending) {
    noteProblem(payment, problem, now);
    Object.assign(payment, { state: 'dead', endedAt: now, nextActionAt: null });
    if (order) order.nextActionAt = now;
    await showDeadPayment(em, payment, order);
  }
}

/**
 * Shows the death of a payment that no order status shows. A refund besides the order's own is
 * marked on its deposit, and staff decide. The deposits of a dead sweep become free for the next
 * one. The month of dead commission stays payable.
 */
export async function showDeadPayment(em: EntityManager, payment: Payment, order: Order | null): Promise<void> {
  const { id, kind, leg, depositId } = payment;
  if (kind === 'commission') await showDeadCommission(em, payment);
  if (kind === 'sweep') {
    // Of a deposit of many outputs, a later sweep may have taken the last ones.
    await sql(
      em,
      `update deposit set swept_by = null
        where id in (select id from deposit where swept_by = ?
                      union
                     select o.deposit_id from payment p cross join unnest(p.sources) as s (key)
                       join deposit_part o on o.chain = p.chain and o.key = s.key
                      where p.id = ?)`,
      [id, id],
    );
    await noteDeadSweep(em, payment);
  }
  if (kind !== 'refund' || depositId === null) return;
  if (leg === 'main' && order?.depositId === depositId) return;
  const deposit = await em.findOneOrFail(Deposit, { id: depositId });
  deposit.problem = 'refund_failed';
}
