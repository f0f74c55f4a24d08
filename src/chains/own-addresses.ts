/** Where an address of ours stands among the keys. */
export interface OwnAddresses {
  /** Indexes below the account's external chain (0/index) of those addresses that were given to orders. */
  indexes(addresses: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** An output that belongs to us and is in a block. */
export interface OwnOutput {
  /** As the transfer that made it: 'txid:0'. */
  readonly key: string;
  readonly address: string;
  readonly amount: bigint;
  readonly height: number;
  readonly blockHash: string;
  /** Index of the deposit address; null for the hot wallet. */
  readonly index: number | null;
  /** The transaction in a block that spends it, or null. */
  readonly spentBy: { readonly txid: string; readonly height: number; readonly blockHash: string } | null;
}

/** The outputs of a chain that the scanner found to be ours. */
export interface OwnOutputs {
  /** Those of the hot wallet that no block spends, the oldest first. */
  hot(chain: string): Promise<readonly OwnOutput[]>;
  /**
   * Those of them that may be spent: all but coins from outside that are not credited yet. Who sent those may take them
   * back, and what spends them could then never confirm.
   */
  spendable(chain: string): Promise<readonly OwnOutput[]>;
  /** Keys of those, of transactions of ours that can never confirm any more. */
  lost(chain: string, keys: readonly string[]): Promise<readonly string[]>;
  /** Those with these keys, spent or not, in no particular order. */
  find(chain: string, keys: readonly string[]): Promise<readonly OwnOutput[]>;
}
