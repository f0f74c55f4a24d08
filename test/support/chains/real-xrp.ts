import { startXrp, type XrpChain, type XrpNode } from './xrp-node.ts';

/** A time that a test or a machine keeps. */
interface Times {
  now(): Date;
}

const xrp = 1_000_000n;
/** Its transactions name it, and its coins have no value. */
const networkId = 21_337;
/** Seconds that the first ledger lies before the clock. */
const beforeMs = 60_000;

/**
 * An XRP Ledger of one's own on two simulated servers of different operators, for gateways and
 * signers that reach it over HTTP. Its ledgers follow a clock.
 */
export class RealXrp {
  readonly chain: XrpChain;
  /** In the order in which they are asked. */
  readonly nodes: readonly [XrpNode, XrpNode];
  readonly #clock: Times;

  private constructor(chain: XrpChain, nodes: RealXrp['nodes'], clock: Times) {
    this.chain = chain;
    this.nodes = nodes;
    this.#clock = clock;
  }

  static async start(clock: Times): Promise<RealXrp> {
    const chain = startXrp({ startTime: clock.now().getTime() - beforeMs, networkId });
    return new RealXrp(chain, [await chain.node(), await chain.node()], clock);
  }

  /** Its section in the file of networks. */
  section(): Record<string, unknown> {
    return {
      kind: 'xrp',
      network_id: networkId,
      nodes: this.nodes.map(({ config }) => ({ url: config.url })),
      start_height: this.chain.head.header.ledger_index,
      poll_ms: 100,
      stalled_after_sec: 0,
      wallet_levels: { XRP: { low: '100' } },
      limits: { XRP: { per_payment: '1000000', per_day: '100000000' } },
    };
  }

  /** Closes ledgers. The first one has the time of the clock, each other one 4 seconds more. */
  async mine(ledgers = 1): Promise<void> {
    if (ledgers < 1) return;
    const now = this.#clock.now().getTime();
    if (now >= this.#headMs + 1_000) this.chain.setTime(now);
    for (let made = 0; made < ledgers; made += 1) this.chain.close();
  }

  get #headMs(): number {
    return (this.chain.head.header.close_time + 946_684_800) * 1_000;
  }

  /** Milliseconds by which the newest ledger is ahead of the clock. */
  get aheadMs(): number {
    return this.#headMs - this.#clock.now().getTime();
  }

  /** Gives a wallet coins with a tag, in an ordinary transaction that no ledger holds yet. */
  fund(hot: string, tag: string): void {
    this.chain.pay(this.chain.bank, hot, 1_000_000n * xrp, { tag: Number(tag) });
  }

  /** All servers are honest again. */
  heal(): void {
    for (const node of this.nodes) node.faults = {};
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
