import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** mempool: seen, in no block yet. mined: in a block. credited: confirmed and in the ledger. orphaned: gone again. */
export type DepositState = 'mempool' | 'mined' | 'credited' | 'orphaned';

/** order: for an order, or for none when its tag is nobody's. funding: from outside to the hot wallet. */
export type DepositPurpose = 'order' | 'funding';

/**
 * Why nothing more is done with a deposit by itself; staff decide. `netted`: it, or a part of it, fills what the order's
 * account lacks for deposits that are gone; it is refunded by itself once those return.
 */
export type DepositProblem =
  | 'no_refund_address'
  | 'below_fee'
  | 'unknown_tag'
  | 'refund_failed'
  | 'too_many_refunds'
  | 'netted';

/** A transfer to one of our addresses. Amounts are decimal strings in the coin's units. */
@Entity({ tableName: 'deposit' })
export class Deposit {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  chain!: string;

  /** The transfer's name on its chain; with the chain, unique. */
  @Property({ type: 'text' })
  key!: string;

  /** Null when the tag is nobody's. */
  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  @Property({ type: 'text' })
  purpose!: DepositPurpose;

  /** The sweep that brings it to the hot wallet. */
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

  /** Height and hash of its block while it is in one. */
  @Property({ type: 'integer', nullable: true })
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

  /** The earliest time that it can have come, as `arrival-times` says; null where nothing bounds it. */
  @Property({ type: 'timestamptz', nullable: true })
  arrivedAfter!: Date | null;

  /** The latest time that it can have come. */
  @Property({ type: 'timestamptz' })
  arrivedBy!: Date;

  /** The earliest time that its block can have been made; null while it is in none, or where nothing bounds it. */
  @Property({ type: 'timestamptz', nullable: true })
  minedAfter!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  creditedAt!: Date | null;

  /** How often it was credited: above 0 while it is orphaned, a reorganisation took it back after it was credited. */
  @Property({ type: 'integer' })
  credits!: number;

  @Property({ type: 'text', nullable: true })
  problem!: DepositProblem | null;

  /**
   * Of a deposit that a balance showed: the height of that balance's block. The deposit stands for coins that no known
   * transaction names and that came in this block or below.
   */
  @Property({ type: 'integer', nullable: true })
  comparedHeight!: number | null;
}
