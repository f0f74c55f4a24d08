import type {
  ExchangeAccount,
  ExchangeName,
  ExchangeOrder,
  Holdings,
  MarketNow,
  Movement,
  MovementKind,
  OrderRecord,
  RefusalCode,
  Ticker,
} from './exchange.ts';

/** The questions that the exchange process answers. */
export interface ExchangeQuestions {
  /**
   * The top of the markets that price these coins in dollars, or in a coin that stands for dollars.
   */
  tickers(coins: readonly string[]): Promise<Ticker[]>;
  /** A market with its order book; null when the exchange has no such open market. */
  market(base: string, quote: string): Promise<MarketNow | null>;
  /** Milliseconds by which the exchange's clock is ahead of this machine's. */
  clockSkew(): Promise<number>;
  /** Places an order once, without a retry. */
  place(order: ExchangeOrder): Promise<OrderRecord>;
  /** All orders of a client id at the exchange, open or closed. */
  find(order: Pick<ExchangeOrder, 'clientId' | 'base' | 'quote'>): Promise<OrderRecord[]>;
  /** What the account holds: every coin with a total above zero. Needs the key `funding`. */
  holdings(): Promise<Holdings[]>;
  /**
   * All deposits or withdrawals since a moment, in milliseconds since 1970, and perhaps a few
   * before it. A list that cannot be read to its end is an error. One that grows meanwhile may tell
   * a movement twice. Needs the key `funding`.
   */
  movements(kind: MovementKind, sinceMs: number): Promise<Movement[]>;
}

export type ExchangeMethod = keyof ExchangeQuestions;

/**
 * The first message to a child: the exchanges it talks to. API keys travel in it, never in an
 * argument or an environment variable of a process.
 */
export interface Introduction {
  readonly exchanges: readonly ExchangeAccount[];
  readonly requestTimeoutMs: number;
  /** For all requests that read one list of movements. */
  readonly listTimeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Milliseconds between two requests to one exchange; null takes ccxt's own rate limit. */
  readonly paceMs: number | null;
}

export interface Question {
  readonly id: number;
  readonly exchange: ExchangeName;
  readonly method: ExchangeMethod;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly refusal: RefusalCode; readonly message: string }
  | { readonly id: number; readonly failure: string };
