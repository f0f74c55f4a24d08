import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/**
 * The answer to a create that carried an Idempotency-Key, stored in the order's own transaction.
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

  @Property({ type: 'uuid' })
  orderId!: string;

  @Property({ type: 'integer' })
  status!: number;

  /** The exact text of the answer. */
  @Property({ type: 'text' })
  body!: string;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;
}
