import { networkById } from '../../chains/networks/networks.ts';
import { isNoBetterThan } from '../../orders/exchange-terms.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import {
  depositsBelowMinimum,
  isRefundable,
  largestRefundable,
  mainDeposit,
  matchDeposits,
  setMainDeposit,
  timeliness,
} from './match.ts';
import { decideDeposit, questionAbout } from './policy.ts';
import { move, type Settling, type StepResult, secondsAfter, wait } from './settling.ts';

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

/**
 * Step of `confirming`: once the deposit is credited, exchanges it, refunds it or asks the partner.
 */
export function confirmDeposit(settling: Settling): StepResult {
  const { order, now, tools } = settling;
  const deposit = mainDeposit(settling);
  if (deposit?.state === 'mempool') {
    return wait(afterGrace(settling, secondsAfter(order.expiresAt, tools.rules.depositGraceSec)));
  }
  if (deposit?.state !== 'credited') return wait();
  // Once the partner is asked, only its answer and the deadline decide.
  const isAsked = questionAbout(settling, deposit) !== null;
  if (!isAsked && order.rateType === 'fixed' && timeliness(settling, deposit) === 'uncertain') {
    const [from, to] = [tools.prices.live(order.coinFrom), tools.prices.live(order.coinTo)];
    const lastAskedAt = lastPriceAt(settling, deposit);
    if ((!from || !to) && now < lastAskedAt) return wait(secondsAfter(now, askAgainSec));
    // The user gets the benefit of the doubt where that costs us nothing.
    if (!from || !to || !isNoBetterThan(order, { from, to })) return move(settling, 'rate_expired');
  }
  const decision = decideDeposit(settling, deposit, false);
  switch (decision.is) {
    case 'wait':
      return decision.result;
    case 'refund':
      if (decision.reason === 'late') throw new Error(`order ${order.id} is confirming a late deposit`);
      return move(settling, decision.reason);
    case 'no_price':
      if (now < lastPriceAt(settling, deposit)) return wait(secondsAfter(now, askAgainSec));
      // The exchange goes on looking for a price, and checks the payout again.
      return startExchange(settling, 'deposit_confirmed');
    case 'exchange':
      return startExchange(settling, 'deposit_confirmed');
  }
}

/**
 * Step of `expired`: refunds a late deposit once it is credited, or exchanges it at the market
 * where the partner asked for that.
 */
export function takeLateDeposit(settling: Settling): StepResult {
  const { now } = settling;
  const deposit = mainDeposit(settling) ?? largestRefundable(settling);
  if (deposit?.state !== 'credited') return wait();
  setMainDeposit(settling, deposit);
  const decision = decideDeposit(settling, deposit, true);
  switch (decision.is) {
    case 'wait':
      return decision.result;
    case 'exchange':
      if (settling.agreed) settling.agreed.isLateAccepted = true;
      return startExchange(settling, 'late_accepted');
    case 'no_price':
      if (now < lastPriceAt(settling, deposit)) return wait(secondsAfter(now, askAgainSec));
      return move(settling, 'late_deposit');
    case 'refund':
      return move(settling, 'late_deposit');
  }
}

/** Until when a credited deposit waits for a missing price. */
function lastPriceAt({ now, tools }: Settling, { creditedAt }: Deposit): Date {
  return secondsAfter(creditedAt ?? now, tools.rules.exchangeDeadlineSec);
}

/** Starts the exchange. Terms that the partner chose hold as long after its answer, not longer. */
function startExchange(settling: Settling, cause: 'deposit_confirmed' | 'late_accepted'): StepResult {
  const { order, action, now, tools } = settling;
  const decidedAt = (action?.outcome === 'exchange' ? action.endedAt : null) ?? now;
  order.exchangeDeadline = secondsAfter(decidedAt, tools.rules.exchangeDeadlineSec);
  return move(settling, cause);
}

/**
 * The end of the grace. When it is over and the chain was not read since, a few seconds from now.
 */
function afterGrace({ now }: Settling, graceEndsAt: Date): Date {
  return now > graceEndsAt ? secondsAfter(now, askAgainSec) : new Date(graceEndsAt.getTime() + 1);
}
