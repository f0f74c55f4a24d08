import { type EventType, eventTypeOf } from '../event-types.ts';
import type { OrderEvent } from '../order-event.entity.ts';
import { decimal, isoTime } from '../order-statements.ts';
import type { OrderStatus } from '../order-status.ts';

/** The facts of an event as the database gives them. They never change after the event. */
export interface EventFacts {
  readonly orderId: string;
  readonly shortId: string;
  /** The partner's own id of the order. */
  readonly externalId: string | null;
  readonly seq: number;
  readonly status: OrderStatus;
  readonly previousStatus: OrderStatus | null;
  readonly cause: OrderEvent['cause'];
  /** ISO 8601. */
  readonly at: string;
  /** What was exchanged and what for, from the exchange on. Plain decimals. */
  readonly amountFrom: string | null;
  readonly amountTo: string | null;
  /** The final transaction of the payout, of a completed order. */
  readonly payoutTxid: string | null;
  /** What was sent back, and its final transaction, of a refunded order. */
  readonly refundAmount: string | null;
  readonly refundTxid: string | null;
}

/** The columns of `EventFacts`, over the tables of `eventTables`. */
export const eventColumns = `o.id as "orderId", o.short_id as "shortId", terms.external_id as "externalId", e.seq,
       e.to_status as status, e.from_status as "previousStatus", e.cause, ${isoTime('e.at')} as at,
       ${decimal('trade.amount_from')} as "amountFrom", ${decimal('coalesce(payout.amount, trade.amount_to)')} as "amountTo",
       payout.txid as "payoutTxid", ${decimal('refund.amount')} as "refundAmount", refund.txid as "refundTxid"`;

/** The final payment of the order `o` of a kind, once the event `e` has the status. */
const finalPayment = (kind: 'payout' | 'refund', status: OrderStatus): string => `
  left join lateral (
    select p.amount, (select a.txid from payment_attempt a
                       where a.payment_id = p.id and a.mined_height is not null and a.dead_at is null
                       order by a.attempt desc limit 1) as txid
      from payment p
     where e.to_status = '${status}' and p.order_id = o.id and p.deposit_id = o.deposit_id
       and p.kind = '${kind}' and p.leg = 'main' and p.state = 'confirmed') ${kind} on true`;

/**
 * Joins what an event tells to `e`, an order_event, and `o`, its order. An amount is told only from
 * the event on that made it final: a later reading of the event tells the same.
 */
export const eventTables = `left join order_terms terms on terms.order_id = o.id
  left join trade on trade.order_id = o.id and trade.state in ('filled', 'unwound') and e.to_status in ('sending', 'completed')
  ${finalPayment('payout', 'completed')}${finalPayment('refund', 'refunded')}`;

/** The identifier of an event: the same wherever and however often it is sent. */
export function eventId({ orderId, seq }: Pick<EventFacts, 'orderId' | 'seq'>): string {
  return `evt_${orderId.replaceAll('-', '')}_${seq}`;
}

const eventIdForm = /^evt_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([1-9]\d{0,8})$/;

/** Reads the identifier of an event. Null for any other text. */
export function eventNamed(text: string): { readonly orderId: string; readonly seq: number } | null {
  const [, ...parts] = eventIdForm.exec(text) ?? [];
  const seq = parts.pop();
  return seq === undefined ? null : { orderId: parts.join('-'), seq: Number.parseInt(seq, 10) };
}

/** An event as partners get it. Amounts are decimal text. */
export interface PartnerEvent {
  readonly type: EventType;
  readonly timestamp: string;
  readonly data: {
    readonly event_id: string;
    readonly order_id: string;
    readonly short_id: string;
    readonly external_id: string | null;
    readonly seq: number;
    readonly status: OrderStatus;
    readonly previous_status: OrderStatus | null;
    readonly cause: OrderEvent['cause'];
    readonly amount_from: string | null;
    readonly amount_to: string | null;
    readonly payout_txid: string | null;
    readonly refund_amount: string | null;
    readonly refund_txid: string | null;
  };
}

/**
 * Makes the event that partners get. It has no address and no metadata, so that a log of a receiver
 * tells little about a user.
 */
export function partnerEvent(facts: EventFacts): PartnerEvent {
  return {
    type: eventTypeOf(facts.cause),
    timestamp: facts.at,
    data: {
      event_id: eventId(facts),
      order_id: facts.orderId,
      short_id: facts.shortId,
      external_id: facts.externalId,
      seq: facts.seq,
      status: facts.status,
      previous_status: facts.previousStatus,
      cause: facts.cause,
      amount_from: facts.amountFrom,
      amount_to: facts.amountTo,
      payout_txid: facts.payoutTxid,
      refund_amount: facts.refundAmount,
      refund_txid: facts.refundTxid,
    },
  };
}
