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
}

export interface ScannedBlock {
  readonly ref: BlockRef;
  readonly transfers: readonly Transfer[];
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
}

/** What a payment spends so that no other can confirm beside it: 'nonce:<account>:7', 'outpoint:<txid>:1'. */
export type Reservation = string;

/** A payment as it was decided: nothing in it changes from attempt to attempt. */
export interface PaymentIntent {
  readonly id: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly contract: string | null;
  readonly to: string;
  readonly tag: string | null;
  readonly amount: bigint;
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
      /** False when the chain executed it and it moved nothing. */
      readonly success: boolean;
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

export interface ChainAdapter {
  /** As in the table of networks: 'bitcoin', 'ethereum'. */
  readonly chain: string;
  /** So many confirmations make a payment final. */
  readonly finalityDepth: number;
  /** How many blocks a cursor keeps, and so the deepest reorganisation that a scan follows by itself. */
  readonly reorgWindow: number;
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
  /** Transfers that wait for a block: a hint for display, never credited. */
  pending(): Promise<readonly Transfer[]>;
  /** Confirmed balances of the holdings, in the same order. */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]>;
  /** The wallet that payments are made from. */
  hotWallet(): Promise<Holding>;
  /** Builds an unsigned transaction that reserves nothing of `held`. */
  prepare(intent: PaymentIntent, held: ReadonlySet<Reservation>): Promise<PreparedTx>;
  broadcast(tx: SignedTx): Promise<Broadcast>;
  status(tx: SignedTx): Promise<TxStatus>;
}

/** A node that could not be asked, or gave an answer that makes no sense. */
export class ChainError extends Error {
  override readonly name: string = 'ChainError';
  /** Whether asking again may help. */
  readonly retryable: boolean;
  readonly code: string;

  constructor(
    code: string,
    message: string,
    { retryable = true, cause }: { retryable?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
  }
}

/** The chain was reorganised below the cursor's window: somebody must look before the scan goes on. */
export class ReorgTooDeep extends ChainError {
  override readonly name = 'ReorgTooDeep';

  constructor(chain: string, window: number) {
    super('reorg_too_deep', `${chain} was reorganised by more than ${window} blocks`, { retryable: false });
  }
}
