import type { MikroORM } from '@mikro-orm/postgresql';
import { systemClock } from '../../base/clock.ts';
import { Big, formatDecimal, fromUnits, roundToSignificant } from '../../base/money.ts';
import type { ChainCoin } from '../../chains/networks/network-config.ts';
import { networkById } from '../../chains/networks/networks.ts';
import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import { chainCoins } from '../../market/currencies/chain-coins.ts';
import { Currency } from '../../market/currencies/currency.entity.ts';
import { SharedPriceWindows } from '../../market/rates/price-windows.ts';

/** A good network fee is this multiple of the costs, because prices move. */
const margin = '1.1';

/** A transaction's cost and its asset. Amounts are decimal text, prices in US dollars. */
interface FeeCover {
  readonly coin: string;
  readonly network: string;
  readonly networkFee: string;
  readonly price: Big;
  /** The coin in which the chain is paid. */
  readonly gasCoin: string;
  readonly gasPrice: Big;
  /** In the chain's own coin. */
  readonly payout: string;
  readonly sweep: string;
}

/** Tells when a network fee is below the cost of a payout and a sweep, with a fee that is not. */
export function coverProblem(cover: FeeCover): string | null {
  const { coin, network, networkFee, price, gasCoin, gasPrice, payout, sweep } = cover;
  const cost = new Big(payout).plus(sweep).times(gasPrice).div(price);
  if (cost.lte(networkFee)) return null;
  const rounded = (amount: Big): string => formatDecimal(roundToSignificant(amount, 3));
  return (
    `the network fee of ${formatDecimal(networkFee)} ${coin} is below the cost of a payout and a sweep, ` +
    `${rounded(new Big(payout))} + ${rounded(new Big(sweep))} ${gasCoin} or ${rounded(cost)} ${coin}: ` +
    `raise it with currency set --coin ${coin} --network ${network} --network-fee ${rounded(cost.times(margin))}`
  );
}

/**
 * Compares the network fees of a coin's active currencies with what its chain asks for now, at the
 * newest prices that the gateway has used. Null where they cover it, and where costs or prices are
 * not known.
 *
 * @throws ChainError when no node answers.
 */
export async function feeCoverProblem(
  orm: MikroORM,
  adapter: ChainAdapter,
  { coin, contract }: { readonly coin: ChainCoin; readonly contract: string | null },
): Promise<string | null> {
  const costs = await adapter.usualCosts?.(contract);
  const gas = chainCoins(adapter.chain).find(({ isToken }) => !isToken);
  const window = await new SharedPriceWindows(orm).newest(systemClock.now());
  if (!costs || !gas || !window) return null;
  const priceOf = (one: string): string | undefined => window.prices.fixed[one] ?? window.prices.reference[one];
  const [price, gasPrice] = [priceOf(coin.coin), priceOf(gas.coin)];
  if (price === undefined || gasPrice === undefined) return null;
  const rows = await orm.em.fork().find(Currency, { coin: coin.coin, isActive: true });
  for (const { network, networkFee } of rows) {
    if (networkById(network)?.chain !== adapter.chain) continue;
    const problem = coverProblem({
      coin: coin.coin,
      network,
      networkFee,
      price: new Big(price),
      gasCoin: gas.coin,
      gasPrice: new Big(gasPrice),
      payout: fromUnits(costs.payout, gas.decimals),
      sweep: fromUnits(costs.sweep, gas.decimals),
    });
    if (problem !== null) return problem;
  }
  return null;
}
