import { Arg, Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root, Subscription } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import { AppError } from '../../base/errors.ts';
import type { Order } from '../../orders/order.entity.ts';
import type { OrderStatus } from '../../orders/order-status.ts';
import type { AttentionItem } from '../../orders/read/attention.ts';
import type { FeedEvent } from '../../orders/read/order-feed.ts';
import { AttentionItemType } from './attention.ts';
import { OrderType } from './order-types.ts';
import type { GraphqlContext } from './server/context.ts';
import { OrderCauseEnum, OrderStatusEnum } from './server/enumerations.ts';
import type { AttentionChange } from './server/live-feed.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime } from './server/scalars.ts';

@ObjectType('OrderChange', { description: 'A status change of an order, just after it was committed.' })
class OrderChangeType {
  @Field(() => Int, { description: "Number of the change in the order's history." })
  seq!: number;

  @Field(() => DateTime, { description: 'Time of the change.' })
  at!: Date;

  @Field(() => OrderStatusEnum, { nullable: true, description: 'Status before; null for the creation.' })
  fromStatus!: OrderStatus | null;

  @Field(() => OrderStatusEnum, { description: 'Status after the change.' })
  toStatus!: OrderStatus;

  @Field(() => OrderCauseEnum, { description: 'Cause of the change.' })
  cause!: string;
}

@ObjectType('AttentionChange', {
  description: 'An attention item that appeared, ended, or got another member or none.',
})
class AttentionChangeType {
  @Field(() => Boolean, { description: 'Whether the item ended.' })
  isOver!: boolean;

  @Field(() => AttentionItemType, { description: 'The attention item.' })
  item!: AttentionItem;
}

interface OrderChangeArgs {
  readonly orderId?: string | null;
  readonly partnerId?: string | null;
  readonly statuses?: OrderStatus[] | null;
}

@Resolver(() => OrderChangeType)
export class LiveResolver {
  @RequiresPermission('orders:read')
  @Subscription(() => OrderChangeType, {
    description: 'Status changes of orders from now on, each once, from every process of the gateway.',
    subscribe: ({ args, context }) => orderChanges(args as OrderChangeArgs, context as GraphqlContext),
  })
  orderChanged(
    @Root() change: FeedEvent,
    @Arg('orderId', () => ID, { nullable: true, description: 'Only this order.' }) _orderId: string | null,
    @Arg('partnerId', () => ID, { nullable: true, description: 'Only orders of this partner.' })
    _partnerId: string | null,
    @Arg('statuses', () => [OrderStatusEnum], { nullable: true, description: 'Only changes to one of these.' })
    _statuses: OrderStatus[] | null,
  ): FeedEvent {
    return change;
  }

  @RequiresPermission('orders:read')
  @Subscription(() => AttentionChangeType, {
    description: 'Attention items that appear, end, or change their member from now on.',
    subscribe: ({ context }) => attentionChanges(context as GraphqlContext),
  })
  attentionChanged(@Root() change: AttentionChange): AttentionChange {
    return change;
  }

  @FieldResolver(() => OrderType, { description: 'The order in its current state.' })
  async order(@Root() { orderId }: FeedEvent, @Ctx() { loaders }: GraphqlContext): Promise<Order> {
    const order = await loaders.order.load(orderId);
    if (!order) throw new Error(`order ${orderId} of an event is gone`);
    return order;
  }
}

function orderChanges(
  { orderId, partnerId, statuses }: OrderChangeArgs,
  context: GraphqlContext,
): AsyncIterable<FeedEvent> {
  for (const id of [orderId, partnerId]) {
    if (id && !isUuid(id))
      throw new AppError('invalid_value', `'${id.slice(0, 40)}' is not a UUID; subscriptions take no short ids`);
  }
  return context.live.orders.subscribe((event) => {
    if (orderId && event.orderId !== orderId.toLowerCase()) return false;
    if (partnerId && event.partnerId !== partnerId.toLowerCase()) return false;
    if (statuses && !statuses.includes(event.toStatus)) return false;
    context.renew();
    return true;
  });
}

function attentionChanges(context: GraphqlContext): AsyncIterable<AttentionChange> {
  return context.live.attention.subscribe(() => {
    context.renew();
    return true;
  });
}
