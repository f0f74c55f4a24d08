import { Big } from '../../base/money.ts';
import { markupPart } from '../../market/rates/binding-terms.ts';
import type { Payment } from '../rows/payment.entity.ts';
import { decidePayout } from './exchange.ts';
import { move, type Settling, type StepResult, secondsAfter, wait } from './settling.ts';

/** Step of `sending`: follows the payout to its end. */
export function followPayout(settling: Settling): StepResult {
  const { order, payments, trade } = settling;
  const isPayout = ({ kind }: Payment): boolean => kind === 'payout';
  if (!payments.some(isPayout)) {
    if (trade?.state !== 'filled') throw new Error(`order ${order.id} is sending and has bought nothing`);
    // The order's account was in debit when the venue filled the trade.
    decidePayout(settling, trade);
  }
  const payout = currentPayment(payments.filter(isPayout));
  if (!payout) return wait();
  if (payout.state === 'confirmed') {
    accrueMarkup(settling);
    return move(settling, 'payout_confirmed');
  }
  if (payout.state === 'dead') return move(settling, 'payout_failed', payout.problem);
  const until = unknownDeadline(settling, payout);
  if (until && settling.now >= until) return move(settling, 'payout_unknown');
  return wait(until);
}

/**
 * Credits the partner with its markup on what was exchanged. The user paid it with the service fee,
 * when the venue filled the trade.
 */
function accrueMarkup({ accruals, order, trade, markupBps, now: at }: Settling): void {
  if (trade?.state !== 'filled') return;
  const amount = markupPart(new Big(trade.serviceFee), markupBps, order.feeRate);
  if (amount.eq('0')) return;
  accruals.push({
    partnerId: order.partner.id,
    orderId: order.id,
    coin: trade.coinTo,
    network: trade.networkTo,
    amount,
    prices: { [trade.coinFrom]: trade.priceFrom, [trade.coinTo]: trade.priceTo },
    at,
  });
}

/**
 * The time at which a payment with an unknown status is abandoned. Null while its status is known.
 */
export function unknownDeadline({ tools }: Settling, payment: Payment): Date | null {
  if (payment.state !== 'sent' || payment.problem !== 'unknown' || payment.problemSince === null) return null;
  return secondsAfter(payment.problemSince, tools.rules.paymentUnknownSec);
}

/** The payment that counts: the live one, or the last dead one. */
export function currentPayment(payments: readonly Payment[]): Payment | undefined {
  return payments.find(({ state }) => state !== 'dead') ?? payments.at(-1);
}
