import { eventTypes } from '../orders/event-types.ts';
import { type OrderCause, type OrderMove, type OrderStatus, orderMoves } from '../orders/order-status.ts';
import { type EventFacts, partnerEvent } from '../orders/read/event-facts.ts';
import { isPartnerEventType, partnerEventTypes, type RecordedEvent } from './partner-events.ts';

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

export function testBody(deliveryId: string, endpointId: string, at: Date): string {
  const data = { event_id: testEventId(deliveryId), endpoint_id: endpointId };
  return JSON.stringify({ type: testEventType, timestamp: at.toISOString(), data });
}

/** The body of a sample of an event. No order and no payment has it. */
export function sampleBody(deliveryId: string, type: string, at: Date, amounts: 'string' | 'number'): string {
  if (isPartnerEventType(type)) {
    const ids = { event_id: testEventId(deliveryId), at: at.toISOString() };
    return partnerEventBody(type, { ...ids, ...partnerEventTypes[type].sample }, amounts);
  }
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
  return written(sample, amountMembers, amounts);
}

/**
 * The body of a delivery. The same event gives the same bytes at each attempt.
 *
 * @param amounts `number` writes amounts as JSON numbers with exactly their digits.
 */
export function eventBody(facts: EventFacts, amounts: 'string' | 'number'): string {
  return written(partnerEvent(facts), amountMembers, amounts);
}

/** The body of a delivery of an event without an order, under the same promise as `eventBody`. */
export function partnerEventBody(type: string, event: RecordedEvent, amounts: 'string' | 'number'): string {
  const { event_id, at, ...facts } = event;
  const members = isPartnerEventType(type) ? partnerEventTypes[type].amounts : [];
  return written({ type, timestamp: at, data: { event_id, ...facts } }, members, amounts);
}

interface Written {
  readonly type: string;
  readonly timestamp: string;
  readonly data: object;
}

function written({ data, ...event }: Written, amountMembers: readonly string[], amounts: 'string' | 'number'): string {
  if (amounts === 'string') return JSON.stringify({ ...event, data });
  const members = Object.entries(data).map(([name, value]) => {
    const isAmount = value !== null && amountMembers.includes(name);
    return `${JSON.stringify(name)}:${isAmount ? value : JSON.stringify(value)}`;
  });
  return `${JSON.stringify(event).slice(0, -1)},"data":{${members.join(',')}}}`;
}
