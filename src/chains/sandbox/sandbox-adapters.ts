import { allNetworks } from '../networks/networks.ts';
import { SandboxAdapter, type SandboxAdapterOptions } from './sandbox-adapter.ts';
import type { SandboxChain } from './sandbox-chain.ts';

/** The facts that decide how many blocks a chain makes after a transaction. */
interface Confirmed {
  readonly network: string;
  readonly minConfirmations: number;
}

/**
 * An adapter for each of the sandbox's chains.
 *
 * @param wallet The account that pays on all of them, and the tag that marks its funding.
 */
export function sandboxAdapters(
  chains: readonly string[],
  node: SandboxChain,
  wallet: Pick<SandboxAdapterOptions, 'hotAddress' | 'fundingTag'>,
  currencies: readonly Confirmed[],
): SandboxAdapter[] {
  return chains.map(
    (chain) => new SandboxAdapter({ chain, node, ...wallet, busyBlocks: busyBlocks(chain, currencies) }),
  );
}

/**
 * Number of blocks that the clock makes after a transaction: the confirmations of the slowest coin
 * of the chain, and some for its payout.
 */
export function busyBlocks(chain: string, currencies: readonly Confirmed[]): number {
  const networks = new Set(
    allNetworks()
      .filter((network) => network.chain === chain)
      .map(({ id }) => id),
  );
  const needed = currencies.filter(({ network }) => networks.has(network)).map((row) => row.minConfirmations);
  return Math.max(2, ...needed) + 2;
}
