import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { JobQueue } from '../../base/jobs/job-queue.ts';
import { Order } from '../../orders/order.entity.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import { Payment } from '../rows/payment.entity.ts';
import { isConfirmed } from '../rules/credit.ts';
import { reportExtras } from '../rules/extra-events.ts';
import { matchDeposits } from '../rules/match.ts';
import type { ScannedTo, SettlementTools } from '../rules/settling.ts';

// What becomes of the orders whose deposits a scan changed.

type Wakes = Pick<JobQueue, 'wake'>;

/** Locks by ascending id, so that no two transactions deadlock. */
export function lockOrders(em: EntityManager, ids: readonly string[]): Promise<Order[]> {
  return em.find(Order, { id: { $in: [...ids] } }, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } });
}

/** Makes orders due. One that cannot be settled keeps its pauses. */
export async function wakeOrders(em: EntityManager, jobs: Wakes, orders: readonly Order[], now: Date): Promise<void> {
  const due = orders.filter(({ failingSince }) => failingSince === null);
  for (const order of due) order.nextActionAt = now;
  await em.flush();
  await jobs.wake(
    em,
    due.map(({ id }) => id),
  );
}

/** Updates orders from their deposits. An order with a confirmed deposit is due at once. */
export async function matchOrders(
  em: EntityManager,
  { tools, jobs }: { readonly tools: SettlementTools; readonly jobs: Wakes },
  orders: readonly Order[],
  deposits: readonly Deposit[],
  { chain, to, now }: { readonly chain: string; readonly to: ScannedTo; readonly now: Date },
): Promise<void> {
  const scanned = new Map([[chain, to]]);
  const depositsOf = Map.groupBy(deposits, ({ orderId }) => orderId);
  // The only deposit of an order that still waits cannot have a refund.
  const several = orders.filter(({ id }) => (depositsOf.get(id)?.length ?? 0) > 1);
  const payments =
    several.length === 0 ? [] : await em.find(Payment, { orderId: { $in: several.map(({ id }) => id) } });
  const paymentsOf = Map.groupBy(payments, ({ orderId }) => orderId);
  const isRipe = (deposit: Deposit): boolean => deposit.chain === chain && isConfirmed(deposit, to);
  const settlings = orders.map((order) => {
    const its = depositsOf.get(order.id) ?? [];
    const paid = paymentsOf.get(order.id) ?? [];
    const rows = { order, deposits: its, payments: paid, trade: null, bookings: [], client: [], late: null };
    return { em, tools, now, scanned, ...rows, accruals: [], agreed: null, markupBps: 0, action: null };
  });
  for (const settling of settlings) matchDeposits(settling);
  await reportExtras(settlings);
  await wakeOrders(
    em,
    jobs,
    orders.filter(({ id }) => depositsOf.get(id)?.some(isRipe)),
    now,
  );
}
