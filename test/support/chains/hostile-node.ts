import { createServer, type Server } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import type { Dice } from '../gateway/dice.ts';
import { close, listen } from '../http/local-server.ts';
import { Refusal } from '../http/refusal.ts';

/** What a chain says of coins that came to one of our addresses. */
export interface Credit {
  readonly address: string;
  readonly contract: string | null;
  /** In the smallest unit. */
  readonly amount: bigint;
  /** On a chain whose orders share an address. */
  readonly tag?: string | null;
}

/** What one transaction brings: its outputs to an address in one coin count together. */
export function summed(credits: readonly Credit[]): Credit[] {
  const sums = new Map<string, Credit>();
  for (const credit of credits) {
    const name = `${credit.address} ${credit.contract}`;
    sums.set(name, { ...credit, amount: credit.amount + (sums.get(name)?.amount ?? 0n) });
  }
  return [...sums.values()];
}

/** A block that an attacker filled, and what is to be made of it. */
export interface HostileBlock {
  readonly height: number;
  readonly hash: string;
  readonly parent: string;
  readonly credits: readonly Credit[];
  /** Transfers that can be no deposits, and must be reported. */
  readonly leftOut: number;
  /** As the node tells of it, by method. */
  readonly answers: Readonly<Record<string, unknown>>;
}

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A node that follows the rules of its chain, with blocks whose content an attacker chose. */
export abstract class HostileNode {
  readonly blocks: HostileBlock[] = [];
  protected readonly dice: Dice;
  readonly #server: Server;
  #url = '';

  constructor(dice: Dice) {
    this.dice = dice;
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      response.setHeader('Content-Type', 'application/json');
      response.end(this.respond(request.url ?? '/', body));
    });
  }

  async start(): Promise<this> {
    this.#url = `http://127.0.0.1:${await listen(this.#server)}`;
    return this;
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  get config(): NodeConfig {
    return { url: this.#url, user: null, password: null, headers: {} };
  }

  get head(): HostileBlock {
    const block = this.blocks.at(-1);
    if (!block) throw new Error('the chain has no block');
    return block;
  }

  /** A block on top, with a payment of the victim somewhere among what the attacker put there. */
  abstract append(honest: Credit | null): void | Promise<void>;

  /** Other blocks take the place of the newest ones. */
  reorg(depth: number): void {
    this.blocks.splice(-depth);
  }

  hash(): string {
    return this.hex(64);
  }

  hex(length: number): string {
    return Array.from({ length }, () => Math.floor(this.dice.next() * 16).toString(16)).join('');
  }

  /** This many things, each made by one of the makers. */
  some<T>(count: number, makers: readonly (() => T)[]): T[] {
    return Array.from({ length: count }, () => this.dice.pick(makers)());
  }

  /** The text of an answer: of JSON-RPC unless the chain speaks otherwise. */
  protected respond(_path: string, body: unknown): string {
    const asked = body as Request | Request[];
    return JSON.stringify(Array.isArray(asked) ? asked.map((one) => this.#reply(one)) : this.#reply(asked));
  }

  protected abstract answer(method: string, params: readonly unknown[]): unknown;

  #reply({ id, method, params = [] }: Request): object {
    const result = this.answer(method, params);
    return result instanceof Refusal ? { jsonrpc: '2.0', id, error: result } : { jsonrpc: '2.0', id, result };
  }
}

/** In another order, by chance. */
export function shuffled<T>(dice: Dice, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: dice.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
