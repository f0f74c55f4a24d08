import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** Why a partner is asked what to do with a deposit. */
export type ActionReason = 'late' | 'underpaid' | 'overpaid' | 'price_moved';

/** The answers that a partner can give. */
export type ActionChoice = 'exchange' | 'refund';

/** How a question ended: the partner's answer, no answer in time, or a reorg took the deposit. */
export type ActionOutcome = ActionChoice | 'deadline' | 'deposit_lost';

/**
 * A question to the partner about a deposit of its order. An order has one open question at most,
 * and keeps its status meanwhile. Rows end once and are never deleted.
 */
@Entity({ tableName: 'order_action' })
export class OrderAction {
  @PrimaryKey({ type: 'uuid' })
  orderId!: string;

  /** The number of the event that asked. */
  @PrimaryKey({ type: 'integer' })
  seq!: number;

  @Property({ type: 'text' })
  reason!: ActionReason;

  @Property({ type: 'uuid' })
  depositId!: string;

  /** What arrived and is owed to the user, in units of coin_from. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amount!: string;

  /** The part of it that would be exchanged. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amountFrom!: string;

  @Property({ type: 'timestamptz' })
  askedAt!: Date;

  /** From then on the deposit is refunded without an answer. */
  @Property({ type: 'timestamptz' })
  deadline!: Date;

  /** Null while the question is open. */
  @Property({ type: 'text', nullable: true })
  outcome!: ActionOutcome | null;

  @Property({ type: 'timestamptz', nullable: true })
  endedAt!: Date | null;

  /** 'partner:<id>' or 'system'. */
  @Property({ type: 'text', nullable: true })
  actor!: string | null;

  /** The terms of the exchange that the partner chose, in units of coin_to. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  amountTo!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  serviceFee!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  networkFee!: string | null;
}
