import { Entity, ManyToOne, Property } from '@mikro-orm/decorators/legacy';
import { Payment } from './payment.entity.ts';

/**
 * A refund that went without staff to an address that the partner had set after the create. Rows
 * are never changed or deleted.
 */
@Entity({ tableName: 'late_refund' })
export class LateRefund {
  @ManyToOne(() => Payment, { primary: true })
  payment!: Payment;

  @Property({ type: 'uuid' })
  partnerId!: string;

  @Property({ type: 'timestamptz' })
  at!: Date;

  /** US dollars of the refund and its fee when it was decided, rounded up. */
  @Property({ type: 'decimal', precision: 24, scale: 2 })
  usd!: string;
}
