import type { components } from '../../../generated/openapi.ts';
import type { OrderStatus } from '../../../orders/order-status.ts';
import type { OrderReads } from '../../../orders/read/order-reads.ts';
import { json } from '../api/json.ts';
import type { Handler } from './handler.ts';

type EdgeStatus = components['schemas']['PublicStatus']['edge_status'];

/** The words of the Edge wallet for an order that is not on hold. */
const edgeStatuses: Readonly<Record<OrderStatus, EdgeStatus>> = {
  waiting_deposit: 'pending',
  confirming: 'processing',
  exchanging: 'processing',
  sending: 'processing',
  refunding: 'processing',
  completed: 'completed',
  expired: 'expired',
  refunded: 'refunded',
  failed: 'infoNeeded',
};

/** GET /status/{order_id} */
export function getPublicStatusHandler(orders: OrderReads): Handler<'getPublicStatus'> {
  return async ({ path }) => {
    const { id, status, isHeld, isAsked, updatedAt } = await orders.publicStatus({ kind: 'public' }, path.order_id);
    const edgeStatus = isHeld || isAsked ? 'infoNeeded' : edgeStatuses[status];
    return { status: 200, body: json({ id, status, edge_status: edgeStatus, updated_at: updatedAt }) };
  };
}
