import type {
  ExchangeAddress,
  ExchangeName,
  ExchangeOrder,
  MarketNow,
  OrderRecord,
  RefusalCode,
  Ticker,
} from './exchange.ts';

/** The questions that the exchange process answers. */
export interface ExchangeQuestions {
  /** Those markets of the coins that say what they cost in dollars or in a coin that stands for dollars. */
  tickers(coins: readonly string[]): Promise<Ticker[]>;
  /** A market with its order book; null when the exchange has no such market that is open. */
  market(base: string, quote: string): Promise<MarketNow | null>;
  /** How many milliseconds the exchange's clock is ahead of ours. */
  clockSkew(): Promise<number>;
  /** Places an order, once. */
  place(order: ExchangeOrder): Promise<OrderRecord>;
  /** Everything that the exchange knows under a client id, open or not. */
  find(order: Pick<ExchangeOrder, 'clientId' | 'base' | 'quote'>): Promise<OrderRecord[]>;
}

export type ExchangeMethod = keyof ExchangeQuestions;

/** The first message to a child: whom it talks to. Keys travel here, and in no argument or variable of a process. */
export interface Introduction {
  readonly exchanges: readonly (ExchangeAddress & { readonly key?: string; readonly secret?: string })[];
  readonly requestTimeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Between two requests to one exchange; null is what ccxt thinks right. */
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
