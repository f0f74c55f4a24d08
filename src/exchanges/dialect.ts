import type { CcxtExchange, CcxtMarket, CcxtTicker, RefusalReader } from './ccxt-exchange.ts';
import type { BookLevel, ExchangeOrder, OrderRecord } from './exchange.ts';

/** The differences between exchanges. */
export interface Dialect {
  /** Options of ccxt. */
  readonly options: Record<string, unknown>;
  readonly refusalOf: RefusalReader;
  /**
   * True when signed requests carry a nonce, and the exchange refuses one that overtakes another.
   */
  readonly takesTurns: boolean;
  /** Best bids and asks. */
  tops(ccxt: CcxtExchange, symbols: readonly string[]): Promise<Record<string, CcxtTicker>>;
  /**
   * The order book, best prices first, as deep as the exchange shows it in one request of moderate
   * cost. The raw answer is read, because ccxt would sort string prices as text.
   */
  book(ccxt: CcxtExchange, market: CcxtMarket): Promise<Record<'bids' | 'asks', BookLevel[]>>;
  /** The step of prices, when it differs from the one that ccxt tells. */
  tick?(market: CcxtMarket): string | undefined;
  place(ccxt: CcxtExchange, market: CcxtMarket, order: ExchangeOrder): Promise<OrderRecord>;
  find(ccxt: CcxtExchange, market: CcxtMarket, clientId: string): Promise<OrderRecord[]>;
}
