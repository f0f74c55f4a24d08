import type { MikroORM } from '@mikro-orm/postgresql';
import { readTags } from '../addresses/deposit-addresses.ts';
import { knownChannels } from '../addresses/hot-wallet.ts';
import type { AdapterParts } from '../chain-family.ts';
import type { ChainAdapter } from '../port/chain-adapter.ts';
import type { Signer } from '../port/signer.ts';
import { familyOf, type NetworkConfig } from './families.ts';
import { knownIdentity } from './identity-store.ts';

interface LiveAdapterOptions extends Partial<Pick<AdapterParts, 'rpc'>> {
  /** False for a database without tables, in which no identity is known. */
  readonly isMigrated?: boolean;
  /** Absent in a process that reads only. */
  readonly signer?: Signer;
}

export async function openLiveAdapter(
  network: NetworkConfig,
  hotWallet: string,
  orm: MikroORM,
  { rpc = {}, isMigrated = true, signer }: LiveAdapterOptions = {},
): Promise<ChainAdapter> {
  const family = familyOf(network);
  const { deposits, paysFromDeposits } = family.traits;
  const hasTag = deposits === 'shared' && paysFromDeposits && isMigrated;
  return family.openAdapter(network, {
    orm,
    hotWallet,
    channels: isMigrated ? await knownChannels(orm.em.fork(), network.chain) : [],
    fundingTag: hasTag ? (await readTags(orm.em.fork())).fundingTag() : null,
    rpc,
    signer: signer ?? null,
    knownIdentity: async () => (isMigrated ? knownIdentity(orm.em.fork(), network.chain) : null),
  });
}
