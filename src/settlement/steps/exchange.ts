import { book, type LedgerAsset, line, minus } from '../../ledger/ledger.ts';
import { Big, floorTo, formatDecimal, minOf, storedDecimals } from '../../money.ts';
import { availableToReturn, isInDebit, noteWritten, owedToClient } from '../client-account.ts';
import type { VenueAnswer, VenueOrder } from '../liquidity-venue.ts';
import { createPayment, keepUnclaimed, refundLeg } from '../payments.ts';
import { move, rest, type Settling, type StepResult, secondsAfter } from '../settling.ts';
import { exchangedAmount, exchangeTerms, leastBought } from '../terms.ts';
import { Trade } from '../trade.entity.ts';
import type { TradeBound } from '../trade-bound.ts';
import { mainDeposit } from './notice.ts';

/** Between two questions to a venue that rejects, and while a price is missing. */
const retrySec = 5;
/** A venue that was asked just before the deadline has answered for good by then. */
const graceSec = 30;

/** exchanging: decide the terms once, then ask the venue until it fills them or the deadline passes. */
export function exchange(settling: Settling): StepResult {
  const { em, trade, now, tools } = settling;
  if (trade && trade.venue !== tools.venue.name) {
    // Only the venue that was asked knows what it did.
    trade.problem = 'other_venue';
    return rest(secondsAfter(now, retrySec));
  }
  if (trade) {
    // The venue may have filled it before the account fell in debit, and is asked about that once trading is over.
    const mayWait = !isPastTrading(deadlineOf(settling), now);
    if (mayWait && !isCoveredTrade(settling, trade)) return rest(secondsAfter(now, retrySec));
    // A trade that was decided before trades had a bound gets its bound once, now.
    if (isUnbounded(trade, settling)) Object.assign(trade, boundAt(settling, new Big(trade.amountFrom)));
    if (isUnbounded(trade, settling) && now < deadlineOf(settling)) return rest(secondsAfter(now, retrySec));
    return { outcome: 'trade', trade };
  }
  const decided = decideTrade(settling);
  if (decided) {
    em.persist(decided);
    settling.trade = decided;
    return { outcome: 'trade', trade: decided };
  }
  return now >= deadlineOf(settling) ? move(settling, 'exchange_deadline') : rest(secondsAfter(now, retrySec));
}

/** Whether the order is owed what the trade takes, and is in debit in no asset. */
function isCoveredTrade(settling: Settling, { coinFrom, networkFrom, amountFrom }: Trade): boolean {
  const owed = owedToClient(settling, { coin: coinFrom, network: networkFrom });
  return owed.gte(amountFrom) && !isInDebit(settling);
}

/**
 * The trade at the terms of this moment, of no more than the order is owed; null while a price is missing, the fees eat
 * it all, or the order's account is in debit.
 */
function decideTrade(settling: Settling): Trade | null {
  const { em, order, now, tools } = settling;
  const deposit = mainDeposit(settling);
  const from = tools.catalogue.find(order.coinFrom, order.networkFrom);
  const to = tools.catalogue.find(order.coinTo, order.networkTo);
  const prices = tools.prices.pair(order.coinFrom, order.coinTo, 'live');
  if (!deposit || !from || !to || !prices || isInDebit(settling)) return null;
  const arrived = minOf(new Big(deposit.amount), availableToReturn(settling, deposit));
  if (arrived.eq('0')) return null;
  const amountFrom = exchangedAmount(order, arrived, new Big(from.networkFee));
  const terms = exchangeTerms(order, amountFrom, to, prices);
  const bound = boundAt({ order, tools }, amountFrom);
  if (!terms || !bound) return null;
  return em.create(Trade, {
    orderId: order.id,
    venue: tools.venue.name,
    state: 'intended',
    coinFrom: order.coinFrom,
    networkFrom: order.networkFrom,
    coinTo: order.coinTo,
    networkTo: order.networkTo,
    amountFrom: formatDecimal(amountFrom),
    amountTo: formatDecimal(terms.amountTo),
    serviceFee: formatDecimal(terms.serviceFee),
    networkFee: formatDecimal(terms.networkFee),
    minBought: formatDecimal(leastBought(terms, tools.rules.maxSlippage)),
    bought: null,
    priceFrom: formatDecimal(prices.from),
    priceTo: formatDecimal(prices.to),
    ...bound,
    tries: 0,
    problem: null,
    createdAt: now,
    settledAt: null,
  });
}

type Bound = Pick<Trade, 'marketFrom' | 'marketTo' | 'marketCash' | 'maxLoss'>;

/**
 * What the legs of a trade may lose together: MAX_SLIPPAGE of what the amount is worth by live prices, which are a median
 * of several exchanges. All null at a venue without a coin between the legs. Null while a price is missing.
 */
function boundAt({ order, tools }: Pick<Settling, 'order' | 'tools'>, amountFrom: Big): Bound | null {
  const { prices, rules, venue } = tools;
  if (venue.cash === undefined) return { marketFrom: null, marketTo: null, marketCash: null, maxLoss: null };
  const [from, to] = [prices.live(order.coinFrom), prices.live(order.coinTo)];
  const cash = venue.cash === 'USD' ? new Big('1') : prices.live(venue.cash);
  if (!from || !to || !cash) return null;
  return {
    marketFrom: formatDecimal(from),
    marketTo: formatDecimal(to),
    marketCash: formatDecimal(cash),
    maxLoss: formatDecimal(floorTo(amountFrom.times(from).times(rules.maxSlippage), storedDecimals)),
  };
}

function isUnbounded({ maxLoss }: Trade, { tools }: Settling): boolean {
  return tools.venue.cash !== undefined && maxLoss === null;
}

function deadlineOf({ order, now }: Settling): Date {
  return order.exchangeDeadline ?? now;
}

/** What the venue is asked. */
export function venueOrder(trade: Trade, deadline: Date): VenueOrder {
  return {
    clientId: trade.orderId,
    sellCoin: trade.coinFrom,
    sellAmount: trade.amountFrom,
    buyCoin: trade.coinTo,
    buyAmount: formatDecimal(new Big(trade.amountTo).plus(trade.serviceFee).plus(trade.networkFee)),
    minBuyAmount: trade.minBought,
    bound: boundOf(trade),
    validUntil: deadline,
  };
}

function boundOf({ marketFrom, marketTo, marketCash, maxLoss }: Trade): TradeBound | null {
  if (!marketFrom || !marketTo || !marketCash || !maxLoss) return null;
  const [priceSell, priceBuy, priceCash] = [marketFrom, marketTo, marketCash].map(formatDecimal) as [
    string,
    string,
    string,
  ];
  return { priceSell, priceBuy, priceCash, maxLoss: formatDecimal(maxLoss) };
}

/** Whether the venue can no longer fill the trade, so that its `find` is the last word. */
export function isPastTrading(deadline: Date, now: Date): boolean {
  return now > secondsAfter(deadline, graceSec);
}

/** Takes the venue's answer; `isFinal` when a trade that is not filled now never will be. */
export function recordAnswer(settling: Settling, trade: Trade, answer: VenueAnswer, isFinal: boolean): StepResult {
  const { now } = settling;
  if (answer.outcome === 'filled') return recordFill(settling, trade, new Big(answer.bought));
  trade.tries += 1;
  trade.problem = answer.code;
  if (!isFinal) return rest(secondsAfter(now, retrySec));
  trade.state = 'abandoned';
  trade.settledAt = now;
  return move(settling, 'exchange_deadline', answer.code);
}

/** The two sides of an exchange, and what the user's payout and both fees are together. */
function agreement(trade: Trade): { from: LedgerAsset; to: LedgerAsset; agreed: Big } {
  return {
    from: { coin: trade.coinFrom, network: trade.networkFrom },
    to: { coin: trade.coinTo, network: trade.networkTo },
    agreed: new Big(trade.amountTo).plus(trade.serviceFee).plus(trade.networkFee),
  };
}

function recordFill(settling: Settling, trade: Trade, bought: Big): StepResult {
  const { bookings, order, now } = settling;
  // Less than that is no deal, whatever the venue says of it. The order waits for staff, and is paid by no such fill.
  if (bought.lt(trade.minBought)) {
    trade.tries += 1;
    trade.problem = 'short_fill';
    return rest(secondsAfter(now, retrySec));
  }
  trade.state = 'filled';
  trade.bought = formatDecimal(bought);
  trade.problem = null;
  trade.settledAt = now;
  const { from, to, agreed } = agreement(trade);
  bookings.push({
    kind: 'trade',
    reference: order.id,
    orderId: order.id,
    at: now,
    lines: [
      line('client', from, trade.amountFrom),
      line('venue', from, minus(trade.amountFrom)),
      line('venue', to, bought),
      line('client', to, minus(trade.amountTo)),
      line('service_fee', to, minus(trade.serviceFee)),
      line('network_fee', to, minus(trade.networkFee)),
      line('trading', to, agreed.minus(bought)),
    ],
  });
  order.amountFromActual = trade.amountFrom;
  order.amountToActual = trade.amountTo;
  payBought(settling, trade);
  return move(settling, 'liquidity_bought');
}

/**
 * Decides the payout of a filled trade, and the refund of what of the deposit was not exchanged. Decides nothing while
 * the order's account is in debit: the step of `sending` tries again.
 */
export function payBought(settling: Settling, trade: Trade): void {
  if (isInDebit(settling)) return;
  const { order, tools } = settling;
  const deposit = mainDeposit(settling);
  const currency = tools.catalogue.find(order.coinTo, order.networkTo);
  if (!deposit || !currency) throw new Error(`order ${order.id} has a trade without a deposit or a currency`);
  createPayment(settling, {
    kind: 'payout',
    leg: 'main',
    deposit,
    currency,
    recipient: { address: order.recipientAddress, tag: order.recipientAddressTag },
    amount: new Big(trade.amountTo),
    feeCharged: new Big('0'),
  });
  const excess = new Big(deposit.amount).minus(trade.amountFrom);
  if (excess.lte('0')) return;
  const refund = refundLeg(settling, deposit, 'excess', excess);
  if (refund === 'below_fee') keepUnclaimed(settling, deposit, excess);
  else if (typeof refund === 'string') deposit.problem = refund;
}

/**
 * Takes a filled exchange into our own book, at the terms of the user, who is owed the deposit again and no payout: for
 * a payout that can never be made. Both fees are given back.
 */
export async function unwindTrade(settling: Settling, trade: Trade): Promise<void> {
  const { em, order, now } = settling;
  trade.state = 'unwound';
  order.amountFromActual = null;
  order.amountToActual = null;
  const { from, to, agreed } = agreement(trade);
  const lines = [
    line('client', from, minus(trade.amountFrom)),
    line('trading', from, trade.amountFrom),
    line('client', to, trade.amountTo),
    line('service_fee', to, trade.serviceFee),
    line('network_fee', to, trade.networkFee),
    line('trading', to, minus(agreed)),
  ];
  await book(em, { kind: 'trade_unwound', reference: order.id, orderId: order.id, at: now, lines });
  noteWritten(settling, lines);
}
