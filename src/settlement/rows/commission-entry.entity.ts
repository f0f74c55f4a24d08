import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { BigIntType, type Opt } from '@mikro-orm/postgresql';

/**
 * - `accrual`: the markup of a completed order.
 * - `conversion`: one of two entries, out of one asset and into another.
 * - `correction`: decided by two members of staff.
 * - `payment`: the payment of an earlier month.
 */
export const commissionEntryKinds = ['accrual', 'conversion', 'correction', 'payment'] as const;
export type CommissionEntryKind = (typeof commissionEntryKinds)[number];

/** A change of what a partner has earned. It never changes, and joins no closed month. */
@Entity({ tableName: 'commission_entry' })
export class CommissionEntry {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  /** Assigned by the database: the order of booking. */
  @Property({ type: new BigIntType('string'), generated: 'identity' })
  number!: string & Opt;

  @Property({ type: 'uuid' })
  partnerId!: string;

  /** The first day of the month in UTC in which it was booked. */
  @Property({ type: 'date' })
  month!: string;

  @Property({ type: 'timestamptz' })
  at!: Date;

  @Property({ type: 'text' })
  kind!: CommissionEntryKind;

  @Property({ type: 'text' })
  coin!: string;

  @Property({ type: 'text' })
  network!: string;

  /** Positive for the partner. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amount!: string;

  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  /** What was converted into the amount, and the prices of both in US dollars. */
  @Property({ type: 'text', nullable: true })
  fromCoin!: string | null;

  @Property({ type: 'text', nullable: true })
  fromNetwork!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  fromAmount!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  fromPrice!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  price!: string | null;

  /** The entry that a correction is about. */
  @Property({ type: 'uuid', nullable: true })
  corrects!: string | null;

  @Property({ type: 'uuid', nullable: true })
  actionId!: string | null;

  @Property({ type: 'uuid', nullable: true })
  paymentId!: string | null;

  @Property({ type: 'text', nullable: true })
  reason!: string | null;
}
