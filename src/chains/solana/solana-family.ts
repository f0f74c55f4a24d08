import { ownAddresses } from '../addresses/own-addresses.ts';
import type { ChainFamily } from '../chain-family.ts';
import { isSolanaOfValue, readSolanaSection, type SolanaNetwork, solanaChainId } from './solana-section.ts';
import { solanaTraits } from './solana-traits.ts';

/** Solana, with its test networks. */
export const solanaFamily: ChainFamily<SolanaNetwork> = {
  kind: 'solana',
  chains: ['solana'],
  traits: solanaTraits,
  readSection: readSolanaSection,
  finalityDepth: () => 1,
  netName: ({ net }) => net,
  // Addresses of all networks have one form.
  useAddressForms: () => {},
  genesisOf: ({ genesis }) => genesis,
  identityOf: (network, genesis) => `${solanaChainId(network.genesis)}:${genesis}`,
  chainIdOf: ({ genesis }) => solanaChainId(genesis),
  isWorthless: (identity) => {
    const chainId = /^(solana:[^:]+):/.exec(identity)?.[1];
    return chainId !== undefined && !isSolanaOfValue(chainId);
  },
  checkNote: null,
  openAdapter: async (network, { orm, hotWallet, rpc }) => {
    const { SolanaAdapter } = await import('./solana-adapter.ts');
    return new SolanaAdapter({ network, hotWallet, addresses: ownAddresses(orm, network.chain), rpc });
  },
  loadTransactions: async (network) => {
    const { SolanaTransactions } = await import('./solana-transactions.ts');
    return (keys) => new SolanaTransactions({ network, keys });
  },
  askNodes: async (network, coins) => {
    const [{ askEachNode }, { JsonRpcNode }, { SolanaNode }, { solanaFacts }] = await Promise.all([
      import('../nodes/node-facts.ts'),
      import('../nodes/json-rpc.ts'),
      import('./solana-node.ts'),
      import('./solana-facts.ts'),
    ]);
    return askEachNode(
      network.nodes,
      (node, limits) => new SolanaNode(new JsonRpcNode(node, { ...limits, longNumbersAsText: 'whole' })),
      (node, notes) => solanaFacts(node, network, coins, notes),
    );
  },
};
