import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/**
 * - `intended`: decided, and perhaps requested from the venue.
 * - `abandoned`: given up before the venue filled it.
 * - `unwound`: filled, and then taken into our own position. The user gets the deposit back,
 *   because the payout cannot be made.
 */
export type TradeState = 'intended' | 'filled' | 'abandoned' | 'unwound';

/**
 * The one trade of an order at the liquidity venue. Its terms are fixed before the venue is asked.
 */
@Entity({ tableName: 'trade' })
export class Trade {
  @PrimaryKey({ type: 'uuid' })
  orderId!: string;

  /** The only venue that is asked. */
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

  /** The exchanged part of the deposit. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amountFrom!: string;

  /** The amount paid to the user. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amountTo!: string;

  /** Both fees, in units of coin_to. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  serviceFee!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  networkFee!: string;

  /** The slippage bound: a smaller fill is refused. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  minBought!: string;

  /** The amount that the venue gave. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  bought!: string | null;

  /** US dollars per unit of either coin when the terms were decided. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  priceFrom!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  priceTo!: string;

  /**
   * Market prices when the terms were decided, without prices set by hand: US dollars per unit of
   * either coin, and of the venue's cash coin. Null at a venue without such a coin.
   */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  marketFrom!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  marketTo!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  marketCash!: string | null;

  /**
   * Largest loss of the venue's legs together, in US dollars, including fees. Null where
   * `marketCash` is.
   */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  maxLoss!: string | null;

  @Property({ type: 'integer' })
  tries!: number;

  /** The venue's last problem. */
  @Property({ type: 'text', nullable: true })
  problem!: string | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  settledAt!: Date | null;
}
