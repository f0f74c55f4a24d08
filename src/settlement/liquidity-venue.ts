import type { TradeBound } from './trade-bound.ts';

/** An exchange of one coin for another, as it is asked of a venue. Amounts are decimal strings in the coins' units. */
export interface VenueOrder {
  /** Ours, and the venue's key to doing it once. */
  readonly clientId: string;
  readonly sellCoin: string;
  readonly sellAmount: string;
  readonly buyCoin: string;
  /** What was agreed. A venue that buys an amount, rather than sells one, buys this; without it, the least. */
  readonly buyAmount?: string;
  /** The slippage bound: less than this is no deal. */
  readonly minBuyAmount: string;
  /** What the whole trade may lose; null at a venue without a coin between the legs. */
  readonly bound: TradeBound | null;
  /** Past this the venue trades nothing, however late the request reaches it. */
  readonly validUntil: Date;
}

export type VenueAnswer =
  | { readonly outcome: 'filled'; readonly bought: string }
  /**
   * Nothing is traded for the order. `code` is a stable word: 'no_inventory', 'slippage', 'thin_book', 'no_price',
   * 'no_market', 'too_late'.
   */
  | { readonly outcome: 'rejected'; readonly code: string };

/**
 * Where liquidity comes from. `trade` is idempotent by clientId: once filled, every repetition gives the same fill; a
 * rejection is not remembered, unless something was bought and given back. An adapter that gets no definite answer throws, and the caller asks `find` before
 * anything else.
 */
export interface LiquidityVenue {
  readonly name: string;
  /** The coin between the two legs of a trade; absent where there is none. */
  readonly cash?: string;
  trade(order: VenueOrder): Promise<VenueAnswer>;
  /** The fill of a clientId, or null when the venue has none and never will unless asked again, with more time. */
  find(clientId: string): Promise<VenueAnswer | null>;
  /** Finishes what trades left to do that no order waits for. Called now and then, by any number of processes. */
  settleCash?(): Promise<void>;
  close?(): Promise<void>;
}
