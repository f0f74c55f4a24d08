/** The public sides of the deposit keys, told by whoever holds the private ones. */
export interface DepositKeys {
  /** Names the keys in 16 hex digits and reveals nothing of them. */
  fingerprint(): Promise<string>;
  /** Extended public key of the account of a network whose deposit addresses are derived. */
  accountXpub(networkId: string): Promise<string>;
  /** The one address of a network that tells deposits apart by tag. */
  sharedAddress(networkId: string): Promise<string>;
  /** The addresses from one index to another, from 1 and both included, of a network without public derivation. */
  poolAddresses(networkId: string, first: number, last: number): Promise<readonly string[]>;
}
