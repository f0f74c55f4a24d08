/**
 * Exchanges whose protocol was read and is imitated in the tests. The name is that of the file in
 * ccxt.
 */
export const exchangeNames = ['binance', 'kraken'] as const;
export type ExchangeName = (typeof exchangeNames)[number];

export function isExchangeName(name: string): name is ExchangeName {
  return exchangeNames.some((known) => known === name);
}

/** Coins that stand for dollars. Their price may differ from one dollar. */
export const dollarCoins = ['USDT', 'USDC'] as const;

/** One exchange, and its address. */
export interface ExchangeAddress {
  readonly name: ExchangeName;
  /**
   * Scheme, host and port in place of the exchange's own, for a proxy or a test; null is the
   * exchange itself.
   */
  readonly origin: string | null;
}

export interface ExchangeAccount extends ExchangeAddress {
  readonly key: string;
  readonly secret: string;
}

/**
 * The top of a market's order book. Prices are decimal strings, in the quote coin for one base
 * coin.
 */
export interface Ticker {
  readonly base: string;
  readonly quote: string;
  readonly bid: string;
  readonly ask: string;
  /** Milliseconds since 1970 by our clock; never later than the moment of the request. */
  readonly atMs: number;
}

/** The rules of a market, as decimal strings. */
export interface Market {
  readonly base: string;
  readonly quote: string;
  /** The step of amounts of the base coin. */
  readonly lot: string;
  /** The step of prices. */
  readonly tick: string;
  /** The smallest amount of the base coin in one order. */
  readonly minAmount: string;
  /** The smallest value of one order, in the quote coin. */
  readonly minCost: string;
  /** The highest fee of a trade, as a fraction. */
  readonly takerFee: string;
}

/**
 * One level of an order book, as decimal strings: a price, and the amount of the base coin at that
 * price.
 */
export type BookLevel = readonly [price: string, amount: string];

/** A market with its present order book, best prices first. A side may be empty. */
export interface MarketNow extends Market {
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}

/**
 * An immediate-or-cancel limit order: it fills at once within its limit, and the rest is cancelled.
 */
export interface ExchangeOrder {
  /**
   * A UUID. Kraken and Binance both accept one, and check that it is unique among open orders only.
   */
  readonly clientId: string;
  readonly base: string;
  readonly quote: string;
  readonly side: 'buy' | 'sell';
  /** Amount of the base coin; a multiple of the market's lot. */
  readonly amount: string;
  /** The worst acceptable price; a multiple of the market's tick. */
  readonly limit: string;
  /** Milliseconds since 1970. The exchange refuses the order when it arrives later. */
  readonly notAfterMs: number;
}

/** The result of an order, as the exchange tells it. Amounts are decimal strings. */
export interface OrderRecord {
  readonly isOpen: boolean;
  /** Amount of the base coin. */
  readonly filled: string;
  /** Amount of the quote coin. */
  readonly cost: string;
  readonly fees: readonly OrderFee[];
}

export interface OrderFee {
  readonly coin: string;
  readonly amount: string;
}

/**
 * Why an order was declined. Each code means that the order was not executed and never will be.
 * - no_inventory: the account holds too little.
 * - too_late: the validity was over.
 * - rate_limited: too many requests.
 * - refused: any other reason.
 */
export const refusalCodes = ['no_inventory', 'too_late', 'rate_limited', 'refused'] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** The exchange received the request and declined it. */
export class ExchangeRefusal extends Error {
  override readonly name = 'ExchangeRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** There is no valid answer. An order that was sent may have been executed, or may still be. */
export class ExchangeUnavailable extends Error {
  override readonly name = 'ExchangeUnavailable';
}
