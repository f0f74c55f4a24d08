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

  /** Orders that may wait for their deposit at one time. */
  @Property({ type: 'integer', nullable: true })
  maxOpenOrders!: number | null;

  /** What fixed orders created within an hour may be worth together, in US dollars. */
  @Property({ type: 'integer', nullable: true })
  maxFixedExposureUsd!: number | null;

  /** What fixed orders created within a day may be worth together, in US dollars. */
  @Property({ type: 'integer', nullable: true })
  maxFixedDayUsd!: number | null;

  /** What float orders that wait or are between deposit and payout may be worth together, in US dollars. */
  @Property({ type: 'integer', nullable: true })
  maxFloatExposureUsd!: number | null;

  /** Its fixed caps stay when its fixed orders cost more than they bring. */
  @Property({ type: 'boolean' })
  keepsFixedCaps!: boolean;

  /** Refuse order requests that carry no X-Signature. */
  @Property({ type: 'boolean' })
  requireSignature!: boolean;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  updatedAt!: Date;
}
