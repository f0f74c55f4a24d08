import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { type AttentionItem, attention } from '../../../orders/read/attention.ts';
import { type FeedEvent, OrderFeed } from '../../../orders/read/order-feed.ts';
import { Broadcast } from './broadcast.ts';

export interface AttentionChange {
  readonly isOver: boolean;
  readonly item: AttentionItem;
}

const orderPollMs = 300;
const attentionPollMs = 2_000;
const batch = 1_000;
/** Most attention items that are watched. */
const watched = 1_000;

/** The event sources of subscriptions. They poll PostgreSQL only while there is a subscriber. */
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
    const fresh = [...present.values()]
      .filter((item) => !isSame(item, known.get(item.id)))
      .map((item) => ({ isOver: false, item }));
    known = present;
    return [...over, ...fresh];
  };
}

/** Whether an item was there before, with the same member. */
function isSame({ assignee }: AttentionItem, before: AttentionItem | undefined): boolean {
  if (!before) return false;
  return (
    assignee?.staffId === before.assignee?.staffId && assignee?.since.getTime() === before.assignee?.since.getTime()
  );
}
