import { Big } from '../base/money.ts';
import { decimal, notNegative, positive } from './decimals.ts';
import {
  type BookLevel,
  type ExchangeName,
  type ExchangeOrder,
  ExchangeUnavailable,
  type MarketNow,
  type OrderRecord,
} from './exchange.ts';
import type { ExchangeProcess } from './exchange-process.ts';

/** Limit of the levels of a side. No request asks for more. */
const mostLevels = 5_000;

/** One account at one exchange. It checks every answer before it returns it. */
export class TradingAccount {
  readonly name: ExchangeName;
  readonly #process: ExchangeProcess;

  constructor(name: ExchangeName, process: ExchangeProcess) {
    this.name = name;
    this.#process = process;
  }

  /**
   * A market with its order book; null when the exchange has no such open market. @throws
   * ExchangeUnavailable
   */
  async market(base: string, quote: string): Promise<MarketNow | null> {
    return checkedMarket(await this.#process.ask(this.name, 'market', base, quote), base, quote);
  }

  /**
   * Milliseconds by which the exchange's clock is ahead of this machine's. @throws
   * ExchangeUnavailable
   */
  async clockSkewMs(): Promise<number> {
    const skew = await this.#process.ask(this.name, 'clockSkew');
    if (typeof skew !== 'number' || !Number.isFinite(skew)) throw new ExchangeUnavailable('the exchange gave no time');
    return skew;
  }

  /**
   * Places an order once, without a retry.
   *
   * @throws ExchangeRefusal when the order was declined and will never be executed;
   *   ExchangeUnavailable when the result is unknown.
   */
  async place(order: ExchangeOrder): Promise<OrderRecord> {
    return checkedRecord(await this.#process.ask(this.name, 'place', order), order);
  }

  /** The orders of a client id at the exchange, open or closed. @throws ExchangeUnavailable */
  async find(order: Omit<ExchangeOrder, 'notAfterMs' | 'limit'>): Promise<OrderRecord[]> {
    const { clientId, base, quote } = order;
    const found = await this.#process.ask(this.name, 'find', { clientId, base, quote });
    if (!Array.isArray(found)) throw new ExchangeUnavailable('the exchange gave no list of orders');
    return found.map((record) => checkedRecord(record, order));
  }
}

/**
 * Checks the rules and the order book of a market.
 *
 * @throws ExchangeUnavailable when a figure is not valid, or the book is crossed or not in order.
 */
export function checkedMarket(answer: unknown, base: string, quote: string): MarketNow | null {
  if (answer === null) return null;
  const { lot, tick, bids, asks, minAmount, minCost, takerFee } = answer as MarketNow;
  for (const text of [lot, tick]) positive(text);
  for (const text of [minAmount, minCost]) notNegative(text);
  if (notNegative(takerFee).gte('0.1')) throw new ExchangeUnavailable('the fee is not plausible');
  const market = { bids: checkedLevels(bids, 'bids'), asks: checkedLevels(asks, 'asks') };
  const [bid, ask] = [market.bids[0]?.[0], market.asks[0]?.[0]];
  if (bid !== undefined && ask !== undefined && new Big(bid).gt(ask)) {
    throw new ExchangeUnavailable('the order book is crossed');
  }
  return { base, quote, lot, tick, ...market, minAmount, minCost, takerFee };
}

/** Checks one side of a book and drops empty levels. */
function checkedLevels(levels: unknown, side: 'bids' | 'asks'): BookLevel[] {
  if (!Array.isArray(levels) || levels.length > mostLevels) throw new ExchangeUnavailable('there is no order book');
  const checked = levels.map((level) => {
    if (!Array.isArray(level)) throw new ExchangeUnavailable('a level of the order book is not valid');
    return { price: positive(level[0]), amount: notNegative(level[1]) };
  });
  const isInOrder = checked.every(({ price }, index) => {
    const before = checked[index - 1]?.price;
    return !before || (side === 'bids' ? price.lt(before) : price.gt(before));
  });
  if (!isInOrder) throw new ExchangeUnavailable('the order book is not in order');
  return checked
    .filter(({ amount }) => amount.gt('0'))
    .map(({ price, amount }) => [price.toFixed(), amount.toFixed()] as const);
}

/** Checks the figures of an order record. */
function checkedRecord(answer: unknown, order: Pick<ExchangeOrder, 'amount'>): OrderRecord {
  const { isOpen, filled, cost, fees } = (answer ?? {}) as Partial<OrderRecord>;
  if (typeof isOpen !== 'boolean' || !Array.isArray(fees))
    throw new ExchangeUnavailable('an order record is not valid');
  const amount = notNegative(filled);
  if (amount.gt(order.amount) || notNegative(cost).eq('0') !== amount.eq('0')) {
    throw new ExchangeUnavailable('an order record contradicts itself');
  }
  return {
    isOpen,
    filled: amount.toFixed(),
    cost: notNegative(cost).toFixed(),
    fees: fees.map((fee) => ({ coin: String(fee.coin), amount: decimal(fee.amount).toFixed() })),
  };
}
