import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

export type PartnerStatus = 'active' | 'inactive';

/** An account that creates orders. Null pricing and limits mean the gateway's settings. */
@Entity({ tableName: 'partner' })
export class Partner {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'text' })
  status!: PartnerStatus;

  /** Service fee as a fraction: '0.005' is half a percent. */
  @Property({ type: 'decimal', precision: 9, scale: 6, nullable: true })
  feeRateFloat!: string | null;

  @Property({ type: 'decimal', precision: 9, scale: 6, nullable: true })
  feeRateFixed!: string | null;

  @Property({ type: 'integer', nullable: true })
  rateLimitPerMin!: number | null;

  @Property({ type: 'integer', nullable: true })
  ordersLimitPerMin!: number | null;

  @Property({ type: 'integer', nullable: true })
  listsLimitPerMin!: number | null;

  /** Limit of the orders that wait for their deposit at one time. */
  @Property({ type: 'integer', nullable: true })
  maxOpenOrders!: number | null;

  /** Limit of the value of fixed-rate orders created within an hour, in US dollars. */
  @Property({ type: 'integer', nullable: true })
  maxFixedExposureUsd!: number | null;

  /** Limit of the value of fixed-rate orders created within a day, in US dollars. */
  @Property({ type: 'integer', nullable: true })
  maxFixedDayUsd!: number | null;

  /** Limit of the value of float orders that await a deposit or a payout, in US dollars. */
  @Property({ type: 'integer', nullable: true })
  maxFloatExposureUsd!: number | null;

  /** Keeps the caps on fixed-rate orders as they are, even when those orders lose money. */
  @Property({ type: 'boolean' })
  keepsFixedCaps!: boolean;

  /** Largest markup of its quotes and creates, in basis points. */
  @Property({ type: 'integer', nullable: true })
  maxMarkupBps!: number | null;

  /** Seconds for which its binding quotes hold. */
  @Property({ type: 'integer', nullable: true })
  quoteHoldSec!: number | null;

  /**
   * By how many basis points its used quotes exceeded the market in the last 24 hours, weighted by
   * value. A worker sets it. Null without such quotes.
   */
  @Property({ type: 'decimal', precision: 12, scale: 1, nullable: true })
  quoteAdverseBps!: string | null;

  /** Since when that is above its fixed fee, so that its fixed quotes hold for 15 seconds. */
  @Property({ type: 'timestamptz', nullable: true })
  quoteCutSince!: Date | null;

  /** Refuses requests for orders without an X-Signature. */
  @Property({ type: 'boolean' })
  requireSignature!: boolean;

  /** Lets everyone who knows the UUID of one of its orders read the order's status. */
  @Property({ type: 'boolean' })
  publicStatus!: boolean;

  /** Gives each of its orders a page for the user who pays it, at an unguessable link. */
  @Property({ type: 'boolean' })
  orderPage!: boolean;

  /** What the page calls the partner. Never null where there is a page. */
  @Property({ type: 'text', nullable: true })
  displayName!: string | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  updatedAt!: Date;
}
