import type { ChainFamily } from '../chain-family.ts';
import {
  isStellarOfValue,
  networkIdOf,
  readStellarSection,
  type StellarNetwork,
  stellarNetName,
} from './stellar-section.ts';
import { stellarTraits } from './stellar-traits.ts';

/** CAIP-2 allows 32 characters, https://namespaces.chainagnostic.org/stellar/caip2 */
const longestReference = 32;

/** Stellar, with its test networks. */
export const stellarFamily: ChainFamily<StellarNetwork> = {
  kind: 'stellar',
  chains: ['stellar'],
  traits: stellarTraits,
  readSection: readStellarSection,
  finalityDepth: () => 1,
  netName: stellarNetName,
  // Addresses of all networks have one form.
  useAddressForms: () => {},
  genesisOf: ({ passphrase }) => passphrase,
  identityOf: (network, passphrase) => `stellar:${networkIdOf(network)}:${passphrase}`,
  chainIdOf: (network) => {
    const name = stellarNetName(network);
    return `stellar:${name === network.passphrase ? networkIdOf(network).slice(0, longestReference) : name}`;
  },
  isWorthless: (identity) => {
    const networkId = /^stellar:([0-9a-f]{64}):/.exec(identity)?.[1];
    return networkId !== undefined && !isStellarOfValue(networkId);
  },
  checkNote: null,
  usesChannels: true,
  openAdapter: async (network, { hotWallet, channels, fundingTag, rpc }) => {
    const { StellarAdapter } = await import('./stellar-adapter.ts');
    return new StellarAdapter({ network, accounts: { wallet: hotWallet, channels }, fundingTag, rpc });
  },
  loadTransactions: async (network) => {
    const { StellarTransactions } = await import('./stellar-transactions.ts');
    return (keys) => new StellarTransactions({ network, keys });
  },
  askNodes: async (network) => {
    const [{ askEachNode }, { JsonRpcNode }, { mostBytes, StellarNode }, { stellarFacts }] = await Promise.all([
      import('../nodes/node-facts.ts'),
      import('../nodes/json-rpc.ts'),
      import('./stellar-node.ts'),
      import('./stellar-facts.ts'),
    ]);
    return askEachNode(
      network.nodes,
      (node, limits) =>
        new StellarNode(new JsonRpcNode(node, { maxBytes: mostBytes, ...limits }), networkIdOf(network)),
      (node, notes) => stellarFacts(node, network, notes),
    );
  },
};
