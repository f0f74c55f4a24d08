import type { MikroORM } from '@mikro-orm/postgresql';
import type { AdapterParts } from '../chain-family.ts';
import type { ChainAdapter } from '../port/chain-adapter.ts';
import { familyOf, type NetworkConfig } from './families.ts';
import { knownIdentity } from './identity-store.ts';

export interface LiveAdapterOptions extends Partial<Pick<AdapterParts, 'rpc'>> {
  /** False for a database without tables, in which no identity is known. */
  readonly isMigrated?: boolean;
}

/** Opens the adapter of a live network. */
export function openLiveAdapter(
  network: NetworkConfig,
  hotWallet: string,
  orm: MikroORM,
  { rpc = {}, isMigrated = true }: LiveAdapterOptions = {},
): Promise<ChainAdapter> {
  return familyOf(network).openAdapter(network, {
    orm,
    hotWallet,
    rpc,
    knownIdentity: async () => (isMigrated ? knownIdentity(orm.em.fork(), network.chain) : null),
  });
}
