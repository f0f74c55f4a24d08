import { networkById } from '../../chains/networks.ts';
import { move, rest, type Settling, type StepResult, secondsAfter } from '../settling.ts';
import { isNoBetterThan } from '../terms.ts';
import {
  isRefundable,
  largestRefundable,
  mainDeposit,
  noticeDeposits,
  setMain,
  smallDeposits,
  timeliness,
} from './notice.ts';

/** Between two looks at something that no event announces. */
const askAgainSec = 5;

/**
 * waiting_deposit: once the chain was read to its head after the window, what came below the minimum goes back, or the
 * order expires. Deposits below the minimum that still need confirmations are waited for within the grace.
 */
export function awaitDeposit(settling: Settling): StepResult {
  const { order, now, tools, scanned } = settling;
  if (now < order.expiresAt) return rest(order.expiresAt);
  const readAt = scanned.get(networkById(order.networkFrom)?.chain ?? '')?.readAt ?? null;
  if (readAt === null || readAt < order.expiresAt) return rest(secondsAfter(now, askAgainSec));
  const largest = largestRefundable(settling);
  if (largest) {
    setMain(settling, largest);
    return move(settling, 'below_minimum');
  }
  const graceEndsAt = secondsAfter(order.expiresAt, tools.rules.depositGraceSec);
  const isWorthWaiting = smallDeposits(settling).some((deposit) => isRefundable(settling, deposit));
  if (isWorthWaiting && readAt <= graceEndsAt) return rest(afterGrace(settling, graceEndsAt));
  const expired = move(settling, 'window_passed');
  noticeDeposits(settling);
  return expired;
}

/** confirming: once the deposit is credited, exchange it or send it back. */
export function confirmDeposit(settling: Settling): StepResult {
  const { order, now, tools } = settling;
  const deposit = mainDeposit(settling);
  if (deposit?.state === 'mempool') {
    return rest(afterGrace(settling, secondsAfter(order.expiresAt, tools.rules.depositGraceSec)));
  }
  if (deposit?.state !== 'credited') return rest();
  if (order.rateType === 'fixed' && timeliness(settling, deposit) === 'uncertain') {
    const [from, to] = [tools.prices.live(order.coinFrom), tools.prices.live(order.coinTo)];
    const lastAskedAt = secondsAfter(deposit.creditedAt ?? now, tools.rules.exchangeDeadlineSec);
    if ((!from || !to) && now < lastAskedAt) return rest(secondsAfter(now, askAgainSec));
    // The user is believed where that costs the house nothing.
    if (!from || !to || !isNoBetterThan(order, { from, to })) return move(settling, 'rate_expired');
  }
  order.exchangeDeadline = secondsAfter(now, tools.rules.exchangeDeadlineSec);
  return move(settling, 'deposit_confirmed');
}

/** expired: a deposit that came too late is sent back once it is credited. */
export function takeLateDeposit(settling: Settling): StepResult {
  const deposit = mainDeposit(settling) ?? largestRefundable(settling);
  if (deposit?.state !== 'credited') return rest();
  setMain(settling, deposit);
  return move(settling, 'late_deposit');
}

/** When the grace is over, or a little later where it is over and the chain was not read since. */
function afterGrace({ now }: Settling, graceEndsAt: Date): Date {
  return now > graceEndsAt ? secondsAfter(now, askAgainSec) : new Date(graceEndsAt.getTime() + 1);
}
