import type { EntityManager } from '@mikro-orm/postgresql';
import { Big, formatDecimal, minOf } from '../../base/money.ts';
import { isWithinLimits } from '../../orders/action-offers.ts';
import { isBelowMinimum } from '../../orders/deposit-role.ts';
import { type ExchangeTerms, exchangedAmount, exchangeTerms, marketTerms } from '../../orders/exchange-terms.ts';
import type { Order } from '../../orders/order.entity.ts';
import { type ActionReason, OrderAction } from '../../orders/order-action.entity.ts';
import { askPartner, endAction } from '../../orders/order-actions.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import { availableToReturn } from './client-account.ts';
import { liveMarket, type Settling, type StepResult, secondsAfter, wait } from './settling.ts';

/** How long after its window an order may still exchange a late deposit, in seconds. */
const lateExchangeSec = 72 * 3_600;

/** What becomes of a credited deposit. `no_price`: a price is missing that decides it. */
type Verdict =
  | { readonly is: 'exchange' }
  | { readonly is: 'no_price' }
  | { readonly is: 'refund'; readonly reason: ActionReason }
  | { readonly is: 'ask'; readonly reason: ActionReason };

/** What the order does with its credited deposit, by its policy and by its partner's answer. */
type Decision = { readonly is: 'wait'; readonly result: StepResult } | Exclude<Verdict, { readonly is: 'ask' }>;

/**
 * Decides about a credited deposit that the order could exchange. An order without a policy
 * exchanges a deposit in time and refunds a late one. A policy that refunds late deposits does so
 * even if the partner chose the exchange before a reorg made the deposit late.
 */
export function decideDeposit(settling: Settling, deposit: Deposit, isLate: boolean): Decision {
  const { agreed } = settling;
  if (isLate && (agreed?.policy.on_late ?? 'refund') === 'refund') return { is: 'refund', reason: 'late' };
  if (!agreed) return { is: 'exchange' };
  const action = questionAbout(settling, deposit);
  if (action) return answered(settling, action);
  const verdict = judge(settling, deposit, isLate);
  return verdict.is === 'ask' ? ask(settling, deposit, verdict.reason, isLate) : verdict;
}

/** The question to the partner about this deposit. Null without one, and after a reorg ended it. */
export function questionAbout({ action }: Settling, deposit: Deposit): OrderAction | null {
  return action?.depositId === deposit.id && action.outcome !== 'deposit_lost' ? action : null;
}

/** Follows the question about the deposit: the answer, the end of its time, or more waiting. */
function answered({ em, order, now }: Settling, action: OrderAction): Decision {
  const { outcome, deadline, reason } = action;
  if (outcome === 'exchange') return { is: 'exchange' };
  if (outcome !== null) return { is: 'refund', reason };
  if (now < deadline) return { is: 'wait', result: wait(deadline) };
  endAction(em, order, action, 'deadline', { at: now });
  return { is: 'refund', reason };
}

function ask(settling: Settling, deposit: Deposit, reason: ActionReason, isLate: boolean): Decision {
  const { em, order, now, tools, action } = settling;
  if (action?.outcome === null) endAction(em, order, action, 'deposit_lost', { at: now });
  const asked = secondsAfter(now, tools.rules.actionDeadlineSec);
  const lateEndsAt = lateEnd(order);
  const deadline = isLate && lateEndsAt < asked ? lateEndsAt : asked;
  const question = {
    reason,
    depositId: deposit.id,
    amount: formatDecimal(arrivedOf(settling, deposit)),
    amountFrom: formatDecimal(exchangedPart(settling, deposit)),
    deadline,
  };
  settling.action = askPartner(em, order, question, now);
  return { is: 'wait', result: wait(deadline) };
}

/**
 * Applies the policy to a deposit. A refund goes before a question, and a question before an
 * exchange. The smallest payout counts at the moment of an exchange, so a question comes before it.
 */
function judge(settling: Settling, deposit: Deposit, isLate: boolean): Verdict {
  const { order, now, agreed } = settling;
  const { on_late: late, on_underpaid: under = 'exchange', on_overpaid: over } = agreed?.policy ?? {};
  if (isLate && (isBelowMinimum(order, deposit) || now >= lateEnd(order))) {
    return { is: 'refund', reason: 'late' };
  }
  const amount = new Big(deposit.amount);
  const isUnder = amount.lt(order.amountFromExpected);
  const isOver = amount.gt(exchangedPart(settling, deposit));
  if (isUnder && under === 'refund') return { is: 'refund', reason: 'underpaid' };
  if (isOver && over === 'refund_all') return { is: 'refund', reason: 'overpaid' };
  // Nothing can be exchanged for an account in debit. It waits as it does without a policy.
  if (exchangedPart(settling, deposit).lte('0')) return { is: 'exchange' };
  if (isLate && late === 'ask') return { is: 'ask', reason: 'late' };
  if (isUnder && under === 'ask') return { is: 'ask', reason: 'underpaid' };
  if (isOver && over === 'ask') return { is: 'ask', reason: 'overpaid' };
  return judgePrice(settling, exchangedPart(settling, deposit), isLate);
}

/** Whether the present market allows the exchange: the limits of a late one, and the payout. */
function judgePrice(settling: Settling, amountFrom: Big, isLate: boolean): Verdict {
  const { order, tools, agreed } = settling;
  const minAmountTo = agreed?.minAmountTo ?? null;
  if (!isLate && minAmountTo === null) return { is: 'exchange' };
  const from = tools.catalogue.find(order.coinFrom, order.networkFrom);
  const to = tools.catalogue.find(order.coinTo, order.networkTo);
  const prices = liveMarket(settling);
  const reference = tools.prices.pair(order.coinFrom, order.coinTo, 'reference');
  const mostUsd = tools.prices.mostUsd(order.coinFrom, order.coinTo);
  if (!from || !to || !prices || !reference || mostUsd === null) return { is: 'no_price' };
  const asked = { amountFrom, feeRate: order.feeRate };
  if (isLate && !isWithinLimits(asked, from, to, { reference, mostUsd })) return { is: 'refund', reason: 'late' };
  const terms = isLate ? marketTerms(order, amountFrom, to, prices) : exchangeTerms(order, amountFrom, to, prices);
  if (!isBelowAccepted(settling, terms)) return { is: 'exchange' };
  return { is: agreed?.policy.on_price_moved ?? 'refund', reason: 'price_moved' };
}

/** Whether an exchange would pay less than the smallest payout that the order accepts. */
export function isBelowAccepted({ agreed }: Settling, terms: ExchangeTerms | null): boolean {
  const least = agreed?.minAmountTo ?? null;
  return least !== null && (terms === null || terms.amountTo.lt(least));
}

/** What arrived and is owed to the user. */
function arrivedOf(settling: Settling, deposit: Deposit): Big {
  return minOf(new Big(deposit.amount), availableToReturn(settling, deposit));
}

function exchangedPart(settling: Settling, deposit: Deposit): Big {
  const { order, tools } = settling;
  const currency = tools.catalogue.find(order.coinFrom, order.networkFrom);
  return exchangedAmount(order, arrivedOf(settling, deposit), new Big(currency?.networkFee ?? '0'));
}

function lateEnd({ expiresAt }: Order): Date {
  return secondsAfter(expiresAt, lateExchangeSec);
}

/**
 * Ends the open questions whose deposit a reorg took. The caller holds the locks of the orders.
 * Should the deposit return, the partner is asked again.
 */
export async function endLostActions(
  em: EntityManager,
  orders: readonly Order[],
  deposits: readonly Deposit[],
  now: Date,
): Promise<void> {
  const lost = deposits.filter(({ state, credits }) => credits > 0 && state !== 'credited').map(({ id }) => id);
  if (lost.length === 0) return;
  const orderIds = orders.map(({ id }) => id);
  const open = await em.find(OrderAction, { orderId: { $in: orderIds }, depositId: { $in: lost }, outcome: null });
  for (const action of open) {
    const order = orders.find(({ id }) => id === action.orderId);
    if (order) endAction(em, order, action, 'deposit_lost', { at: now });
  }
}
