import { networkById } from '../../src/chains/networks/networks.ts';
import { type ChainAdapter, ChainError } from '../../src/chains/port/chain-adapter.ts';
import type { TestClock } from '../support/gateway/clock.ts';

/**
 * The chains of the simulation. A block stands for several of the real chain, so that a deposit
 * takes as long to count as it does there, and the simulation makes few blocks.
 */
export const chains = [
  { network: 'TRC20', blockSec: 15, confirmations: 4 },
  { network: 'XRP', blockSec: 5, confirmations: 1 },
  { network: 'ETH', blockSec: 60, confirmations: 12 },
  { network: 'LTC', blockSec: 150, confirmations: 6 },
  { network: 'BTC', blockSec: 600, confirmations: 2 },
] as const;

/** The currencies that users exchange, by coin. */
export const networkOf = { USDT: 'TRC20', XRP: 'XRP', ETH: 'ETH', LTC: 'LTC', BTC: 'BTC' } as const;
export type Coin = keyof typeof networkOf;
export const coins = Object.keys(networkOf) as Coin[];

export function paceOf(chain: string): { readonly blockSec: number; readonly confirmations: number } {
  return chains.find(({ network }) => networkById(network)?.chain === chain) ?? { blockSec: 15, confirmations: 1 };
}

/** This many blocks follow a transaction: until it counts, and until its payout is final. */
export function busyBlocks(chain: string): number {
  return paceOf(chain).confirmations + 4;
}

/** An adapter whose node does not answer before the moment that stands for its chain. */
export function withOutages(
  adapter: ChainAdapter,
  clock: TestClock,
  outages: ReadonlyMap<string, number>,
): ChainAdapter {
  return new Proxy(adapter, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        const isOut = clock.now().getTime() < (outages.get(target.chain) ?? 0);
        if (isOut && name !== 'hotWallet') throw new ChainError('unreachable', `no node of ${target.chain} answers`);
        return value.apply(target, args);
      };
    },
  });
}
