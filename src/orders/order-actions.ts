import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDecimal } from '../base/money.ts';
import type { ExchangeTerms } from './exchange-terms.ts';
import type { Order } from './order.entity.ts';
import type { ActionOutcome } from './order-action.entity.ts';
import { OrderAction } from './order-action.entity.ts';
import { type MoveDetails, recordFact } from './order-moves.ts';

/** A new question. */
type Question = Pick<OrderAction, 'reason' | 'depositId' | 'amount' | 'amountFrom' | 'deadline'>;

/** The name that partners use for a question. */
export function actionName({ seq }: Pick<OrderAction, 'seq'>): string {
  return `act_${seq}`;
}

/**
 * Asks the partner of an order. The caller's transaction holds the order's row lock. The order must
 * have no open question.
 */
export function askPartner(em: EntityManager, order: Order, question: Question, now: Date): OrderAction {
  recordFact(em, order, 'action_required', { at: now, detail: question.reason });
  const action = em.create(OrderAction, {
    ...question,
    orderId: order.id,
    seq: order.eventSeq,
    askedAt: now,
    outcome: null,
    endedAt: null,
    actor: null,
    amountTo: null,
    serviceFee: null,
    networkFee: null,
  });
  em.persist(action);
  return action;
}

/**
 * Ends an open question. The caller's transaction holds the order's row lock.
 *
 * @param terms the terms that the partner chose; for the outcome `exchange` only.
 */
export function endAction(
  em: EntityManager,
  order: Order,
  action: OrderAction,
  outcome: ActionOutcome,
  { at, actor = 'system' }: Pick<MoveDetails, 'at' | 'actor'>,
  terms: ExchangeTerms | null = null,
): void {
  if (action.outcome !== null) throw new Error(`action ${action.seq} of order ${order.id} has ended`);
  action.outcome = outcome;
  action.endedAt = at;
  action.actor = actor;
  if (terms) {
    action.amountTo = formatDecimal(terms.amountTo);
    action.serviceFee = formatDecimal(terms.serviceFee);
    action.networkFee = formatDecimal(terms.networkFee);
  }
  recordFact(em, order, 'action_resolved', { at, actor, detail: outcome });
}

/** Reads the newest question of each order that has one. The caller holds the orders' row locks. */
export async function newestActions(
  em: EntityManager,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, OrderAction>> {
  if (orderIds.length === 0) return new Map();
  const actions = await em.find(OrderAction, { orderId: { $in: [...orderIds] } }, { orderBy: { seq: 'asc' } });
  return new Map(actions.map((action) => [action.orderId, action]));
}
