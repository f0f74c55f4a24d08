/** Blocks that are remembered. */
const maxBlocks = 1_000;

/**
 * The blocks whose transactions do not give the root of their header, by the nodes that told them.
 * How the root is computed was proved by few recorded blocks. So one node's failure is a reason to
 * ask the next node, and only a second node's failure stops the chain.
 */
export class RootDoubts {
  readonly #nodes = new Map<string, Set<string>>();
  #count = 0;

  /** How often a block failed, for metrics. */
  get count(): number {
    return this.#count;
  }

  /**
   * Notes a failure and tells whether the block is refused. It is read all the same when one node
   * failed it before and no other node did since: then there is no other node to ask.
   */
  refuses(blockId: string, node: string): boolean {
    this.#count += 1;
    const nodes = this.#nodes.get(blockId) ?? new Set();
    const isAgain = nodes.has(node);
    nodes.add(node);
    this.#nodes.delete(blockId);
    this.#nodes.set(blockId, nodes);
    const [oldest] = this.#nodes.keys();
    if (this.#nodes.size > maxBlocks && oldest !== undefined) this.#nodes.delete(oldest);
    return nodes.size > 1 || !isAgain;
  }
}
