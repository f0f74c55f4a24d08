import type { ChainFamily } from '../chain-family.ts';
import { isTonOfValue, readTonSection, type TonNetwork, tonNetName } from './ton-section.ts';
import { tonTraits } from './ton-traits.ts';

/** TON, with its test networks. */
export const tonFamily: ChainFamily<TonNetwork> = {
  kind: 'ton',
  chains: ['ton'],
  traits: tonTraits,
  readSection: readTonSection,
  finalityDepth: () => 1,
  netName: tonNetName,
  // Addresses of test networks have one more form, which is refused.
  useAddressForms: () => {},
  genesisOf: ({ globalId }) => `network ${globalId}`,
  identityOf: ({ globalId }, name) => `ton:${globalId}:${name}`,
  // https://github.com/ChainAgnostic/namespaces/tree/main/tvm
  chainIdOf: ({ globalId }) => `tvm:${globalId}`,
  isWorthless: (identity) => {
    const globalId = /^ton:(-?\d+):/.exec(identity)?.[1];
    return globalId !== undefined && !isTonOfValue(Number(globalId));
  },
  checkNote: null,
  openAdapter: async (network, { orm, hotWallet, fundingTag, rpc }) => {
    const [{ TonAdapter }, { lastSignedQuery }] = await Promise.all([
      import('./ton-adapter.ts'),
      import('./ton-queries.ts'),
    ]);
    const lastQuery = () => lastSignedQuery(orm, network.chain);
    return new TonAdapter({ network, hotWallet, fundingTag, lastQuery, rpc });
  },
  loadTransactions: async (network) => {
    const { TonTransactions } = await import('./ton-transactions.ts');
    return (keys) => new TonTransactions({ network, keys });
  },
  askNodes: async (network, coins) => {
    const [{ askEachNode }, { HttpNode }, { httpOptions, TonNode }, { tonFacts }] = await Promise.all([
      import('../nodes/node-facts.ts'),
      import('../nodes/http-node.ts'),
      import('./ton-node.ts'),
      import('./ton-facts.ts'),
    ]);
    return askEachNode(
      network.nodes,
      (node, limits) => new TonNode(new HttpNode(node, { ...httpOptions, ...limits })),
      (node, notes) => tonFacts(node, network, coins, notes),
    );
  },
};
