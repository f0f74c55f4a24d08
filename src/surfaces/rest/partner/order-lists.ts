import type { Document } from 'openapi-backend';
import { AppError } from '../../../base/errors.ts';
import { jsonNumber } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { PartnerScope } from '../../../orders/order-scope.ts';
import type { ActionRequired, OrderDetails, PaymentDetails } from '../../../orders/read/order-details.ts';
import type { ListedOrder, OrderPage, OrderReads, WholeOrder } from '../../../orders/read/order-reads.ts';
import { newestFirst } from '../../../orders/read/order-walk.ts';
import { refundSentences } from '../../../orders/read/refund-reasons.ts';
import type { Json } from '../api/json.ts';
import { amountedJson, jsonWriter } from '../api/json-writer.ts';
import { jsonList, jsonValue, nestedWriter } from '../api/nested-json.ts';
import { moment, plainText, wholeNumber } from '../api/query-values.ts';
import { callerOf, scopeOf } from './authenticate.ts';
import type { Query } from './contract.ts';
import type { Handler } from './handler.ts';
import { orderWriter } from './orders.ts';

type Schemas = components['schemas'];

/** A page ends before an answer grows beyond this. */
const mostBytes = 1_048_576;
/** The bytes of an answer beside its orders. */
const envelopeBytes = 1_024;
const usualLimit = 20;

/** GET /partner/orders */
export function listOrdersHandler(document: Document, orders: OrderReads): Handler<'listOrders'> {
  const write = orderWriter(document);
  const writeDetails = detailsWriter(document);
  const listed = ({ order, details }: ListedOrder): Json<Schemas['ListedOrder']> =>
    details ? `${write(order).slice(0, -1)},"details":${writeDetails(details)}}` : write(order);
  const writeList = nestedWriter(document, 'OrderList');
  return async ({ query, call }) => {
    const page = await pageOf(orders, scopeOf(call), query);
    const items: Json<Schemas['ListedOrder']>[] = [];
    let bytes = envelopeBytes;
    for (const { row, before } of page.orders) {
      const item = listed(row);
      bytes += Buffer.byteLength(item) + 1;
      if (bytes > mostBytes && items.length > 0) {
        return { status: 200, body: writeList(members(items, true, before())) };
      }
      items.push(item);
    }
    return { status: 200, body: writeList(members(items, page.hasNext, page.nextCursor)) };
  };
}

function members(items: readonly Json<Schemas['ListedOrder']>[], hasMore: boolean, nextCursor: string | null) {
  return { data: jsonList(items), has_more: jsonValue(hasMore), next_cursor: jsonValue(nextCursor) };
}

/** GET /partner/orders/{order_id}/details */
export function getOrderDetailsHandler(document: Document, orders: OrderReads): Handler<'getOrderDetails'> {
  const write = detailsWriter(document);
  return async ({ path, call }) => {
    const whole = await orders.whole(scopeOf(call), path.order_id);
    const details = write(whole.details);
    const caller = callerOf(call);
    if (caller.kind === 'key') return { status: 200, body: details };
    const people = JSON.stringify(peopleView(whole, caller.partner.name));
    return { status: 200, body: `${details.slice(0, -1)},"people":${people}}` };
  };
}

/** What only people of the partner see of an order: where it pays, and why it is refunded. */
function peopleView({ order, details, destinations }: WholeOrder, partnerName: string): Schemas['OrderPeople'] {
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
export function listOrderEventsHandler(document: Document, orders: OrderReads): Handler<'listOrderEvents'> {
  const write = jsonWriter(document, 'OrderEvent');
  const writeList = nestedWriter(document, 'OrderEvents');
  return async ({ path, call }) => {
    const { events, hasMore } = await orders.events(scopeOf(call), path.order_id);
    const written = events.map(({ previousStatus, eventId, ...event }) =>
      write({ ...event, event_id: eventId, previous_status: previousStatus }),
    );
    return { status: 200, body: writeList({ data: jsonList(written), has_more: jsonValue(hasMore) }) };
  };
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

/**
 * Makes the function that writes details with the members of the contract's OrderDetails.
 * `publicUrl` replaces theirs, as JSON.
 */
export function detailsWriter(
  document: Document,
): (details: OrderDetails, publicUrl?: string) => Json<Schemas['OrderDetails']> {
  const write = nestedWriter(document, 'OrderDetails');
  const writeDeposit = jsonWriter(document, 'OrderDeposit');
  const writeTerms = jsonWriter(document, 'OrderTerms');
  const writePayout = jsonWriter(document, 'OrderPayout');
  const writeRefund = jsonWriter(document, 'OrderRefund');
  const writeHold = jsonWriter(document, 'OrderHold');
  const writeFailure = jsonWriter(document, 'OrderFailure');
  return (details, publicUrl) => {
    const { orderId, seq, statusGroup, updatedAt, externalId, metadata, policy } = details;
    const { deposits, terms, payout, refunds, hold, failure } = details;
    const written = deposits.map(({ outputIndex, seenAt, refundObstacle, explorerUrl, ...deposit }) =>
      writeDeposit({
        ...deposit,
        output_index: outputIndex,
        seen_at: seenAt,
        refund_obstacle: refundObstacle,
        explorer_url: explorerUrl,
      }),
    );
    const { isFinal, mid, serviceFee, partnerMarkup, networkFee, rate, amountFrom, amountTo } = terms;
    return write({
      order_id: jsonValue(orderId),
      seq: jsonValue(seq),
      status_group: jsonValue(statusGroup),
      updated_at: jsonValue(updatedAt),
      external_id: jsonValue(externalId),
      metadata: JSON.stringify(metadata),
      deposits: jsonList(written),
      terms: writeTerms({
        is_final: isFinal,
        mid,
        service_fee: serviceFee,
        partner_markup: partnerMarkup,
        network_fee: networkFee,
        rate,
        amount_from: amountFrom,
        amount_to: amountTo,
      }),
      payout: payout ? writePayout(payment(payout)) : 'null',
      refunds: jsonList(
        refunds.map((refund) => writeRefund({ ...payment(refund), fee: refund.fee, deposit_txid: refund.depositTxid })),
      ),
      policy: JSON.stringify(policy),
      // No time of a review is promised, and no hold can be ended by a partner.
      hold: hold ? writeHold({ ...hold, acts_next: 'service', review_by: null, refund_offered: false }) : 'null',
      failure: failure ? writeFailure(failure) : 'null',
      action_required: details.actionRequired ? actionRequired(details.actionRequired) : 'null',
      refund_address: jsonValue(details.refundAddress),
      public_url: publicUrl ?? jsonValue(details.publicUrl),
      payment_uri: jsonValue(details.paymentUri),
    });
  };
}

function payment({ txid, coin, network, amount, state, createdAt, sentAt, confirmedAt, explorerUrl }: PaymentDetails) {
  const at = { created_at: createdAt, sent_at: sentAt, confirmed_at: confirmedAt };
  return { txid, coin, network, amount, state, ...at, explorer_url: explorerUrl };
}

/** Every question falls back to a refund. */
function actionRequired({ id, reason, deadline, exchange, refund }: ActionRequired): Json<Schemas['ActionRequired']> {
  const offered = exchange && {
    action: 'exchange' as const,
    amount_to: jsonNumber(exchange.amountTo),
    valid_until: exchange.validUntil,
  };
  const refunded = refund && {
    action: 'refund' as const,
    amount: jsonNumber(refund.amount),
    ...(refund.needsAddress ? { needs: ['refund_address' as const] } : {}),
  };
  const actions = [offered, refunded].filter((action) => action !== null);
  return amountedJson<Schemas['ActionRequired']>({ id, reason, deadline, default: 'refund', actions });
}
