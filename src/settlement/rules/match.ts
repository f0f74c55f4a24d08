import { Big } from '../../base/money.ts';
import { isBelowMinimum, isOrderCurrency, type Timeliness, timelinessOf } from '../../orders/deposit-role.ts';
import { moveOrder } from '../../orders/order-moves.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import { refundObstacle } from './payments.ts';
import type { Settling } from './settling.ts';

/** The deposit that the order exchanges or refunds, or null. */
export function mainDeposit({ order, deposits }: Settling): Deposit | null {
  return deposits.find(({ id }) => id === order.depositId) ?? null;
}

/**
 * Updates the order from its deposits. The first sufficient deposit in time ends the waiting. A
 * lost or late deposit resumes it, once the chain was read to its head without it. This runs under
 * the same lock as expiry, so exactly one of the two wins.
 */
export function matchDeposits(settling: Settling): void {
  const { em, order, now } = settling;
  if (order.status !== 'waiting_deposit' && order.status !== 'confirming' && order.status !== 'expired') return;
  const present = mainDeposit(settling);
  // The deposit may be in a block that is still to be read.
  if (order.status === 'confirming' && present?.state === 'orphaned' && !isRead(settling, present)) return;
  const main = chooseMain(settling);
  setMainDeposit(settling, main);
  if (order.status === 'waiting_deposit' && main) {
    moveOrder(em, order, 'deposit_seen', { at: now });
    main.isReported = true;
  } else if (order.status === 'confirming' && !main) {
    // Remaining deposits below the minimum are decided by an order that waits.
    const waitsAgain = now < order.expiresAt || depositsBelowMinimum(settling).length > 0;
    moveOrder(em, order, waitsAgain ? 'deposit_lost' : 'deposit_lost_late', { at: now });
    order.nextActionAt = waitsAgain ? order.expiresAt : null;
    setMainDeposit(settling, chooseMain(settling));
  }
}

function isRead({ scanned }: Settling, { chain }: Deposit): boolean {
  return scanned.get(chain)?.isAtHead === true;
}

/** Whether a deposit came within the order's window, by how far its chain was read. */
export function timeliness({ order, scanned, tools }: Settling, deposit: Deposit): Timeliness {
  const readAt = scanned.get(deposit.chain)?.readAt ?? null;
  return timelinessOf(order, deposit, { graceSec: tools.rules.depositGraceSec, readAt });
}

/**
 * Chooses the deposit to exchange, or, for an expired order, to refund. It keeps the present one
 * while that is possible, and otherwise takes the earliest. A deposit in a block goes before one in
 * the mempool, which may stay there for ever.
 */
function chooseMain(settling: Settling): Deposit | null {
  const present = mainDeposit(settling);
  const isPossible = settling.order.status === 'expired' ? isReturnable : isExchangeable;
  const usable = settling.deposits
    .filter((deposit) => isPossible(settling, deposit))
    .toSorted((one, other) => one.arrivedBy.getTime() - other.arrivedBy.getTime());
  const candidates = [...usable.filter((deposit) => deposit === present), ...usable];
  return candidates.find(({ state }) => state !== 'mempool') ?? candidates[0] ?? null;
}

/**
 * Whether the order could exchange a deposit: at least the minimum of the agreed coin, not late,
 * and not being refunded.
 */
function isExchangeable(settling: Settling, deposit: Deposit): boolean {
  return (
    isPresent(settling, deposit) && !isBelowMinimum(settling.order, deposit) && timeliness(settling, deposit) !== 'late'
  );
}

/** Whether an expired order could refund a deposit of at least the minimum. */
function isReturnable(settling: Settling, deposit: Deposit): boolean {
  return isPresent(settling, deposit) && !isBelowMinimum(settling.order, deposit) && deposit.state !== 'mempool';
}

function isPresent(settling: Settling, deposit: Deposit): boolean {
  const isOnItsWayBack = settling.payments.some(({ depositId }) => depositId === deposit.id);
  return isOrderCurrency(settling.order, deposit) && deposit.state !== 'orphaned' && !isOnItsWayBack;
}

export type Size = 'small' | 'enough';

/** `small`: insufficient for the order, below its minimum or in another currency. */
export function sizeOf({ order }: Pick<Settling, 'order'>, deposit: Deposit): Size {
  return !isOrderCurrency(order, deposit) || isBelowMinimum(order, deposit) ? 'small' : 'enough';
}

/** Deposits below the minimum that are present and not being refunded. */
export function depositsBelowMinimum(settling: Settling): Deposit[] {
  return settling.deposits.filter((deposit) => isPresent(settling, deposit) && isBelowMinimum(settling.order, deposit));
}

/** The largest refundable credited deposit below the minimum, or null. */
export function largestRefundable(settling: Settling): Deposit | null {
  const [largest = null] = depositsBelowMinimum(settling)
    .filter((deposit) => deposit.state === 'credited' && isRefundable(settling, deposit))
    .toSorted((one, other) => new Big(other.amount).cmp(one.amount));
  return largest;
}

/**
 * Whether a deposit can be refunded automatically: it exceeds the refund's fee, and there is an
 * address.
 */
export function isRefundable(settling: Settling, deposit: Deposit): boolean {
  return refundObstacle(settling, deposit, new Big(deposit.amount)) === null;
}

/** Sets the deposit that the order exchanges or refunds, and the fields that show it. */
export function setMainDeposit({ order, scanned, now }: Settling, deposit: Deposit | null): void {
  const height = deposit ? scanned.get(deposit.chain)?.height : undefined;
  const confirmations =
    deposit === null ? null : deposit.height === null ? 0 : Math.max(0, (height ?? 0) - deposit.height + 1);
  if (order.depositId === (deposit?.id ?? null) && order.depositConfirmations === confirmations) return;
  if (deposit && order.depositId !== deposit.id) deposit.problem = null;
  order.depositId = deposit?.id ?? null;
  order.depositTxid = deposit?.txid ?? null;
  order.depositConfirmations = confirmations;
  order.updatedAt = now;
}
