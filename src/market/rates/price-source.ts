/** A source's price: a decimal string in US dollars per unit of the coin. */
export interface SourcePrice {
  readonly price: string;
  /** When the source observed it. */
  readonly at: Date;
}

/** Depth of the venue's order books near a coin's price, as decimal strings in US dollars. */
export interface CoinDepth {
  /** Amount that can be bought. */
  readonly buy: string;
  /** Amount that can be sold. */
  readonly sell: string;
  /** When the book was read. */
  readonly at: Date;
}

/** A source of prices. An adapter without an answer throws; it never invents a price. */
export interface PriceSource {
  readonly name: string;
  /** Fetches the prices of the requested coins that the source knows. */
  fetch(coins: readonly string[]): Promise<ReadonlyMap<string, SourcePrice>>;
  /**
   * Coins whose price is unknown since the last `fetch`. Their earlier price is void, however
   * young.
   */
  paused?(): ReadonlySet<string>;
  /**
   * Depth of the venue's order books by coin, of any age. Absent where trades use no order book.
   */
  depth?(): ReadonlyMap<string, CoinDepth>;
}
