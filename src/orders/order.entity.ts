import { Entity, ManyToOne, OneToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Partner } from '../accounts/partners/partner.entity.ts';
import { DepositAddress } from '../chains/addresses/deposit-address.entity.ts';
import type { RateType } from '../market/rates/quote.ts';
import type { OrderStatus } from './order-status.ts';

/** An exchange order. Amounts are decimal strings in the units of their coin. */
@Entity({ tableName: 'exchange_order' })
export class Order {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  shortId!: string;

  @ManyToOne(() => Partner)
  partner!: Partner;

  @Property({ type: 'text' })
  status!: OrderStatus;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  expiresAt!: Date;

  @Property({ type: 'timestamptz' })
  updatedAt!: Date;

  /** When a worker next looks at the order. Null when nothing is due. */
  @Property({ type: 'timestamptz', nullable: true })
  nextActionAt!: Date | null;

  /** Since when no try to settle the order has succeeded. */
  @Property({ type: 'timestamptz', nullable: true })
  failingSince!: Date | null;

  @Property({ type: 'text' })
  coinFrom!: string;

  @Property({ type: 'text' })
  networkFrom!: string;

  @Property({ type: 'text' })
  coinTo!: string;

  @Property({ type: 'text' })
  networkTo!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amountFromExpected!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amountToExpected!: string;

  @Property({ type: 'text' })
  rateType!: RateType;

  /**
   * Net units of coin_to per unit of coin_from: amount_to_expected = floor(amount_from_expected ×
   * rate).
   */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  rateQuoted!: string;

  /** Service fee as a fraction, at the time of creation. */
  @Property({ type: 'decimal', precision: 9, scale: 6 })
  feeRate!: string;

  /** In units of coin_to. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  serviceFeeQuoted!: string;

  /** In units of coin_to. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  networkFeeQuoted!: string;

  @OneToOne(() => DepositAddress, { owner: true })
  depositAddress!: DepositAddress;

  @Property({ type: 'text' })
  recipientAddress!: string;

  @Property({ type: 'text', nullable: true })
  recipientAddressTag!: string | null;

  @Property({ type: 'text', nullable: true })
  refundAddress!: string | null;

  @Property({ type: 'text', nullable: true })
  refundAddressTag!: string | null;

  /**
   * When the partner set the refund address after the create. Null for one that came with the
   * create, and without one.
   */
  @Property({ type: 'timestamptz', nullable: true })
  refundAddressSetAt!: Date | null;

  @Property({ type: 'text', nullable: true })
  depositTxid!: string | null;

  @Property({ type: 'integer', nullable: true })
  depositConfirmations!: number | null;

  @Property({ type: 'integer' })
  depositConfirmationsRequired!: number;

  @Property({ type: 'text', nullable: true })
  payoutTxid!: string | null;

  /** `seq` of the newest event. */
  @Property({ type: 'integer' })
  eventSeq!: number;

  /**
   * The deposit that the order exchanges or refunds. Other deposits to its address are refunded
   * separately.
   */
  @Property({ type: 'uuid', nullable: true })
  depositId!: string | null;

  /** The pair's limits at the quote. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  minAmount!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  maxAmount!: string;

  /** The exchanged part of the deposit, and the amount paid out for it. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  amountFromActual!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  amountToActual!: string | null;

  /** Until when the settler looks for liquidity. */
  @Property({ type: 'timestamptz', nullable: true })
  exchangeDeadline!: Date | null;

  /** Set while the order is on hold. A held order makes no automatic move. */
  @Property({ type: 'timestamptz', nullable: true })
  heldAt!: Date | null;

  @Property({ type: 'text', nullable: true })
  holdReason!: string | null;
}
