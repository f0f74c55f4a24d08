import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

export const staffActions = [
  'refund',
  'retry_payout',
  'mark_failed',
  'hold',
  'release',
  'venue_price',
  'resume_payouts',
] as const;
export type StaffActionName = (typeof staffActions)[number];

/** An action of a staff member, or a proposal for a second member to approve. */
@Entity({ tableName: 'staff_action' })
export class StaffAction {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  action!: StaffActionName;

  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  @Property({ type: 'uuid', nullable: true })
  depositId!: string | null;

  /** The payout hold that the action ends. */
  @Property({ type: 'uuid', nullable: true })
  holdId!: string | null;

  /** The proposer knows that the cause of that hold still stands. */
  @Property({ type: 'boolean' })
  acknowledges!: boolean;

  /** The recipient of a refund. */
  @Property({ type: 'text', nullable: true })
  address!: string | null;

  @Property({ type: 'text', nullable: true })
  tag!: string | null;

  /**
   * The worst price at which the venue closes the position of the order's trade, in its cash coin
   * for one coin.
   */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  price!: string | null;

  @Property({ type: 'text' })
  reason!: string;

  @Property({ type: 'text' })
  state!: 'proposed' | 'done' | 'rejected';

  @Property({ type: 'uuid' })
  proposedBy!: string;

  @Property({ type: 'timestamptz' })
  proposedAt!: Date;

  @Property({ type: 'uuid', nullable: true })
  decidedBy!: string | null;

  @Property({ type: 'timestamptz', nullable: true })
  decidedAt!: Date | null;
}
