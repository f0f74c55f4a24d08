import type { EntityManager } from '@mikro-orm/postgresql';
import { span } from '../base/telemetry/tracing.ts';
import type { Order } from './order.entity.ts';
import { OrderEvent } from './order-event.entity.ts';
import { type OrderCause, type OrderFact, type OrderMove, type OrderStatus, orderMoves } from './order-status.ts';

export interface MoveDetails {
  readonly at: Date;
  /** 'partner:<id>' or 'staff:<id>'. Default: 'system', the gateway itself. */
  readonly actor?: string;
  readonly detail?: string | null;
}

/**
 * Moves an order along an edge of the state table and writes the event. Both happen in the caller's
 * transaction, which must hold the order's row lock. Only this function and the sweep of expired
 * orders change a status.
 *
 * @throws Error when the order's status is not the start of the edge.
 */
export function moveOrder(em: EntityManager, order: Order, cause: OrderMove, details: MoveDetails): void {
  const { from, to } = orderMoves[cause];
  if (order.status !== from) throw new Error(`${cause} needs status ${from}, but the order is ${order.status}`);
  span(`order ${cause}`, { kind: 'internal', attributes: { 'order.id': order.id, 'order.status': to } }, () => {});
  order.status = to;
  addEvent(em, order, from, cause, details);
}

/**
 * Writes a fact into the order's history. The caller's transaction must hold the order's row lock.
 */
export function recordFact(em: EntityManager, order: Order, fact: OrderFact, details: MoveDetails): void {
  addEvent(em, order, order.status, fact, details);
}

/**
 * Holds an order: it takes no step and sends no payment until it is released. The caller's
 * transaction must hold the order's row lock.
 */
export function holdOrder(em: EntityManager, order: Order, reason: string, details: MoveDetails): void {
  order.heldAt = details.at;
  order.holdReason = reason;
  recordFact(em, order, 'held', details);
}

/** Ends the hold of an order, under the lock of its row. */
export function releaseOrder(em: EntityManager, order: Order, details: MoveDetails): void {
  order.heldAt = null;
  order.holdReason = null;
  recordFact(em, order, 'released', details);
}

/** Adds the next event of an order, which has its new status already. */
function addEvent(
  em: EntityManager,
  order: Order,
  fromStatus: OrderStatus,
  cause: OrderCause,
  { at, actor = 'system', detail = null }: MoveDetails,
): void {
  order.eventSeq += 1;
  order.updatedAt = at;
  const partnerId = order.partner.id;
  const statuses = { fromStatus, toStatus: order.status };
  em.create(OrderEvent, { order, partnerId, seq: order.eventSeq, at, ...statuses, cause, actor, detail });
}
