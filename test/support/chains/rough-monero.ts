import { RpcError } from '../../../src/chains/nodes/json-rpc.ts';
import type { Monerod } from './monerod.ts';
import { xmr } from './monerod.ts';
import { type Reorganisation, type RoughChain, Turns } from './rough-chains.ts';

/** Outputs of one transaction, and transactions that make them before all else. */
const outputsAtOnce = 15;
const splits = 5;
const mostRefusals = 3;
/** Blocks until what was received can be spent. */
const unlockBlocks = 10;

/**
 * A Monero in rough hands. The users pay from the address of the miners alone, so that a recipient
 * keeps what came to it.
 */
export class RoughMonero implements RoughChain {
  readonly #monerod: Monerod;
  readonly #turns = new Turns();
  /** Payments of the users. The chain does not show who made another one. */
  readonly #paid = new Set<string>();
  /** Payments of others that the node was made to forget. */
  forgotten = 0;

  private constructor(monerod: Monerod) {
    this.#monerod = monerod;
  }

  /** @param recipients How many addresses of users are needed at most. */
  static async open(monerod: Monerod, recipients: number): Promise<RoughMonero> {
    await monerod.makeAddresses(recipients);
    const piece = [monerod.miner, 2n * xmr] as const;
    for (let made = 0; made < splits; made += 1) await monerod.pay(Array.from({ length: outputsAtOnce }, () => piece));
    await monerod.mine(unlockBlocks);
    return new RoughMonero(monerod);
  }

  /** One that a wallet of the users knows: the chain shows no balances. */
  newAddress(): string {
    return this.#monerod.address();
  }

  pay(to: string, amount: bigint): Promise<string> {
    return this.#turns.take(async () => {
      const txid = await this.#send(to, amount);
      this.#paid.add(txid);
      return txid;
    });
  }

  /**
   * After a reorganisation, the wallet takes what a waiting transaction spends, which the node
   * refuses. The block with that transaction ends this.
   */
  async #send(to: string, amount: bigint): Promise<string> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#monerod.pay([[to, amount]]);
      } catch (error) {
        if (!(error instanceof RpcError) || tries === mostRefusals) throw error;
        await this.#monerod.mine(1);
      }
    }
  }

  mine(): Promise<void> {
    return this.#turns.take(() => this.#monerod.mine(1));
  }

  /** Nodes replace nothing: what is spent twice is forgotten, and its outputs are spent later. */
  reorganise({ depth, doubleSpends = null, forgets = null }: Reorganisation): Promise<boolean> {
    return this.#turns.take(async () => {
      await this.#monerod.reorg(depth, depth + 1);
      const waiting = [...(await this.#monerod.waiting()).keys()];
      const ofOthers = waiting.filter((txid) => forgets !== null && !this.#paid.has(txid));
      const spentTwice = waiting.filter((txid) => txid === doubleSpends);
      await this.#monerod.drop(...ofOthers, ...spentTwice);
      this.forgotten += ofOthers.length;
      return spentTwice.length > 0;
    });
  }

  isMined(txid: string): Promise<boolean> {
    return this.#monerod.isMined(txid);
  }

  async balances(addresses: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const balances = new Map<string, bigint>();
    for (const address of addresses) balances.set(address, await this.#monerod.balance(address));
    return balances;
  }
}
