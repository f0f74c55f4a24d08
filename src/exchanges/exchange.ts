/** Exchanges whose protocol was read and imitated in the tests. The name is that of the file in ccxt. */
export const exchangeNames = ['binance', 'kraken'] as const;
export type ExchangeName = (typeof exchangeNames)[number];

export function isExchangeName(name: string): name is ExchangeName {
  return exchangeNames.some((known) => known === name);
}

/** Coins that stand for dollars, though never for exactly one. */
export const dollarCoins = ['USDT', 'USDC'] as const;

/** One exchange, and where it is reached. */
export interface ExchangeAddress {
  readonly name: ExchangeName;
  /** Scheme, host and port in place of the exchange's own, for a proxy or a test; null is the exchange itself. */
  readonly origin: string | null;
}

export interface ExchangeAccount extends ExchangeAddress {
  readonly key: string;
  readonly secret: string;
}

/** The top of a market's order book. Prices are decimal strings, in the quote coin for one of the base coin. */
export interface Ticker {
  readonly base: string;
  readonly quote: string;
  readonly bid: string;
  readonly ask: string;
  /** Milliseconds since 1970, by our clock; not after the moment when the exchange was asked. */
  readonly atMs: number;
}

/** The rules of a market, as decimal strings. */
export interface Market {
  readonly base: string;
  readonly quote: string;
  /** Amounts of the base coin are multiples of this. */
  readonly lot: string;
  /** Prices are multiples of this. */
  readonly tick: string;
  /** The least amount of the base coin in one order. */
  readonly minAmount: string;
  /** The least worth of one order, in the quote coin. */
  readonly minCost: string;
  /** What a trade costs at most, as a fraction. */
  readonly takerFee: string;
}

/** One level of an order book: a price, and how much of the base coin stands at it, as decimal strings. */
export type BookLevel = readonly [price: string, amount: string];

/** A market with its order book of this moment, best prices first. A side may be empty. */
export interface MarketNow extends Market {
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}

/** What fills at once within its limit; the rest of it is cancelled. */
export interface ExchangeOrder {
  /** A UUID. Kraken and Binance both take one, and both hold it to be unique among open orders only. */
  readonly clientId: string;
  readonly base: string;
  readonly quote: string;
  readonly side: 'buy' | 'sell';
  /** Of the base coin; a multiple of the market's lot. */
  readonly amount: string;
  /** The worst price; a multiple of the market's tick. */
  readonly limit: string;
  /** Milliseconds since 1970 past which the exchange refuses the order, however late it gets there. */
  readonly notAfterMs: number;
}

/** What became of an order, in the exchange's own words. Amounts are decimal strings. */
export interface OrderRecord {
  readonly isOpen: boolean;
  /** Of the base coin. */
  readonly filled: string;
  /** Of the quote coin. */
  readonly cost: string;
  readonly fees: readonly OrderFee[];
}

export interface OrderFee {
  readonly coin: string;
  readonly amount: string;
}

/**
 * Why an order was not taken. Every one of them says that it was not executed and never will be:
 * no_inventory — the account has too little; too_late — its validity was over; rate_limited; refused — for anything else.
 */
export const refusalCodes = ['no_inventory', 'too_late', 'rate_limited', 'refused'] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** The exchange took the request and declined it. */
export class ExchangeRefusal extends Error {
  override readonly name = 'ExchangeRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** There is no sound answer. An order that was sent may have been executed, or may be yet. */
export class ExchangeUnavailable extends Error {
  override readonly name = 'ExchangeUnavailable';
}
