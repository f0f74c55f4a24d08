import { findAnvil } from './anvil.ts';
import { blockMs } from './tron-node/blocks.ts';
import { startTron, type TronChain, type TronNode } from './tron-node.ts';

/** A time that a test or a machine keeps. */
interface Times {
  now(): Date;
}

/** Blocks until one of the chain is final. */
export const tronFinality = 3;
const trx = 10n ** 6n;

/**
 * A Tron of one's own on two simulated nodes of different operators, for gateways and signers that
 * reach it over HTTP. Its blocks follow a clock, because its payments expire by time.
 */
export class RealTron {
  readonly chain: TronChain;
  /** In the order in which they are asked. */
  readonly nodes: readonly [TronNode, TronNode];
  /** Contract of the token that plays USDT, with 6 decimals. */
  readonly token: string;
  readonly #clock: Times;

  private constructor(parts: Pick<RealTron, 'chain' | 'nodes' | 'token'>, clock: Times) {
    this.chain = parts.chain;
    this.nodes = parts.nodes;
    this.token = parts.token;
    this.#clock = clock;
  }

  /** Makes a chain whose head has about the clock's time. */
  static async start(clock: Times): Promise<RealTron> {
    if (findAnvil() === null) throw new Error('the contracts of the simulated Tron need anvil');
    const before = 10 * blockMs;
    const chain = startTron({ solidLag: tronFinality, startTime: clock.now().getTime() - before });
    const token = await chain.deployToken();
    const tron = new RealTron({ chain, token, nodes: [await chain.node(), await chain.node()] }, clock);
    await tron.mine(tronFinality);
    return tron;
  }

  /** Its section in the file of networks. */
  section(): Record<string, unknown> {
    return {
      kind: 'tron',
      net: 'private',
      genesis: this.chain.blocks[0]?.id,
      nodes: this.nodes.map(({ config }) => ({ url: config.url })),
      start_height: this.chain.head.header.number,
      finality: 'solid',
      reorg_window: 64,
      poll_ms: 100,
      internal_transfers: 'trace',
      tokens: { USDT: this.token },
      max_fee: '100',
      sweep_from: { TRX: '20', USDT: '10' },
      wallet_levels: { TRX: { low: '100' }, USDT: { low: '100' } },
      limits: {
        TRX: { per_payment: '1000000', per_day: '100000000' },
        USDT: { per_payment: '1000000', per_day: '100000000' },
      },
    };
  }

  /** Makes blocks. The first one has the time of the clock, each other one 3 seconds more. */
  async mine(blocks = 1): Promise<void> {
    if (blocks < 1) return;
    const now = this.#clock.now().getTime();
    const { timestamp } = this.chain.head.header;
    if (now > timestamp) this.chain.setTime(now);
    await this.chain.mine(blocks);
  }

  /** Gives a wallet coins and tokens, in ordinary transactions that no block holds yet. */
  async fund(hot: string): Promise<void> {
    await this.chain.pay(hot, null, 1_000_000n * trx);
    await this.chain.pay(hot, this.token, 1_000_000n * trx);
  }

  /** Both nodes are honest again. */
  heal(): void {
    for (const node of this.nodes) node.faults = {};
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
