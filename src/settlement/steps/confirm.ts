import { Big } from '../../money.ts';
import { move, rest, type Settling, type StepResult, secondsAfter } from '../settling.ts';
import { mainDeposit } from './notice.ts';

/** confirming: once the deposit is credited, exchange it or send it back. */
export function confirmDeposit(settling: Settling): StepResult {
  const { order, now, tools } = settling;
  const deposit = mainDeposit(settling);
  const staleAt = secondsAfter(order.expiresAt, tools.rules.depositGraceSec);
  if (deposit?.state === 'mempool') return rest(new Date(staleAt.getTime() + 1));
  if (deposit?.state !== 'credited') return rest();
  if (order.minAmount !== null && new Big(deposit.amount).lt(order.minAmount)) return move(settling, 'below_minimum');
  if (order.rateType === 'fixed' && deposit.minedAt !== null && deposit.minedAt > staleAt) {
    return move(settling, 'rate_expired');
  }
  order.exchangeDeadline = secondsAfter(now, tools.rules.exchangeDeadlineSec);
  return move(settling, 'deposit_confirmed');
}

/** expired: a deposit that came too late is sent back once it is credited. */
export function takeLateDeposit(settling: Settling): StepResult {
  return mainDeposit(settling)?.state === 'credited' ? move(settling, 'late_deposit') : rest();
}
