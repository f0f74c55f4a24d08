import { networkById } from '../../chains/networks/networks.ts';
import { move, type Settling, type StepResult, secondsAfter, wait } from '../settling.ts';
import { isNoBetterThan } from '../terms.ts';
import {
  depositsBelowMinimum,
  isRefundable,
  largestRefundable,
  mainDeposit,
  matchDeposits,
  setMainDeposit,
  timeliness,
} from './match.ts';

/** Seconds between two checks of a condition that no event announces. */
const askAgainSec = 5;

/**
 * Step of `waiting_deposit`. Once the chain was read to its head after the window, deposits below
 * the minimum are refunded, or the order expires. Within the grace it waits for deposits below the
 * minimum that lack confirmations.
 */
export function awaitDeposit(settling: Settling): StepResult {
  const { order, now, tools, scanned } = settling;
  if (now < order.expiresAt) return wait(order.expiresAt);
  const readAt = scanned.get(networkById(order.networkFrom)?.chain ?? '')?.readAt ?? null;
  if (readAt === null || readAt < order.expiresAt) return wait(secondsAfter(now, askAgainSec));
  const largest = largestRefundable(settling);
  if (largest) {
    setMainDeposit(settling, largest);
    return move(settling, 'below_minimum');
  }
  const graceEndsAt = secondsAfter(order.expiresAt, tools.rules.depositGraceSec);
  const isWorthWaiting = depositsBelowMinimum(settling).some((deposit) => isRefundable(settling, deposit));
  if (isWorthWaiting && readAt <= graceEndsAt) return wait(afterGrace(settling, graceEndsAt));
  const expired = move(settling, 'window_passed');
  matchDeposits(settling);
  return expired;
}

/** Step of `confirming`: exchanges the deposit or refunds it, once it is credited. */
export function confirmDeposit(settling: Settling): StepResult {
  const { order, now, tools } = settling;
  const deposit = mainDeposit(settling);
  if (deposit?.state === 'mempool') {
    return wait(afterGrace(settling, secondsAfter(order.expiresAt, tools.rules.depositGraceSec)));
  }
  if (deposit?.state !== 'credited') return wait();
  if (order.rateType === 'fixed' && timeliness(settling, deposit) === 'uncertain') {
    const [from, to] = [tools.prices.live(order.coinFrom), tools.prices.live(order.coinTo)];
    const lastAskedAt = secondsAfter(deposit.creditedAt ?? now, tools.rules.exchangeDeadlineSec);
    if ((!from || !to) && now < lastAskedAt) return wait(secondsAfter(now, askAgainSec));
    // The user gets the benefit of the doubt where that costs us nothing.
    if (!from || !to || !isNoBetterThan(order, { from, to })) return move(settling, 'rate_expired');
  }
  order.exchangeDeadline = secondsAfter(now, tools.rules.exchangeDeadlineSec);
  return move(settling, 'deposit_confirmed');
}

/** Step of `expired`: refunds a late deposit once it is credited. */
export function takeLateDeposit(settling: Settling): StepResult {
  const deposit = mainDeposit(settling) ?? largestRefundable(settling);
  if (deposit?.state !== 'credited') return wait();
  setMainDeposit(settling, deposit);
  return move(settling, 'late_deposit');
}

/**
 * The end of the grace. When it is over and the chain was not read since, a few seconds from now.
 */
function afterGrace({ now }: Settling, graceEndsAt: Date): Date {
  return now > graceEndsAt ? secondsAfter(now, askAgainSec) : new Date(graceEndsAt.getTime() + 1);
}
