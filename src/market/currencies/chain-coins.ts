import type { ChainCoin } from '../../chains/networks/network-config.ts';
import { foreignGasCoins, networkById } from '../../chains/networks/networks.ts';
import { currencySeed } from './seed.ts';

/** The coins of the catalogue on a chain, and the coin in which the chain takes its fees. */
export function chainCoins(chain: string): readonly ChainCoin[] {
  const own = currencySeed
    .filter(({ network }) => networkById(network)?.chain === chain)
    .map(({ coin, decimals, contract }) => ({ coin, decimals, isToken: contract !== null }));
  const gas = foreignGasCoins[chain];
  return gas ? [{ coin: gas.coin, decimals: gas.decimals, isToken: false }, ...own] : own;
}
