import type { BookLevel, MarketNow } from '../exchanges/exchange.ts';
import { Big, maxOf, minOf } from '../money.ts';

/**
 * What one trade through cash may lose. It is set once, when the trade is decided, from prices that no book of the venue
 * can move (docs/adr/0044-one-bound-for-a-trade.md). All members are US dollars, as decimal strings.
 */
export interface TradeBound {
  /** The price of the coin that is sold. */
  readonly priceSell: string;
  /** The price of the coin that is bought. */
  readonly priceBuy: string;
  /** The price of the coin between the two legs. */
  readonly priceCash: string;
  /** The most by which the cash spent, fees in, may exceed the cash earned, fees off. */
  readonly maxLoss: string;
}

/** What limits are computed from. Amounts are in units of the coins. */
export interface BoundedTrade {
  readonly sellCoin: string;
  readonly sellAmount: Big;
  readonly buyCoin: string;
  readonly buyAmount: Big;
  readonly minBuyAmount: Big;
  readonly bound: TradeBound | null;
}

/** The worst prices of a trade's orders, in cash for one coin. They hold the bound together with the taker fees. */
export interface TradeLimits {
  /** The highest price of the bought coin; where cash is bought, the lowest of the sold one. */
  readonly main: Big;
  /** The taker fee of the market of `main`, as a fraction. */
  readonly mainFee: Big;
  /** The lowest price of the sold coin; null where cash is sold. */
  readonly sale: Big | null;
}

/** Why a trade is not begun: 'no_price', 'thin_book' or 'slippage'. */
export interface Refused {
  readonly code: string;
}

/** Books must show this many times the amounts of a trade, because what they show may be gone when an order arrives. */
const margin = new Big('1.2');
const one = new Big('1');
const none = new Big('0');

/**
 * The limits of a trade by the order books of this moment: null stands for the leg of a coin that is the cash itself.
 *
 * The bound is on both legs together. Each leg is assumed to reach as deep as its amount needs, and never to do better
 * than the price of the bound, so that neither deep orders of a stranger nor a price in our favour pay for a loss of the
 * other leg. What the bound leaves after that and after both fees is shared evenly between the legs.
 */
export function limitsFor(trade: BoundedTrade, sells: MarketNow | null, buys: MarketNow | null): TradeLimits | Refused {
  const { sellAmount, bound } = trade;
  if (!bound) return { code: 'no_price' };
  const [priceSell, priceBuy, maxLoss] = [bound.priceSell, bound.priceBuy, bound.maxLoss].map((usd) =>
    new Big(usd).div(bound.priceCash),
  ) as [Big, Big, Big];
  const agreed = wantedBy(trade);
  const amount = buys ? ceilToStep(agreed, buys.lot) : agreed;
  const favour = maxOf(none, sellAmount.times(priceSell).minus(agreed.times(priceBuy)));
  /** What is left of the bound when the legs are traded at these prices. */
  const roomAt = (buy: Big, sell: Big): Big => {
    // What a whole lot is more than agreed stays ours.
    const surplus = amount.minus(agreed).times(priceBuy);
    const spent = buys ? amount.times(buy).times(one.plus(buys.takerFee)).minus(surplus) : agreed;
    const earned = sells ? sellAmount.times(sell).times(one.minus(sells.takerFee)) : sellAmount;
    return maxLoss.minus(favour).minus(spent.minus(earned));
  };
  const [bestAsk, bestBid] = [buys?.asks[0]?.[0], sells?.bids[0]?.[0]];
  if ((buys && bestAsk === undefined) || (sells && bestBid === undefined)) return { code: 'thin_book' };
  if (roomAt(maxOf(priceBuy, new Big(bestAsk ?? '1')), minOf(priceSell, new Big(bestBid ?? '1'))).lt(none)) {
    return { code: 'slippage' };
  }
  const deepAsk = buys ? reachOf(buys.asks, amount) : one;
  const deepBid = sells ? reachOf(sells.bids, sellAmount) : one;
  if (deepAsk === null || deepBid === null) return { code: 'thin_book' };
  const [buy, sell] = [maxOf(priceBuy, deepAsk), minOf(priceSell, deepBid)];
  const room = roomAt(buy, sell);
  if (room.lt(none)) return { code: 'thin_book' };
  const share = buys && sells ? room.div('2') : room;
  const sale = sells
    ? maxOf(
        ceilToStep(sell.minus(share.div(sellAmount.times(one.minus(sells.takerFee)))), sells.tick),
        new Big(sells.tick),
      )
    : null;
  if (!buys) return sells && sale ? soldForCash(trade, sells, sale, sell) : { code: 'no_market' };
  const main = floorToStep(buy.plus(share.div(amount.times(one.plus(buys.takerFee)))), buys.tick);
  return { main, mainFee: new Big(buys.takerFee), sale };
}

/** The limits of a sale that is the one leg of its trade: it must also bring the least that is to be bought. */
function soldForCash(
  { sellAmount, minBuyAmount }: BoundedTrade,
  { lot, tick, takerFee }: MarketNow,
  floor: Big,
  deepBid: Big,
): TradeLimits | Refused {
  const whole = floorToStep(sellAmount, lot);
  if (whole.eq(none)) return { code: 'too_small' };
  const main = maxOf(floor, ceilToStep(minBuyAmount.div(whole.times(one.minus(takerFee))), tick));
  return main.gt(deepBid) ? { code: 'slippage' } : { main, mainFee: new Big(takerFee), sale: main };
}

/** The amount that a trade aims to buy. */
export function wantedBy({ buyAmount, minBuyAmount }: Pick<BoundedTrade, 'buyAmount' | 'minBuyAmount'>): Big {
  return maxOf(buyAmount, minBuyAmount);
}

/**
 * The worst price at which an unfinished trade may take back what its main leg traded, in cash for one coin: that part of
 * the bound may be lost which the part of the trade is of the whole. Null where there is no bound.
 *
 * @param held What the main leg left of its coin: above zero it was bought, below zero it was sold.
 * @param cash What the main leg moved of the cash.
 */
export function returnLimit(
  { bound, sellAmount, ...trade }: BoundedTrade,
  isSale: boolean,
  mainFee: Big | null,
  held: Big,
  cash: Big,
): Big | null {
  if (!bound || !mainFee || held.eq(none)) return null;
  const whole = isSale ? sellAmount : wantedBy(trade);
  const part = minOf(one, held.abs().div(whole));
  const loss = new Big(bound.maxLoss).div(bound.priceCash).times(part);
  return held.gt(none)
    ? maxOf(none, none.minus(cash).minus(loss)).div(held.times(one.minus(mainFee)))
    : cash.plus(loss).div(held.abs().times(one.plus(mainFee)));
}

/** Whether one side of a book holds an amount, with a margin, at a limit or better. */
export function holds(levels: readonly BookLevel[], side: 'bids' | 'asks', amount: Big, limit: Big): boolean {
  const reach = reachOf(levels, amount);
  return reach !== null && (side === 'bids' ? reach.gte(limit) : reach.lte(limit));
}

/** The price of the deepest level that an amount reaches, with a margin; null when the side does not hold so much. */
function reachOf(levels: readonly BookLevel[], amount: Big): Big | null {
  let left = amount.times(margin);
  for (const [price, there] of levels) {
    left = left.minus(there);
    if (left.lte(none)) return new Big(price);
  }
  return null;
}

export function floorToStep(value: Big, step: string): Big {
  return value.div(step).round(0, 0).times(step);
}

export function ceilToStep(value: Big, step: string): Big {
  const floor = floorToStep(value, step);
  return floor.eq(value) ? floor : floor.plus(step);
}
