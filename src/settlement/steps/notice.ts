import { Big } from '../../money.ts';
import { moveOrder } from '../../orders/order-moves.ts';
import { type Timeliness, timelinessOf } from '../arrival-times.ts';
import type { Deposit } from '../deposit.entity.ts';
import { refundObstacle } from '../payments.ts';
import type { Settling } from '../settling.ts';

/** The deposit that the order exchanges or refunds, or null. */
export function mainDeposit({ order, deposits }: Settling): Deposit | null {
  return deposits.find(({ id }) => id === order.depositId) ?? null;
}

/**
 * Brings the order in line with what was seen of its deposits: a first sighting of enough in time ends the waiting, a
 * deposit that is gone or late lets it wait again once its chain was read to the head without it. Runs under the lock
 * that expiry takes as well, so exactly one of the two wins.
 */
export function noticeDeposits(settling: Settling): void {
  const { em, order, now } = settling;
  if (order.status !== 'waiting_deposit' && order.status !== 'confirming' && order.status !== 'expired') return;
  const present = mainDeposit(settling);
  // It may be in a block that is still to be read.
  if (order.status === 'confirming' && present?.state === 'orphaned' && !isRead(settling, present)) return;
  const main = chooseMain(settling);
  setMain(settling, main);
  if (order.status === 'waiting_deposit' && main) {
    moveOrder(em, order, 'deposit_seen', { at: now });
  } else if (order.status === 'confirming' && !main) {
    // Deposits below the minimum that are left are decided on by an order that waits.
    const waitsAgain = now < order.expiresAt || smallDeposits(settling).length > 0;
    moveOrder(em, order, waitsAgain ? 'deposit_lost' : 'deposit_lost_late', { at: now });
    order.nextActionAt = waitsAgain ? order.expiresAt : null;
    setMain(settling, chooseMain(settling));
  }
}

function isRead({ scanned }: Settling, { chain }: Deposit): boolean {
  return scanned.get(chain)?.isAtHead === true;
}

/** Whether a deposit came within the order's window, by all that is known of its chain. */
export function timeliness({ order, scanned, tools }: Settling, deposit: Deposit): Timeliness {
  const readAt = scanned.get(deposit.chain)?.readAt ?? null;
  return timelinessOf(order, deposit, { graceSec: tools.rules.depositGraceSec, readAt });
}

/**
 * The deposit to exchange, or of an expired order to refund: the present one while it can be, or else the first that
 * can. One in a block goes before one that only waits for a block, which may wait for ever.
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

/** Whether the order could exchange a deposit: enough of the coin that was agreed, not late, not on its way back. */
function isExchangeable(settling: Settling, deposit: Deposit): boolean {
  return isPresent(settling, deposit) && !isSmall(settling, deposit) && timeliness(settling, deposit) !== 'late';
}

/** Whether an expired order could return a deposit of enough. */
function isReturnable(settling: Settling, deposit: Deposit): boolean {
  return isPresent(settling, deposit) && !isSmall(settling, deposit) && deposit.state !== 'mempool';
}

function isPresent(settling: Settling, deposit: Deposit): boolean {
  const isOnItsWayBack = settling.payments.some(({ depositId }) => depositId === deposit.id);
  return isOfOrder(settling, deposit) && deposit.state !== 'orphaned' && !isOnItsWayBack;
}

/** Whether a deposit is of the coin that the order asks for, on its network. */
export function isOfOrder({ order }: Settling, { coin, network }: Deposit): boolean {
  return coin === order.coinFrom && network === order.networkFrom;
}

/** Whether a deposit is below the order's minimum. Any stranger can send one to any address. */
export function isSmall({ order }: Settling, { amount }: Deposit): boolean {
  return order.minAmount !== null && new Big(amount).lt(order.minAmount);
}

/** Deposits below the minimum that are there and not on their way back. */
export function smallDeposits(settling: Settling): Deposit[] {
  return settling.deposits.filter((deposit) => isPresent(settling, deposit) && isSmall(settling, deposit));
}

/** The largest credited deposit below the minimum that can be refunded, or null. */
export function largestRefundable(settling: Settling): Deposit | null {
  const [largest = null] = smallDeposits(settling)
    .filter((deposit) => deposit.state === 'credited' && isRefundable(settling, deposit))
    .toSorted((one, other) => new Big(other.amount).cmp(one.amount));
  return largest;
}

/** Whether a deposit can go back by itself: it is worth its refund's fee, and there is an address. */
export function isRefundable(settling: Settling, deposit: Deposit): boolean {
  return refundObstacle(settling, deposit, new Big(deposit.amount)) === null;
}

/** Makes a deposit the one that the order exchanges or refunds, and shows it. */
export function setMain({ order, scanned, now }: Settling, deposit: Deposit | null): void {
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
