import { ChainError, type NodeReport } from '../port/chain-adapter.ts';
import { RpcError } from './json-rpc.ts';
import { NodeFault, naming } from './node-answer.ts';

/** @typeParam Node The client of one node, named as people know the node. */
export interface NodesOptions<Node extends { readonly name: string }> {
  readonly chain: string;
  /** In order of preference. */
  readonly nodes: readonly Node[];
  /**
   * Throws the fault of a node: another chain, still syncing. Called before a switch to the node,
   * after it failed, and from time to time.
   */
  readonly verify: (node: Node) => Promise<void>;
  /** How long a verified node stays verified. */
  readonly verifyEveryMs?: number;
  /** How long a node that failed is skipped. */
  readonly restMs?: number;
  /**
   * Height of a node's newest block. With it, nodes are compared: a node that makes no progress
   * while others go on is skipped.
   */
  readonly height?: (node: Node) => Promise<number>;
  readonly compareEveryMs?: number;
}

/** Blocks by which another node must be ahead. Healthy nodes differ by a block now and then. */
const clearLead = 2;

interface Seat<Node> {
  readonly node: Node;
  verifiedAt: number;
  restsUntil: number;
  /** At the last comparison; null before the first, and when the node did not tell it. */
  height: number | null;
  /**
   * The last comparison found the same newest block as the previous one, and another node ahead.
   */
  isStill: boolean;
  /** Its last answer was none, or was no use. */
  isSilent: boolean;
}

/**
 * The nodes of one chain. One node answers a question from beginning to end, because two nodes need
 * not agree on the newest blocks. When that node fails, the whole question goes to the next one.
 */
export class Nodes<Node extends { readonly name: string }> {
  readonly #options: NodesOptions<Node> &
    Required<Pick<NodesOptions<Node>, 'verifyEveryMs' | 'restMs' | 'compareEveryMs'>>;
  readonly #seats: Seat<Node>[];
  /** The node that answered last. */
  #last: Seat<Node> | undefined;
  #comparedAt = performance.now();

  constructor(options: NodesOptions<Node>) {
    this.#options = { verifyEveryMs: 600_000, restMs: 10_000, compareEveryMs: 60_000, ...options };
    this.#seats = options.nodes.map((node) => ({
      node,
      verifiedAt: Number.NEGATIVE_INFINITY,
      restsUntil: Number.NEGATIVE_INFINITY,
      height: null,
      isStill: false,
      isSilent: false,
    }));
  }

  /**
   * The answer of the first node that can give one. A refusal of the node (RpcError) and an error
   * that is no fault of the node are thrown as they are.
   *
   * @throws ChainError the error of the last node, when none can answer.
   */
  async ask<T>(question: (node: Node) => Promise<T>): Promise<T> {
    // Runs concurrently with the request, which waits for no other node.
    void this.#compare();
    let failure: unknown;
    for (const seat of this.#inOrder()) {
      try {
        // An address that was not used for a while may lead to another node by now.
        if (seat !== this.#last) seat.verifiedAt = Number.NEGATIVE_INFINITY;
        const answer = await this.#heard(seat, question);
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

  /** How many nodes at different addresses there are. Those at one address have one operator. */
  get operators(): number {
    return operatorsOf(this.#seats);
  }

  /**
   * How many of them have a node that follows its chain and answered when it was last asked. Nodes
   * that no question goes to are asked with each comparison.
   */
  get answering(): number {
    return operatorsOf(this.#seats.filter(({ isSilent, isStill }) => !isSilent && !isStill));
  }

  /**
   * The answer of a node at another address than the one that is named; null when there is none.
   *
   * @throws ChainError the error of the last such node, when none can answer.
   */
  async askAnother<T>(than: Node, question: (node: Node) => Promise<T>): Promise<T | null> {
    let failure: unknown;
    for (const seat of this.#inOrder()) {
      if (seat.node.name === than.name) continue;
      try {
        return await this.#heard(seat, question);
      } catch (error) {
        if (!(error instanceof ChainError) || error.isOfChain) throw error;
        failure = naming(seat.node.name, error);
      }
    }
    if (failure !== undefined) throw failure;
    return null;
  }

  /** The answer of each node, or why it gave none. At least one node is asked. */
  async askEach<T>(question: (node: Node) => Promise<T>): Promise<(T | ChainError)[]> {
    return Promise.all(
      this.#seats.map(async (seat) => {
        try {
          return await this.#heard(seat, question);
        } catch (error) {
          if (error instanceof ChainError) return error;
          throw error;
        }
      }),
    );
  }

  /** A report of each node, by a question that may fail. */
  async report(question: (node: Node) => Promise<Omit<NodeReport, 'node'>>): Promise<NodeReport[]> {
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

  /**
   * From time to time, finds the nodes whose newest block stayed the same while another node went
   * on.
   */
  async #compare(): Promise<void> {
    const { height, compareEveryMs } = this.#options;
    const now = performance.now();
    if (!height || this.#seats.length < 2 || now - this.#comparedAt < compareEveryMs) return;
    this.#comparedAt = now;
    const heights = await Promise.all(this.#seats.map((seat) => this.#heard(seat, height).catch(() => null)));
    const highest = Math.max(...heights.map((each) => each ?? 0));
    for (const [index, seat] of this.#seats.entries()) {
      const found = heights[index] ?? null;
      seat.isStill = found !== null && found === seat.height && highest >= found + clearLead;
      seat.height = found;
    }
  }

  /** The answer of a verified node. Notes whether it gave one. */
  async #heard<T>(seat: Seat<Node>, question: (node: Node) => Promise<T>): Promise<T> {
    try {
      await this.#verify(seat);
      const answer = await question(seat.node);
      seat.isSilent = false;
      return answer;
    } catch (error) {
      if (error instanceof ChainError) seat.isSilent = !error.isOfChain;
      throw error;
    }
  }

  /** The nodes in the order of use. Failed and stalled nodes come last, but are not left out. */
  #inOrder(): Seat<Node>[] {
    const now = performance.now();
    const isLast = ({ restsUntil, isStill }: Seat<Node>): boolean => restsUntil > now || isStill;
    return [...this.#seats.filter((seat) => !isLast(seat)), ...this.#seats.filter(isLast)];
  }

  async #verify(seat: Seat<Node>): Promise<void> {
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

/** Nodes at one address have one operator. */
function operatorsOf(seats: readonly Seat<{ readonly name: string }>[]): number {
  return new Set(seats.map(({ node }) => node.name)).size;
}
