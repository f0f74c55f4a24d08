import type { Mint } from './solana-node/hands.ts';
import { type SolanaChain, type SolanaNode, startSolana } from './solana-node.ts';

/** A time that a test or a machine keeps. */
interface Times {
  now(): Date;
}

const sol = 1_000_000_000n;
/** Milliseconds that the first block lies before the clock. */
const beforeMs = 60_000;

/**
 * A Solana of one's own on two simulated servers of different operators, over the real virtual
 * machine, for gateways and signers that reach it over HTTP. Its blocks follow a clock.
 */
export class RealSolana {
  readonly chain: SolanaChain;
  /** In the order in which they are asked. */
  readonly nodes: readonly [SolanaNode, SolanaNode];
  /** The tokens that play USDC, of the first token program, and USDT, of the one of 2022. */
  readonly usdc: Mint;
  readonly usdt: Mint;
  readonly #clock: Times;

  private constructor(chain: SolanaChain, nodes: RealSolana['nodes'], clock: Times) {
    this.chain = chain;
    this.nodes = nodes;
    this.#clock = clock;
    this.usdc = chain.mint('USDC');
    this.usdt = chain.mint('USDT', { program: 'token2022' });
    chain.mine();
  }

  static async start(clock: Times): Promise<RealSolana> {
    const chain = startSolana({ startTime: clock.now().getTime() - beforeMs });
    return new RealSolana(chain, [await chain.node(), await chain.node()], clock);
  }

  /** Its section in the file of networks. */
  section(): Record<string, unknown> {
    const limits = { per_payment: '1000000', per_day: '100000000' };
    return {
      kind: 'solana',
      net: 'private',
      genesis: this.chain.genesis,
      nodes: this.nodes.map(({ config }) => ({ url: config.url })),
      start_height: this.chain.head.slot,
      poll_ms: 100,
      tokens: { USDC: this.usdc.address, USDT: this.usdt.address },
      sweep_from: { SOL: '0.1', USDC: '10', USDT: '10' },
      wallet_levels: { SOL: { low: '10' } },
      limits: { SOL: limits, USDC: limits, USDT: limits },
    };
  }

  /**
   * Makes blocks, each behind a slot without one. The first one has the time of the clock, each
   * other one half a second more.
   */
  async mine(blocks = 1): Promise<void> {
    for (let made = 0; made < blocks; made += 1) {
      this.chain.skip();
      const now = this.#clock.now().getTime();
      if (made === 0 && now > this.chain.head.timeMs + 1_000) this.chain.setTime(now);
      this.chain.mine();
    }
  }

  /** Milliseconds by which the newest block is ahead of the clock. */
  get aheadMs(): number {
    return this.chain.head.timeMs - this.#clock.now().getTime();
  }

  /** Gives a wallet coins and tokens, in ordinary transactions that no block holds yet. */
  fund(hot: string): void {
    const { chain } = this;
    chain.pay(chain.bank, hot, 10_000n * sol);
    for (const mint of [this.usdc, this.usdt]) chain.pay(chain.bank, hot, 1_000_000n * 1_000_000n, { mint });
  }

  /** All servers are honest again. */
  heal(): void {
    for (const node of this.nodes) node.faults = {};
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
