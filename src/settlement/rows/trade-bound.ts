import { Big, maxOf, minOf } from '../../base/money.ts';
import type { BookLevel, MarketNow } from '../../exchanges/exchange.ts';

/**
 * The loss bound of one trade through a cash coin. It is set once, when the trade is decided, from
 * prices that no order book of the venue can move (docs/adr/0044-one-bound-for-a-trade.md). All
 * members are US dollars, as decimal strings.
 */
export interface TradeBound {
  /** The price of the sold coin. */
  readonly priceSell: string;
  /** The price of the bought coin. */
  readonly priceBuy: string;
  /** The price of the coin between the two legs. */
  readonly priceCash: string;
  /**
   * The largest amount by which the cash spent, including fees, may exceed the cash earned, after
   * fees.
   */
  readonly maxLoss: string;
}

/** The inputs of the limits. Amounts are in units of the coins. */
export interface BoundedTrade {
  readonly sellCoin: string;
  readonly sellAmount: Big;
  readonly buyCoin: string;
  readonly buyAmount: Big;
  readonly minBuyAmount: Big;
  readonly bound: TradeBound | null;
}

/**
 * The worst prices of a trade's orders, in cash for one coin. With the taker fees they keep the
 * bound.
 */
export interface TradeLimits {
  /**
   * The highest price of the bought coin. Where cash is bought: the lowest price of the sold coin.
   */
  readonly main: Big;
  /** The taker fee of the market of `main`, as a fraction. */
  readonly mainFee: Big;
  /** The lowest price of the sold coin. Null where cash is sold. */
  readonly sale: Big | null;
}

/** Why a trade is not begun: 'no_price', 'thin_book' or 'slippage'. */
interface TradeRefusal {
  readonly code: string;
}

/**
 * Order books must show this multiple of a trade's amounts, because levels may be gone when an
 * order arrives.
 */
const margin = new Big('1.2');
const one = new Big('1');
const none = new Big('0');

/**
 * Computes the limits of a trade from the current order books. A null market stands for the leg of
 * the cash coin itself.
 *
 * The bound covers both legs together. Each leg is assumed to reach as deep as its amount needs,
 * and never to do better than the price of the bound. Thus neither a stranger's deep orders nor a
 * price in our favour can pay for a loss of the other leg. The rest of the bound, after that and
 * both fees, is shared evenly between the legs.
 */
export function tradeLimits(
  trade: BoundedTrade,
  sells: MarketNow | null,
  buys: MarketNow | null,
): TradeLimits | TradeRefusal {
  const { sellAmount, bound } = trade;
  if (!bound) return { code: 'no_price' };
  const [priceSell, priceBuy, maxLoss] = [bound.priceSell, bound.priceBuy, bound.maxLoss].map((usd) =>
    new Big(usd).div(bound.priceCash),
  ) as [Big, Big, Big];
  const agreed = amountToBuy(trade);
  const amount = buys ? ceilToStep(agreed, buys.lot) : agreed;
  const favour = maxOf(none, sellAmount.times(priceSell).minus(agreed.times(priceBuy)));
  /** The rest of the bound when the legs trade at these prices. */
  const roomAt = (buy: Big, sell: Big): Big => {
    // Rounding up to a whole lot buys more than agreed, and we keep the surplus.
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

/**
 * The limits of a trade whose only leg is a sale. The sale must also earn the minimum to be bought.
 */
function soldForCash(
  { sellAmount, minBuyAmount }: BoundedTrade,
  { lot, tick, takerFee }: MarketNow,
  floor: Big,
  deepBid: Big,
): TradeLimits | TradeRefusal {
  const whole = floorToStep(sellAmount, lot);
  if (whole.eq(none)) return { code: 'too_small' };
  const main = maxOf(floor, ceilToStep(minBuyAmount.div(whole.times(one.minus(takerFee))), tick));
  return main.gt(deepBid) ? { code: 'slippage' } : { main, mainFee: new Big(takerFee), sale: main };
}

/** The amount that a trade aims to buy. */
export function amountToBuy({ buyAmount, minBuyAmount }: Pick<BoundedTrade, 'buyAmount' | 'minBuyAmount'>): Big {
  return maxOf(buyAmount, minBuyAmount);
}

/**
 * Computes the worst price at which an unfinished trade may reverse its main leg, in cash for one
 * coin. The reversal may lose the same fraction of the bound that the executed part is of the
 * whole. Null without a bound.
 *
 * @param held The position in the main leg's coin: above zero bought, below zero sold.
 * @param cash The change of cash by the main leg.
 */
export function returnLimit(
  { bound, sellAmount, ...trade }: BoundedTrade,
  isSale: boolean,
  mainFee: Big | null,
  held: Big,
  cash: Big,
): Big | null {
  if (!bound || !mainFee || held.eq(none)) return null;
  const whole = isSale ? sellAmount : amountToBuy(trade);
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

/**
 * The price of the deepest level that an amount reaches, with a margin. Null when the side holds
 * too little.
 */
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
