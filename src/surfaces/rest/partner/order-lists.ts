import { AppError } from '../../../base/errors.ts';
import { jsonNumber } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { PartnerScope } from '../../../orders/order-scope.ts';
import type {
  ActionRequired,
  DepositDetails,
  OrderDetails,
  PaymentDetails,
} from '../../../orders/read/order-details.ts';
import type {
  ListedOrder,
  OrderEventView,
  OrderPage,
  OrderReads,
  WholeOrder,
} from '../../../orders/read/order-reads.ts';
import { newestFirst } from '../../../orders/read/order-walk.ts';
import { refundSentences } from '../../../orders/read/refund-reasons.ts';
import { amountsAsText } from '../api/amounts.ts';
import { json } from '../api/json.ts';
import { moment, plainText, wholeNumber } from '../api/query-values.ts';
import { callerOf, scopeOf } from './authenticate.ts';
import type { Query } from './contract.ts';
import type { Handler } from './handler.ts';
import { orderBody } from './orders.ts';

type Schemas = components['schemas'];

/** A page ends before an answer grows beyond this. */
const mostBytes = 1_048_576;
/** The bytes of an answer without its orders. */
const envelopeBytes = 1_024;
const usualLimit = 20;

/** GET /partner/orders */
export function listOrdersHandler(orders: OrderReads): Handler<'listOrders'> {
  return async ({ query, call }) => {
    const page = await pageOf(orders, scopeOf(call), query);
    const data: Schemas['ListedOrder'][] = [];
    let bytes = envelopeBytes;
    for (const { row, before } of page.orders) {
      const listed = listedBody(row);
      bytes += Buffer.byteLength(call.wantsTextAmounts ? amountsAsText(json(listed)) : json(listed)) + 1;
      if (bytes > mostBytes && data.length > 0) {
        return { status: 200, body: json({ data, has_more: true, next_cursor: before() }) };
      }
      data.push(listed);
    }
    return { status: 200, body: json({ data, has_more: page.hasNext, next_cursor: page.nextCursor }) };
  };
}

function listedBody({ order, details }: ListedOrder): Schemas['ListedOrder'] {
  return { ...orderBody(order), ...(details && { details: detailsBody(details) }) };
}

/** GET /partner/orders/{order_id}/details */
export function getOrderDetailsHandler(orders: OrderReads): Handler<'getOrderDetails'> {
  return async ({ path, call }) => {
    const whole = await orders.whole(scopeOf(call), path.order_id);
    const details = detailsBody(whole.details);
    const caller = callerOf(call);
    if (caller.kind === 'key') return { status: 200, body: json(details) };
    return { status: 200, body: json({ ...details, people: peopleBody(whole, caller.partner.name) }) };
  };
}

/** What only people of the partner see of an order: where it pays, and why it is refunded. */
function peopleBody({ order, details, destinations }: WholeOrder, partnerName: string): Schemas['OrderPeople'] {
  const { refundReason, refunds } = details;
  return {
    recipient_address_tag: destinations.recipientTag,
    refund_address: destinations.refundAddress,
    refund_address_tag: destinations.refundTag,
    refund_reason: refundReason && refundSentences(refundReason, { ...order, partnerName }).join(' '),
    refunded_to: refunds.map(({ address, tag }) => ({ address, tag })),
  };
}

/** GET /partner/orders/{order_id}/events */
export function listOrderEventsHandler(orders: OrderReads): Handler<'listOrderEvents'> {
  return async ({ path, call }) => {
    const { events, hasMore } = await orders.events(scopeOf(call), path.order_id);
    return { status: 200, body: json({ data: events.map(eventBody), has_more: hasMore }) };
  };
}

function eventBody(event: OrderEventView): Schemas['OrderEvent'] {
  const { seq, eventId, type, status, previousStatus, cause, at } = event;
  return { seq, event_id: eventId, type, status, previous_status: previousStatus, cause, at };
}

/**
 * The page that a query asks for.
 *
 * @throws AppError invalid_value for a time that does not exist, or text that no order has.
 */
async function pageOf(
  orders: OrderReads,
  scope: PartnerScope,
  query: Query<'listOrders'>,
): Promise<OrderPage<ListedOrder>> {
  const sort = query.sort ?? 'created';
  if (sort === 'created' && query.updated_since !== undefined) {
    throw new AppError('invalid_value', 'updated_since goes with sort=updated');
  }
  const filter = {
    statuses: query.status ?? null,
    names: query.ids ?? null,
    externalId: plainText('external_id', query.external_id),
    createdFrom: moment('created_from', query.created_from),
    createdTo: moment('created_to', query.created_to),
    coinFrom: plainText('coin_from', query.coin_from),
    coinTo: plainText('coin_to', query.coin_to),
    coin: plainText('coin', query.coin),
  };
  const since = moment('updated_since', query.updated_since);
  const limit = wholeNumber(query.limit, usualLimit);
  const cursor = query.cursor ?? null;
  const withDetails = query.include?.includes('details') ?? false;
  if (sort === 'updated') return orders.moved(scope, { filter, since, limit, cursor, withDetails });
  return orders.list(scope, { filter, orderBy: newestFirst, page: { first: limit, after: cursor }, withDetails });
}

/** The details with exactly the members of the contract's OrderDetails, in their order. */
export function detailsBody(details: OrderDetails): Schemas['OrderDetails'] {
  const { payout, hold, failure, actionRequired } = details;
  return {
    order_id: details.orderId,
    seq: details.seq,
    status_group: details.statusGroup,
    updated_at: details.updatedAt,
    external_id: details.externalId,
    metadata: details.metadata,
    deposits: details.deposits.map(depositBody),
    terms: termsBody(details.terms),
    payout: payout && payoutBody(payout),
    refunds: details.refunds.map(refundBody),
    policy: details.policy && { ...details.policy },
    // No time of a review is promised, and no hold can be ended by a partner.
    hold: hold && {
      reason: hold.reason,
      since: hold.since,
      acts_next: 'service',
      review_by: null,
      refund_offered: false,
    },
    failure: failure && { cause: failure.cause, at: failure.at },
    action_required: actionRequired && actionBody(actionRequired),
    refund_address: details.refundAddress,
    public_url: details.publicUrl,
    payment_uri: details.paymentUri,
  };
}

function depositBody(deposit: DepositDetails): Schemas['OrderDeposit'] {
  const { txid, outputIndex, coin, network, amount, confirmations, state, role } = deposit;
  const { seenAt, refundObstacle, explorerUrl } = deposit;
  return {
    txid,
    output_index: outputIndex,
    coin,
    network,
    amount: jsonNumber(amount),
    confirmations,
    state,
    role,
    seen_at: seenAt,
    refund_obstacle: refundObstacle,
    explorer_url: explorerUrl,
  };
}

function termsBody(terms: OrderDetails['terms']): Schemas['OrderTerms'] {
  return {
    is_final: terms.isFinal,
    mid: jsonNumber(terms.mid),
    service_fee: jsonNumber(terms.serviceFee),
    partner_markup: jsonNumber(terms.partnerMarkup),
    network_fee: jsonNumber(terms.networkFee),
    rate: jsonNumber(terms.rate),
    amount_from: jsonNumber(terms.amountFrom),
    amount_to: jsonNumber(terms.amountTo),
  };
}

function payoutBody(payout: PaymentDetails): Schemas['OrderPayout'] {
  const { txid, coin, network, amount } = payout;
  return { txid, coin, network, amount: jsonNumber(amount), ...progressBody(payout) };
}

function refundBody(refund: PaymentDetails): Schemas['OrderRefund'] {
  const { txid, coin, network, amount, fee, depositTxid } = refund;
  const paid = { amount: jsonNumber(amount), fee: jsonNumber(fee), deposit_txid: depositTxid };
  return { txid, coin, network, ...paid, ...progressBody(refund) };
}

function progressBody({ state, createdAt, sentAt, confirmedAt, explorerUrl }: PaymentDetails) {
  const at = { created_at: createdAt, sent_at: sentAt, confirmed_at: confirmedAt };
  return { state, ...at, explorer_url: explorerUrl };
}

/** Every question falls back to a refund. */
function actionBody({ id, reason, deadline, exchange, refund }: ActionRequired): Schemas['ActionRequired'] {
  const offered = exchange && {
    action: 'exchange' as const,
    amount_to: jsonNumber(exchange.amountTo),
    valid_until: exchange.validUntil,
  };
  const refunded = refund && {
    action: 'refund' as const,
    amount: jsonNumber(refund.amount),
    ...(refund.needsAddress && { needs: ['refund_address' as const] }),
  };
  return { id, reason, deadline, default: 'refund', actions: [offered, refunded].filter((action) => action !== null) };
}
