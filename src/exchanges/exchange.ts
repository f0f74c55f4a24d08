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

/** An API key, and the secret that signs requests under it. */
export interface ExchangeKey {
  readonly key: string;
  readonly secret: string;
}

/**
 * One exchange, and the keys of our account there. Without a key it is asked only what is public.
 */
export interface ExchangeAccount extends ExchangeAddress, Partial<ExchangeKey> {
  /** A key that reads balances, deposits and withdrawals, and has no other right. */
  readonly funding?: ExchangeKey;
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

/** What an account holds of a coin, as decimal strings. */
export interface Holdings {
  readonly coin: string;
  /** With what open orders lock and what earns interest; without withdrawals accepted earlier. */
  readonly total: string;
  readonly free: string;
}

export const movementKinds = ['deposit', 'withdrawal'] as const;
export type MovementKind = (typeof movementKinds)[number];

/**
 * - `pending`: a deposit that is not credited; a withdrawal that was accepted and has not ended.
 * - `locked`: a deposit that is credited and may be traded, and not withdrawn yet.
 * - `done`: a credited deposit, or a withdrawal that was paid.
 * - `returned`: the exchange ended it without effect, and its coins are where they were.
 * - `unknown`: a state that the dialect does not know.
 */
export const movementStates = ['pending', 'locked', 'done', 'returned', 'unknown'] as const;
export type MovementState = (typeof movementStates)[number];

/** The most movements of a list that is read. A longer list is an error. */
export const mostMovements = 20_000;

/**
 * A deposit to an account, or a withdrawal, as the exchange lists it. Amounts are decimal strings.
 */
export interface Movement {
  readonly kind: MovementKind;
  /** Its id at the exchange, unique among the account's movements of its kind. */
  readonly reference: string;
  readonly coin: string;
  /** The exchange's own name of the network; null where it tells none. */
  readonly network: string | null;
  /** Null while there is none, and for a move inside the exchange, which is on no chain. */
  readonly txid: string | null;
  /** The exchange says that it moved the coins inside, on no chain. */
  readonly isInternal: boolean;
  readonly address: string | null;
  readonly tag: string | null;
  /** Of a withdrawal what leaves the account, with the fee. Of a deposit what the account gets. */
  readonly amount: string;
  readonly fee: string;
  readonly state: MovementState;
  /** The exchange's own words for its state: 'Pending', 'Settled onhold', '6'. */
  readonly told: string;
  /** Milliseconds since 1970, by the exchange's clock. */
  readonly atMs: number;
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
