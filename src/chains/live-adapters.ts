import type { MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter } from './chain-adapter.ts';
import { knownEvmGenesis } from './chain-identity.ts';
import type { JsonRpcOptions } from './json-rpc.ts';
import type { NetworkConfig } from './network-config.ts';
import { ownAddresses } from './own-addresses.ts';
import { ownOutputs } from './own-outputs.ts';

export interface LiveAdapterOptions {
  /** How nodes are asked, where that is not as usual. */
  readonly rpc?: Pick<JsonRpcOptions, 'timeoutMs'>;
  /** False for a database without tables, of which nothing can be known. */
  readonly isMigrated?: boolean;
}

/** The port to a live network. What only one kind of chain needs is loaded only when there is one. */
export async function openLiveAdapter(
  network: NetworkConfig,
  hotWallet: string,
  orm: MikroORM,
  { rpc = {}, isMigrated = true }: LiveAdapterOptions = {},
): Promise<ChainAdapter> {
  if (network.kind === 'evm') {
    const { EvmAdapter } = await import('./evm/evm-adapter.ts');
    const genesis = isMigrated ? await knownEvmGenesis(orm.em.fork(), network.chain) : null;
    return new EvmAdapter({ network, hotWallet, genesis, addresses: ownAddresses(orm, network.chain), rpc });
  }
  const { UtxoAdapter } = await import('./utxo/utxo-adapter.ts');
  return new UtxoAdapter({ network, hotWallet, outputs: ownOutputs(orm), rpc });
}
