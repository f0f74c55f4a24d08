import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import { type ExchangeOrder, ExchangeRefusal, type Market, type MarketNow } from '../exchanges/exchange.ts';
import type { ExchangeProcess } from '../exchanges/exchange-process.ts';
import type { TradingAccount } from '../exchanges/trading-account.ts';
import { errorMembers, type Log } from '../log.ts';
import { Big, formatDecimal, maxOf } from '../money.ts';
import { changeBy, type JournalOrder, type TradeLeg } from './journal-order.ts';
import type { LiquidityVenue, VenueAnswer, VenueOrder } from './liquidity-venue.ts';
import { exchangeOrderId, type JournalTrade, VenueJournal } from './venue-journal.ts';

export interface ExchangeVenueOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly account: TradingAccount;
  /** Ended with the venue. */
  readonly process: Pick<ExchangeProcess, 'close'>;
  /** The coin between the two legs: USD, or one that stands for it. */
  readonly cash: string;
  /** How long an order that is under way may take to get to the exchange. */
  readonly orderValidMs?: number;
  /** How long after that the exchange's records tell of it for certain. */
  readonly recordLagMs?: number;
}

/** The fate of an order is unknown, or a trade is half done: ask again. */
class VenueUndecided extends Error {
  override readonly name = 'VenueUndecided';
}

/** What to place next, or why there is nothing to place. */
type NextOrder = Omit<ExchangeOrder, 'clientId' | 'notAfterMs'> | { readonly code: string };

/** Orders of one leg that one call places; what is left is for the next. */
const ordersPerCall = 4;
/** So far from the best price an order may reach that ends a position, whatever it costs. */
const reach = new Big('0.05');
const one = new Big('1');
const none = new Big('0');
/** An order needs this long to get there at all. */
const shortestValidMs = 1_000;
/** Clocks farther apart make the validity of orders mean nothing. */
const largestSkewMs = 2_000;
const skewEveryMs = 600_000;
/** Trades that one sweep squares. */
const sweepSize = 20;

/**
 * Liquidity of an exchange. Selling A for B is two legs through cash: B is bought first, at once or not at all and no
 * dearer than the slippage bound; then A is sold. The fill of B decides the trade, and stands whatever becomes of the
 * sale, which is retried until it is done.
 *
 * Nothing is bought twice: each order is in the journal before it is sent, under a client id that follows from the trade,
 * and is refused by the exchange past a moment that is in the journal as well. While the fate of one is unknown no other
 * is placed; it is looked up until the exchange has it, or cannot get it any more.
 */
export class ExchangeVenue implements LiquidityVenue {
  readonly name: string;
  readonly #options: Required<ExchangeVenueOptions>;
  readonly #journal: VenueJournal;
  #skewCheckedMs: number | null = null;

  constructor(options: ExchangeVenueOptions) {
    this.#options = { orderValidMs: 15_000, recordLagMs: 10_000, ...options };
    this.name = options.account.name;
    this.#journal = new VenueJournal(options.orm, options.account.name);
  }

  async trade(order: VenueOrder): Promise<VenueAnswer> {
    let trade = await this.#journal.open(order, this.#now());
    if (trade.outcome === null) {
      const { decided, code } = await this.#fill(trade);
      if (!decided) return { outcome: 'rejected', code };
      trade = decided;
    }
    if (trade.outcome === 'rejected') return { outcome: 'rejected', code: 'too_late' };
    await this.#square(trade).catch((error) => this.#noteUnsquared(error));
    return filled(trade);
  }

  async find(clientId: string): Promise<VenueAnswer | null> {
    const trade = await this.#journal.find(clientId);
    if (!trade || trade.outcome === 'rejected') return null;
    if (trade.outcome === 'filled') return filled(trade);
    const orders = await this.#settled(trade, 'main');
    const decided = await this.#decideFilled(trade);
    if (decided?.outcome === 'filled') return filled(decided);
    if (this.#isPast(trade)) await this.#giveUp(trade);
    else if (orders.some((order) => order.filled.gt(none))) throw new VenueUndecided('a trade is partly filled');
    else await this.#refuse(trade, orders);
    return null;
  }

  /** Sells what filled trades have left to sell. */
  async settleCash(): Promise<void> {
    for (const clientId of await this.#journal.unsquared(sweepSize)) {
      const trade = await this.#journal.find(clientId);
      if (trade?.outcome === 'filled') await this.#square(trade).catch((error) => this.#noteUnsquared(error));
    }
  }

  async close(): Promise<void> {
    await this.#options.process.close();
  }

  #now(): Date {
    return this.#options.clock.now();
  }

  #noteUnsquared(error: unknown): void {
    this.#options.log.warn({ event: 'venue_sale_failed', ...errorMembers(error) }, 'a coin is still to be sold');
  }

  #isPast({ validUntil }: JournalTrade): boolean {
    return this.#now().getTime() + shortestValidMs > validUntil.getTime();
  }

  /** Buys until there is enough, or time or liquidity is over. Null, with the reason, while nothing is bought. */
  async #fill(trade: JournalTrade): Promise<{ decided: JournalTrade | null; code: string }> {
    for (let turn = 0; turn < ordersPerCall; turn++) {
      const orders = await this.#settled(trade, 'main');
      const decided = await this.#decideFilled(trade);
      if (decided && decided.outcome !== null) return { decided, code: 'too_late' };
      if (this.#isPast(trade)) {
        await this.#giveUp(trade);
        return { decided: null, code: 'too_late' };
      }
      const next = await this.#nextMain(trade, orders);
      const code = 'code' in next ? next.code : await this.#place(trade, 'main', next, orders);
      if (code === null) continue;
      if (orders.some((order) => order.filled.gt(none))) throw new VenueUndecided(`partly filled, then ${code}`);
      return { decided: null, code };
    }
    throw new VenueUndecided('the order book fills it in small pieces');
  }

  /** Takes a trade as filled once its orders gave enough. */
  async #decideFilled(trade: JournalTrade): Promise<JournalTrade | null> {
    return this.#journal.decide(trade.clientId, this.#now(), (terms, orders) => {
      // A coin against itself needs no market.
      const bought = terms.sellCoin === terms.buyCoin ? terms.sellAmount : boughtBy(terms, orders);
      return bought.gt(none) && bought.gte(terms.minBuyAmount) ? { bought } : null;
    });
  }

  /** The order that brings a trade nearer to its fill. */
  async #nextMain(trade: JournalTrade, orders: readonly JournalOrder[]): Promise<NextOrder> {
    const { cash, account } = this.#options;
    const { sellCoin, sellAmount, buyCoin, buyAmount, minBuyAmount } = trade;
    const sells = sellCoin === cash ? null : await account.market(sellCoin, cash);
    if (sellCoin !== cash && !sells) return { code: 'no_market' };
    if (sells && buyCoin === cash) {
      const amount = floorToStep(sellAmount.plus(changeBy(orders, sellCoin)), sells.lot);
      const whole = floorToStep(sellAmount, sells.lot);
      if (whole.eq(none)) return { code: 'too_small' };
      const limit = ceilToStep(minBuyAmount.div(whole.times(one.minus(sells.takerFee))), sells.tick);
      return unlessSlipped(sells, 'sell', amount, maxOf(limit, new Big(sells.tick)));
    }
    const buys = await account.market(buyCoin, cash);
    if (!buys) return { code: 'no_market' };
    const worth = sells ? sellAmount.times(sells.bid).times(one.minus(sells.takerFee)) : sellAmount;
    if (minBuyAmount.eq(none)) return { code: 'slippage' };
    const limit = floorToStep(worth.div(minBuyAmount.times(one.plus(buys.takerFee))), buys.tick);
    const wanted = maxOf(buyAmount, minBuyAmount).minus(boughtBy(trade, orders));
    return unlessSlipped(buys, 'buy', ceilToStep(wanted, buys.lot), limit);
  }

  /** Gives back what a trade bought that fell short, and then rejects it. */
  async #giveUp(trade: JournalTrade): Promise<void> {
    for (let turn = 0; turn < ordersPerCall; turn++) {
      const orders = await this.#settled(trade, 'main');
      const next = await this.#nextReturn(trade, orders);
      if (next === null) return this.#refuse(trade, orders);
      const code = 'code' in next ? next.code : await this.#place(trade, 'return', next, orders);
      if (code !== null) throw new VenueUndecided(`what was bought could not be given back: ${code}`);
    }
    throw new VenueUndecided('what was bought is given back in small pieces');
  }

  /** Rejects a trade that has these orders and no others, so that whoever is still at it places no more. */
  async #refuse(trade: JournalTrade, orders: readonly JournalOrder[]): Promise<void> {
    const decided = await this.#journal.decide(trade.clientId, this.#now(), (_terms, now) =>
      now.length === orders.length ? 'rejected' : null,
    );
    if (decided?.outcome !== 'rejected') throw new VenueUndecided('somebody else is at it');
  }

  /** The order that takes the main leg's position back; null when what is left is too little for one. */
  async #nextReturn(trade: JournalTrade, orders: readonly JournalOrder[]): Promise<NextOrder | null> {
    const { cash, account } = this.#options;
    const coin = trade.buyCoin === cash ? trade.sellCoin : trade.buyCoin;
    const held = changeBy(orders, coin);
    if (held.eq(none)) return null;
    const market = await account.market(coin, cash);
    if (!market) return { code: 'no_market' };
    return closing(market, held);
  }

  /** Sells what a filled trade has left to sell. */
  async #square(trade: JournalTrade): Promise<void> {
    if (trade.isSquared) return;
    const { cash, account } = this.#options;
    const { clientId, sellCoin, buyCoin, sellAmount } = trade;
    for (let turn = 0; turn < ordersPerCall; turn++) {
      const orders = await this.#settled(trade, 'sale');
      const left = sellCoin === cash || sellCoin === buyCoin ? none : sellAmount.plus(changeBy(orders, sellCoin));
      const market = left.gt(none) ? await account.market(sellCoin, cash) : null;
      if (left.gt(none) && !market) throw new VenueUndecided('there is no market to sell in');
      const next = market && closing(market, left);
      if (!next) {
        await this.#journal.square(clientId, this.#now());
        return;
      }
      const code = await this.#place(trade, 'sale', next, orders);
      if (code !== null) throw new VenueUndecided(`what was sold could not be turned into cash: ${code}`);
    }
  }

  /** The orders of a trade, once the fate of every one of the leg is known. @throws VenueUndecided */
  async #settled(trade: JournalTrade, leg: 'main' | 'sale'): Promise<JournalOrder[]> {
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
      else throw new VenueUndecided('an order was sent, and nobody knows whether it arrived');
    }
    return this.#journal.orders(trade.clientId);
  }

  /**
   * Places one order and notes how it ended. Null, or the word for why it was declined.
   *
   * @throws VenueUndecided when nobody knows.
   */
  async #place(
    trade: JournalTrade,
    leg: TradeLeg,
    terms: Omit<ExchangeOrder, 'clientId' | 'notAfterMs'>,
    orders: readonly JournalOrder[],
  ): Promise<string | null> {
    const { account, orderValidMs } = this.#options;
    await this.#checkClock();
    const number = orders.filter((order) => order.leg === leg).length + 1;
    const clientId = exchangeOrderId(trade.clientId, leg, number);
    // The exchange holds client ids to be unique among open orders only: what has this one already is ours.
    const known = await account.find({ ...terms, clientId });
    const now = this.#now();
    const latestMs = leg === 'main' ? trade.validUntil.getTime() : Number.POSITIVE_INFINITY;
    const order = { ...terms, clientId, notAfterMs: Math.min(now.getTime() + orderValidMs, latestMs) };
    if (known.some(({ isOpen }) => isOpen)) throw new VenueUndecided('an order of an unknown past is open');
    if (known.length > 0) {
      if (await this.#journal.adopt(trade.clientId, leg, number, order, known, now)) return null;
      throw new VenueUndecided('somebody else is at it');
    }
    if (order.notAfterMs - now.getTime() < shortestValidMs) return 'too_late';
    if (!(await this.#journal.intend(trade.clientId, leg, number, order, now))) {
      throw new VenueUndecided('somebody else is at it');
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

  /** The validity of orders is by two clocks. @throws VenueUndecided while they differ too much. */
  async #checkClock(): Promise<void> {
    const nowMs = performance.now();
    if (this.#skewCheckedMs !== null && nowMs - this.#skewCheckedMs < skewEveryMs) return;
    const skewMs = await this.#options.account.clockSkewMs();
    if (Math.abs(skewMs) > largestSkewMs) {
      this.#options.log.error(
        { event: 'venue_clock', ms: skewMs },
        "our clock and the exchange's differ; set ours right",
      );
      throw new VenueUndecided("our clock and the exchange's differ");
    }
    this.#skewCheckedMs = nowMs;
  }
}

function filled({ bought }: JournalTrade): VenueAnswer {
  if (bought === null) throw new Error('a filled trade without an amount');
  return { outcome: 'filled', bought };
}

function boughtBy({ buyCoin }: JournalTrade, orders: readonly JournalOrder[]): Big {
  return changeBy(
    orders.filter(({ leg }) => leg !== 'sale'),
    buyCoin,
  );
}

/** An order at its limit, or why it makes no sense to place it. */
function unlessSlipped(market: MarketNow, side: 'buy' | 'sell', amount: Big, limit: Big): NextOrder {
  if (limit.lte(none)) return { code: 'slippage' };
  if (side === 'buy' ? limit.lt(market.ask) : limit.gt(market.bid)) return { code: 'slippage' };
  if (isTooSmall(market, amount, new Big(side === 'buy' ? market.ask : limit))) return { code: 'too_small' };
  const { base, quote } = market;
  return { base, quote, side, amount: formatDecimal(amount), limit: formatDecimal(limit) };
}

/** The order that ends a position, far enough into the book; null when the position is too small for one. */
function closing(market: MarketNow, held: Big): Omit<ExchangeOrder, 'clientId' | 'notAfterMs'> | null {
  const { base, quote, bid, ask, lot, tick } = market;
  const amount = floorToStep(held.abs(), lot);
  const sells = held.gt(none);
  const limit = sells
    ? maxOf(floorToStep(one.minus(reach).times(bid), tick), new Big(tick))
    : ceilToStep(one.plus(reach).times(ask), tick);
  if (isTooSmall(market, amount, sells ? limit : new Big(ask))) return null;
  return { base, quote, side: sells ? 'sell' : 'buy', amount: formatDecimal(amount), limit: formatDecimal(limit) };
}

function isTooSmall({ minAmount, minCost }: Market, amount: Big, price: Big): boolean {
  return amount.lte(none) || amount.lt(minAmount) || amount.times(price).lt(minCost);
}

function floorToStep(value: Big, step: string): Big {
  return value.div(step).round(0, 0).times(step);
}

function ceilToStep(value: Big, step: string): Big {
  const floor = floorToStep(value, step);
  return floor.eq(value) ? floor : floor.plus(step);
}
