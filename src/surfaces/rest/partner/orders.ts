import { type Big, jsonNumber, parseDecimal } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { OrderCreation } from '../../../orders/order-creation.ts';
import type { CreateOrder } from '../../../orders/order-drafts.ts';
import type { OrderView } from '../../../orders/order-statements.ts';
import { isWhole, type OrderOptions } from '../../../orders/order-terms.ts';
import type { OrderReads } from '../../../orders/read/order-reads.ts';
import { numberSource } from '../api/body.ts';
import { taggedAnswer } from '../api/etag.ts';
import { repeatable, replayedHeader } from '../api/idempotency-header.ts';
import { type Json, json } from '../api/json.ts';
import { keyOf, scopeOf } from './authenticate.ts';
import { apiRoot, type Body } from './contract.ts';
import type { Handler, Refusal } from './handler.ts';

type OrderBody = components['schemas']['Order'];

/** What a create is for, in the fingerprint of a repeatable request. */
const createTarget = `POST ${apiRoot}/partner/orders`;

/** POST /partner/orders */
export function createOrderHandler(orders: OrderCreation): Handler<'createOrder'> {
  return async (request) => {
    const caller = keyOf(request.call);
    const created = await orders.create(
      orderRequest(request.body),
      caller,
      repeatable(request.call, createTarget),
      (order) => json(orderBody(order)),
    );
    return {
      status: 201,
      // The same function wrote the stored text, in this request or in the first one.
      body: created.body as Json<OrderBody>,
      headers: {
        Location: `${apiRoot}/partner/orders/${created.orderId}`,
        ...replayedHeader(created.isReplayed),
      },
    };
  };
}

/** Finds the faults of a create beyond the contract. */
export function createOrderRefusal(orders: OrderCreation): Refusal<'createOrder'> {
  return ({ body, call }) => orders.refusal(orderRequest(body), keyOf(call));
}

/** GET /partner/orders/{order_id} */
export function getOrderHandler(orders: OrderReads): Handler<'getOrder'> {
  return async (request) => {
    const order = await orders.find(scopeOf(request.call), request.path.order_id);
    return taggedAnswer(request.call, json(orderBody(order)));
  };
}

/** An order with exactly the members of the contract's Order, in their order. */
export function orderBody(order: OrderView): OrderBody {
  return {
    id: order.id,
    short_id: order.shortId,
    status: order.status,
    created_at: order.createdAt,
    expires_at: order.expiresAt,
    coin_from: order.coinFrom,
    network_from: order.networkFrom,
    coin_to: order.coinTo,
    network_to: order.networkTo,
    amount_from_expected: jsonNumber(order.amountFromExpected),
    amount_to_expected: jsonNumber(order.amountToExpected),
    rate_type: order.rateType,
    rate_quoted: jsonNumber(order.rateQuoted),
    deposit_address: order.depositAddress,
    deposit_address_tag: order.depositAddressTag,
    recipient_address: order.recipientAddress,
    deposit_txid: order.depositTxid,
    deposit_confirmations: order.depositConfirmations,
    deposit_confirmations_required: order.depositConfirmationsRequired,
    payout_txid: order.payoutTxid,
  };
}

export function orderRequest(body: Body<'createOrder'>): CreateOrder {
  const members = {
    coinFrom: body.coin_from,
    networkFrom: body.network_from,
    coinTo: body.coin_to,
    networkTo: body.network_to,
    assetFrom: body.asset_from,
    assetTo: body.asset_to,
    amountFrom: exactly(body, 'amount_from'),
    rateType: body.rate_type,
    recipientAddress: body.recipient_address,
    recipientAddressTag: body.recipient_address_tag ?? null,
    refundAddress: body.refund_address ?? null,
    refundAddressTag: body.refund_address_tag ?? null,
  };
  const options = orderOptions(body);
  if (options) return { ...members, options };
  if (!isWhole(members)) throw new Error('the contract let through an order without a pair');
  return members;
}

/** The optional members of a create. Null when it has none of them. */
function orderOptions(body: Body<'createOrder'>): OrderOptions | null {
  if (!optionNames.some((name) => body[name] !== undefined)) return null;
  return {
    quoteId: body.quote_id ?? null,
    externalId: body.external_id ?? null,
    metadata: body.metadata ?? null,
    markupBps: body.markup_bps ?? null,
    minAmountTo: exactly(body, 'min_amount_to') ?? null,
    policy: body.policy ?? null,
    country: body.country ?? null,
  };
}

const optionNames = [
  'quote_id',
  'external_id',
  'metadata',
  'markup_bps',
  'min_amount_to',
  'policy',
  'country',
] as const satisfies (keyof Body<'createOrder'>)[];

/** A number of the body with all its digits. Undefined when it is absent. */
function exactly(body: Body<'createOrder'>, member: 'amount_from' | 'min_amount_to'): Big | undefined {
  if (body[member] === undefined) return undefined;
  const amount = parseDecimal(numberSource(body, member));
  if (!amount) throw new Error('parseBody let through a number that is not exact');
  return amount;
}
