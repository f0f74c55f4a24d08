import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDecimal, parseDecimal } from '../../../base/money.ts';
import type { OrderService } from '../../../orders/order-service.ts';
import type { OrderReads } from '../../../orders/read/order-reads.ts';
import { numberSource } from '../api/body.ts';
import { repeatable } from '../api/idempotency-header.ts';
import { apiRoot } from './contract.ts';
import type { Acting, Handler } from './handler.ts';
import { answerOf, changeRequest } from './order-changes.ts';

/** POST /partner/orders/{order_id}/actions */
export function actOnOrderHandler(
  service: OrderService,
  orders: OrderReads,
  acting: Pick<Acting, 'audit'>,
): Handler<'actOnOrder'> {
  const request = changeRequest(orders);
  const answer = answerOf(orders);
  return async ({ path, body, call }) => {
    const { action_id: actionId, action } = body;
    const amountTo = body.amount_to === undefined ? null : parseDecimal(numberSource(body, 'amount_to'));
    const orderTarget = (orderId: string): string => `POST ${apiRoot}/partner/orders/${orderId}/actions`;
    // Refuses a malformed key before the order is looked up.
    repeatable(call, orderTarget(''));
    const repeated = (orderId: string) => repeatable(call, orderTarget(orderId));
    const audit = (em: EntityManager, orderId: string) => {
      const sent = { action_id: actionId, action, ...(amountTo && { amount_to: formatDecimal(amountTo) }) };
      return acting.audit(em, call, 'actOnOrder', { target: `order:${orderId}`, after: sent });
    };
    const asked = { ...request(path.order_id, call), repeatable: repeated, audit };
    return answer(call, await service.answer(asked, { actionId, action, amountTo }));
  };
}
