import { families, familyOf, type NetworkConfig } from './families.ts';

/**
 * The chain that the rows of a database belong to: 'sandbox', 'evm:<chain id>:<genesis hash>' or
 * 'utxo:<genesis hash>'. It is written when the chain first starts and never changes. The heights,
 * deposits and ledger of one chain are wrong on any other.
 */
export const sandboxIdentity = 'sandbox';

/**
 * The identity as far as the settings tell it: all of it for a Bitcoin-like chain, the beginning
 * for an EVM chain.
 */
export function expectedStart(network: NetworkConfig): string {
  const family = familyOf(network);
  return family.identityOf(network, family.genesisOf(network) ?? '');
}

/**
 * Whether coins of a chain with this identity, or with one that begins so, have value. An unknown
 * chain counts as one of value.
 */
export function isIdentityOfValue(identity: string): boolean {
  return identity !== sandboxIdentity && !families.some((family) => family.isWorthless(identity));
}

/** Whether coins on the network have value. */
export function isOfValue(network: NetworkConfig): boolean {
  return isIdentityOfValue(expectedStart(network));
}
