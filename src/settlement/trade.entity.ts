import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/**
 * intended: decided, and perhaps asked of the venue. abandoned: given up before the venue filled it. unwound: filled, and
 * then taken into our own book, because the user gets the deposit back instead of a payout that cannot be made.
 */
export type TradeState = 'intended' | 'filled' | 'abandoned' | 'unwound';

/** The one exchange of an order at the liquidity venue. Its terms are fixed before the venue is asked. */
@Entity({ tableName: 'trade' })
export class Trade {
  @PrimaryKey({ type: 'uuid' })
  orderId!: string;

  /** The venue that is asked, and no other. */
  @Property({ type: 'text' })
  venue!: string;

  @Property({ type: 'text' })
  state!: TradeState;

  @Property({ type: 'text' })
  coinFrom!: string;

  @Property({ type: 'text' })
  networkFrom!: string;

  @Property({ type: 'text' })
  coinTo!: string;

  @Property({ type: 'text' })
  networkTo!: string;

  /** What of the deposit is exchanged. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amountFrom!: string;

  /** What the user is paid for it. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amountTo!: string;

  /** Both fees in units of coin_to. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  serviceFee!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  networkFee!: string;

  /** The slippage bound: a venue that gives less is refused. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  minBought!: string;

  /** What the venue gave. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  bought!: string | null;

  /** US dollars per unit of either coin when the terms were decided; null on trades older than these columns. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  priceFrom!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  priceTo!: string | null;

  /**
   * US dollars per unit of either coin, and of the coin between the legs, by the market when the terms were decided: what
   * staff set by hand counts for nothing here. Null at a venue without such a coin, and on older trades.
   */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  marketFrom!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  marketTo!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  marketCash!: string | null;

  /** US dollars that the venue's legs may lose together, fees in. Null where `marketCash` is. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  maxLoss!: string | null;

  @Property({ type: 'integer' })
  tries!: number;

  /** What the venue said last. */
  @Property({ type: 'text', nullable: true })
  problem!: string | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  settledAt!: Date | null;
}
