import { Address } from '@ton/core';
import type { Jetton } from './ton-node/jettons.ts';
import { startTon, type TonChain, type TonNode } from './ton-node.ts';

/** A time that a test or a machine keeps. */
interface Times {
  now(): Date;
}

const ton = 1_000_000_000n;
/** Milliseconds that the first block lies before the clock. */
const beforeMs = 60_000;

/**
 * A TON of one's own on two simulated servers of different operators, over the real virtual
 * machine, for gateways and signers that reach it over HTTP. Its blocks follow a clock.
 */
export class RealTon {
  readonly chain: TonChain;
  /** In the order in which they are asked. */
  readonly nodes: readonly [TonNode, TonNode];
  /** The token that plays USDT, whose wallets name their code by its hash. */
  readonly usdt: Jetton;
  readonly #clock: Times;

  private constructor(chain: TonChain, nodes: RealTon['nodes'], usdt: Jetton, clock: Times) {
    this.chain = chain;
    this.nodes = nodes;
    this.usdt = usdt;
    this.#clock = clock;
  }

  static async start(clock: Times): Promise<RealTon> {
    const chain = await startTon({ startTime: clock.now().getTime() - beforeMs });
    const usdt = await chain.jetton('USDT', { library: true });
    return new RealTon(chain, [await chain.node(), await chain.node()], usdt, clock);
  }

  /** The token's master, as settings name it. */
  get token(): string {
    return this.usdt.master.toString();
  }

  /** Its section in the file of networks. */
  section(): Record<string, unknown> {
    const limits = { per_payment: '1000000', per_day: '100000000' };
    return {
      kind: 'ton',
      global_id: this.chain.globalId,
      nodes: this.nodes.map(({ config }) => ({ url: config.url })),
      start_height: this.chain.head.seqno,
      poll_ms: 100,
      stalled_after_sec: 0,
      tokens: { USDT: this.token },
      wallet_levels: { TON: { low: '100' } },
      limits: { TON: limits, USDT: limits },
    };
  }

  /** A wallet without coins that nothing deployed, in the form in which payouts name it. */
  newAddress(): string {
    return this.chain.newUser().address.toString({ bounceable: false });
  }

  /** What an address has, in nanotons or units of the token. */
  balance(address: string, token: string | null = null): bigint {
    const owner = Address.parse(address);
    return token === null ? this.chain.balance(owner) : this.usdt.balance(owner);
  }

  /**
   * Pays coins or tokens with a comment in the next block. Returns the hash of the transaction that
   * is credited, in hexadecimal.
   */
  pay(to: string, comment: string | null, token: string | null, amount: bigint): Promise<string> {
    return this.chain.credit(Address.parse(to), amount, { jetton: token === null ? null : this.usdt, comment });
  }

  /** Makes blocks. The first one has the time of the clock, each other one 400 ms more. */
  async mine(blocks = 1): Promise<void> {
    if (blocks < 1) return;
    const now = this.#clock.now().getTime();
    if (now >= this.chain.head.timeMs) this.chain.setTime(now);
    await this.chain.block(blocks);
  }

  /** Milliseconds by which the newest block is ahead of the clock. */
  get aheadMs(): number {
    return this.chain.head.timeMs - this.#clock.now().getTime();
  }

  /** Pays a wallet coins and tokens with the tag of funding, which no block holds yet. */
  async fund(hot: string, tag: string): Promise<void> {
    await this.pay(hot, tag, null, 100_000n * ton);
    await this.pay(hot, tag, this.token, 1_000_000n * 1_000_000n);
  }

  /** All servers are honest again. */
  heal(): void {
    for (const node of this.nodes) node.faults = {};
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
