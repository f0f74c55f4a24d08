/** Blocks that are remembered. */
const maxBlocks = 1_000;

/**
 * The blocks whose transactions do not give the root of their header. How the root is computed was
 * proved by few recorded blocks. So where there is a node of another operator, it is asked instead,
 * and the chain waits while that one is away. A lone node is asked again, and then believed.
 */
export class RootDoubts {
  readonly #operators: number;
  readonly #blocks = new Set<string>();
  #count = 0;

  /** @param operators Of the chain's nodes. */
  constructor(operators: number) {
    this.#operators = operators;
  }

  /** How often a block failed, for metrics. */
  get count(): number {
    return this.#count;
  }

  /** Notes a failure and tells whether the block is refused. */
  refuses(blockId: string): boolean {
    this.#count += 1;
    const isAgain = this.#blocks.delete(blockId);
    this.#blocks.add(blockId);
    const [oldest] = this.#blocks;
    if (this.#blocks.size > maxBlocks && oldest !== undefined) this.#blocks.delete(oldest);
    return this.#operators > 1 || !isAgain;
  }
}
