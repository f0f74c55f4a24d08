import type { EntityManager } from '@mikro-orm/postgresql';
import { span } from '../tracing/tracing.ts';
import type { Order } from './order.entity.ts';
import { OrderEvent } from './order-event.entity.ts';
import { type OrderMove, orderMoves } from './order-status.ts';

export interface MoveDetails {
  readonly at: Date;
  /** 'staff:<id>'; the gateway itself unless given. */
  readonly actor?: string;
  readonly detail?: string | null;
}

/**
 * Moves an order along an edge of the table and writes the event, both in the caller's transaction, which must hold
 * the order's row lock. The only place that changes a status, but for the sweep of expired orders.
 *
 * @throws Error when the order does not stand where the edge begins.
 */
export function moveOrder(em: EntityManager, order: Order, cause: OrderMove, details: MoveDetails): void {
  const { from, to } = orderMoves[cause];
  if (order.status !== from) throw new Error(`${cause} moves an order from ${from}, and this one is ${order.status}`);
  span(`order ${cause}`, { kind: 'internal', attributes: { 'order.id': order.id, 'order.status': to } }, () => {});
  const { at, actor = 'system', detail = null } = details;
  order.status = to;
  order.eventSeq += 1;
  order.updatedAt = at;
  em.create(OrderEvent, { order, seq: order.eventSeq, at, fromStatus: from, toStatus: to, cause, actor, detail });
}
