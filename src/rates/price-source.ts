/** A price as a source tells it: a decimal string in US dollars per unit of the coin. */
export interface SourcePrice {
  readonly price: string;
  /** When the source observed it. */
  readonly at: Date;
}

/** What the order books of the venue hold of a coin near its price, as decimal strings in US dollars. */
export interface CoinDepth {
  /** What can be bought. */
  readonly buy: string;
  /** What can be sold. */
  readonly sell: string;
  /** When the book was read. */
  readonly at: Date;
}

/** Where prices come from. An adapter that can reach no answer throws; it never invents a price. */
export interface PriceSource {
  readonly name: string;
  /** Prices of the coins asked for that the source knows. */
  fetch(coins: readonly string[]): Promise<ReadonlyMap<string, SourcePrice>>;
  /** Coins whose price nobody knows since the last `fetch`, however young the one before is. */
  paused?(): ReadonlySet<string>;
  /** By coin, what the venue's order books hold, however old; absent where no order book is traded on. */
  depth?(): ReadonlyMap<string, CoinDepth>;
}
