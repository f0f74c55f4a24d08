import { moveOrder } from '../../orders/order-moves.ts';
import type { Deposit } from '../deposit.entity.ts';
import { type Settling, secondsAfter } from '../settling.ts';

/** A deposit that the order could exchange: of the coin that was agreed, and not gone again. */
function isEligible({ order }: Settling, deposit: Deposit): boolean {
  return deposit.state !== 'orphaned' && deposit.coin === order.coinFrom && deposit.network === order.networkFrom;
}

/** The deposit that the order exchanges or refunds, or null. */
export function mainDeposit({ order, deposits }: Settling): Deposit | null {
  return deposits.find(({ id }) => id === order.depositId) ?? null;
}

/**
 * Brings the order in line with what was seen of its deposits: a first sighting ends the waiting, a deposit that is
 * gone lets it wait again. Runs under the lock that expiry takes as well, so exactly one of the two wins.
 */
export function noticeDeposits(settling: Settling): void {
  const { em, order, deposits, now } = settling;
  const main = mainDeposit(settling);
  if (order.status !== 'waiting_deposit' && order.status !== 'confirming' && order.status !== 'expired') return;
  const isLost = main === null || !isEligible(settling, main) || isStale(settling, main);
  const candidate = isLost
    ? (deposits.find((deposit) => isEligible(settling, deposit) && !isStale(settling, deposit)) ?? null)
    : main;
  setMain(settling, candidate);
  if (order.status === 'waiting_deposit' && candidate) {
    moveOrder(em, order, 'deposit_seen', { at: now });
  } else if (order.status === 'confirming' && !candidate) {
    const isOver = now >= order.expiresAt;
    moveOrder(em, order, isOver ? 'deposit_lost_late' : 'deposit_lost', { at: now });
    order.nextActionAt = isOver ? null : order.expiresAt;
  }
}

/**
 * A transaction that stays out of the blocks holds an order open for one grace period and no longer: it must not be a
 * free option on a fixed rate.
 */
function isStale({ order, now, tools }: Settling, deposit: Deposit): boolean {
  return deposit.state === 'mempool' && now > secondsAfter(order.expiresAt, tools.rules.depositGraceSec);
}

function setMain({ order, heights, now }: Settling, deposit: Deposit | null): void {
  const height = deposit ? heights.get(deposit.chain) : undefined;
  const confirmations =
    deposit === null ? null : deposit.height === null ? 0 : Math.max(0, (height ?? 0) - deposit.height + 1);
  if (order.depositId === (deposit?.id ?? null) && order.depositConfirmations === confirmations) return;
  order.depositId = deposit?.id ?? null;
  order.depositTxid = deposit?.txid ?? null;
  order.depositConfirmations = confirmations;
  order.updatedAt = now;
}
