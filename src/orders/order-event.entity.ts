import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Order } from './order.entity.ts';
import type { OrderCause, OrderStatus } from './order-status.ts';

/**
 * One move of an order, or a fact about it. Rows are never changed or deleted. `seq` counts from 1
 * without a gap.
 */
@Entity({ tableName: 'order_event' })
export class OrderEvent {
  @ManyToOne(() => Order, { primary: true })
  order!: Order;

  @PrimaryKey({ type: 'integer' })
  seq!: number;

  @Property({ type: 'timestamptz' })
  at!: Date;

  @Property({ type: 'text', nullable: true })
  fromStatus!: OrderStatus | null;

  @Property({ type: 'text' })
  toStatus!: OrderStatus;

  /** The order's partner. */
  @Property({ type: 'uuid' })
  partnerId!: string;

  /** The cause: 'created', a move of the state machine, or a fact, which leaves the status. */
  @Property({ type: 'text' })
  cause!: OrderCause;

  /** 'partner:<id>', 'staff:<id>' or 'system'. */
  @Property({ type: 'text' })
  actor!: string;

  /** The reason that staff gave, shown to people. */
  @Property({ type: 'text', nullable: true })
  detail!: string | null;
}
