import type { Payment } from '../payment.entity.ts';
import { move, rest, type Settling, type StepResult, secondsAfter } from '../settling.ts';
import { payBought } from './exchange.ts';

/** sending: follow the payout to its end. */
export function followPayout(settling: Settling): StepResult {
  const { order, payments, trade } = settling;
  const isPayout = ({ kind }: Payment): boolean => kind === 'payout';
  if (!payments.some(isPayout)) {
    if (trade?.state !== 'filled') throw new Error(`order ${order.id} is sending and has bought nothing`);
    // The order's account was in debit when the venue filled the trade.
    payBought(settling, trade);
  }
  const payout = newest(payments.filter(isPayout));
  if (!payout) return rest();
  if (payout.state === 'confirmed') return move(settling, 'payout_confirmed');
  if (payout.state === 'dead') return move(settling, 'payout_failed', payout.problem);
  const until = unknownUntil(settling, payout);
  if (until && settling.now >= until) return move(settling, 'payout_unknown');
  return rest(until);
}

/** When a payment that nobody can find is given up on; null while its fate is known. */
export function unknownUntil({ tools }: Settling, payment: Payment): Date | null {
  if (payment.state !== 'sent' || payment.problem !== 'unknown' || payment.problemSince === null) return null;
  return secondsAfter(payment.problemSince, tools.rules.paymentUnknownSec);
}

/** The payment that counts: the live one, or the last that died. */
export function newest(payments: readonly Payment[]): Payment | undefined {
  return payments.find(({ state }) => state !== 'dead') ?? payments.at(-1);
}
