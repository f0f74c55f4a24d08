import type { ChainFamily } from '../chain-family.ts';
import type { NodeConfig } from '../networks/network-config.ts';
import { useUtxoNets } from '../networks/utxo-nets.ts';
import { utxoChains, utxoParams } from '../networks/utxo-params.ts';
import type { HttpNodeOptions } from '../nodes/http-node.ts';
import { ownOutputs } from '../own-outputs.ts';
import { readUtxoSection, type UtxoNetwork } from './utxo-section.ts';
import { utxoTraits } from './utxo-traits.ts';

const identityOf = (genesis: string): string => `utxo:${genesis}`;

/** Test networks and private chains. */
const worthless = new Set(
  utxoChains.flatMap((chain) =>
    (['test', 'regtest'] as const).map((net) => identityOf(utxoParams(chain, net).genesis)),
  ),
);

/** Bitcoin and the chains of its kind. */
export const utxoFamily: ChainFamily<UtxoNetwork> = {
  kind: 'utxo',
  chains: utxoChains,
  traits: utxoTraits,
  readSection: readUtxoSection,
  finalityDepth: ({ finality }) => finality,
  netName: ({ net }) => net,
  useAddressForms: (networks) => useUtxoNets(new Map(networks.map(({ chain, net }) => [chain, net]))),
  genesisOf: ({ chain, net }) => utxoParams(chain, net).genesis,
  identityOf: (_network, genesis) => identityOf(genesis),
  chainIdOf: ({ chain, net }) => `bip122:${utxoParams(chain, net).genesis.slice(0, 32)}`,
  isWorthless: (identity) => worthless.has(identity),
  checkNote: 'Bitcoin-like nodes look through all unspent outputs, which can take minutes',
  openAdapter: async (network, { orm, hotWallet, rpc }) => {
    const { UtxoAdapter } = await import('./utxo-adapter.ts');
    return new UtxoAdapter({ network, hotWallet, outputs: ownOutputs(orm), rpc });
  },
  loadTransactions: async (network) => {
    const { UtxoTransactions } = await import('./utxo-transactions.ts');
    return (keys) => new UtxoTransactions({ network, keys });
  },
  askNodes: async ({ chain, net, nodes }) => {
    const [{ askEachNode }, { JsonRpcNode }, { UtxoNode }] = await Promise.all([
      import('../nodes/node-facts.ts'),
      import('../nodes/json-rpc.ts'),
      import('./utxo-node.ts'),
    ]);
    const open = (config: NodeConfig, limits: HttpNodeOptions) =>
      new UtxoNode(new JsonRpcNode(config, { ...limits, numbersAsText: true }));
    return askEachNode(nodes, open, async (node, { faults }) => {
      const { genesis } = utxoParams(chain, net);
      if ((await node.hashAt(0)) === genesis) return genesis;
      faults.push(`is a node of another chain than ${chain} ${net}`);
      return null;
    });
  },
};
