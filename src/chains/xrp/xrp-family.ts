import type { ChainFamily } from '../chain-family.ts';
import { chainName } from './xrp-facts.ts';
import { isXrpOfValue, readXrpSection, type XrpNetwork, xrpNetName } from './xrp-section.ts';
import { xrpTraits } from './xrp-traits.ts';

/** The XRP Ledger, with its test networks. */
export const xrpFamily: ChainFamily<XrpNetwork> = {
  kind: 'xrp',
  chains: ['ripple'],
  traits: xrpTraits,
  readSection: readXrpSection,
  finalityDepth: () => 1,
  netName: xrpNetName,
  // Addresses of all networks have one form.
  useAddressForms: () => {},
  genesisOf: chainName,
  identityOf: ({ networkId }, name) => `xrpl:${networkId}:${name}`,
  // https://namespaces.chainagnostic.org/xrpl/caip2
  chainIdOf: ({ networkId }) => `xrpl:${networkId}`,
  isWorthless: (identity) => {
    const networkId = /^xrpl:(\d+):/.exec(identity)?.[1];
    return networkId !== undefined && !isXrpOfValue(Number(networkId));
  },
  checkNote: null,
  openAdapter: async (network, { hotWallet, fundingTag, rpc }) => {
    const { XrpAdapter } = await import('./xrp-adapter.ts');
    return new XrpAdapter({ network, hotWallet, fundingTag, rpc });
  },
  loadTransactions: async (network) => {
    const { XrpTransactions } = await import('./xrp-transactions.ts');
    return (keys) => new XrpTransactions({ network, keys });
  },
  askNodes: async (network) => {
    const [{ askEachNode }, { HttpNode }, { XrpNode }, { xrpFacts }] = await Promise.all([
      import('../nodes/node-facts.ts'),
      import('../nodes/http-node.ts'),
      import('./xrp-node.ts'),
      import('./xrp-facts.ts'),
    ]);
    return askEachNode(
      network.nodes,
      (node, limits) => new XrpNode(new HttpNode(node, { ...limits, numbersAsText: true, anyStatus: true })),
      (node, notes) => xrpFacts(node, network, notes),
    );
  },
};
