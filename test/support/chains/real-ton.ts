import { addressOf, textOf } from '../../../src/chains/ton/ton-highload.ts';
import { opcodes } from './ton-contracts.ts';
import type { Jetton } from './ton-node/jettons.ts';
import { rawOf } from './ton-node/names.ts';
import { startTon, type TonChain, type TonNode } from './ton-node.ts';

/** A time that a test or a machine keeps. */
interface Times {
  now(): Date;
}

const ton = 1_000_000_000n;
/** Milliseconds that the first block lies before the clock. */
const beforeMs = 120_000;

/**
 * A TON of one's own on two simulated indexes of different operators, over the real virtual
 * machine, for gateways and signers that reach it over HTTP. Its blocks follow a clock.
 */
export class RealTon {
  readonly chain: TonChain;
  /** In the order in which they are asked. */
  readonly nodes: readonly [TonNode, TonNode];
  /** The token that plays USDT. */
  readonly jetton: Jetton;
  readonly #clock: Times;

  private constructor(chain: TonChain, nodes: RealTon['nodes'], jetton: Jetton, clock: Times) {
    this.chain = chain;
    this.nodes = nodes;
    this.jetton = jetton;
    this.#clock = clock;
  }

  static async start(clock: Times): Promise<RealTon> {
    const chain = await startTon({ startTime: clock.now().getTime() - beforeMs, globalId: -777 });
    const jetton = await chain.jetton('USDT');
    return new RealTon(chain, [await chain.node(), await chain.node()], jetton, clock);
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
      tokens: { USDT: textOf(this.jetton.master) },
      wallet_levels: { TON: { low: '10' } },
      limits: { TON: limits, USDT: limits },
    };
  }

  /** Makes blocks. The first one has the time of the clock, each other one half a second more. */
  async mine(blocks = 1): Promise<void> {
    const now = this.#clock.now().getTime();
    for (let made = 0; made < blocks; made += 1) {
      if (made === 0 && now > this.chain.head.timeMs) this.chain.setTime(now);
      await this.chain.block();
    }
  }

  /** Milliseconds by which the newest block is ahead of the clock. */
  get aheadMs(): number {
    return this.chain.head.timeMs - this.#clock.now().getTime();
  }

  /** A wallet that does not exist yet. */
  newAddress(): string {
    return textOf(this.chain.newUser().address);
  }

  /** Pays from outside with the next block. Returns the hash of the message that does. */
  pay(to: string, tag: string | null, amount: bigint, isToken = false): string {
    const comment = { comment: tag };
    const hash = isToken
      ? this.chain.payTokens(this.jetton, addressOf(to), amount, comment)
      : this.chain.pay(addressOf(to), amount, comment);
    return Buffer.from(hash, 'base64').toString('hex');
  }

  /** Gives a wallet coins and tokens with the tag of funding, with the next block. */
  fund(hot: string, tag: string): void {
    this.pay(hot, tag, 100_000n * ton);
    this.pay(hot, tag, 1_000_000n * 1_000_000n, true);
  }

  /** All coins that came to an address, without what news of jettons carry. */
  received(address: string): bigint {
    const account = rawOf(addressOf(address));
    let sum = 0n;
    for (const { executed } of this.chain.blocks) {
      for (const { tx, ...one } of executed) {
        const info = tx.inMessage?.info;
        if (one.account !== account || info?.type !== 'internal') continue;
        const body = tx.inMessage?.body.beginParse();
        const isNews = body !== undefined && body.remainingBits >= 32 && body.loadUint(32) === opcodes.notification;
        if (!isNews) sum += info.value.coins;
      }
    }
    return sum;
  }

  tokens(address: string): bigint {
    return this.jetton.balance(addressOf(address));
  }

  /** All servers are honest again. */
  heal(): void {
    for (const node of this.nodes) node.faults = {};
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
