import type { ChainCoin, NetworkConfig } from '../chains/network-config.ts';
import { toUnits } from '../money.ts';
import type { ChainLimits } from './limits.ts';

/** The limits of the settings in the units that transactions have. */
export function liveLimits(network: NetworkConfig, coins: readonly ChainCoin[]): ChainLimits {
  const own = coins.find(({ isToken }) => !isToken);
  if (!own || !network.feeLimits) throw new Error(`${network.chain} has no coin of its own, or no limits of fees`);
  const tokens = network.kind === 'evm' ? network.tokens : new Map<string, string>();
  const assets = [...network.limits].map(([coin, { perPayment, perDay }]) => {
    const decimals = coins.find((each) => each.coin === coin)?.decimals;
    const contract = coin === own.coin ? '' : tokens.get(coin);
    if (decimals === undefined || contract === undefined) throw new Error(`${coin} is no coin of ${network.chain}`);
    return [contract, { perPayment: toUnits(perPayment, decimals), perDay: toUnits(perDay, decimals) }] as const;
  });
  return {
    maxFee: toUnits(network.feeLimits.perTransaction, own.decimals),
    feesPerDay: toUnits(network.feeLimits.perDay, own.decimals),
    assets: new Map(assets),
  };
}
