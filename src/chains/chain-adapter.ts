/**
 * The port to a blockchain, the same for every kind of chain. Amounts are whole numbers of the asset's smallest unit
 * (satoshi, wei). An asset is the chain's own coin (`contract` null) or a token.
 *
 * An adapter that cannot reach its node throws ChainError; it never guesses.
 */

export interface BlockRef {
  readonly height: number;
  readonly hash: string;
  /** Hash of the block below. */
  readonly parent: string;
  /**
   * When it was made, as the block itself says, in milliseconds since 1970. Every adapter tells it. In a stored cursor
   * it is the effective time (`settlement/arrival-times`), absent in cursors of older versions.
   */
  readonly timeMs?: number;
}

/** The newest blocks that a scan has seen, oldest first. Stored in the transaction that stores what they held. */
export interface Cursor {
  readonly window: readonly BlockRef[];
}

/** Coins that arrived at an address. */
export interface Transfer {
  /** Names this very movement on its chain, the same after a reorganisation: 'txid:0'. */
  readonly key: string;
  readonly txid: string;
  readonly address: string;
  readonly tag: string | null;
  readonly contract: string | null;
  readonly amount: bigint;
  /** Why it must not be credited although the node shows it. */
  readonly doubt?: 'unknown_call';
}

/** What waits for a block, as far as the node tells. */
export interface Pending {
  readonly transfers: readonly Transfer[];
  /** Those of the known transactions that surely wait no longer: a block has them, or nobody. */
  readonly left: ReadonlySet<string>;
}

export interface ScannedBlock {
  readonly ref: BlockRef;
  readonly transfers: readonly Transfer[];
  /** The outputs that it spends, by the keys of the transfers that made them, and by which transaction. */
  readonly spends?: readonly { readonly key: string; readonly txid: string }[];
}

export interface ScanResult {
  /** Blocks that the cursor held and that are no longer on the chain, newest first. */
  readonly orphaned: readonly BlockRef[];
  /** New blocks on top of what is left, oldest first. */
  readonly blocks: readonly ScannedBlock[];
  /** The cursor to store together with what was found. */
  readonly cursor: Cursor;
  /** Height of the chain's newest block. */
  readonly head: number;
  /** Height of the newest block that the chain itself calls final; null or absent where confirmations alone decide. */
  readonly final?: number | null;
}

/** What a payment spends so that no other can confirm beside it: 'nonce:<account>:7', 'outpoint:<txid>:1'. */
export type Reservation = string;

/** What a payment under way takes from its sender at most. */
export interface Promised {
  /** Of what the amount is; null for the chain's own coin. */
  readonly contract: string | null;
  readonly amount: bigint;
  /** In the chain's own coin. */
  readonly fee: bigint;
}

/** All that payments under way reserve, with what each takes. */
export type Held = ReadonlyMap<Reservation, Promised>;

/** A payment as it was decided: nothing in it changes from attempt to attempt. */
export interface PaymentIntent {
  readonly id: string;
  /** Counts from 1. */
  readonly attempt: number;
  /**
   * Null pays from the hot wallet. Otherwise the payment is a sweep, which brings to the hot wallet (`to`) all that it
   * names: on a chain of accounts one deposit address, on a chain of outputs the outputs by their keys ('txid:0').
   */
  readonly from: readonly string[] | null;
  readonly contract: string | null;
  readonly to: string;
  readonly tag: string | null;
  /** What arrives. Of a sweep in the chain's own coin it is what leaves: the fee is taken out of it. */
  readonly amount: bigint;
}

/** What a sweep costs, in the chain's own coin. */
export interface SweepCost {
  /** Of all of it. */
  readonly fee: bigint;
  /** What each of its sources adds to the fee. */
  readonly perSource: bigint;
  /** What the address that is swept lacks for the fee; 0 where it has enough, or the fee is taken out of the sweep. */
  readonly lacking: bigint;
}

/** An unsigned transaction. */
export interface PreparedTx {
  readonly payload: string;
  readonly reserves: readonly Reservation[];
  /** In the chain's own coin. */
  readonly fee: bigint;
  /** The transaction can no longer confirm above this height; null when it never expires. */
  readonly expiresAt: number | null;
}

/** A signed transaction, which is stored before anybody else sees it. */
export interface SignedTx {
  readonly txid: string;
  readonly raw: string;
  readonly reserves: readonly Reservation[];
  readonly expiresAt: number | null;
}

/**
 * What the node said to a broadcast. Only a hint for people and retries: whether the payment went out is asked of the
 * chain by `status`.
 */
export interface Broadcast {
  readonly outcome: 'accepted' | 'known' | 'uncertain' | 'rejected';
  /** A stable word of the adapter, null where the node took it. */
  readonly code: string | null;
}

export type TxStatus =
  | { readonly state: 'unknown' }
  | { readonly state: 'mempool' }
  | {
      readonly state: 'mined';
      readonly height: number;
      readonly confirmations: number;
      /** False when the chain executed it and it did not move what the payment says. */
      readonly success: boolean;
      /**
       * Why, where the chain did not undo it: a token moved nothing that its logs show, or another amount. Whether a
       * new payment would pay twice is for staff to find out.
       */
      readonly problem?: 'not_transferred' | 'short_transfer';
      /** In the chain's own coin. */
      readonly fee: bigint;
      /** No reorganisation that the adapter allows for can undo it. */
      readonly final: boolean;
    }
  /** It can never confirm: something else spent what it reserves, or it expired. Only when final is a new attempt safe. */
  | { readonly state: 'dead'; readonly why: 'conflict' | 'expired'; readonly final: boolean };

/** Where coins are held: an address, or an address with a tag. `tag` null stands for the whole address. */
export interface Holding {
  readonly address: string;
  readonly tag: string | null;
}

/** What a node says of itself, for people and for the checks at start. */
export interface NodeReport {
  /** Where it is, without what is secret in it. */
  readonly node: string;
  readonly head: number | null;
  /** Since its newest block. */
  readonly lagSec: number | null;
  /** Whether it says that it is still catching up with its network. */
  readonly isSyncing: boolean;
  /** What is wrong, each with what to do; empty when the node can be used. */
  readonly problems: readonly string[];
}

export interface ChainAdapter {
  /** As in the table of networks: 'bitcoin', 'ethereum'. */
  readonly chain: string;
  /** Whether an address has a balance, or outputs that are spent whole. Decides what a sweep takes. */
  readonly model: 'accounts' | 'outputs';
  /**
   * So many confirmations make a payment final. Where the chain itself says what is final, `status` tells, and these are
   * the least that a deposit waits, and what is shown.
   */
  readonly finalityDepth: number;
  /** How many blocks a cursor keeps, and so the deepest reorganisation that a scan follows by itself. */
  readonly reorgWindow: number;
  /** At least so long between two looks at the chain; absent where looking costs nobody anything. */
  readonly pollMs?: number;
  /** By how many seconds the time that a block states may be wrong. */
  readonly blockToleranceSec: number;
  /** Where a first scan begins: no deposit can be in this block or below. */
  readonly startHeight: number;
  head(): Promise<BlockRef>;
  /** A cursor that stands at a height, so that a scan begins with the block above it. */
  start(height: number): Promise<Cursor>;
  /**
   * Follows the chain from a cursor: unwinds what was reorganised away, then reads at most `maxBlocks` forward.
   *
   * @throws ReorgTooDeep when no block of the window is on the chain any more.
   */
  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult>;
  /**
   * What waits for a block: a hint for display, never credited.
   *
   * @param known Transactions that waited at an earlier look.
   */
  pending(known: readonly string[]): Promise<Pending>;
  /** Balances of the holdings in the newest block, in the same order. */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]>;
  /** The wallet that payments are made from. */
  hotWallet(): Promise<Holding>;
  /** Builds an unsigned transaction that reserves nothing of `held`, and can be paid beside it. */
  prepare(intent: PaymentIntent, held: Held): Promise<PreparedTx>;
  /**
   * A transaction for the same payment, at a fee that others are willing to pay now, to take the place of one that waits
   * too long. It spends all that the old one spends, so that at most one of the two can confirm. Null when the old
   * one's fee is good enough, or when the chain, the settings or the sender's coins allow no replacement or no higher
   * fee beside the others in `held`. Absent on chains that replace nothing.
   */
  replace?(intent: PaymentIntent, old: PreparedTx, held: Held): Promise<PreparedTx | null>;
  /** How long a transaction waits for a block before it is replaced. */
  readonly replaceAfterSec?: number;
  /**
   * What a sweep costs, as fees are now.
   *
   * @throws ChainError what `prepare` would refuse it with, as far as that is known without building it.
   */
  sweepCost?(intent: PaymentIntent): Promise<SweepCost>;
  broadcast(tx: SignedTx): Promise<Broadcast>;
  status(tx: SignedTx): Promise<TxStatus>;
  /**
   * Balances of addresses in a block that is final, in the order asked, where they can be told without knowing each
   * transaction. For what no transaction shows (coins that a contract sent on) and for sweeps.
   */
  finalBalances?(
    addresses: readonly string[],
    contract: string | null,
  ): Promise<{ readonly block: BlockRef; readonly amounts: readonly bigint[] }>;
  /** How coins that a contract sends on are found, on chains where contracts do. */
  readonly internalTransfers?: 'none' | 'trace' | 'balances';
  /** True where `scan` cannot see coins that a contract sends on, so that balances must be compared. */
  readonly missesInternalTransfers?: boolean;
  /** One report for each of its nodes. Never throws. */
  check?(): Promise<readonly NodeReport[]>;
}

/** A node that could not be asked, or gave an answer that makes no sense. */
export class ChainError extends Error {
  override readonly name: string = 'ChainError';
  /** Whether asking again may help. */
  readonly retryable: boolean;
  /** It is a fact of the chain, which another node would tell as well. */
  readonly isOfChain: boolean;
  readonly code: string;

  constructor(
    code: string,
    message: string,
    { retryable = true, isOfChain = false, cause }: { retryable?: boolean; isOfChain?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
    this.isOfChain = isOfChain;
  }
}

/** The chain was reorganised below the cursor's window: somebody must look before the scan goes on. */
export class ReorgTooDeep extends ChainError {
  override readonly name = 'ReorgTooDeep';

  constructor(chain: string, window: number) {
    super('reorg_too_deep', `${chain} was reorganised by more than ${window} blocks`, {
      retryable: false,
      isOfChain: true,
    });
  }
}
