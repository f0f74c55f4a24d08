import type { MikroORM } from '@mikro-orm/postgresql';
import { foreignGasCoins, networkById } from '../../chains/networks.ts';

/** How the report names an asset. */
export function assetName({ coin, network }: { coin: string | null; network: string | null }): string {
  return `${coin} on ${network}`;
}

/** A currency where it is on a chain. */
export interface ChainCurrency {
  readonly coin: string;
  readonly network: string;
  readonly contract: string | null;
  readonly decimals: number;
}

/** Everything that chains hold, gas that is no currency of ours included. */
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

/** One asset of a chain; several currencies may be the same one. */
export interface ChainAsset {
  readonly contract: string | null;
  readonly decimals: number;
  readonly name: string;
  readonly currencies: ReadonlySet<string>;
}

/** The assets of one chain's currencies. */
export function chainAssets(currencies: readonly ChainCurrency[]): ChainAsset[] {
  return [...Map.groupBy(currencies, ({ contract }) => contract)].map(([contract, group]) => ({
    contract,
    decimals: group[0]?.decimals ?? 0,
    name: group.map(assetName).join(', '),
    currencies: new Set(group.map(assetName)),
  }));
}
