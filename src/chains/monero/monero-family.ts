import { madeAddresses } from '../addresses/own-addresses.ts';
import type { ChainFamily } from '../chain-family.ts';
import { moneroGenesis } from './monero-facts.ts';
import { type MoneroNetwork, readMoneroSection } from './monero-section.ts';
import { moneroTraits } from './monero-traits.ts';

/** A private chain begins with the same block as the public network. */
const identityOf = ({ net }: Pick<MoneroNetwork, 'net'>, genesis: string): string => `monero:${net}:${genesis}`;

/** Monero, and its private chains. */
export const moneroFamily: ChainFamily<MoneroNetwork> = {
  kind: 'monero',
  chains: ['monero'],
  traits: moneroTraits,
  readSection: readMoneroSection,
  finalityDepth: ({ finality }) => finality,
  netName: ({ net }) => net,
  // Addresses of both networks have one form.
  useAddressForms: () => {},
  genesisOf: () => moneroGenesis,
  identityOf,
  chainIdOf: ({ net }) => `monero:${net === 'main' ? moneroGenesis.slice(0, 32) : net}`,
  isWorthless: (identity) => identity.startsWith('monero:regtest:'),
  checkNote: null,
  openAdapter: async (network, { orm, hotWallet, signer, rpc }) => {
    const { MoneroAdapter } = await import('./monero-adapter.ts');
    return new MoneroAdapter({ network, hotWallet, addresses: madeAddresses(orm, network.chain), signer, rpc });
  },
  loadTransactions: async (network) => {
    const { MoneroTransactions } = await import('./monero-transactions.ts');
    return (keys) => new MoneroTransactions({ network, keys });
  },
  askNodes: async (network) => {
    const [{ askEachNode }, { MoneroDaemon }, { moneroFacts }] = await Promise.all([
      import('../nodes/node-facts.ts'),
      import('./monero-daemon.ts'),
      import('./monero-facts.ts'),
    ]);
    return askEachNode(
      network.nodes,
      (node, limits) => new MoneroDaemon(node, limits),
      (node, notes) => moneroFacts(node, network, notes),
    );
  },
};
