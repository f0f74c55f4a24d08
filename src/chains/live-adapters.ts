import type { MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter } from './chain-adapter.ts';
import { knownEvmGenesis } from './chain-identity.ts';
import type { NetworkConfig } from './network-config.ts';
import { ownAddresses, ownOutputs } from './own-rows.ts';

/** The port to a live network. What only one kind of chain needs is loaded only when there is one. */
export async function openLiveAdapter(network: NetworkConfig, hotWallet: string, orm: MikroORM): Promise<ChainAdapter> {
  if (network.kind === 'evm') {
    const { EvmAdapter } = await import('./evm/evm-adapter.ts');
    const genesis = await knownEvmGenesis(orm.em.fork(), network.chain);
    return new EvmAdapter({ network, hotWallet, genesis, addresses: ownAddresses(orm, network.chain) });
  }
  const { UtxoAdapter } = await import('./utxo/utxo-adapter.ts');
  return new UtxoAdapter({ network, hotWallet, outputs: ownOutputs(orm) });
}
