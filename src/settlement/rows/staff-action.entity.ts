import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { MovementKind } from '../../exchanges/exchange.ts';

export const staffActions = [
  'refund',
  'retry_payout',
  'mark_failed',
  'hold',
  'release',
  'venue_price',
  'resume_payouts',
  'venue_opening',
  'venue_classify',
  'assign_deposit',
  'commission_hold',
  'commission_release',
  'commission_correct',
  'commission_pay',
  'commission_cancel',
  'commission_address',
] as const;
export type StaffActionName = (typeof staffActions)[number];

/**
 * What an entry of an exchange is that the gateway did not make.
 *
 * - `capital`: coins that the house put in or took out.
 * - `trading`: a gain or loss, such as a trade by hand, a reward or interest.
 * - `cost`: a cost of moving coins, such as a fee that the exchange kept.
 */
const venueClasses = ['capital', 'trading', 'cost'] as const;
export type VenueClass = (typeof venueClasses)[number];

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

  /** The proposer knows that the cause of that hold still exists. */
  @Property({ type: 'boolean' })
  acknowledges!: boolean;

  /** The recipient of a refund, or the address of a partner's commission. */
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

  /** The exchange whose account the action is about. */
  @Property({ type: 'text', nullable: true })
  venue!: string | null;

  /** The movement there that is classified. */
  @Property({ type: 'text', nullable: true })
  movementKind!: MovementKind | null;

  @Property({ type: 'text', nullable: true })
  reference!: string | null;

  /**
   * In place of a movement, a coin of which the exchange has `amount` more than the books. Or the
   * coin of a correction by `amount`, positive for the partner, or of an address.
   */
  @Property({ type: 'text', nullable: true })
  coin!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  amount!: string | null;

  @Property({ type: 'text', nullable: true })
  class!: VenueClass | null;

  /** The partner whose commission the action is about. */
  @Property({ type: 'uuid', nullable: true })
  partnerId!: string | null;

  /** The month of that partner, as its first day in UTC. */
  @Property({ type: 'date', nullable: true })
  month!: string | null;

  /** The network of the coin of a correction or of an address. */
  @Property({ type: 'text', nullable: true })
  network!: string | null;

  /** The entry that a correction is about. */
  @Property({ type: 'uuid', nullable: true })
  corrects!: string | null;

  /**
   * The partner has lost the address in effect, so nothing is paid to it while the new one waits.
   */
  @Property({ type: 'boolean' })
  oldIsLost!: boolean;

  /** What proves whose deposit it is, of a deposit without an order. */
  @Property({ type: 'text', nullable: true })
  evidence!: string | null;

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
