import { ChainError, type NodeReport } from './chain-adapter.ts';
import { type JsonRpcNode, RpcError } from './json-rpc.ts';
import { NodeFault, naming } from './node-answer.ts';

export interface NodesOptions {
  readonly chain: string;
  /** In the order in which they are preferred. */
  readonly nodes: readonly JsonRpcNode[];
  /**
   * Throws what is wrong with a node: another chain, still syncing. Asked before a node is used after another one, after
   * it failed, or when some time passed.
   */
  readonly verify: (node: JsonRpcNode) => Promise<void>;
  /** For how long a verified node is believed. */
  readonly verifyEveryMs?: number;
  /** For how long a node that failed is passed over. */
  readonly restMs?: number;
  /** Height of a node's newest block. With it, nodes are compared: one that stands still while others go on is passed over. */
  readonly height?: (node: JsonRpcNode) => Promise<number>;
  readonly compareEveryMs?: number;
}

/** How far ahead another node must be: neighbours differ by a block now and then. */
const clearLead = 2;

interface Seat {
  readonly node: JsonRpcNode;
  verifiedAt: number;
  restsUntil: number;
  /** At the last comparison; null before the first, and where it gave none. */
  height: number | null;
  /** The last comparison found the same newest block as the one before, and another node ahead. */
  isStill: boolean;
}

/**
 * The nodes of one chain. A question is put to one node from its beginning to its end, since two nodes need not agree
 * on the newest blocks; when that node fails, the whole question is put to the next.
 */
export class Nodes {
  readonly #options: NodesOptions & Required<Pick<NodesOptions, 'verifyEveryMs' | 'restMs' | 'compareEveryMs'>>;
  readonly #seats: Seat[];
  /** The one that answered last. */
  #last: Seat | undefined;
  #comparedAt = performance.now();

  constructor(options: NodesOptions) {
    this.#options = { verifyEveryMs: 600_000, restMs: 10_000, compareEveryMs: 60_000, ...options };
    this.#seats = options.nodes.map((node) => ({
      node,
      verifiedAt: Number.NEGATIVE_INFINITY,
      restsUntil: Number.NEGATIVE_INFINITY,
      height: null,
      isStill: false,
    }));
  }

  /**
   * The answer of the first node that can give one. What a node refuses (RpcError), and what is no fault of the node, is
   * thrown as it is.
   *
   * @throws ChainError what the last node failed with, when none can answer.
   */
  async ask<T>(question: (node: JsonRpcNode) => Promise<T>): Promise<T> {
    // Beside the question, which waits for no other node.
    void this.#compare();
    let failure: unknown;
    for (const seat of this.#inOrder()) {
      try {
        // What was not asked for a while may be another node by now.
        if (seat !== this.#last) seat.verifiedAt = Number.NEGATIVE_INFINITY;
        await this.#verify(seat);
        const answer = await question(seat.node);
        this.#last = seat;
        return answer;
      } catch (error) {
        if (!(error instanceof ChainError) || error.isOfChain) throw error;
        failure = naming(seat.node.name, error);
        seat.verifiedAt = Number.NEGATIVE_INFINITY;
        seat.restsUntil = performance.now() + this.#options.restMs;
      }
    }
    throw failure ?? new ChainError('no_node', `${this.#options.chain} has no node`, { retryable: false });
  }

  /** A report of each node, by a question that may fail. */
  async report(question: (node: JsonRpcNode) => Promise<Omit<NodeReport, 'node'>>): Promise<NodeReport[]> {
    return Promise.all(
      this.#seats.map(async ({ node }) => {
        try {
          return { node: node.name, ...(await question(node)) };
        } catch (cause) {
          const error = naming(node.name, cause);
          if (!(error instanceof ChainError || error instanceof RpcError)) throw error;
          return { node: node.name, head: null, lagSec: null, isSyncing: false, problems: [error.message] };
        }
      }),
    );
  }

  /** Once a while, finds the nodes whose newest block stayed the same while another went on. */
  async #compare(): Promise<void> {
    const { height, compareEveryMs } = this.#options;
    const now = performance.now();
    if (!height || this.#seats.length < 2 || now - this.#comparedAt < compareEveryMs) return;
    this.#comparedAt = now;
    const heights = await Promise.all(this.#seats.map(({ node }) => height(node).catch(() => null)));
    const highest = Math.max(...heights.map((each) => each ?? 0));
    for (const [index, seat] of this.#seats.entries()) {
      const found = heights[index] ?? null;
      seat.isStill = found !== null && found === seat.height && highest >= found + clearLead;
      seat.height = found;
    }
  }

  /** Those that rest or stand still come last, rather than never. */
  #inOrder(): Seat[] {
    const now = performance.now();
    const isLast = ({ restsUntil, isStill }: Seat): boolean => restsUntil > now || isStill;
    return [...this.#seats.filter((seat) => !isLast(seat)), ...this.#seats.filter(isLast)];
  }

  async #verify(seat: Seat): Promise<void> {
    const now = performance.now();
    if (now - seat.verifiedAt < this.#options.verifyEveryMs) return;
    try {
      await this.#options.verify(seat.node);
    } catch (error) {
      if (error instanceof RpcError)
        throw new NodeFault('unsound_answer', `refuses a question: ${error.message}`, { cause: error });
      throw error;
    }
    seat.verifiedAt = now;
  }
}
