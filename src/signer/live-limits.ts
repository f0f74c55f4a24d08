import { toUnits } from '../base/money.ts';
import type { ChainCoin, LiveNetwork } from '../chains/networks/network-config.ts';
import type { ChainLimits } from './limits.ts';

/** Converts the limits of the settings to the units of transactions. */
export function liveLimits(network: LiveNetwork, coins: readonly ChainCoin[]): ChainLimits {
  const own = coins.find(({ isToken }) => !isToken);
  if (!own || !network.feeLimits) throw new Error(`${network.chain} has no coin of its own, or no limits of fees`);
  const assets = [...network.limits].map(([coin, { perPayment, perDay, commissionPerDay }]) => {
    const decimals = coins.find((each) => each.coin === coin)?.decimals;
    const contract = coin === own.coin ? '' : network.tokens.get(coin);
    if (decimals === undefined || contract === undefined) throw new Error(`${coin} is not a coin of ${network.chain}`);
    const units = (amount: string): bigint => toUnits(amount, decimals);
    const limits = { perPayment: units(perPayment), perDay: units(perDay), commissionPerDay: units(commissionPerDay) };
    return [contract, limits] as const;
  });
  return {
    maxFee: toUnits(network.feeLimits.perTransaction, own.decimals),
    feesPerDay: toUnits(network.feeLimits.perDay, own.decimals),
    assets: new Map(assets),
  };
}
