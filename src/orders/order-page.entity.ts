import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** The link of an order's page. A revoked link has neither nonce nor hash. */
@Entity({ tableName: 'order_page' })
export class OrderPage {
  @PrimaryKey({ type: 'uuid' })
  orderId!: string;

  /** 128 random bits, from which the token is derived. */
  @Property({ type: 'blob', nullable: true })
  nonce!: Buffer | null;

  /** The version of the key that the token is derived with. */
  @Property({ type: 'integer', nullable: true })
  keyVersion!: number | null;

  /** SHA-256 of the token. */
  @Property({ type: 'blob', nullable: true })
  tokenHash!: Buffer | null;

  @Property({ type: 'timestamptz' })
  changedAt!: Date;
}
