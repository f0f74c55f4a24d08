/**
 * The port to a blockchain, the same for every kind of chain. Amounts are whole numbers of the
 * asset's smallest unit (satoshi, wei). An asset is the chain's own coin (`contract` null) or a
 * token.
 *
 * An adapter that cannot reach its node throws ChainError; it never guesses.
 */

export interface BlockRef {
  /**
   * A later block has a greater height, and heights between two blocks may have none. A chain with
   * such gaps tells what is final (`ScanResult.final`), because confirmations count heights.
   */
  readonly height: number;
  readonly hash: string;
  /** Hash of the nearest block below. */
  readonly parent: string;
  /**
   * The block's own timestamp, in milliseconds since 1970. Every adapter sets it. In a stored
   * cursor it is the effective time (`settlement/arrival-times`), absent in cursors of older
   * versions.
   */
  readonly timeMs?: number;
}

/**
 * The newest blocks that a scan has seen, oldest first. Stored in the transaction that stores the
 * transfers of these blocks.
 */
export interface Cursor {
  readonly window: readonly BlockRef[];
}

/** Coins that arrived at an address. */
export interface Transfer {
  /** Names this movement on its chain, and stays the same after a reorg: 'txid:0'. */
  readonly key: string;
  readonly txid: string;
  readonly address: string;
  readonly tag: string | null;
  readonly contract: string | null;
  readonly amount: bigint;
  /**
   * Why it must not be credited although the node shows it.
   *
   * - `unknown_call`: a contract's call that may not have moved it. The ledger leaves it out.
   * - `unusual_kind`: it did arrive, by a kind of transaction that pays no order, such as a deleted
   *   account. It belongs to no order before staff decide.
   */
  readonly doubt?: 'unknown_call' | 'unusual_kind';
}

/** Transactions in the mempool, as far as the node shows them. */
export interface Pending {
  readonly transfers: readonly Transfer[];
  /** Known transactions that left the mempool: mined or dropped. */
  readonly left: ReadonlySet<string>;
}

export interface ScannedBlock {
  readonly ref: BlockRef;
  readonly transfers: readonly Transfer[];
  /**
   * The outputs that the block spends, by the keys of the transfers that made them, with the
   * spending transaction.
   */
  readonly spends?: readonly { readonly key: string; readonly txid: string }[];
  /**
   * What receiving took from the hot wallet in this block, in the chain's own coin. Absent on
   * chains where receiving is free, and for a block that took nothing.
   */
  readonly receiveCost?: bigint;
}

export interface ScanResult {
  /** Blocks of the cursor that a reorg removed, newest first. */
  readonly orphaned: readonly BlockRef[];
  /** New blocks on top of the remaining ones, oldest first. */
  readonly blocks: readonly ScannedBlock[];
  /** The cursor to store together with these results. */
  readonly cursor: Cursor;
  /** Height of the chain's newest block, never of an empty height above it. */
  readonly head: number;
  /**
   * Height of the newest block that the chain itself calls final. Null or absent when only
   * confirmations decide.
   */
  readonly final?: number | null;
}

/**
 * An input or a nonce that a payment spends, so that no other transaction with it can confirm:
 * 'nonce:<account>:7', 'outpoint:<txid>:1'.
 */
export type Reservation = string;

/** The most that a payment under way takes from its sender. */
export interface Promised {
  /** The asset of the amount; null for the chain's own coin. */
  readonly contract: string | null;
  readonly amount: bigint;
  /** In the chain's own coin. */
  readonly fee: bigint;
}

/** All reservations of the payments under way, with the most that each payment takes. */
export type Held = ReadonlyMap<Reservation, Promised>;

/**
 * What a payment is for, by its kind:
 *
 * - `payout`: what a user bought.
 * - `refund`: a deposit that goes back.
 * - `sweep`: coins of deposit addresses that go to the hot wallet.
 * - `gas`: coins for the fee of an address that is swept.
 * - `setup`: prepares the hot wallet, and pays no one.
 * - `commission`: what a partner has earned.
 */
export const paymentPurposes = ['payout', 'refund', 'sweep', 'gas', 'setup', 'commission'] as const;
export type PaymentPurpose = (typeof paymentPurposes)[number];

/** A payment, as it was decided. All members but `attempt` stay the same in every attempt. */
export interface PaymentIntent {
  readonly id: string;
  /** Counts from 1. */
  readonly attempt: number;
  /**
   * Absent from gateways of earlier versions, which pay no commission. It then follows from `from`
   * and `setup`, and is a payout without both.
   */
  readonly purpose?: PaymentPurpose;
  /**
   * Null pays from the hot wallet. Otherwise the payment is a sweep, which brings all of its
   * sources to the hot wallet (`to`). On a chain of accounts the source is one deposit address. On
   * a chain of outputs the sources are the outputs, by their keys ('txid:0').
   */
  readonly from: readonly string[] | null;
  readonly contract: string | null;
  readonly to: string;
  readonly tag: string | null;
  /**
   * The amount that arrives. For a sweep in the chain's own coin it is the amount that leaves: the
   * fee is taken out of it where the swept address pays it.
   */
  readonly amount: bigint;
  /**
   * Set for a transaction that prepares the hot wallet for payments and pays no one: the name of a
   * set-up of its family, such as 'tickets:40'. The amount is then 0, and `to` the wallet.
   */
  readonly setup?: string;
}

/** The cost of a sweep, in the chain's own coin. */
export interface SweepCost {
  /** The fee of the whole sweep. */
  readonly fee: bigint;
  /** The part of the fee that each source adds. */
  readonly perSource: bigint;
  /**
   * The amount that the swept address lacks for the fee. 0 when it has enough, or when the fee is
   * taken out of the sweep.
   */
  readonly lacking: bigint;
  /**
   * The fee allows for a rise until the sweep. Otherwise the address is sent twice what it lacks.
   */
  readonly hasMargin?: boolean;
}

/**
 * When a transaction can no longer confirm: in no block above a height, or in no block on top of
 * one whose time is `timeMs` or later. The height may be of another count than those of blocks
 * (`ChainAdapter.lateHeight`).
 */
export type Expiry = { readonly height: number } | { readonly timeMs: number };

/** An unsigned transaction. */
export interface PreparedTx {
  readonly payload: string;
  readonly reserves: readonly Reservation[];
  /** In the chain's own coin. */
  readonly fee: bigint;
  /** Null when the transaction never expires. */
  readonly expiresAt: Expiry | null;
}

/** An earlier attempt of a payment, which is dead. */
export interface EarlierTx {
  readonly payload: string;
  readonly reserves: readonly Reservation[];
  readonly expiresAt: Expiry | null;
  readonly why: 'conflict' | 'expired';
}

/** A signed transaction. It is stored before any other process or node sees it. */
export interface SignedTx {
  readonly txid: string;
  readonly raw: string;
  readonly reserves: readonly Reservation[];
  readonly expiresAt: Expiry | null;
}

/**
 * The node's reply to a broadcast. Only a hint for people and retries: `status` asks the chain
 * whether the payment went out.
 */
export interface Broadcast {
  readonly outcome: 'accepted' | 'known' | 'uncertain' | 'rejected';
  /** A stable word of the adapter; null when the node accepted the transaction. */
  readonly code: string | null;
}

export type TxStatus =
  /** The node cannot tell. */
  | { readonly state: 'unknown' }
  /** A node shows that it waits for a block. */
  | { readonly state: 'mempool' }
  /** In no block, on a chain that does not show what waits: it may still come until its expiry. */
  | { readonly state: 'waiting'; readonly until: Expiry }
  | {
      readonly state: 'mined';
      readonly height: number;
      readonly confirmations: number;
      /** False when the chain executed it and it did not move the payment's amount. */
      readonly success: boolean;
      /**
       * The reason, when the chain did not revert it: the logs of a token show no transfer, or
       * another amount. Staff must find out whether a new payment would pay twice.
       */
      readonly problem?: 'not_transferred' | 'short_transfer';
      /**
       * True when it failed because another transaction used what it reserves, and nodes of two
       * operators say so. A further attempt with another reservation is safe if no other attempt
       * reserved the same.
       */
      readonly lost?: boolean;
      /**
       * In the chain's own coin, with rents of accounts that it made. Below 0 when rents that came
       * back are more.
       */
      readonly fee: bigint;
      /** No reorg that the adapter allows for can undo it. */
      readonly final: boolean;
    }
  /**
   * It can never confirm: another transaction spent its inputs or nonce, or it expired. A new
   * attempt is safe only when `final`.
   */
  | { readonly state: 'dead'; readonly why: 'conflict' | 'expired'; readonly final: boolean };

/** An address, or an address with a tag. `tag` null stands for the whole address. */
export interface Holding {
  readonly address: string;
  readonly tag: string | null;
}

/** What a transaction took from the hot wallet, signed by the gateway or by a person. */
export interface HotSpend {
  /**
   * What went to other addresses: one item for an asset. Change is left out, and so is a
   * transaction that failed.
   */
  readonly amounts: readonly { readonly contract: string | null; readonly amount: bigint }[];
  /**
   * In the chain's own coin; 0 when another account paid it, or a part of it. While the transaction
   * waits, the most that is known.
   */
  readonly fee: bigint;
  /** Null while it waits for a block. */
  readonly height: number | null;
  /** No reorg that the adapter allows for can undo it. */
  readonly final: boolean;
}

/** A node's own report, for people and for the checks at start. */
export interface NodeReport {
  /** Its address, without credentials. */
  readonly node: string;
  readonly head: number | null;
  /** Age of its newest block. */
  readonly lagSec: number | null;
  /** Whether it says that it is still syncing. */
  readonly isSyncing: boolean;
  /** The problems, each with its remedy; empty when the node can be used. */
  readonly problems: readonly string[];
}

/** What usual transactions cost, in the smallest unit of the chain's own coin. */
export interface UsualCosts {
  /** Of a payout to a recipient that never had the asset. */
  readonly payout: bigint;
  /** Of a sweep, with the coins that its address is sent for it. */
  readonly sweep: bigint;
}

/** What a chain does and does not do. Settlement asks this, and never for the kind of chain. */
export interface ChainTraits {
  /**
   * Whether an address has a balance, or outputs that are spent whole. This decides the sources of
   * a sweep.
   */
  readonly ledger: 'accounts' | 'outputs';
  /** Whether each order has an address, or all share one and have a tag each. */
  readonly deposits: 'per_order' | 'shared';
  /**
   * Whether the shared address is the wallet that pays. Then nothing is swept, and `hotWallet` has
   * the tag of funding.
   */
  readonly paysFromDeposits: boolean;
  /**
   * Whether transactions that wait for a block are visible. Without it, `status` answers 'waiting'
   * for them.
   */
  readonly mempool: boolean;
  /** Whether a scan reads blocks that a reorg may still remove. */
  readonly reorgs: boolean;
  /** Whether a swept address pays for its sweep, or the hot wallet does. */
  readonly sweepFee: 'swept' | 'wallet';
  /** How a transaction that is in no block dies. */
  readonly death: {
    /** Another transaction can spend what it reserves. */
    readonly conflict: boolean;
    readonly expiry: 'none' | 'height' | 'time';
  };
  /**
   * Whether the attempts of a payment reserve the same, so that the chain confirms at most one of
   * them. Without it, a further attempt rests on the death of the earlier ones alone.
   */
  readonly exclusive: boolean;
  /** The most attempts of a payment that do not exclude each other. */
  readonly furtherAttempts: number;
}

export interface ChainAdapter {
  /** As in the table of networks: 'bitcoin', 'ethereum'. */
  readonly chain: string;
  readonly traits: ChainTraits;
  /**
   * Confirmations that make a payment final. Where the chain itself tells finality, `status` asks
   * it. This number is then the least that a deposit waits, and the one shown.
   */
  readonly finalityDepth: number;
  /** Number of blocks that a cursor keeps, and so the deepest reorg that a scan can follow. */
  readonly reorgWindow: number;
  /** Minimum milliseconds between two polls of the node. Absent when polling is free. */
  readonly pollMs?: number;
  /** Seconds by which the timestamp of a block may be wrong. */
  readonly blockToleranceSec: number;
  /**
   * Age of the newest block in seconds above which the chain counts as stalled. Then no transaction
   * that expires is prepared. 0 for never: on a chain whose blocks are made by hand.
   */
  readonly stalledAfterSec: number;
  /** Where a first scan begins: no deposit can be in this block or below. */
  readonly startHeight: number;
  head(): Promise<BlockRef>;
  /**
   * A transaction that expires at this height or below is not broadcast for the first time. Absent
   * where it is the height of the newest block. A chain whose transactions expire by another count
   * than the heights of its blocks has it.
   */
  lateHeight?(): Promise<number>;
  /** A cursor at a height, so that a scan begins with the first block above it. */
  start(height: number): Promise<Cursor>;
  /**
   * Follows the chain from a cursor: takes off the blocks that a reorg removed, then reads at most
   * `maxBlocks` forward.
   *
   * @throws ReorgTooDeep when no block of the window is on the chain any more.
   */
  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult>;
  /**
   * Transfers in the mempool: a hint for display, never credited. Absent where `traits.mempool` is
   * false.
   *
   * @param known Transactions that an earlier poll found waiting.
   */
  pending?(known: readonly string[]): Promise<Pending>;
  /**
   * Balances of the holdings in the newest block, in the same order. A holding with a tag is empty
   * on a chain that does not tell what came with a tag.
   */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]>;
  /**
   * The wallet from which payments are made. With a tag, only what comes with that tag is funding.
   * Payments spend the whole address in any case.
   */
  hotWallet(): Promise<Holding>;
  /**
   * Builds an unsigned transaction that spends nothing in `held`, and leaves enough for the
   * payments there.
   *
   * @param earlier The payment's dead attempts, oldest first. Where attempts exclude each other and
   *   the newest one expired, its reservations are used again.
   */
  prepare(intent: PaymentIntent, held: Held, earlier?: readonly EarlierTx[]): Promise<PreparedTx>;
  /**
   * Builds a transaction for the same payment at a higher fee, which replaces one that waits too
   * long. It spends all inputs of the old one, so that at most one of the two can confirm. Null
   * when the old fee is good enough. Null also when the chain, the settings or the sender's coins
   * allow no replacement, or no higher fee in addition to the payments in `held`. Absent on chains
   * without replacement.
   */
  replace?(intent: PaymentIntent, old: PreparedTx, held: Held): Promise<PreparedTx | null>;
  /** How long a transaction waits for a block before it is replaced. */
  readonly replaceAfterSec?: number;
  /**
   * The cost of a sweep at present fees.
   *
   * @throws ChainError with the refusal of `prepare`, as far as it is known without building the
   *   transaction.
   */
  sweepCost?(intent: PaymentIntent): Promise<SweepCost>;
  /**
   * What a payout and a sweep of an asset cost at present prices. Null while the chain cannot tell,
   * such as when the hot wallet has none of a token. Absent where costs do not depend on the
   * recipient.
   */
  usualCosts?(contract: string | null): Promise<UsualCosts | null>;
  /**
   * The set-up that the hot wallet needs next, as `PaymentIntent.setup` names it. Null when it
   * needs none. Absent on chains whose wallets need none.
   */
  neededSetup?(): Promise<string | null>;
  broadcast(tx: SignedTx): Promise<Broadcast>;
  /**
   * Broadcasts several transactions in their order, where one request carries them, or at once
   * where their order does not matter. Returns their answers in the same order.
   */
  broadcastAll?(txs: readonly SignedTx[]): Promise<readonly Broadcast[]>;
  status(tx: SignedTx): Promise<TxStatus>;
  /** The status of each of several transactions, in their order, where one request tells them. */
  statusAll?(txs: readonly SignedTx[]): Promise<readonly TxStatus[]>;
  /**
   * Balances of addresses in a final block, in the order asked, on chains that tell balances
   * without a list of transactions. For coins that no transaction shows, because a contract sent
   * them, and for sweeps.
   */
  finalBalances?(
    addresses: readonly string[],
    contract: string | null,
  ): Promise<{ readonly block: BlockRef; readonly amounts: readonly bigint[] }>;
  /** How coins that a contract sends on are found, on chains with contracts. */
  readonly internalTransfers?: 'none' | 'trace' | 'balances';
  /**
   * True when `scan` cannot see coins that a contract sends on, so that balances must be compared.
   */
  readonly missesInternalTransfers?: boolean;
  /**
   * What a transaction took from the hot wallet. The txid may be in either case, with or without
   * '0x'. Null when the node does not know the transaction, when it took nothing, and for a text
   * that is no txid. On a chain of outputs, null also until a scan has read its block. So a later
   * answer may be another one. Absent on chains that cannot tell.
   */
  spent?(txid: string): Promise<HotSpend | null>;
  /**
   * The code of what keeps payments from becoming final although the chain is read, for staff. Null
   * while nothing does. Absent on chains where one node suffices.
   */
  readonly obstacle?: string | null;
  /**
   * How many blocks nodes have told whose transactions do not match their header, since the start.
   * Absent on chains where each such block is refused.
   */
  readonly doubtfulBlocks?: number;
  /** One report for each of its nodes. Never throws. */
  check?(): Promise<readonly NodeReport[]>;
}

/** A node that did not answer, or gave an invalid answer. */
export class ChainError extends Error {
  override readonly name: string = 'ChainError';
  /** Whether a retry may help. */
  readonly retryable: boolean;
  /** It is a fact of the chain, which every other node would tell as well. */
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

/** A reorg below the cursor's window. Staff must decide before the scan goes on. */
export class ReorgTooDeep extends ChainError {
  override readonly name = 'ReorgTooDeep';

  constructor(chain: string, window: number) {
    super('reorg_too_deep', `${chain} was reorganised by more than ${window} blocks`, {
      retryable: false,
      isOfChain: true,
    });
  }
}
