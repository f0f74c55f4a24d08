import { Big } from '../../money.ts';
import { refundLeg } from '../payments.ts';
import { move, rest, type Settling, type StepResult } from '../settling.ts';
import { mainDeposit } from './notice.ts';
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
  const made = refundLeg(settling, deposit, 'main', new Big(deposit.amount));
  if (made === 'no_refund_address') return move(settling, 'no_refund_address');
  if (made === 'below_fee') return move(settling, 'refund_below_fee');
  return rest();
}

/**
 * Every credited deposit that the order itself does not use (a second one, another coin) is refunded by itself, never
 * added in silence.
 */
export function refundExtras(settling: Settling): void {
  const { order, deposits, payments } = settling;
  for (const deposit of deposits) {
    const isFree = deposit.state === 'credited' && deposit.id !== order.depositId && deposit.problem === null;
    if (!isFree || payments.some(({ depositId }) => depositId === deposit.id)) continue;
    const made = refundLeg(settling, deposit, 'main', new Big(deposit.amount));
    if (typeof made === 'string') deposit.problem = made;
  }
}
