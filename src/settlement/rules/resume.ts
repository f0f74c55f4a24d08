import { Big } from '../../base/money.ts';
import { mainDeposit } from './match.ts';
import { refundObstacle } from './payments.ts';
import { move, type Settling, type StepResult, wait } from './settling.ts';

/**
 * Step of `failed`. An order that failed only for want of a refund address is refunded once its
 * partner has set one, if nothing of its deposit has moved. Staff decide all other failures.
 */
export function resumeRefund(settling: Settling): StepResult {
  const { payments, trade, late } = settling;
  const deposit = mainDeposit(settling);
  if (late?.lastMove !== 'no_refund_address' || deposit?.state !== 'credited') return wait();
  const hasMoved = payments.some(({ depositId }) => depositId === deposit.id);
  if (hasMoved || (trade !== null && trade.state !== 'abandoned')) return wait();
  const obstacle = refundObstacle(settling, deposit, new Big(deposit.amount));
  if (obstacle === 'late_refund_limit') deposit.problem = obstacle;
  return obstacle === null ? move(settling, 'refund_resumed') : wait();
}
