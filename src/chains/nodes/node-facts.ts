import type { NodeConfig } from '../networks/network-config.ts';
import { ChainError } from '../port/chain-adapter.ts';
import type { HttpNodeOptions } from './http-node.ts';
import { RpcError } from './json-rpc.ts';
import { naming } from './node-answer.ts';
import type { NodeNotes } from './node-notes.ts';

/** Facts of a node that do not change by themselves. */
export interface NodeFacts {
  /** Its address, without credentials. */
  readonly node: string;
  /** Hash of block 0; null when the node did not tell it. */
  readonly genesis: string | null;
  /**
   * Permanent faults, as the ends of sentences about the node: the operator must change the
   * settings.
   */
  readonly faults: readonly string[];
  /** Passing troubles, as whole sentences: the node does not answer, or does not know yet. */
  readonly troubles: readonly string[];
}

/** What a start allows a node: the time that it waits, and the length of an answer. */
const limits = { timeoutMs: 5_000, maxBytes: 1024 * 1024 } as const satisfies HttpNodeOptions;

/**
 * Asks each node of a network and collects the answers. Never throws because of a node's answer.
 *
 * @param open Makes the client of a node, within these limits.
 * @param question Returns the hash of block 0.
 */
export function askEachNode<Node extends { readonly name: string }>(
  nodes: readonly NodeConfig[],
  open: (config: NodeConfig, limits: HttpNodeOptions) => Node,
  question: (node: Node, notes: NodeNotes) => Promise<string | null>,
): Promise<NodeFacts[]> {
  return Promise.all(
    nodes.map(async (config) => {
      const node = open(config, limits);
      const [faults, troubles, failures]: [string[], string[], string[]] = [[], [], []];
      const patiently = async (ask: () => Promise<unknown>): Promise<void> => {
        try {
          await ask();
        } catch (cause) {
          failures.push(failureOf(node.name, cause));
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

function failureOf(name: string, cause: unknown): string {
  const error = naming(name, cause);
  if (error instanceof RpcError) return `the node at ${name} refuses a question: ${error.message}`;
  if (error instanceof ChainError) return error.message;
  throw error;
}
