/** The networks of a chain of the table: the main network, and public test networks. */
interface ChainIds {
  readonly main: number;
  readonly test: readonly number[];
  /** A newest block of this age is no chance: 25 usual intervals or more. */
  readonly stalledAfterSec: number;
}

/** https://github.com/ethereum-lists/chains */
const ids: Readonly<Record<string, ChainIds>> = {
  ethereum: { main: 1, test: [11_155_111, 17_000, 560_048], stalledAfterSec: 300 },
  'ethereum-classic': { main: 61, test: [63], stalledAfterSec: 900 },
  bsc: { main: 56, test: [97], stalledAfterSec: 300 },
  polygon: { main: 137, test: [80_002], stalledAfterSec: 300 },
  arbitrum: { main: 42_161, test: [421_614], stalledAfterSec: 300 },
  optimism: { main: 10, test: [11_155_420], stalledAfterSec: 300 },
  base: { main: 8453, test: [84_532], stalledAfterSec: 300 },
  avalanche: { main: 43_114, test: [43_113], stalledAfterSec: 300 },
};

/** The chain ids that Geth and Anvil give a private development chain. */
const ownChains: readonly number[] = [1337, 31_337];

/** The chains that the adapter for EVM networks serves. */
export const evmChains: readonly string[] = Object.keys(ids);

/**
 * Chain ids that a chain may have, the main network's first. Empty for a chain that is no EVM
 * chain.
 */
export function chainIdsOf(chain: string): readonly number[] {
  const found = ids[chain];
  return found ? [found.main, ...found.test, ...ownChains] : [];
}

/** Age of the newest block at which a network counts as stalled; 0, never, for a private chain. */
export function usualStallSec(chain: string, chainId: number): number {
  return ownChains.includes(chainId) ? 0 : (ids[chain]?.stalledAfterSec ?? 0);
}

/** Whether coins on the network have no value: true for every known network but the main ones. */
export function isTestChainId(chainId: number): boolean {
  return ownChains.includes(chainId) || Object.values(ids).some(({ test }) => test.includes(chainId));
}
