import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { OrderPolicy } from './order-terms.ts';

/** What a create said beyond the pair, the amount and the addresses. Other orders have no row. */
@Entity({ tableName: 'order_terms' })
export class OrderTerms {
  @PrimaryKey({ type: 'uuid' })
  orderId!: string;

  @Property({ type: 'uuid' })
  partnerId!: string;

  /** The partner's own name of the order, unique for ever. */
  @Property({ type: 'text', nullable: true })
  externalId!: string | null;

  /** The 64 random bits of the binding quote that the order used. */
  @Property({ type: 'blob', nullable: true })
  quoteNonce!: Buffer | null;

  /** The partner's share of the fee in basis points. The order's fee rate contains it. */
  @Property({ type: 'integer', nullable: true })
  markupBps!: number | null;

  /** The smallest payout that the user accepts. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  minAmountTo!: string | null;

  @Property({ type: 'json', nullable: true })
  policy!: OrderPolicy | null;

  /** Notes of the partner, never read by the gateway. */
  @Property({ type: 'json', nullable: true })
  metadata!: Readonly<Record<string, string>> | null;

  /** How much more the quote gave than the market at the create, in basis points. */
  @Property({ type: 'decimal', precision: 12, scale: 4, nullable: true })
  quoteAdverseBps!: string | null;

  /** Worth of the order at its quote, in US dollars. Null where `quoteAdverseBps` is. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  quoteUsd!: string | null;
}
