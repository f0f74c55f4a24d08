import { eventTypes } from '../orders/event-types.ts';
import { type OrderCause, type OrderMove, type OrderStatus, orderMoves } from '../orders/order-status.ts';
import { type EventFacts, type PartnerEvent, partnerEvent } from '../orders/read/event-facts.ts';

/** The type of an event that only tests an endpoint. */
export const testEventType = 'endpoint.test';

/** The members of an event that are amounts. */
const amountMembers = ['amount_from', 'amount_to', 'refund_amount'] as const;

/** The order of samples, which does not exist. */
const sampleOrderId = '00000000-0000-7000-8000-000000000000';
const sampleTxid = '0'.repeat(64);

/** The identifier of a test, by its delivery. */
export function testEventId(deliveryId: string): string {
  return `evt_test_${deliveryId}`;
}

/** The body of a test. */
export function testBody(deliveryId: string, endpointId: string, at: Date): string {
  const data = { event_id: testEventId(deliveryId), endpoint_id: endpointId };
  return JSON.stringify({ type: testEventType, timestamp: at.toISOString(), data });
}

/** The body of a sample of an event of orders. No order has it. */
export function sampleBody(deliveryId: string, type: string, at: Date, amounts: 'string' | 'number'): string {
  const causes = Object.keys(eventTypes) as OrderCause[];
  const cause = causes.find((one) => eventTypes[one] === type) ?? 'created';
  const move: { readonly from: OrderStatus | null; readonly to: OrderStatus } = Object.hasOwn(orderMoves, cause)
    ? orderMoves[cause as OrderMove]
    : { from: 'waiting_deposit', to: 'waiting_deposit' };
  const hasTerms = move.to === 'sending' || move.to === 'completed';
  const event = partnerEvent({
    orderId: sampleOrderId,
    shortId: 'XP-SAMPLE',
    externalId: null,
    seq: 1,
    status: move.to,
    previousStatus: cause === 'created' ? null : move.from,
    cause,
    at: at.toISOString(),
    amountFrom: hasTerms ? '0.1' : null,
    amountTo: hasTerms ? '6312.89' : null,
    payoutTxid: move.to === 'completed' ? sampleTxid : null,
    refundAmount: move.to === 'refunded' ? '0.0999' : null,
    refundTxid: move.to === 'refunded' ? sampleTxid : null,
  });
  const sample = { ...event, data: { ...event.data, event_id: testEventId(deliveryId) } };
  return amounts === 'string' ? JSON.stringify(sample) : withNumbers(sample);
}

/**
 * The body of a delivery. The same event gives the same bytes at each attempt.
 *
 * @param amounts `number` writes amounts as JSON numbers with exactly their digits.
 */
export function eventBody(facts: EventFacts, amounts: 'string' | 'number'): string {
  const event = partnerEvent(facts);
  return amounts === 'string' ? JSON.stringify(event) : withNumbers(event);
}

function withNumbers({ data, ...event }: PartnerEvent): string {
  const members = Object.entries(data).map(([name, value]) => {
    const isAmount = value !== null && amountMembers.some((member) => member === name);
    return `${JSON.stringify(name)}:${isAmount ? value : JSON.stringify(value)}`;
  });
  return `${JSON.stringify(event).slice(0, -1)},"data":{${members.join(',')}}}`;
}
