import type {
  ChainAdapter,
  Expiry,
  PaymentIntent,
  PreparedTx,
  SignedTx,
} from '../../../src/chains/port/chain-adapter.ts';
import { Bench, type Family } from './conformance/bench.ts';
import { describeDeaths } from './conformance/deaths.ts';
import { describeHoldings } from './conformance/holdings.ts';
import { describeOwnBlocks } from './conformance/own-blocks.ts';
import { describePaying } from './conformance/paying.ts';
import { describeScanning } from './conformance/scanning.ts';
import { describeSpends } from './conformance/spends.ts';

/** A chain of one's own for one test, and the hands to make things happen on it. */
export interface ChainHarness {
  /**
   * Its hot wallet has enough of the chain's own coin, and of the token, for every payment of the
   * suite.
   */
  readonly adapter: ChainAdapter;
  /** A token contract, or null on a chain without tokens. */
  readonly token: string | null;
  /** A tag, or null on a chain without tags. */
  readonly tag: string | null;
  /** An unused address. */
  address(): string;
  /** An unused address of ours, where a scan and `balances` see no others; absent elsewhere. */
  ownAddress?(): string;
  /** What an address has, where the adapter tells it of the wallet only; absent elsewhere. */
  received?(address: string): Promise<bigint>;
  /** Sends coins from outside. Returns the txid. */
  pay(to: string, tag: string | null, contract: string | null, amount: bigint): Promise<string>;
  mine(blocks: number): Promise<void>;
  /**
   * Replaces the newest blocks by `blocks` empty ones (as many, unless told); what they held waits
   * again.
   */
  reorg(depth: number, blocks?: number): Promise<void>;
  sign(intent: PaymentIntent, prepared: PreparedTx): Promise<SignedTx>;
  /** Makes the node forget a transaction that waits for a block. */
  drop(txid: string): Promise<void>;
  /**
   * Broadcasts another transaction that spends what this one reserves, so that the other one is
   * mined.
   */
  conflict(tx: SignedTx): Promise<SignedTx>;
  /**
   * Makes executions of payments to the address fail; null where a mined payment always succeeds.
   */
  readonly refuse: ((address: string) => Promise<void>) | null;
  /** Gives out an address of ours, which can be swept; absent where nothing is swept. */
  readonly depositAddress?: () => Promise<string>;
  /**
   * Makes others pay so much that a payment which waits is worth replacing; absent where nothing is
   * replaced.
   */
  readonly raiseFees?: () => Promise<void>;
  /**
   * Builds a second attempt of a payment while the first one can still confirm. Absent where
   * `prepare` gives it.
   */
  readonly secondAttempt?: (payment: PaymentIntent, first: PreparedTx) => Promise<PreparedTx>;
  /** Makes blocks up to the last one before the expiry has passed; absent without expiry. */
  readonly mineBefore?: (expiry: Expiry) => Promise<void>;
  /** Makes the next block: the first one above which nothing of that expiry confirms. */
  readonly mineAt?: (expiry: Expiry) => Promise<void>;
  stop(): Promise<void>;
}

/**
 * The suite that every chain adapter passes. A test that does not apply to a family is skipped by
 * name. The family states how many apply, so that none vanishes.
 */
export function describeChainAdapter(name: string, family: Family, makeHarness: () => Promise<ChainHarness>): void {
  describe(`${name} as a chain adapter`, () => {
    const bench = new Bench(family, makeHarness);
    describe('with a separate chain', () => {
      bench.use();
      bench.test('has the traits that choose its tests', [], async () => {
        expect(bench.adapter.traits).toEqual(family.traits);
        expect(bench.adapter.pending !== undefined).toBe(family.traits.mempool);
      });
      describeScanning(bench);
      describeOwnBlocks(bench);
      describePaying(bench);
      describeDeaths(bench);
      describeSpends(bench);
      describeHoldings(bench);
    });

    it('is tried by as many tests as it says', () => {
      expect(bench.counts).toEqual(family.counts);
    });
  });
}
