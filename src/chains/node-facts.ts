import { ChainError } from './chain-adapter.ts';
import { JsonRpcNode, type JsonRpcOptions, RpcError } from './json-rpc.ts';
import type { ChainCoin, NetworkConfig, NodeConfig } from './network-config.ts';
import { naming } from './node-answer.ts';
import { utxoParams } from './utxo/utxo-params.ts';

/** What of a node never changes by itself. */
export interface NodeFacts {
  /** Without what is secret in its address. */
  readonly node: string;
  /** Hash of block 0, null when it did not tell. */
  readonly genesis: string | null;
  /** What is wrong for good, as the ends of sentences about the node: somebody must change the settings. */
  readonly faults: readonly string[];
  /** What may mend, as whole sentences: it does not answer, or does not know yet. */
  readonly troubles: readonly string[];
}

/** Where what is wrong with a node is noted, as the ends of sentences about it. */
export interface NodeNotes {
  readonly faults: string[];
  readonly troubles: string[];
  /** Notes it when a question fails, so that the next one is asked all the same. */
  patiently(question: () => Promise<unknown>): Promise<void>;
}

/** A start waits no longer for a node. */
const timeoutMs = 5_000;

/**
 * Asks every node of a network what decides whether it is the right one. Never throws for what a node says. What only one
 * kind of chain needs is loaded only when there is one.
 */
export async function askNodeFacts(network: NetworkConfig, coins: readonly ChainCoin[]): Promise<NodeFacts[]> {
  if (network.kind === 'evm') {
    const [{ EvmNode }, { evmFacts }] = await Promise.all([import('./evm/evm-node.ts'), import('./evm/evm-facts.ts')]);
    return ofEach(network.nodes, {}, (node, notes) => evmFacts(new EvmNode(node), network, coins, notes));
  }
  const { chain, net } = network;
  const { UtxoNode } = await import('./utxo/utxo-node.ts');
  return ofEach(network.nodes, { numbersAsText: true }, async (node, { faults }) => {
    const { genesis } = utxoParams(chain, net);
    if ((await new UtxoNode(node).hashAt(0)) === genesis) return genesis;
    faults.push(`is a node of another chain than ${chain} ${net}`);
    return null;
  });
}

/** @param question Tells the hash of block 0. */
function ofEach(
  nodes: readonly NodeConfig[],
  options: JsonRpcOptions,
  question: (node: JsonRpcNode, notes: NodeNotes) => Promise<string | null>,
): Promise<NodeFacts[]> {
  return Promise.all(
    nodes.map(async (config) => {
      const node = new JsonRpcNode(config, { timeoutMs, maxBytes: 1024 * 1024, ...options });
      const [faults, troubles, failures]: [string[], string[], string[]] = [[], [], []];
      const patiently = async (ask: () => Promise<unknown>): Promise<void> => {
        try {
          await ask();
        } catch (cause) {
          failures.push(failureOf(node, cause));
        }
      };
      let genesis: string | null = null;
      await patiently(async () => {
        genesis = await question(node, { faults, troubles, patiently });
      });
      const told = troubles.map((trouble) => `the node at ${node.name} ${trouble}`);
      return { node: node.name, genesis, faults, troubles: [...told, ...failures] };
    }),
  );
}

function failureOf(node: JsonRpcNode, cause: unknown): string {
  const error = naming(node.name, cause);
  if (error instanceof RpcError) return `the node at ${node.name} refuses a question: ${error.message}`;
  if (error instanceof ChainError) return error.message;
  throw error;
}
