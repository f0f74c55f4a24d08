import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** A note of a staff member about an order, for colleagues. Never changed or deleted. */
@Entity({ tableName: 'order_note' })
export class OrderNote {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'uuid' })
  orderId!: string;

  @Property({ type: 'uuid' })
  staffId!: string;

  @Property({ type: 'timestamptz' })
  at!: Date;

  @Property({ type: 'text' })
  text!: string;
}
