import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** A price of a pair that staff set by hand for a limited time. */
@Entity({ tableName: 'price_override' })
export class PriceOverride {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  coinFrom!: string;

  @Property({ type: 'text' })
  coinTo!: string;

  /** Units of coin_to for one of coin_from, before fees. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  price!: string;

  @Property({ type: 'uuid' })
  staffId!: string;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  endsAt!: Date;

  /** Set when the price was ended early, or replaced. */
  @Property({ type: 'timestamptz', nullable: true })
  endedAt!: Date | null;
}
