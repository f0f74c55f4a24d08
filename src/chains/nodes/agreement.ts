import { type Broadcast, ChainError } from '../port/chain-adapter.ts';
import type { Nodes } from './nodes.ts';

/** Refusals that end a payment when they last. */
const lasting: ReadonlySet<string> = new Set(['would_fail', 'token_refused', 'below_least_amount']);
/** The best reply to a broadcast comes first. */
const bestFirst: readonly Broadcast['outcome'][] = ['accepted', 'known', 'uncertain', 'rejected'];

type AskSecond<Node> = <T>(question: (node: Node) => Promise<T>) => Promise<T | null>;

/**
 * What is asked of more than one node of a chain, because one may lie or be wrong. Nodes at one
 * address have one operator and count as one.
 */
export class Agreement<Node extends { readonly name: string }> {
  readonly #nodes: Nodes<Node>;

  constructor(nodes: Nodes<Node>) {
    this.#nodes = nodes;
  }

  /**
   * Puts a question to a node of another operator; null while none answers. Null instead of a
   * function when there is no such node.
   */
  second(than: Node): AskSecond<Node> | null {
    return this.#nodes.operators > 1 ? (question) => this.askSecond(than, question) : null;
  }

  /**
   * Builds a transaction by one node. A refusal that ends the payment when it lasts is put to a
   * second node. A node that lies could otherwise have orders refunded whose rate has moved.
   *
   * @throws ChainError `unconfirmed_refusal` when that node says something else, or is away.
   */
  async onRefusals<T>(node: Node, build: (node: Node) => Promise<T>): Promise<T> {
    try {
      return await build(node);
    } catch (error) {
      if (error instanceof ChainError && lasting.has(error.code)) await this.#confirm(node, error, build);
      throw error;
    }
  }

  /**
   * Sends bytes to every node, because one may take them and pass them to no other. Never throws:
   * the replies, or their absence, are only hints.
   */
  async broadcast(send: (node: Node) => Promise<Broadcast>): Promise<Broadcast> {
    const replies = await this.#nodes.askEach(send);
    const said = replies.map(
      (reply): Broadcast => (reply instanceof ChainError ? { outcome: 'uncertain', code: reply.code } : reply),
    );
    const [best] = said.sort((a, b) => bestFirst.indexOf(a.outcome) - bestFirst.indexOf(b.outcome));
    return best ?? { outcome: 'uncertain', code: null };
  }

  /**
   * `no_second_node` where two operators are configured and one is away. Nothing is final before
   * both tell the same.
   */
  get obstacle(): string | null {
    const { operators, answering } = this.#nodes;
    return operators > 1 && answering < 2 ? 'no_second_node' : null;
  }

  async #confirm(node: Node, refusal: ChainError, build: (node: Node) => Promise<unknown>): Promise<void> {
    if (this.#nodes.operators === 1) return;
    const second = await this.askSecond(node, async (other) => {
      try {
        await build(other);
        return 'accepts';
      } catch (error) {
        if (error instanceof ChainError && error.isOfChain) return error.code;
        throw error;
      }
    });
    if (second === refusal.code) return;
    const message = `one node says ${refusal.code} of the payment, and a second one ${second ?? 'does not answer'}`;
    throw new ChainError('unconfirmed_refusal', message, { isOfChain: true });
  }

  /** The answer of a node of another operator; null while none answers. */
  async askSecond<T>(node: Node, question: (second: Node) => Promise<T>): Promise<T | null> {
    try {
      return await this.#nodes.askAnother(node, question);
    } catch (error) {
      if (error instanceof ChainError) return null;
      throw error;
    }
  }
}
