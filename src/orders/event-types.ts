import type { OrderEvent } from './order-event.entity.ts';

/** A type of an event that no older version of the gateway had a type for. */
export const otherEventType = 'order.updated';

/**
 * The type of the event that partners get, by its cause. One row for each cause: the compiler asks
 * for the row of a new one. Event feed, stream and webhooks read this table only.
 */
export const eventTypes = {
  created: 'order.created',
  deposit_seen: 'order.deposit_detected',
  window_passed: 'order.expired',
  below_minimum: 'order.refunding',
  deposit_lost: 'order.deposit_lost',
  deposit_lost_late: 'order.expired',
  deposit_confirmed: 'order.confirmed',
  rate_expired: 'order.refunding',
  late_deposit: 'order.refunding',
  liquidity_bought: 'order.exchanged',
  exchange_deadline: 'order.refunding',
  payout_confirmed: 'order.completed',
  payout_failed: 'order.failed',
  payout_unknown: 'order.failed',
  refund_confirmed: 'order.refunded',
  no_refund_address: 'order.failed',
  refund_below_fee: 'order.failed',
  refund_failed: 'order.failed',
  staff_stopped: 'order.failed',
  staff_failed: 'order.failed',
  staff_refund: 'order.refunding',
  staff_retry: 'order.payout_retried',
  partner_cancelled: 'order.expired',
  refund_needs_approval: 'order.failed',
  refund_resumed: 'order.refunding',
  refund_address_set: 'order.refund_address_set',
  underpaid: 'order.refunding',
  overpaid: 'order.refunding',
  price_moved: 'order.refunding',
  exchange_below_min: 'order.refunding',
  late_accepted: 'order.confirmed',
  action_required: 'order.action_required',
  deposit_added: 'order.deposit_added',
  small_deposit: 'order.deposit_added',
  extra_refund_decided: 'order.extra_refunding',
  extra_refund_confirmed: 'order.extra_refunded',
  extra_refund_failed: 'order.extra_refund_failed',
  held: 'order.held',
  released: 'order.released',
  action_resolved: 'order.action_resolved',
} as const satisfies Record<OrderEvent['cause'], `order.${string}`>;

export type EventType = (typeof eventTypes)[OrderEvent['cause']] | typeof otherEventType;

/** Every type that a partner can ask for. */
export const eventTypeNames: readonly EventType[] = [
  ...new Set<EventType>([...Object.values(eventTypes), otherEventType]),
];

/** The table as JSON, for statements that choose events by their type. */
export const eventTypesJson = JSON.stringify(eventTypes);

/** The SQL of the type of `e`, an order_event. `types` is the SQL of the table as jsonb. */
export const eventTypeSql = (types: string): string => `coalesce(${types} ->> e.cause, '${otherEventType}')`;

/** The type of an event. A newer version of the gateway may have written an unknown cause. */
export function eventTypeOf(cause: string): EventType {
  const types: Readonly<Record<string, EventType>> = eventTypes;
  return (Object.hasOwn(types, cause) ? types[cause] : undefined) ?? otherEventType;
}
