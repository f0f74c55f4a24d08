import { ownAddresses } from '../addresses/own-addresses.ts';
import type { ChainFamily } from '../chain-family.ts';
import { evmChains, isTestChainId } from './evm-chain-ids.ts';
import { type EvmNetwork, evmFinalityDepth, readEvmSection } from './evm-section.ts';
import { evmTraits } from './evm-traits.ts';

/** The family of Ethereum and the EVM chains. */
export const evmFamily: ChainFamily<EvmNetwork> = {
  kind: 'evm',
  chains: evmChains,
  traits: evmTraits,
  readSection: readEvmSection,
  finalityDepth: evmFinalityDepth,
  netName: ({ chainId }) => `chain id ${chainId}`,
  // Addresses of all networks have one form.
  useAddressForms: () => {},
  genesisOf: () => null,
  identityOf: ({ chainId }, genesis) => `evm:${chainId}:${genesis}`,
  chainIdOf: ({ chainId }) => `eip155:${chainId}`,
  isWorthless: (identity) => {
    const chainId = /^evm:(\d+):/.exec(identity)?.[1];
    return chainId !== undefined && isTestChainId(Number.parseInt(chainId, 10));
  },
  checkNote: null,
  openAdapter: async (network, { orm, hotWallet, rpc, knownIdentity }) => {
    const { EvmAdapter } = await import('./evm-adapter.ts');
    const genesis = /^evm:\d+:(.+)$/.exec((await knownIdentity()) ?? '')?.[1] ?? null;
    return new EvmAdapter({ network, hotWallet, genesis, addresses: ownAddresses(orm, network.chain), rpc });
  },
  loadTransactions: async (network) => {
    const { EvmTransactions } = await import('./evm-transactions.ts');
    return (keys) => new EvmTransactions({ network, keys });
  },
  askNodes: async (network, coins) => {
    const [{ askEachNode }, { JsonRpcNode }, { EvmNode }, { evmFacts }] = await Promise.all([
      import('../nodes/node-facts.ts'),
      import('../nodes/json-rpc.ts'),
      import('./evm-node.ts'),
      import('./evm-facts.ts'),
    ]);
    return askEachNode(
      network.nodes,
      (config, limits) => new EvmNode(new JsonRpcNode(config, limits)),
      (node, notes) => evmFacts(node, network, coins, notes),
    );
  },
};
