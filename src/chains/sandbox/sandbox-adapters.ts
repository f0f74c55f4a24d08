import { allNetworks } from '../networks.ts';
import { SandboxAdapter } from './sandbox-adapter.ts';
import type { SandboxChain } from './sandbox-chain.ts';

/** What decides how long a chain has something to do after a transaction. */
interface Confirmed {
  readonly network: string;
  readonly minConfirmations: number;
}

/** An adapter for each of the chains, which are the sandbox's. */
export function sandboxAdapters(
  chains: readonly string[],
  node: SandboxChain,
  hotAddress: string,
  currencies: readonly Confirmed[],
): SandboxAdapter[] {
  return chains.map(
    (chain) => new SandboxAdapter({ chain, node, hotAddress, busyBlocks: busyBlocks(chain, currencies) }),
  );
}

/** So many blocks follow a transaction by the clock: what the slowest coin of the chain needs, and some for its payout. */
export function busyBlocks(chain: string, currencies: readonly Confirmed[]): number {
  const networks = new Set(
    allNetworks()
      .filter((network) => network.chain === chain)
      .map(({ id }) => id),
  );
  const needed = currencies.filter(({ network }) => networks.has(network)).map((row) => row.minConfirmations);
  return Math.max(2, ...needed) + 2;
}
