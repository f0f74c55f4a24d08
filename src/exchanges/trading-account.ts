import { Big, isStorable, parseDecimal } from '../money.ts';
import {
  type ExchangeName,
  type ExchangeOrder,
  ExchangeUnavailable,
  type MarketNow,
  type OrderRecord,
} from './exchange.ts';
import type { ExchangeProcess } from './exchange-process.ts';

/** One account at one exchange. Every answer is checked before anybody sees it. */
export class TradingAccount {
  readonly name: ExchangeName;
  readonly #process: ExchangeProcess;

  constructor(name: ExchangeName, process: ExchangeProcess) {
    this.name = name;
    this.#process = process;
  }

  /** A market with its prices; null when the exchange has none that is open. @throws ExchangeUnavailable */
  async market(base: string, quote: string): Promise<MarketNow | null> {
    const answer = await this.#process.ask(this.name, 'market', base, quote);
    if (answer === null) return null;
    const { lot, tick, bid, ask, minAmount, minCost, takerFee } = answer as MarketNow;
    for (const text of [lot, tick, bid, ask]) positive(text);
    for (const text of [minAmount, minCost]) notNegative(text);
    if (new Big(bid).gt(ask)) throw new ExchangeUnavailable('the order book is crossed');
    if (notNegative(takerFee).gte('0.1')) throw new ExchangeUnavailable('the fee is not believable');
    return { base, quote, lot, tick, bid, ask, minAmount, minCost, takerFee };
  }

  /** How many milliseconds the exchange's clock is ahead of ours. @throws ExchangeUnavailable */
  async clockSkewMs(): Promise<number> {
    const skew = await this.#process.ask(this.name, 'clockSkew');
    if (typeof skew !== 'number' || !Number.isFinite(skew)) throw new ExchangeUnavailable('it told no time');
    return skew;
  }

  /**
   * Places an order, once.
   *
   * @throws ExchangeRefusal when it was declined and will never be executed; ExchangeUnavailable when nobody knows.
   */
  async place(order: ExchangeOrder): Promise<OrderRecord> {
    return checkedRecord(await this.#process.ask(this.name, 'place', order), order);
  }

  /** What the exchange has under a client id, open or not. @throws ExchangeUnavailable */
  async find(order: Omit<ExchangeOrder, 'notAfterMs' | 'limit'>): Promise<OrderRecord[]> {
    const { clientId, base, quote } = order;
    const found = await this.#process.ask(this.name, 'find', { clientId, base, quote });
    if (!Array.isArray(found)) throw new ExchangeUnavailable('the exchange gave no list of orders');
    return found.map((record) => checkedRecord(record, order));
  }
}

/** An order's record whose figures can be true. */
function checkedRecord(answer: unknown, order: Pick<ExchangeOrder, 'amount'>): OrderRecord {
  const { isOpen, filled, cost, fees } = (answer ?? {}) as Partial<OrderRecord>;
  if (typeof isOpen !== 'boolean' || !Array.isArray(fees)) throw new ExchangeUnavailable('an order record is unsound');
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

function decimal(text: unknown): Big {
  const value = typeof text === 'string' ? parseDecimal(text) : null;
  if (value === null) throw new ExchangeUnavailable('an amount is not a decimal');
  // What the database would round could never be accounted for.
  if (!isStorable(value)) throw new ExchangeUnavailable('an amount is too large or too fine');
  return value;
}

function notNegative(text: unknown): Big {
  const value = decimal(text);
  if (value.lt('0')) throw new ExchangeUnavailable('an amount is negative');
  return value;
}

function positive(text: unknown): Big {
  const value = decimal(text);
  if (value.lte('0')) throw new ExchangeUnavailable('an amount is not positive');
  return value;
}
