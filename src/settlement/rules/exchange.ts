import { Big, floorTo, formatDecimal, minOf, storedDecimals } from '../../base/money.ts';
import { book, type LedgerAsset, line, minus } from '../../ledger/ledger.ts';
import {
  type ExchangeTerms,
  exchangedAmount,
  exchangeTerms,
  grossOf,
  leastBought,
  marketTerms,
} from '../../orders/exchange-terms.ts';
import { type VenueAnswer, type VenueOrder, venueAccount } from '../rows/liquidity-venue.ts';
import { Trade } from '../rows/trade.entity.ts';
import type { TradeBound } from '../rows/trade-bound.ts';
import { addToClientAccount, availableToReturn, isInDebit, owedToClient } from './client-account.ts';
import { mainDeposit } from './match.ts';
import { createPayment, keepUnclaimed, refundLeg } from './payments.ts';
import { isBelowAccepted } from './policy.ts';
import { liveMarket, move, type Settling, type StepResult, secondsAfter, wait } from './settling.ts';

/** Seconds between two requests to a venue that rejects, and while a price is missing. */
const retrySec = 5;
/** A request sent just before the deadline has its final answer after this many seconds. */
const graceSec = 30;

/**
 * Step of `exchanging`: decides the terms once, then asks the venue until it fills them or the
 * deadline passes.
 */
export function exchange(settling: Settling): StepResult {
  const { em, trade, now, tools } = settling;
  if (trade && trade.venue !== tools.venue.name) {
    // Only the venue that was asked knows the outcome.
    trade.problem = 'other_venue';
    return wait(secondsAfter(now, retrySec));
  }
  if (trade) {
    // The venue may have filled the trade before the account went into debit. It is asked once
    // trading is over.
    const mayWait = !isPastTrading(deadlineOf(settling), now);
    if (mayWait && !isCoveredTrade(settling, trade)) return wait(secondsAfter(now, retrySec));
    return { outcome: 'trade', trade };
  }
  const decided = decideTrade(settling);
  // The price moved while the exchange waited.
  if (decided === 'below_accepted') return move(settling, 'exchange_below_min');
  if (decided) {
    em.persist(decided);
    settling.trade = decided;
    return { outcome: 'trade', trade: decided };
  }
  return now >= deadlineOf(settling) ? move(settling, 'exchange_deadline') : wait(secondsAfter(now, retrySec));
}

/** Whether the order is owed what the trade sells, and is in debit in no asset. */
function isCoveredTrade(settling: Settling, { coinFrom, networkFrom, amountFrom }: Trade): boolean {
  const owed = owedToClient(settling, { coin: coinFrom, network: networkFrom });
  return owed.gte(amountFrom) && !isInDebit(settling);
}

/**
 * Decides a trade at current terms, of at most the amount that the order is owed. Null while a
 * price is missing, the fees exceed the amount, or the account is in debit. `below_accepted` when
 * the payout would be below the smallest one that the order accepts.
 */
function decideTrade(settling: Settling): Trade | 'below_accepted' | null {
  const { em, order, now, tools } = settling;
  const deposit = mainDeposit(settling);
  const from = tools.catalogue.find(order.coinFrom, order.networkFrom);
  const to = tools.catalogue.find(order.coinTo, order.networkTo);
  const prices = liveMarket(settling);
  if (!deposit || !from || !to || !prices || isInDebit(settling)) return null;
  const arrived = minOf(new Big(deposit.amount), availableToReturn(settling, deposit));
  if (arrived.eq('0')) return null;
  const chosen = chosenTerms(settling);
  if (chosen && (chosen.amountFrom.gt(arrived) || now >= deadlineOf(settling))) return null;
  const amountFrom = chosen?.amountFrom ?? exchangedAmount(order, arrived, new Big(from.networkFee));
  const isLate = settling.agreed?.isLateAccepted === true;
  const terms = chosen ?? (isLate ? marketTerms : exchangeTerms)(order, amountFrom, to, prices);
  const bound = boundAt({ order, tools }, amountFrom);
  if (!terms || !bound) return null;
  if (!chosen && isBelowAccepted(settling, terms)) return 'below_accepted';
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

/** The terms that the partner chose when it was asked. Null without such an answer. */
function chosenTerms({ action }: Settling): ExchangeTerms | null {
  if (action?.outcome !== 'exchange') return null;
  const [amountFrom, amountTo, serviceFee, networkFee] = [
    action.amountFrom,
    action.amountTo ?? '0',
    action.serviceFee ?? '0',
    action.networkFee ?? '0',
  ].map((amount) => new Big(amount)) as [Big, Big, Big, Big];
  return { amountFrom, amountTo, serviceFee, networkFee };
}

type Bound = Pick<Trade, 'marketFrom' | 'marketTo' | 'marketCash' | 'maxLoss'>;

/**
 * The loss bound of a trade's legs together: MAX_SLIPPAGE of the amount's value at live prices,
 * which are a median of several exchanges. All members are null at a venue without a cash coin.
 * Returns null while a price is missing.
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

function deadlineOf({ order, now }: Settling): Date {
  return order.exchangeDeadline ?? now;
}

/** The order that the venue receives. */
export function venueOrder(trade: Trade, deadline: Date): VenueOrder {
  return {
    clientId: trade.orderId,
    sellCoin: trade.coinFrom,
    sellAmount: trade.amountFrom,
    buyCoin: trade.coinTo,
    buyAmount: formatDecimal(grossOf(trade)),
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

/** Whether the venue can no longer fill the trade, so that its `find` is final. */
export function isPastTrading(deadline: Date, now: Date): boolean {
  return now > secondsAfter(deadline, graceSec);
}

/** Records the venue's answer. `isFinal`: an unfilled trade will never be filled. */
export function recordAnswer(settling: Settling, trade: Trade, answer: VenueAnswer, isFinal: boolean): StepResult {
  const { now } = settling;
  if (answer.outcome === 'filled') return recordFill(settling, trade, new Big(answer.bought));
  trade.tries += 1;
  trade.problem = answer.code;
  if (!isFinal) return wait(secondsAfter(now, retrySec));
  trade.state = 'abandoned';
  trade.settledAt = now;
  return move(settling, 'exchange_deadline', answer.code);
}

/** The two sides of a trade, and its gross amount. */
function agreement(trade: Trade): { from: LedgerAsset; to: LedgerAsset; agreed: Big } {
  return {
    from: { coin: trade.coinFrom, network: trade.networkFrom },
    to: { coin: trade.coinTo, network: trade.networkTo },
    agreed: grossOf(trade),
  };
}

function recordFill(settling: Settling, trade: Trade, bought: Big): StepResult {
  const { bookings, order, now } = settling;
  // A fill below `minBought` is never paid out. It waits for staff.
  if (bought.lt(trade.minBought)) {
    trade.tries += 1;
    trade.problem = 'short_fill';
    return wait(secondsAfter(now, retrySec));
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
      line(venueAccount(trade.venue), from, minus(trade.amountFrom)),
      line(venueAccount(trade.venue), to, bought),
      line('client', to, minus(trade.amountTo)),
      line('service_fee', to, minus(trade.serviceFee)),
      line('network_fee', to, minus(trade.networkFee)),
      line('trading', to, agreed.minus(bought)),
    ],
  });
  order.amountFromActual = trade.amountFrom;
  order.amountToActual = trade.amountTo;
  decidePayout(settling, trade);
  return move(settling, 'liquidity_bought');
}

/**
 * Decides the payout of a filled trade, and the refund of the deposit's part that was not
 * exchanged. Decides nothing while the order's account is in debit: the step of `sending` tries
 * again.
 */
export function decidePayout(settling: Settling, trade: Trade): void {
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
 * Unwinds a filled trade into our own position, for a payout that can never be made. The user is
 * owed the deposit again, instead of the payout, and both fees are returned.
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
  addToClientAccount(settling, lines);
}
