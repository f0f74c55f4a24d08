import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { BigIntType } from '@mikro-orm/postgresql';

/** One transaction of a payment. Its contents and its signed bytes are written once. */
@Entity({ tableName: 'payment_attempt' })
export class PaymentAttempt {
  @PrimaryKey({ type: 'uuid' })
  paymentId!: string;

  @PrimaryKey({ type: 'integer' })
  attempt!: number;

  @Property({ type: 'text' })
  chain!: string;

  /** The unsigned transaction. */
  @Property({ type: 'text' })
  payload!: string;

  @Property({ type: 'array' })
  reserves!: string[];

  /** In units of the chain's own coin. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  fee!: string;

  @Property({ type: new BigIntType('number'), nullable: true })
  expiresAtHeight!: number | null;

  /** At most one of the height and the time is there. */
  @Property({ type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @Property({ type: 'text', nullable: true })
  txid!: string | null;

  /** The signed bytes, stored before any node receives them. */
  @Property({ type: 'text', nullable: true })
  raw!: string | null;

  @Property({ type: new BigIntType('number'), nullable: true })
  minedHeight!: number | null;

  @Property({ type: 'timestamptz' })
  preparedAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  signedAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  sentAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  deadAt!: Date | null;

  /**
   * 'conflict', 'expired', 'failed', 'never_signed', or 'replaced' when another attempt was
   * confirmed.
   */
  @Property({ type: 'text', nullable: true })
  deadWhy!: string | null;
}
