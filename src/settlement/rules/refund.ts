import { Big } from '../../base/money.ts';
import { isBelowMinimum, isOrderCurrency } from '../../orders/deposit-role.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import type { Payment } from '../rows/payment.entity.ts';
import { mainDeposit, type Size, sizeOf } from './match.ts';
import { currentPayment, unknownDeadline } from './pay.ts';
import { refundLeg } from './payments.ts';
import { move, type Settling, type StepResult, wait } from './settling.ts';

/** Step of `refunding`: refunds the whole deposit, and follows the refund to its end. */
export function refundDeposit(settling: Settling): StepResult {
  const { order, payments, now } = settling;
  const deposit = mainDeposit(settling);
  if (!deposit) throw new Error(`order ${order.id} is refunding and has no deposit`);
  const refund = currentPayment(
    payments.filter(({ kind, depositId, leg }) => kind === 'refund' && depositId === deposit.id && leg === 'main'),
  );
  if (refund) {
    if (refund.state === 'confirmed') return move(settling, 'refund_confirmed');
    if (refund.state === 'dead') return move(settling, 'refund_failed', refund.problem);
    const until = unknownDeadline(settling, refund);
    return until && now >= until ? move(settling, 'refund_failed', 'unknown') : wait(until);
  }
  if (deposit.problem === 'netted') deposit.problem = null;
  const made = refundLeg(settling, deposit, 'main', new Big(deposit.amount));
  if (made === 'no_refund_address') return move(settling, 'no_refund_address');
  if (made === 'late_refund_limit') return move(settling, 'refund_needs_approval');
  if (made === 'below_fee') return move(settling, 'refund_below_fee');
  // The order waits for the lost deposits that the user's coins cover now.
  if (made === 'netted') deposit.problem = made;
  return wait();
}

/**
 * Refunds credited deposits that the order does not use, such as a second one or another coin. It
 * never adds them to the order silently. It also refunds the part of a deposit that covered a lost
 * one, once that has returned. Any stranger can send many deposits, so only the first few are
 * refunded without staff.
 */
export function refundExtras(settling: Settling): void {
  const { order, deposits, payments, tools } = settling;
  const paid = new Set(payments.map(({ depositId }) => depositId));
  const refunds = countExtraRefunds(settling);
  for (const deposit of deposits) {
    if (deposit.state !== 'credited' || isUndecided(settling, deposit)) continue;
    const isMain = deposit.id === order.depositId;
    const isNew = !isMain && deposit.problem === null && !paid.has(deposit.id);
    // The order's own step, or staff, refund the main deposit.
    const isDecided = isMain && (order.status === 'refunding' || order.status === 'failed');
    const isNetted = deposit.problem === 'netted' && !isDecided;
    // Its partner has set the address since.
    const isAddressed = deposit.problem === 'no_refund_address' && order.refundAddress !== null && !isDecided;
    if (!isNew && !isNetted && !isAddressed) continue;
    const { leg, amount } = unreturnedPart(settling, deposit);
    if (leg === null) continue;
    const size = sizeOf(settling, deposit);
    if (!isMain && refunds[size] >= tools.rules.maxRefunds) {
      deposit.problem = 'too_many_refunds';
      continue;
    }
    deposit.problem = null;
    const made = refundLeg(settling, deposit, leg, amount);
    if (typeof made === 'string') deposit.problem = made;
    else if (!isMain) refunds[size] += 1;
  }
}

/**
 * Counts refunds of deposits that the order does not use, including ended ones. Small deposits and
 * all others have separate counts. Otherwise a stranger's dust could use up the count before the
 * user's own late deposit arrives.
 */
function countExtraRefunds(settling: Settling): Record<Size, number> {
  const { order, payments, deposits } = settling;
  const sizes = new Map(deposits.map((deposit) => [deposit.id, sizeOf(settling, deposit)]));
  const counts = { small: 0, enough: 0 };
  for (const { kind, depositId } of payments) {
    if (kind !== 'refund' || depositId === null || depositId === order.depositId) continue;
    const size = sizes.get(depositId);
    if (size !== undefined) counts[size] += 1;
  }
  return counts;
}

/**
 * The amount of a deposit that was neither exchanged nor refunded, and the leg of its refund. The
 * leg is null where both legs are taken.
 */
export function unreturnedPart(
  { order, payments, trade }: Settling,
  deposit: Deposit,
): { readonly leg: Payment['leg'] | null; readonly amount: Big } {
  const its = payments.filter(({ depositId, state }) => depositId === deposit.id && state !== 'dead');
  const refunded = its
    .filter(({ kind }) => kind === 'refund')
    .reduce((sum, { amount, feeCharged }) => sum.plus(amount).plus(feeCharged), new Big('0'));
  const isExchanged = deposit.id === order.depositId && (trade?.state === 'filled' || trade?.state === 'unwound');
  // The main leg of an exchanged deposit is the payout, or the refund after unwinding.
  const legs: readonly Payment['leg'][] = isExchanged ? ['excess'] : ['main', 'excess'];
  const used = isExchanged && trade?.state === 'filled' ? trade.amountFrom : '0';
  return {
    leg: legs.find((leg) => !its.some((payment) => payment.leg === leg)) ?? null,
    amount: new Big(deposit.amount).minus(used).minus(refunded),
  };
}

/** Whether the order may still refund this deposit itself at the end of its window. */
function isUndecided({ order }: Settling, deposit: Deposit): boolean {
  if (!isOrderCurrency(order, deposit)) return false;
  return order.status === 'waiting_deposit' || (order.status === 'confirming' && isBelowMinimum(order, deposit));
}
