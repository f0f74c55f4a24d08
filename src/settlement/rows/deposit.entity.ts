import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { BigIntType } from '@mikro-orm/postgresql';

/**
 * - `mempool`: seen, in no block yet.
 * - `mined`: in a block.
 * - `credited`: confirmed and in the ledger.
 * - `orphaned`: a reorg or the mempool dropped it.
 */
export type DepositState = 'mempool' | 'mined' | 'credited' | 'orphaned';

/**
 * - `order`: for an order, or for none before staff assign it to one.
 * - `funding`: from outside to the hot wallet.
 */
export type DepositPurpose = 'order' | 'funding';

/**
 * Why the gateway does nothing more with a deposit until staff decide.
 *
 * - `unknown_tag`: it has no tag, or one of no order.
 * - `unusual_kind`: it came by a kind of transaction that pays no order.
 * - `netted`: the deposit, or a part of it, covers the order's lost deposits. It is refunded
 *   automatically once those return.
 */
export type DepositProblem =
  | 'no_refund_address'
  | 'below_fee'
  | 'unknown_tag'
  | 'unusual_kind'
  | 'refund_failed'
  | 'too_many_refunds'
  | 'netted'
  | 'late_refund_limit';

/**
 * A transfer to one of the gateway's addresses. Amounts are decimal strings in the coin's units.
 */
@Entity({ tableName: 'deposit' })
export class Deposit {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  chain!: string;

  /** The transfer's identifier on its chain. Unique together with the chain. */
  @Property({ type: 'text' })
  key!: string;

  /** Null while it belongs to none. Once it is set, it stays. */
  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  @Property({ type: 'text' })
  purpose!: DepositPurpose;

  /** The transfer from an exchange to the hot wallet that it is the arrival of. */
  @Property({ type: 'uuid', nullable: true })
  transferId!: string | null;

  /** The sweep that moves it to the hot wallet. */
  @Property({ type: 'uuid', nullable: true })
  sweptBy!: string | null;

  @Property({ type: 'text' })
  txid!: string;

  @Property({ type: 'text' })
  address!: string;

  @Property({ type: 'text', nullable: true })
  tag!: string | null;

  @Property({ type: 'text', nullable: true })
  contract!: string | null;

  @Property({ type: 'text' })
  coin!: string;

  @Property({ type: 'text' })
  network!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amount!: string;

  @Property({ type: 'text' })
  state!: DepositState;

  /** Height and hash of its block. Null outside a block. */
  @Property({ type: new BigIntType('number'), nullable: true })
  height!: number | null;

  @Property({ type: 'text', nullable: true })
  blockHash!: string | null;

  @Property({ type: 'integer' })
  confirmationsRequired!: number;

  @Property({ type: 'timestamptz' })
  seenAt!: Date;

  /** When it was first seen in a block. */
  @Property({ type: 'timestamptz', nullable: true })
  minedAt!: Date | null;

  /** The earliest possible arrival, by the rule in `arrival-times`. Null without a lower bound. */
  @Property({ type: 'timestamptz', nullable: true })
  arrivedAfter!: Date | null;

  /** The latest possible arrival. */
  @Property({ type: 'timestamptz' })
  arrivedBy!: Date;

  /** The earliest possible time of its block. Null outside a block, or without a lower bound. */
  @Property({ type: 'timestamptz', nullable: true })
  minedAfter!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  creditedAt!: Date | null;

  /**
   * How often it was credited. Above 0 for an orphaned deposit that a reorg reversed after its
   * credit.
   */
  @Property({ type: 'integer' })
  credits!: number;

  @Property({ type: 'text', nullable: true })
  problem!: DepositProblem | null;

  /** Whether its sighting is decided to be an event of its order or not. */
  @Property({ type: 'boolean' })
  isReported!: boolean;

  /**
   * For a deposit found by a balance comparison: the height of that comparison's block. The deposit
   * stands for coins that no known transaction names and that arrived in this block or below.
   */
  @Property({ type: new BigIntType('number'), nullable: true })
  comparedHeight!: number | null;
}
