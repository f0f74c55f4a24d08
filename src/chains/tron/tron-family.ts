import { ownAddresses } from '../addresses/own-addresses.ts';
import type { ChainFamily } from '../chain-family.ts';
import { isTronOfValue, readTronSection, solidDepth, type TronNetwork, tronChainId } from './tron-section.ts';
import { tronTraits } from './tron-traits.ts';

/** Tron: one chain, with its test networks. */
export const tronFamily: ChainFamily<TronNetwork> = {
  kind: 'tron',
  chains: ['tron'],
  traits: tronTraits,
  readSection: readTronSection,
  finalityDepth: ({ finality }) => (finality === 'solid' ? solidDepth : finality),
  netName: ({ net }) => net,
  // Addresses of all networks have one form.
  useAddressForms: () => {},
  genesisOf: ({ genesis }) => genesis,
  identityOf: (network, genesis) => `tron:${tronChainId(network)}:${genesis}`,
  // https://github.com/ChainAgnostic/namespaces/pull/162
  chainIdOf: (network) => `tron:${tronChainId(network)}`,
  isWorthless: (identity) => {
    const chainId = /^tron:(\d+):/.exec(identity)?.[1];
    return chainId !== undefined && !isTronOfValue(Number.parseInt(chainId, 10));
  },
  checkNote: null,
  openAdapter: async (network, { orm, hotWallet, rpc, knownIdentity }) => {
    const { TronAdapter } = await import('./tron-adapter.ts');
    const genesis = /^tron:\d+:(.+)$/.exec((await knownIdentity()) ?? '')?.[1] ?? null;
    return new TronAdapter({ network, hotWallet, genesis, addresses: ownAddresses(orm, network.chain), rpc });
  },
  loadTransactions: async (network) => {
    const { TronTransactions } = await import('./tron-transactions.ts');
    return (keys) => new TronTransactions({ network, keys });
  },
  askNodes: async (network, coins) => {
    const [{ askEachNode }, { HttpNode }, { TronNode }, { tronFacts }] = await Promise.all([
      import('../nodes/node-facts.ts'),
      import('../nodes/http-node.ts'),
      import('./tron-node.ts'),
      import('./tron-facts.ts'),
    ]);
    return askEachNode(
      network.nodes,
      (node, limits) => new TronNode(new HttpNode(node, { ...limits, longNumbersAsText: true })),
      (node, notes) => tronFacts(node, network, coins, notes),
    );
  },
};
