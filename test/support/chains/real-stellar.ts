import { type StellarChain, type StellarNode, startStellar } from './stellar-node.ts';

/** A time that a test or a machine keeps. */
interface Times {
  now(): Date;
}

const xlm = 10_000_000n;
/** Milliseconds that the first ledger lies before the clock. */
const beforeMs = 120_000;
/** Accounts that trust the token, made before a scan begins: each takes two ledgers. */
const trusting = 6;

/**
 * A Stellar of one's own on two simulated servers of different operators, for gateways and signers
 * that reach it over HTTP. Its ledgers follow a clock.
 */
export class RealStellar {
  readonly chain: StellarChain;
  /** In the order in which they are asked. */
  readonly nodes: readonly [StellarNode, StellarNode];
  /** The token, as the network names it. */
  readonly asset: string;
  readonly #clock: Times;
  readonly #holders: string[];

  private constructor(chain: StellarChain, nodes: RealStellar['nodes'], clock: Times) {
    this.chain = chain;
    this.nodes = nodes;
    this.#clock = clock;
    this.asset = chain.asset('USDC');
    this.#holders = Array.from({ length: trusting }, () => {
      const { address } = chain.newAccount(5n * xlm);
      chain.trust(address, this.asset);
      return address;
    });
  }

  static async start(clock: Times): Promise<RealStellar> {
    const chain = startStellar({ startTime: clock.now().getTime() - beforeMs });
    return new RealStellar(chain, [await chain.node(), await chain.node()], clock);
  }

  /** Its section in the file of networks. */
  section(): Record<string, unknown> {
    const limits = { per_payment: '1000000', per_day: '100000000' };
    return {
      kind: 'stellar',
      passphrase: this.chain.passphrase,
      nodes: this.nodes.map(({ config }) => ({ url: config.url })),
      start_height: this.chain.head.seq,
      poll_ms: 100,
      stalled_after_sec: 0,
      channels: 10,
      tokens: { USDC: this.chain.issuer('USDC').address },
      wallet_levels: { XLM: { low: '100' } },
      limits: { XLM: limits, USDC: limits },
    };
  }

  /** An account that trusts the token and has none. */
  holder(): string {
    const address = this.#holders.pop();
    if (address !== undefined) return address;
    const { address: late } = this.chain.newAccount(5n * xlm);
    this.chain.trust(late, this.asset);
    return late;
  }

  /** Closes ledgers. The first one has the time of the clock, each other one 5 seconds more. */
  async mine(ledgers = 1): Promise<void> {
    if (ledgers < 1) return;
    const now = this.#clock.now().getTime();
    if (now >= this.#headMs + 1_000) this.chain.setTime(now);
    for (let made = 0; made < ledgers; made += 1) this.chain.close();
  }

  get #headMs(): number {
    return this.chain.head.closeTime * 1_000;
  }

  /** Milliseconds by which the newest ledger is ahead of the clock. */
  get aheadMs(): number {
    return this.#headMs - this.#clock.now().getTime();
  }

  /** Brings a wallet its first coins with the tag of funding, which no ledger holds yet. */
  open(hot: string, tag: string): void {
    this.chain.credit('create_account', hot, 1_000_000n * xlm, BigInt(tag));
  }

  /** Pays a wallet tokens with the tag of funding. */
  fund(hot: string, tag: string): void {
    this.chain.pay(this.chain.bank, hot, 1_000_000n * xlm, { asset: this.asset, memo: BigInt(tag) });
  }

  /** All servers are honest again. */
  heal(): void {
    for (const node of this.nodes) node.faults = {};
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
