import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big, formatDecimal, maxOf } from '../../base/money.ts';
import {
  type BookLevel,
  type ExchangeOrder,
  ExchangeRefusal,
  type Market,
  type MarketNow,
} from '../../exchanges/exchange.ts';
import type { ExchangeProcess } from '../../exchanges/exchange-process.ts';
import type { TradingAccount } from '../../exchanges/trading-account.ts';
import type { LiquidityVenue, VenueAnswer, VenueOrder } from '../rows/liquidity-venue.ts';
import {
  amountToBuy,
  ceilToStep,
  floorToStep,
  holds,
  returnLimit,
  type TradeLimits,
  tradeLimits,
} from '../rows/trade-bound.ts';
import { type JournalOrder, netChange, type TradeLeg } from './journal-order.ts';
import { exchangeOrderId, type JournalTrade, VenueJournal } from './venue-journal.ts';

export interface ExchangeVenueOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly account: TradingAccount;
  /** Closed with the venue. */
  readonly process: Pick<ExchangeProcess, 'close'>;
  /** The coin between the two legs: USD, or a stablecoin. */
  readonly cash: string;
  /** Whether trades of any of these coins are held, because something there is none of ours. */
  readonly isHeld?: (coins: readonly string[]) => Promise<boolean>;
  /** Milliseconds within which an order must reach the exchange. */
  readonly orderValidMs?: number;
  /** Milliseconds after that until the exchange's records certainly show the order. */
  readonly recordLagMs?: number;
}

/** The outcome of an order is unknown, or a trade is half done: the caller must ask again. */
class VenueUndecided extends Error {
  override readonly name = 'VenueUndecided';
}

type OrderTerms = Omit<ExchangeOrder, 'clientId' | 'notAfterMs'>;

/** The next order to place, or the reason why there is none. */
type NextOrder = OrderTerms | { readonly code: string };

/** The open amount of a decided trade: above zero to sell, below zero to buy. */
interface Position {
  readonly coin: string;
  readonly amount: Big;
}

/** Most orders of one leg that one call places. Further ones wait for the next call. */
const ordersPerCall = 4;
const none = new Big('0');
/** Milliseconds that an order needs to reach the exchange at all. */
const shortestValidMs = 1_000;
/** Largest clock difference at which the validity of orders is meaningful. */
const largestSkewMs = 2_000;
const skewEveryMs = 600_000;

/**
 * Trades on an exchange. Selling A for B has two legs through a cash coin: B is bought first, then
 * A is sold. The fill of B decides the trade, and counts even if the sale fails.
 *
 * One loss bound covers both legs and their fees. It comes with the trade. The bound and the depth
 * of both order books give the worst prices of the trade's orders. These are stored before the
 * first order and never computed again. Nothing is bought unless both books show the whole amounts
 * within these prices. A part that cannot be closed within them stays an open position. It is
 * retried at the same prices, until staff set another.
 *
 * Nothing is bought twice. Each order is in the journal before it is sent, under a client id
 * derived from the trade. The exchange refuses it after a time that is in the journal as well.
 * While the outcome of an order is unknown, no other is placed. The order is looked up until the
 * exchange has it, or can no longer receive it.
 */
export class ExchangeVenue implements LiquidityVenue {
  readonly name: string;
  readonly cash: string;
  readonly #options: Required<ExchangeVenueOptions>;
  readonly #journal: VenueJournal;
  #skewCheckedMs: number | null = null;
  /** Whether a trade holds the exchange. */
  #isTaken = false;

  constructor(options: ExchangeVenueOptions) {
    this.#options = { orderValidMs: 15_000, recordLagMs: 10_000, isHeld: async () => false, ...options };
    this.name = options.account.name;
    this.cash = options.cash;
    this.#journal = new VenueJournal(options.orm, options.account.name, options.cash);
  }

  async trade(order: VenueOrder): Promise<VenueAnswer> {
    const trade = await this.#journal.open(order, this.#now());
    if (trade.outcome === 'filled') return filled(trade);
    if (trade.outcome === 'rejected') return { outcome: 'rejected', code: 'too_late' };
    return this.#inTurn(async () => {
      const { decided, code } = await this.#fill(trade);
      if (decided?.outcome !== 'filled') return { outcome: 'rejected', code };
      await this.#close(decided);
      return filled(decided);
    });
  }

  async find(clientId: string): Promise<VenueAnswer | null> {
    const trade = await this.#journal.find(clientId);
    if (!trade || trade.outcome === 'rejected') return null;
    if (trade.outcome === 'filled') return filled(trade);
    return this.#inTurn(async () => {
      const orders = await this.#settled(trade, 'main');
      const decided = await this.#decideFilled(trade);
      if (decided?.outcome === 'filled') return filled(decided);
      if (this.#isPast(trade)) await this.#giveUp(trade);
      else if (orders.some((order) => order.filled.gt(none))) throw new VenueUndecided('a trade is partly filled');
      else await this.#refuse(trade, orders);
      return null;
    });
  }

  /**
   * Closes the position of the decided trade that waited longest, unless a trade holds the
   * exchange.
   */
  async settleCash(): Promise<void> {
    if (this.#isTaken) return;
    await this.#inTurn(async () => {
      const trade = await this.#journal.nextUnsquared(this.#now());
      if (trade) await this.#close(trade);
    });
  }

  async close(): Promise<void> {
    await this.#options.process.close();
  }

  #now(): Date {
    return this.#options.clock.now();
  }

  /**
   * Gives one trade at a time the exchange to itself. Concurrently with others, its
   * orders would expire while they wait for the exchange's rate limit. A caller that finds it taken
   * tries again later.
   *
   * @throws VenueUndecided when it is taken.
   */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isTaken) throw new VenueUndecided('another trade holds the exchange');
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      this.#isTaken = false;
    }
  }

  /** Closes the position of a decided trade, now or in a later run. */
  async #close(trade: JournalTrade): Promise<void> {
    await this.#square(trade).catch((error) => {
      const { log } = this.#options;
      log.warn({ event: 'venue_sale_failed', ...errorMembers(error) }, 'a position at the exchange is not closed');
    });
  }

  #isPast({ validUntil }: JournalTrade): boolean {
    return this.#now().getTime() + shortestValidMs > validUntil.getTime();
  }

  /**
   * Buys until the amount is reached, or time or liquidity ends. `decided` is null, with the
   * reason, while nothing is bought.
   */
  async #fill(trade: JournalTrade): Promise<{ decided: JournalTrade | null; code: string }> {
    for (let turn = 0; turn < ordersPerCall; turn++) {
      const orders = await this.#settled(trade, 'main');
      const decided = await this.#decideFilled(trade);
      if (decided && decided.outcome !== null) return { decided, code: 'too_late' };
      if (this.#isPast(trade)) {
        await this.#giveUp(trade);
        return { decided: null, code: 'too_late' };
      }
      const next = await this.#nextMain((await this.#journal.find(trade.clientId)) ?? trade, orders);
      const code = 'code' in next ? next.code : await this.#place(trade, 'main', next, orders);
      if (code === null) continue;
      if (orders.some((order) => order.filled.gt(none))) throw new VenueUndecided(`partly filled, then ${code}`);
      return { decided: null, code };
    }
    throw new VenueUndecided('the order book fills it in small pieces');
  }

  /** Decides a trade as filled once its orders bought enough. */
  async #decideFilled(trade: JournalTrade): Promise<JournalTrade | null> {
    return this.#journal.decide(trade.clientId, this.#now(), (terms, orders) => {
      // A trade of a coin against itself needs no market.
      const bought = terms.sellCoin === terms.buyCoin ? terms.sellAmount : boughtBy(terms, orders);
      return bought.gt(none) && bought.gte(terms.minBuyAmount) ? { bought } : null;
    });
  }

  /**
   * Computes the next order of the main leg. Stores the limits of the trade before the first one.
   */
  async #nextMain(trade: JournalTrade, orders: readonly JournalOrder[]): Promise<NextOrder> {
    const { account, isHeld } = this.#options;
    const { cash, clientId, sellCoin, buyCoin } = trade;
    if (await isHeld([sellCoin, buyCoin, cash])) return { code: 'venue_held' };
    const sells = sellCoin === cash ? null : await account.market(sellCoin, cash);
    if (sellCoin !== cash && !sells) return { code: 'no_market' };
    const buys = buyCoin === cash ? null : await account.market(buyCoin, cash);
    if (buyCoin !== cash && !buys) return { code: 'no_market' };
    const limits = trade.limits ?? tradeLimits(trade, sells, buys);
    if ('code' in limits) return limits;
    const next = this.#mainOrder(trade, limits, orders, sells, buys);
    if (!('code' in next) && !trade.limits) {
      const fixed = await this.#journal.fixLimits(clientId, limits);
      // Another process stored its own limits first.
      if (!fixed.main.eq(limits.main)) return this.#mainOrder({ ...trade, limits: fixed }, fixed, orders, sells, buys);
    }
    return next;
  }

  /** An order of the main leg at its limit, or the reason not to place it. */
  #mainOrder(
    trade: JournalTrade,
    limits: TradeLimits,
    orders: readonly JournalOrder[],
    sells: MarketNow | null,
    buys: MarketNow | null,
  ): NextOrder {
    const { sellCoin, sellAmount } = trade;
    const market = buys ?? sells;
    if (!market) return { code: 'no_market' };
    const side = buys ? 'buy' : 'sell';
    const levels = buys ? buys.asks : market.bids;
    const amount = buys
      ? ceilToStep(amountToBuy(trade).minus(boughtBy(trade, orders)), buys.lot)
      : floorToStep(sellAmount.plus(netChange(orders, sellCoin)), market.lot);
    const limit = formatDecimal(limits.main);
    if (isTooSmall(market, amount, limits.main)) return { code: 'too_small' };
    if (!crosses(levels[0], side, limits.main)) return { code: 'slippage' };
    const isBegun = orders.some(({ filled }) => filled.gt(none));
    // A trade that has begun takes the rest in pieces. It stops buying once the other coin could
    // not be sold.
    if (!isBegun && !holds(levels, buys ? 'asks' : 'bids', amount, limits.main)) return { code: 'thin_book' };
    if (buys && sells && !holds(sells.bids, 'bids', sellAmount, limits.sale ?? none)) return { code: 'thin_book' };
    return { base: market.base, quote: market.quote, side, amount: formatDecimal(amount), limit };
  }

  /**
   * Rejects a trade that fell short. The user is refunded whether or not the bought part can be
   * returned. Returning it is tried at once and then like a sale, and loses at most its part of the
   * bound.
   */
  async #giveUp(trade: JournalTrade): Promise<void> {
    const orders = await this.#settled(trade, 'main');
    const decided = await this.#refuse(trade, orders);
    if (!decided.isSquared) await this.#close(decided);
  }

  /**
   * Rejects a trade that has exactly these orders. Another process that still works on it then
   * places no more.
   */
  async #refuse(trade: JournalTrade, orders: readonly JournalOrder[]): Promise<JournalTrade> {
    const decided = await this.#journal.decide(trade.clientId, this.#now(), (terms, now) => {
      if (now.length !== orders.length) return null;
      if (!now.some(({ filled }) => filled.gt(none))) return { hasPosition: false };
      const { coin, amount } = positionOf({ ...terms, outcome: 'rejected' }, now);
      const isSale = coin === terms.sellCoin;
      const limit = returnLimit(terms, isSale, terms.limits?.mainFee ?? null, amount, netChange(now, terms.cash));
      return { hasPosition: true, limit };
    });
    if (decided?.outcome !== 'rejected') throw new VenueUndecided('another process works on the trade');
    return decided;
  }

  /**
   * Closes the position of a decided trade, until the rest is zero, too small for the market, or
   * beyond its limit.
   */
  async #square(trade: JournalTrade): Promise<void> {
    if (trade.isSquared || trade.outcome === null) return;
    const leg = trade.outcome === 'filled' ? 'sale' : 'return';
    for (let turn = 0; turn < ordersPerCall; turn++) {
      const orders = await this.#settled(trade, leg);
      const { coin, amount } = positionOf(trade, orders);
      const market = amount.eq(none) ? null : await this.#options.account.market(coin, trade.cash);
      if (!amount.eq(none) && !market) throw new VenueUndecided('there is no market to close a position in');
      const next = market ? closing(market, amount, trade.closingLimit) : 'dust';
      if (next === 'dust') {
        await this.#journal.square(trade.clientId, this.#now());
        return;
      }
      // The position waits for a better price or for staff, and is an attention item meanwhile.
      if (next === 'beyond_limit') return;
      const code = await this.#place(trade, leg, next, orders);
      if (code !== null) throw new VenueUndecided(`a position could not be closed: ${code}`);
    }
  }

  /**
   * Reads the orders of a trade, once the outcome of every order of the leg is known.
   *
   * @throws VenueUndecided
   */
  async #settled(trade: JournalTrade, leg: TradeLeg): Promise<JournalOrder[]> {
    const { account, recordLagMs, log } = this.#options;
    const orders = await this.#journal.orders(trade.clientId);
    const unknown = orders.filter((order) => order.state === 'sent' && (order.leg === 'sale') === (leg === 'sale'));
    if (unknown.length === 0) return orders;
    for (const order of unknown) {
      const askedMs = this.#now().getTime();
      const records = await account.find({ ...order, clientId: order.id });
      if (records.some(({ isOpen }) => isOpen)) throw new VenueUndecided('an order is still open');
      if (records.length > 1) {
        log.error({ event: 'venue_order_twice', order_id: trade.clientId }, 'the exchange executed an order twice');
      }
      if (records.length > 0) await this.#journal.close(order.id, records);
      else if (askedMs > order.notAfter.getTime() + recordLagMs) await this.#journal.discard(order.id);
      else throw new VenueUndecided('an order was sent, and it is unknown whether it arrived');
    }
    return this.#journal.orders(trade.clientId);
  }

  /**
   * Places one order and records its outcome. Returns null, or the code of the refusal.
   *
   * @throws VenueUndecided when the outcome is unknown.
   */
  async #place(
    trade: JournalTrade,
    leg: TradeLeg,
    terms: OrderTerms,
    orders: readonly JournalOrder[],
  ): Promise<string | null> {
    const { account, orderValidMs } = this.#options;
    await this.#checkClock();
    const number = orders.filter((order) => order.leg === leg).length + 1;
    const clientId = exchangeOrderId(trade.clientId, leg, number);
    // The exchange keeps client ids unique among open orders only. An order that already has this
    // id is ours.
    const known = await account.find({ ...terms, clientId });
    const now = this.#now();
    const latestMs = leg === 'main' ? trade.validUntil.getTime() : Number.POSITIVE_INFINITY;
    const order = { ...terms, clientId, notAfterMs: Math.min(now.getTime() + orderValidMs, latestMs) };
    if (known.some(({ isOpen }) => isOpen))
      throw new VenueUndecided('the exchange has an open order that the journal lacks');
    if (known.length > 0) {
      if (await this.#journal.adopt(trade.clientId, leg, number, order, known, now)) return null;
      throw new VenueUndecided('another process works on the trade');
    }
    if (order.notAfterMs - now.getTime() < shortestValidMs) return 'too_late';
    if (!(await this.#journal.intend(trade.clientId, leg, number, order, now))) {
      throw new VenueUndecided('another process works on the trade');
    }
    try {
      const record = await account.place(order);
      if (record.isOpen) throw new VenueUndecided('an order is still open');
      await this.#journal.close(clientId, [record]);
      return new Big(record.filled).eq(none) ? 'slippage' : null;
    } catch (error) {
      if (!(error instanceof ExchangeRefusal)) throw error;
      await this.#journal.discard(clientId);
      return error.code === 'refused' ? 'venue_refused' : error.code;
    }
  }

  /**
   * Compares our clock with the exchange's, because both decide the validity of orders.
   *
   * @throws VenueUndecided while they differ too much.
   */
  async #checkClock(): Promise<void> {
    const nowMs = performance.now();
    if (this.#skewCheckedMs !== null && nowMs - this.#skewCheckedMs < skewEveryMs) return;
    const skewMs = await this.#options.account.clockSkewMs();
    if (Math.abs(skewMs) > largestSkewMs) {
      this.#options.log.error(
        { event: 'venue_clock', ms: skewMs },
        "our clock and the exchange's differ; correct our clock",
      );
      throw new VenueUndecided("our clock and the exchange's differ");
    }
    this.#skewCheckedMs = nowMs;
  }
}

function filled({ bought }: JournalTrade): VenueAnswer {
  if (bought === null) throw new Error('the filled trade has no amount');
  return { outcome: 'filled', bought };
}

function boughtBy({ buyCoin }: JournalTrade, orders: readonly JournalOrder[]): Big {
  return netChange(
    orders.filter(({ leg }) => leg !== 'sale'),
    buyCoin,
  );
}

/** The position of a decided trade, to be traded for cash. */
function positionOf(
  { outcome, sellCoin, sellAmount, buyCoin, cash }: JournalTrade,
  orders: readonly JournalOrder[],
): Position {
  if (outcome === 'filled') {
    const isDone = sellCoin === cash || sellCoin === buyCoin;
    return { coin: sellCoin, amount: isDone ? none : sellAmount.plus(netChange(orders, sellCoin)) };
  }
  const coin = buyCoin === cash ? sellCoin : buyCoin;
  return { coin, amount: netChange(orders, coin) };
}

/** The order that closes a position at its limit. 'dust' when it is too small for the market. */
function closing(market: MarketNow, held: Big, worst: Big | null): OrderTerms | 'dust' | 'beyond_limit' {
  const { base, quote, bids, asks, lot, tick } = market;
  const amount = floorToStep(held.abs(), lot);
  const sells = held.gt(none);
  if (worst === null) return isTooSmall({ ...market, minCost: '0' }, amount, none) ? 'dust' : 'beyond_limit';
  const limit = sells ? maxOf(ceilToStep(worst, tick), new Big(tick)) : floorToStep(worst, tick);
  if (isTooSmall(market, amount, limit)) return 'dust';
  const side = sells ? 'sell' : 'buy';
  if (!crosses(sells ? bids[0] : asks[0], side, limit)) return 'beyond_limit';
  return { base, quote, side, amount: formatDecimal(amount), limit: formatDecimal(limit) };
}

/** Whether the best level of a side is at the limit or better. */
function crosses(best: BookLevel | undefined, side: 'buy' | 'sell', limit: Big): boolean {
  if (!best) return false;
  return side === 'buy' ? limit.gte(best[0]) : limit.lte(best[0]);
}

function isTooSmall({ minAmount, minCost }: Market, amount: Big, price: Big): boolean {
  return amount.lte(none) || amount.lt(minAmount) || amount.times(price).lt(minCost);
}
