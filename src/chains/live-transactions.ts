import type { NetworkConfig } from './network-config.ts';
import type { Secp256k1Keys, TransactionSigner } from './transaction-signer.ts';

type Kind = (keys: Secp256k1Keys) => TransactionSigner;

/**
 * How transactions of live networks are judged and signed, by chain, once there are keys. What only one kind of chain
 * needs is loaded only when there is one.
 */
export async function liveTransactions(
  networks: readonly NetworkConfig[],
): Promise<(keys: Secp256k1Keys) => ReadonlyMap<string, TransactionSigner>> {
  const kinds = await Promise.all(networks.map(async (network) => [network.chain, await loadKind(network)] as const));
  return (keys) => new Map(kinds.map(([chain, kind]) => [chain, kind(keys)]));
}

async function loadKind(network: NetworkConfig): Promise<Kind> {
  if (network.kind === 'evm') {
    const { EvmTransactions } = await import('./evm/evm-transactions.ts');
    return (keys) => new EvmTransactions({ network, keys });
  }
  const { UtxoTransactions } = await import('./utxo/utxo-transactions.ts');
  return (keys) => new UtxoTransactions({ network, keys });
}
