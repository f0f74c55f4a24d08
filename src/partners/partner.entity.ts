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

  /** What the fixed ones among them may be worth together, in US dollars. */
  @Property({ type: 'integer', nullable: true })
  maxFixedExposureUsd!: number | null;

  /** Refuse order requests that carry no X-Signature. */
  @Property({ type: 'boolean' })
  requireSignature!: boolean;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  updatedAt!: Date;
}
