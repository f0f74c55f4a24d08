import type { CcxtExchange, CcxtMarket, CcxtTicker, RefusalReader } from './ccxt-exchange.ts';
import type { BookLevel, ExchangeOrder, OrderRecord } from './exchange.ts';

/** What is different from exchange to exchange. */
export interface Dialect {
  /** Options of ccxt. */
  readonly options: Record<string, unknown>;
  readonly refusalOf: RefusalReader;
  /** Signed requests are numbered, and one that overtakes another is refused. */
  readonly takesTurns: boolean;
  /** Best bids and asks. */
  tops(ccxt: CcxtExchange, symbols: readonly string[]): Promise<Record<string, CcxtTicker>>;
  /**
   * The order book, best prices first, as deep as the exchange shows it in one request of moderate cost. The exchange's own
   * answer is read, because ccxt would sort prices that are strings as text.
   */
  book(ccxt: CcxtExchange, market: CcxtMarket): Promise<Record<'bids' | 'asks', BookLevel[]>>;
  /** The step of prices, when it is not the one that ccxt tells. */
  tick?(market: CcxtMarket): string | undefined;
  place(ccxt: CcxtExchange, market: CcxtMarket, order: ExchangeOrder): Promise<OrderRecord>;
  find(ccxt: CcxtExchange, market: CcxtMarket, clientId: string): Promise<OrderRecord[]>;
}
