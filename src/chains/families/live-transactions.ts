import type { SigningKeys, TransactionSigner } from '../port/transaction-signer.ts';
import { familyOf, type NetworkConfig } from './families.ts';

/** The code that checks and signs the transactions of live networks, by chain, given the keys. */
export async function liveTransactions(
  networks: readonly NetworkConfig[],
): Promise<(keys: SigningKeys) => ReadonlyMap<string, TransactionSigner>> {
  const signers = await Promise.all(
    networks.map(async (network) => [network.chain, await familyOf(network).loadTransactions(network)] as const),
  );
  return (keys) => new Map(signers.map(([chain, signer]) => [chain, signer(keys)]));
}
