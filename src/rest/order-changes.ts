import type { Document } from 'openapi-backend';
import type { components } from '../generated/openapi.ts';
import type { ChangedOrder, ChangeRequest } from '../orders/locked-changes.ts';
import type { OrderChanges } from '../orders/order-changes.ts';
import type { PartnerOrders } from '../reports/partner-orders.ts';
import type { Handler } from './api.ts';
import { callerOf } from './authenticate.ts';
import type { Call } from './call.ts';
import { apiRoot, type Json } from './contract.ts';
import { repeatable, replayedHeader } from './idempotency-header.ts';
import { detailsWriter } from './order-lists.ts';

type DetailsBody = components['schemas']['OrderDetails'];

/** PATCH /partner/orders/{order_id} */
export function changeOrderHandler(
  document: Document,
  changes: OrderChanges,
  orders: PartnerOrders,
): Handler<'changeOrder'> {
  const request = changeRequest(document, orders);
  return async ({ path, body, call }) =>
    answerOf(await changes.setMetadata(request(path.order_id, call), body.metadata));
}

/** PUT /partner/orders/{order_id}/refund-address */
export function setRefundAddressHandler(
  document: Document,
  changes: OrderChanges,
  orders: PartnerOrders,
): Handler<'setRefundAddress'> {
  const request = changeRequest(document, orders);
  return async ({ path, body, call }) => {
    const sent = { address: body.refund_address, tag: body.refund_address_tag ?? null };
    return answerOf(await changes.setRefundAddress(request(path.order_id, call), sent));
  };
}

/** POST /partner/orders/{order_id}/cancel */
export function cancelOrderHandler(
  document: Document,
  changes: OrderChanges,
  orders: PartnerOrders,
): Handler<'cancelOrder'> {
  const request = changeRequest(document, orders);
  return async ({ path, call }) => {
    const orderTarget = (orderId: string): string => `POST ${apiRoot}/partner/orders/${orderId}/cancel`;
    // Made once for its refusal of a malformed key, which needs no order.
    repeatable(call, orderTarget(''));
    const repeated = (orderId: string) => repeatable(call, orderTarget(orderId));
    return answerOf(await changes.cancel({ ...request(path.order_id, call), repeatable: repeated }));
  };
}

/** Makes the function that turns a call into a change whose answer is the order's details. */
export function changeRequest(
  document: Document,
  orders: PartnerOrders,
): (orderName: string, call: Call) => ChangeRequest {
  const write = detailsWriter(document);
  return (orderName, call) => {
    const caller = callerOf(call);
    return {
      orderName,
      caller,
      answer: async (em, orderId) => write(await orders.detailsIn(em, orderId, caller.partner.id)),
    };
  };
}

/** The answer to a change: the details, as they were stored or just written. */
export function answerOf({ body, isReplayed }: ChangedOrder) {
  return { status: 200 as const, body: body as Json<DetailsBody>, headers: replayedHeader(isReplayed) };
}
