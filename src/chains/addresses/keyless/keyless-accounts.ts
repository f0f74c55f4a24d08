/** Accounts of a family from which no private key can spend. */
export interface KeylessAccounts {
  /** What they are, as the end of a sentence that starts with 'this'. */
  readonly reason: string;
  /** Where it is written that they are what `reason` says. */
  readonly source: string;
  /** In the canonical form of the family. Their forms on other chains have no key either. */
  readonly accounts?: readonly string[];
  /**
   * Matches accounts by their digits, which are `0x` and 40 digits in lower case. Only EVM, TRON
   * and XRP have it.
   */
  readonly pattern?: RegExp;
}

/** An account that is used to destroy coins. */
export const burnReason = 'is a burn address: what is sent there is lost';
/** A part of the network itself. */
export const systemReason = 'is a program of the network and not a wallet';
