import type { MikroORM } from '@mikro-orm/postgresql';
import { Arg, Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root, Subscription } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Order } from '../orders/order.entity.ts';
import type { OrderStatus } from '../orders/order-status.ts';
import { type AttentionItem, attention } from '../reports/attention.ts';
import { type FeedEvent, OrderFeed } from '../reports/order-feed.ts';
import { AttentionItemType } from './attention.ts';
import { Broadcast } from './broadcast.ts';
import type { GraphqlContext } from './context.ts';
import { OrderCauseEnum, OrderStatusEnum } from './enumerations.ts';
import { OrderType } from './order-types.ts';
import { Permit } from './permit.ts';
import { DateTime } from './scalars.ts';

@ObjectType('OrderChange', { description: 'A move of an order, just after it was committed.' })
export class OrderChangeType {
  @Field(() => Int, { description: "Number of the move in the order's history." })
  seq!: number;

  @Field(() => DateTime, { description: 'When.' })
  at!: Date;

  @Field(() => OrderStatusEnum, { nullable: true, description: 'Status before; null for the creation.' })
  fromStatus!: OrderStatus | null;

  @Field(() => OrderStatusEnum, { description: 'Status since then.' })
  toStatus!: OrderStatus;

  @Field(() => OrderCauseEnum, { description: 'Why.' })
  cause!: string;
}

@ObjectType('AttentionChange', { description: 'Something that staff must look at has come up, or is over.' })
export class AttentionChangeType {
  @Field(() => Boolean, { description: 'Whether it is over.' })
  isOver!: boolean;

  @Field(() => AttentionItemType, { description: 'What.' })
  item!: AttentionItem;
}

interface AttentionChange {
  readonly isOver: boolean;
  readonly item: AttentionItem;
}

const orderPollMs = 300;
const attentionPollMs = 2_000;
const batch = 1_000;
/** Attention items that are watched for coming and going. */
const watched = 1_000;

/** What happens while it happens, for subscriptions. Asks PostgreSQL only while somebody listens. */
export class LiveFeed {
  readonly orders: Broadcast<FeedEvent>;
  readonly attention: Broadcast<AttentionChange>;

  constructor(orm: MikroORM, clock: Clock, log: Log) {
    this.orders = new Broadcast(() => newEvents(new OrderFeed(orm)), orderPollMs, log);
    this.attention = new Broadcast(() => newAttention(orm, clock), attentionPollMs, log);
  }

  stop(): void {
    this.orders.stop();
    this.attention.stop();
  }
}

async function newEvents(feed: OrderFeed): Promise<() => Promise<FeedEvent[]>> {
  let cursor = await feed.now();
  return async () => {
    const events = await feed.since(cursor, batch);
    cursor = events.at(-1)?.cursor ?? cursor;
    return events;
  };
}

async function newAttention(orm: MikroORM, clock: Clock): Promise<() => Promise<AttentionChange[]>> {
  const look = async (): Promise<Map<string, AttentionItem>> =>
    new Map((await attention(orm.em.fork(), watched, clock.now())).map((item) => [item.id, item]));
  let known = await look();
  return async () => {
    const present = await look();
    const over = [...known.values()].filter(({ id }) => !present.has(id)).map((item) => ({ isOver: true, item }));
    const fresh = [...present.values()].filter(({ id }) => !known.has(id)).map((item) => ({ isOver: false, item }));
    known = present;
    return [...over, ...fresh];
  };
}

interface OrderChangeArgs {
  readonly orderId?: string | null;
  readonly partnerId?: string | null;
  readonly statuses?: OrderStatus[] | null;
}

@Resolver(() => OrderChangeType)
export class LiveResolver {
  @Permit('orders:read')
  @Subscription(() => OrderChangeType, {
    description: 'Moves of orders from now on, each once, whichever process made them.',
    subscribe: ({ args, context }) => orderChanges(args as OrderChangeArgs, context as GraphqlContext),
  })
  orderChanged(
    @Root() change: FeedEvent,
    @Arg('orderId', () => ID, { nullable: true, description: 'Only of this order.' }) _orderId: string | null,
    @Arg('partnerId', () => ID, { nullable: true, description: 'Only of orders of this partner.' })
    _partnerId: string | null,
    @Arg('statuses', () => [OrderStatusEnum], { nullable: true, description: 'Only moves to one of these.' })
    _statuses: OrderStatus[] | null,
  ): FeedEvent {
    return change;
  }

  @Permit('orders:read')
  @Subscription(() => AttentionChangeType, {
    description: 'What comes up that staff must look at, and what is over, from now on.',
    subscribe: ({ context }) => attentionChanges(context as GraphqlContext),
  })
  attentionChanged(@Root() change: AttentionChange): AttentionChange {
    return change;
  }

  @FieldResolver(() => OrderType, { description: 'The order as it is now.' })
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
