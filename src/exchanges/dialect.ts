import type { CcxtExchange, CcxtMarket, CcxtTicker, RefusalReader } from './ccxt-exchange.ts';
import type { BookLevel, ExchangeOrder, Holdings, Movement, MovementKind, OrderRecord } from './exchange.ts';

/** A page of a list of movements. */
export interface MovementsAsked {
  readonly kind: MovementKind;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  /** `next` of the page before; null is the first page. */
  readonly from: string | null;
}

export interface MovementPage {
  readonly movements: readonly Movement[];
  /** Leads to the next page; null at the end of the list. */
  readonly next: string | null;
}

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
  /** What the account holds: every coin with a total above zero. */
  holdings(ccxt: CcxtExchange): Promise<Holdings[]>;
  /**
   * One page of a list of movements. Raw answers are read, because ccxt has one word for "credited"
   * and "credited and locked".
   */
  movements(ccxt: CcxtExchange, asked: MovementsAsked): Promise<MovementPage>;
}

/** The longest address of a chain, with room. */
const longestAddress = 200;

/** An address, or null: there is none, or it is an invoice of Lightning, which is no address. */
export function addressOf(text: string): string | null {
  return text === '' || text.length > longestAddress ? null : text;
}
