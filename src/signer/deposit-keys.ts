/** The public sides of the deposit keys, provided by the holder of the private keys. */
export interface DepositKeys {
  /** Names the keys in 16 hex digits and reveals nothing about them. */
  fingerprint(): Promise<string>;
  /** Extended public key of the account of a network whose deposit addresses are derived. */
  accountXpub(networkId: string): Promise<string>;
  /**
   * The one address of a network that tells deposits apart by tag. It is the hot wallet where the
   * chain pays from its deposits.
   */
  sharedAddress(networkId: string): Promise<string>;
  /**
   * The addresses with the indexes from `first` to `last`, both included and from 1, of a network
   * without public derivation.
   */
  poolAddresses(networkId: string, first: number, last: number): Promise<readonly string[]>;
}
