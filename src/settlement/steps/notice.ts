import { moveOrder } from '../../orders/order-moves.ts';
import type { Deposit } from '../deposit.entity.ts';
import { type Settling, secondsAfter } from '../settling.ts';

/** The deposit that the order exchanges or refunds, or null. */
export function mainDeposit({ order, deposits }: Settling): Deposit | null {
  return deposits.find(({ id }) => id === order.depositId) ?? null;
}

/**
 * Brings the order in line with what was seen of its deposits: a first sighting ends the waiting, a deposit that is
 * gone lets it wait again once its chain was read to the head without it. Runs under the lock that expiry takes as well, so exactly one of the two wins.
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
    const isOver = now >= order.expiresAt;
    moveOrder(em, order, isOver ? 'deposit_lost_late' : 'deposit_lost', { at: now });
    order.nextActionAt = isOver ? null : order.expiresAt;
  }
}

function isRead({ scanned }: Settling, { chain }: Deposit): boolean {
  return scanned.get(chain)?.isAtHead === true;
}

/**
 * The deposit to exchange: the present one while it can be, or else the first that can. One in a block goes before one
 * that only waits for a block, which may wait for ever.
 */
function chooseMain(settling: Settling): Deposit | null {
  const present = mainDeposit(settling);
  const usable = settling.deposits.filter((deposit) => isUsable(settling, deposit));
  const candidates = [...usable.filter((deposit) => deposit === present), ...usable];
  return candidates.find(({ state }) => state !== 'mempool') ?? candidates[0] ?? null;
}

/** Whether the order could exchange a deposit: of the coin that was agreed, still there, and not on its way back. */
function isUsable(settling: Settling, deposit: Deposit): boolean {
  const { order, payments } = settling;
  const isOfCoin = deposit.coin === order.coinFrom && deposit.network === order.networkFrom;
  const isOnItsWayBack = payments.some(({ depositId }) => depositId === deposit.id);
  return isOfCoin && deposit.state !== 'orphaned' && !isStale(settling, deposit) && !isOnItsWayBack;
}

/**
 * A transaction that stays out of the blocks holds an order open for one grace period and no longer: it must not be a
 * free option on a fixed rate.
 */
function isStale({ order, now, tools }: Settling, deposit: Deposit): boolean {
  return deposit.state === 'mempool' && now > secondsAfter(order.expiresAt, tools.rules.depositGraceSec);
}

function setMain({ order, scanned, now }: Settling, deposit: Deposit | null): void {
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
