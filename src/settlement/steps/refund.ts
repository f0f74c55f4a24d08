import { Big } from '../../money.ts';
import type { Deposit } from '../deposit.entity.ts';
import type { Payment } from '../payment.entity.ts';
import { refundLeg } from '../payments.ts';
import { move, rest, type Settling, type StepResult } from '../settling.ts';
import { isOfOrder, isSmall, mainDeposit } from './notice.ts';
import { newest, unknownUntil } from './pay.ts';

/** refunding: send the whole deposit back, and follow that to its end. */
export function refundDeposit(settling: Settling): StepResult {
  const { order, payments, now } = settling;
  const deposit = mainDeposit(settling);
  if (!deposit) throw new Error(`order ${order.id} is refunding and has no deposit`);
  const refund = newest(
    payments.filter(({ kind, depositId, leg }) => kind === 'refund' && depositId === deposit.id && leg === 'main'),
  );
  if (refund) {
    if (refund.state === 'confirmed') return move(settling, 'refund_confirmed');
    if (refund.state === 'dead') return move(settling, 'refund_failed', refund.problem);
    const until = unknownUntil(settling, refund);
    return until && now >= until ? move(settling, 'refund_failed', 'unknown') : rest(until);
  }
  if (deposit.problem === 'netted') deposit.problem = null;
  const made = refundLeg(settling, deposit, 'main', new Big(deposit.amount));
  if (made === 'no_refund_address') return move(settling, 'no_refund_address');
  if (made === 'below_fee') return move(settling, 'refund_below_fee');
  // The order waits for the deposits that the user's coins stand in for now.
  if (made === 'netted') deposit.problem = made;
  return rest();
}

/**
 * Refunds every credited deposit that the order itself does not use (a second one, another coin) by itself, never
 * adding it in silence. It refunds as well what of a deposit stood in for another one that has returned. One transaction
 * can make any number of deposits, so only the first few are refunded without staff.
 */
export function refundExtras(settling: Settling): void {
  const { order, deposits, payments, tools } = settling;
  for (const deposit of deposits) {
    if (deposit.state !== 'credited' || isUndecided(settling, deposit)) continue;
    const isMain = deposit.id === order.depositId;
    const isNew = !isMain && deposit.problem === null && !payments.some(({ depositId }) => depositId === deposit.id);
    // The main deposit is refunded by the order's own step, or by staff.
    const isDecided = isMain && (order.status === 'refunding' || order.status === 'failed');
    const isNetted = deposit.problem === 'netted' && !isDecided;
    if (!isNew && !isNetted) continue;
    const { leg, amount } = unreturned(settling, deposit);
    if (leg === null) continue;
    if (!isMain && countExtraRefunds(settling) >= tools.rules.maxRefunds) {
      deposit.problem = 'too_many_refunds';
      continue;
    }
    deposit.problem = null;
    const made = refundLeg(settling, deposit, leg, amount);
    if (typeof made === 'string') deposit.problem = made;
  }
}

/** Refunds of deposits that the order itself does not use, whatever became of them. */
function countExtraRefunds({ order, payments }: Settling): number {
  return payments.filter(({ kind, depositId }) => kind === 'refund' && depositId !== order.depositId).length;
}

/**
 * What of a deposit was neither exchanged nor refunded, and the leg that a refund of it would be; null where both legs
 * are taken.
 */
export function unreturned(
  { order, payments, trade }: Settling,
  deposit: Deposit,
): { readonly leg: Payment['leg'] | null; readonly amount: Big } {
  const its = payments.filter(({ depositId, state }) => depositId === deposit.id && state !== 'dead');
  const refunded = its
    .filter(({ kind }) => kind === 'refund')
    .reduce((sum, { amount, feeCharged }) => sum.plus(amount).plus(feeCharged), new Big('0'));
  const isExchanged = deposit.id === order.depositId && (trade?.state === 'filled' || trade?.state === 'unwound');
  // The main leg of what was exchanged is the payout, or the refund of what was taken back.
  const legs: readonly Payment['leg'][] = isExchanged ? ['excess'] : ['main', 'excess'];
  const used = isExchanged && trade?.state === 'filled' ? trade.amountFrom : '0';
  return {
    leg: legs.find((leg) => !its.some((payment) => payment.leg === leg)) ?? null,
    amount: new Big(deposit.amount).minus(used).minus(refunded),
  };
}

/** Whether a deposit may still become the one that the order returns at the end of its window. */
function isUndecided(settling: Settling, deposit: Deposit): boolean {
  const { status } = settling.order;
  if (!isOfOrder(settling, deposit)) return false;
  return status === 'waiting_deposit' || (status === 'confirming' && isSmall(settling, deposit));
}
