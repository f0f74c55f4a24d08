import type { TradeBound } from './trade-bound.ts';

/**
 * The name under which trades and fills of our own inventory are stored. It dates from when only
 * the sandbox had an inventory.
 */
export const inventoryName = 'sandbox';

/** The account of the ledger for what a venue holds for us. */
export function venueAccount(venue: string): 'venue' | `venue:${string}` {
  return venue === inventoryName ? 'venue' : `venue:${venue}`;
}

/** A trade as requested from a venue. Amounts are decimal strings in the coins' units. */
export interface VenueOrder {
  /** Our id. The venue uses it as the idempotency key. */
  readonly clientId: string;
  readonly sellCoin: string;
  readonly sellAmount: string;
  readonly buyCoin: string;
  /**
   * The agreed amount. A venue that buys a given amount, rather than sells one, buys this. Default:
   * `minBuyAmount`.
   */
  readonly buyAmount?: string;
  /** The slippage bound: a smaller fill is refused. */
  readonly minBuyAmount: string;
  /** The loss bound of the whole trade. Null at a venue without a cash coin. */
  readonly bound: TradeBound | null;
  /** After this time the venue trades nothing, even if the request arrives later. */
  readonly validUntil: Date;
}

export interface VenueFill {
  readonly outcome: 'filled';
  readonly bought: string;
}

export type VenueAnswer =
  | VenueFill
  /**
   * Nothing is traded for the order. `code` is a stable word: 'no_inventory', 'slippage',
   * 'thin_book', 'no_price', 'no_market', 'too_late'.
   */
  | { readonly outcome: 'rejected'; readonly code: string };

/**
 * A source of liquidity. `trade` is idempotent by clientId: once filled, every repetition returns
 * the same fill. A rejection is not remembered, unless something was bought and returned. An
 * adapter without a definite answer throws, and the caller asks `find` before anything else.
 */
export interface LiquidityVenue {
  readonly name: string;
  /** The coin between the two legs of a trade. Absent where there is none. */
  readonly cash?: string;
  trade(order: VenueOrder): Promise<VenueAnswer>;
  /**
   * Trades several orders in one request, and returns the fills by clientId. It leaves out every
   * order that it does not fill: the caller requests that order with `trade`. Absent at venues that
   * take one trade a request.
   */
  tradeAll?(orders: readonly VenueOrder[]): Promise<ReadonlyMap<string, VenueFill>>;
  /**
   * Returns the fill of a clientId. Null when there is none and never will be, unless it is traded
   * again with a later deadline.
   */
  find(clientId: string): Promise<VenueAnswer | null>;
  /**
   * Closes positions of trades that no order waits for. Called periodically, by any number of
   * processes.
   */
  settleCash?(): Promise<void>;
  close?(): Promise<void>;
}
