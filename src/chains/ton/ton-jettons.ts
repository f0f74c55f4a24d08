import { NodeFault } from '../nodes/node-answer.ts';
import type { ChainError } from '../port/chain-adapter.ts';
import { type JettonCode, type JettonHolding, jettonCodeOf, readHolding } from './ton-jetton.ts';
import type { TonNode } from './ton-node.ts';

/** The wallet's own contract for a jetton, as the chain has it. */
export interface OwnJetton extends JettonHolding {
  readonly address: string;
  readonly code: JettonCode;
}

interface OwnJettonsOptions {
  readonly wallet: string;
  /** Contracts of the listed jettons. */
  readonly masters: readonly string[];
}

/**
 * The wallet's own contracts for the listed jettons. Their addresses never change: each is asked
 * of the jetton's contract once, and kept. Once the contract exists, its address must follow from
 * its code, the wallet and the jetton.
 */
export class OwnJettons {
  readonly #options: OwnJettonsOptions;
  /** By jetton. */
  readonly #addresses = new Map<string, string>();
  readonly #proved = new Set<string>();

  constructor(options: OwnJettonsOptions) {
    this.#options = options;
  }

  /** The jettons' contracts, by the wallet's own contract for each. */
  async all(node: TonNode): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const master of this.#options.masters) found.set(await this.address(node, master), master);
    await this.#prove(node, found);
    return found;
  }

  /** @throws ChainError `no_jetton` when the contract tells no wallet. */
  async address(node: TonNode, master: string): Promise<string> {
    const known = this.#addresses.get(master);
    if (known !== undefined) return known;
    const told = await node.jettonWallet(master, this.#options.wallet);
    if (told === null) throw new NodeFault('no_jetton', `knows no jetton at ${master}`);
    this.#addresses.set(master, told);
    return told;
  }

  /** Null while the wallet has never had the jetton. */
  async own(node: TonNode, master: string): Promise<OwnJetton | null> {
    const address = await this.address(node, master);
    const account = (await node.accounts([address], true)).get(address);
    if (account === undefined || !account.isActive || account.code === null || account.data === null) return null;
    const { wallet } = this.#options;
    const code = jettonCodeOf(address, wallet, master, account.code);
    const holding = code === null ? null : readHolding(account.data, code.layout, wallet, master);
    if (code === null || holding === null) throw this.#refuse(master);
    this.#proved.add(master);
    return { address, code, ...holding };
  }

  /** A contract that is deployed and follows from no code would add what its author likes. */
  async #prove(node: TonNode, found: ReadonlyMap<string, string>): Promise<void> {
    for (const master of found.values()) if (!this.#proved.has(master)) await this.own(node, master);
  }

  #refuse(master: string): ChainError {
    this.#addresses.delete(master);
    return new NodeFault(
      'wrong_jetton',
      `tells a wallet of the jetton ${master} that does not follow from its code: take another node, or the jetton out of tokens`,
    );
  }
}
