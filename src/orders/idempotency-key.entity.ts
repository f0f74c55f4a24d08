import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/**
 * The answer to a request that carried an Idempotency-Key, stored in the transaction of its effect.
 */
@Entity({ tableName: 'idempotency_key' })
export class IdempotencyKey {
  @PrimaryKey({ type: 'uuid' })
  partnerId!: string;

  @PrimaryKey({ type: 'text' })
  key!: string;

  /** SHA-256 of the request. */
  @Property({ type: 'blob' })
  fingerprint!: Buffer;

  /** The order that was made or changed. Null for a request about anything else. */
  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  @Property({ type: 'integer' })
  status!: number;

  /** The exact text of the answer. */
  @Property({ type: 'text' })
  body!: string;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;
}
