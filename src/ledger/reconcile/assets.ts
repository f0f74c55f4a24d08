import type { MikroORM } from '@mikro-orm/postgresql';
import { foreignGasCoins, networkById } from '../../chains/networks/networks.ts';

/** The name of an asset in the report. */
export function assetName({ coin, network }: { coin: string | null; network: string | null }): string {
  return `${coin} on ${network}`;
}

export interface ChainCurrency {
  readonly coin: string;
  readonly network: string;
  readonly contract: string | null;
  readonly decimals: number;
}

/** All assets on each chain, including gas coins that the gateway does not exchange. */
export async function currenciesByChain(orm: MikroORM): Promise<Map<string, ChainCurrency[]>> {
  const rows = await orm.em
    .fork()
    .execute<ChainCurrency[]>('select coin, network, contract, decimals from currency order by coin, network');
  const byChain = Map.groupBy(rows, ({ network }) => networkById(network)?.chain ?? '');
  for (const [chain, { coin, network, decimals }] of Object.entries(foreignGasCoins)) {
    byChain.get(chain)?.push({ coin, network, contract: null, decimals });
  }
  return byChain;
}

/** One asset of a chain. Several currencies may share it. */
export interface ChainAsset {
  readonly contract: string | null;
  readonly decimals: number;
  readonly name: string;
  readonly currencies: ReadonlySet<string>;
}

/** Groups the currencies of one chain by asset. */
export function chainAssets(currencies: readonly ChainCurrency[]): ChainAsset[] {
  return [...Map.groupBy(currencies, ({ contract }) => contract)].map(([contract, group]) => ({
    contract,
    decimals: group[0]?.decimals ?? 0,
    name: group.map(assetName).join(', '),
    currencies: new Set(group.map(assetName)),
  }));
}
