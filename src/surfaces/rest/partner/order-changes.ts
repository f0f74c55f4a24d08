import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDecimal, parseDecimal } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { ChangedOrder, ChangeRequest } from '../../../orders/locked-changes.ts';
import type { OrderService } from '../../../orders/order-service.ts';
import type { OrderReads } from '../../../orders/read/order-reads.ts';
import { numberSource } from '../api/body.ts';
import type { Call } from '../api/call.ts';
import { repeatable, replayedHeader } from '../api/idempotency-header.ts';
import type { Json } from '../api/json.ts';
import { callerOf, scopeOf } from './authenticate.ts';
import { apiRoot } from './contract.ts';
import type { Acting, Handler } from './handler.ts';
import { detailsBody } from './order-lists.ts';

/**
 * Stands for the member with the link of an order's page in a stored answer, so that a database
 * tells no token and a revoked link never comes back. No text of a partner contains it: values of
 * metadata are strings, and quotation marks inside them are escaped.
 */
const withheldMember = '"public_url":true';

type DetailsBody = components['schemas']['OrderDetails'];

/** PATCH /partner/orders/{order_id} */
export function changeOrderHandler(service: OrderService, orders: OrderReads): Handler<'changeOrder'> {
  const request = changeRequest(orders);
  const answer = answerOf(orders);
  return async ({ path, body, call }) =>
    answer(call, await service.setMetadata(request(path.order_id, call), body.metadata));
}

/** PUT /partner/orders/{order_id}/refund-address */
export function setRefundAddressHandler(service: OrderService, orders: OrderReads): Handler<'setRefundAddress'> {
  const request = changeRequest(orders);
  const answer = answerOf(orders);
  return async ({ path, body, call }) => {
    const sent = { address: body.refund_address, tag: body.refund_address_tag ?? null };
    return answer(call, await service.setRefundAddress(request(path.order_id, call), sent));
  };
}

/** POST /partner/orders/{order_id}/cancel */
export function cancelOrderHandler(service: OrderService, orders: OrderReads): Handler<'cancelOrder'> {
  const request = changeRequest(orders);
  const answer = answerOf(orders);
  return async ({ path, call }) => {
    const repeated = repeatableFor(call, 'cancel');
    return answer(call, await service.cancel({ ...request(path.order_id, call), repeatable: repeated }));
  };
}

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
    const repeated = repeatableFor(call, 'actions');
    const audit = (em: EntityManager, orderId: string) => {
      const sent = { action_id: actionId, action, ...(amountTo && { amount_to: formatDecimal(amountTo) }) };
      return acting.audit(em, call, 'actOnOrder', { target: `order:${orderId}`, after: sent });
    };
    const asked = { ...request(path.order_id, call), repeatable: repeated, audit };
    return answer(call, await service.answer(asked, { actionId, action, amountTo }));
  };
}

/** POST /partner/orders/{order_id}/page */
export function renewOrderPageHandler(service: OrderService, orders: OrderReads): Handler<'renewOrderPage'> {
  const request = changeRequest(orders);
  const answer = answerOf(orders);
  return async ({ path, call }) => {
    const repeated = repeatableFor(call, 'page');
    return answer(call, await service.renewPage({ ...request(path.order_id, call), repeatable: repeated }));
  };
}

/** DELETE /partner/orders/{order_id}/page */
export function revokeOrderPageHandler(service: OrderService, orders: OrderReads): Handler<'revokeOrderPage'> {
  const request = changeRequest(orders);
  const answer = answerOf(orders);
  return async ({ path, call }) => answer(call, await service.revokePage(request(path.order_id, call)));
}

/**
 * Makes the function that identifies a repeatable POST below an order by the order's id.
 *
 * @throws AppError for a malformed key, before the order is looked up.
 */
function repeatableFor(call: Call, operation: 'cancel' | 'actions' | 'page') {
  const keyFor = (orderId: string) => repeatable(call, `POST ${apiRoot}/partner/orders/${orderId}/${operation}`);
  keyFor('');
  return keyFor;
}

/** Makes the function that turns a call into a change whose answer is the order's details. */
function changeRequest(orders: OrderReads): (orderName: string, call: Call) => ChangeRequest {
  return (orderName, call) => {
    const scope = scopeOf(call);
    return {
      orderName,
      caller: callerOf(call),
      answer: async (em, orderId) => {
        const body = detailsBody(await orders.detailsIn(scope, em, orderId));
        return JSON.stringify({ ...body, public_url: body.public_url === null ? null : true });
      },
    };
  };
}

/**
 * Makes the function that answers a change: with the details, as they were stored or just written,
 * and with the present link of the order's page.
 */
function answerOf(orders: OrderReads) {
  return async (call: Call, { orderId, body, isReplayed }: ChangedOrder) => {
    const headers = replayedHeader(isReplayed);
    if (!body.includes(withheldMember)) return { status: 200 as const, body: body as Json<DetailsBody>, headers };
    const url = JSON.stringify(await orders.publicUrl(scopeOf(call), orderId));
    const whole = body.replace(withheldMember, () => `"public_url":${url}`);
    return { status: 200 as const, body: whole as Json<DetailsBody>, headers };
  };
}
