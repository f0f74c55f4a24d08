import {
  Args,
  ArgsType,
  Field,
  FieldResolver,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from 'type-graphql';
import { AppError } from '../errors.ts';
import type { OrderStatus } from '../orders/order-status.ts';
import type {
  FailureCount,
  OrderStats,
  StateTime,
  StatsDimension,
  StatsInterval,
  StatsRange,
  StatsRow,
} from '../reports/order-stats.ts';
import { OrderCauseEnum, OrderStatusEnum } from './enumerations.ts';
import { Permit } from './permit.ts';
import { DateTime, Decimal } from './scalars.ts';

const StatsIntervalEnum = { HOUR: 'hour', DAY: 'day', MONTH: 'month' } as const;
registerEnumType(StatsIntervalEnum, {
  name: 'StatsInterval',
  description: 'How long a bucket is. Buckets begin in UTC.',
  valuesConfig: {
    HOUR: { description: 'Ranges of up to 31 days; 7 apart by partner; not apart by pair.' },
    DAY: { description: 'Ranges of up to 366 days; 14 apart by pair.' },
    MONTH: { description: 'Ranges of up to 10 years; 366 days apart by pair.' },
  },
});

const StatsDimensionEnum = { PARTNER: 'partner', PAIR: 'pair' } as const;
registerEnumType(StatsDimensionEnum, {
  name: 'StatsDimension',
  description: 'What statistics are told apart by.',
  valuesConfig: {
    PARTNER: { description: 'By partner; the key is its id.' },
    PAIR: { description: "By pair; the key is like 'BTC/BTC-USDT/ERC20'." },
  },
});

@ArgsType()
class StatsArgs {
  @Field(() => DateTime, { description: 'Orders created then or later; the bucket that it lies in counts whole.' })
  from!: Date;

  @Field(() => DateTime, { description: 'Orders created before then.' })
  to!: Date;

  @Field(() => StatsIntervalEnum, { defaultValue: 'day', description: 'How long a bucket is.' })
  interval!: StatsInterval;

  @Field(() => StatsDimensionEnum, { nullable: true, description: 'What to tell apart by; nothing unless given.' })
  by?: StatsDimension | null;

  @Field(() => String, { nullable: true, description: 'Only this partner or pair.' })
  key?: string | null;

  @Field(() => Int, {
    defaultValue: 20,
    description: 'So many partners or pairs, those with the most orders; 1 to 100.',
  })
  top!: number;
}

@ObjectType('StatsBucket', { description: 'What became of the orders that were created in a bucket of time.' })
export class StatsBucketType {
  @Field(() => DateTime, { description: 'Begin of the bucket.' })
  at!: Date;

  @Field(() => String, { nullable: true, description: 'The partner or pair; null when all are together.' })
  key!: string | null;

  @Field(() => Int, { description: 'Orders created.' })
  created!: number;

  @Field(() => Int, { description: 'Of those, completed.' })
  completed!: number;

  @Field(() => Int, { description: 'Of those, expired.' })
  expired!: number;

  @Field(() => Int, { description: 'Of those, refunded.' })
  refunded!: number;

  @Field(() => Int, { description: 'Of those, failed.' })
  failed!: number;

  @Field(() => Decimal, { nullable: true, description: 'completed / created; null for a bucket without orders.' })
  conversion!: string | null;

  @Field(() => Decimal, { description: 'What was exchanged, in US dollars at the prices of the exchange.' })
  volumeUsd!: string;

  @Field(() => Decimal, { description: 'Service fees, in US dollars at the prices of the exchange.' })
  revenueUsd!: string;
}

@ObjectType('StateTime', { description: 'How long orders stay in a status before they leave it.' })
export class StateTimeType {
  @Field(() => OrderStatusEnum, { description: 'The status.' })
  status!: OrderStatus;

  @Field(() => Int, { description: 'How often an order left it.' })
  count!: number;

  @Field(() => Decimal, { description: 'Mean time in it, in seconds.' })
  meanSeconds!: string;
}

@ObjectType('FailureCount', { description: 'How often orders failed or went back for a reason.' })
export class FailureCountType {
  @Field(() => OrderStatusEnum, { description: 'FAILED, or REFUNDING for those that went back.' })
  status!: OrderStatus;

  @Field(() => OrderCauseEnum, { description: 'Why.' })
  cause!: string;

  @Field(() => Int, { description: 'How often.' })
  count!: number;
}

@ObjectType('Stats', { description: 'Statistics of the orders created in a range. They follow within seconds.' })
export class StatsType {
  /** What was asked for; each part is computed when it is selected. */
  range!: StatsRange;
}

const mostTop = 100;

@Resolver(() => StatsType)
export class StatsResolver {
  readonly #stats: OrderStats;

  constructor(stats: OrderStats) {
    this.#stats = stats;
  }

  @Permit('stats:read')
  @Query(() => StatsType, { description: 'Statistics for dashboards: each part is computed when it is asked for.' })
  stats(@Args(() => StatsArgs) { from, to, interval, by, key, top }: StatsArgs): StatsType {
    if (top < 1 || top > mostTop) throw new AppError('invalid_value', `top is a whole number from 1 to ${mostTop}`);
    return { range: { from, to, interval, top, by: by ?? null, ...(key ? { key } : {}) } };
  }

  @FieldResolver(() => [StatsBucketType], { description: 'Counts, volume, revenue and conversion, by bucket of time.' })
  series(@Root() { range }: StatsType): Promise<StatsRow[]> {
    return this.#stats.stats(range);
  }

  @FieldResolver(() => [StateTimeType], { description: 'Time in each status.' })
  timeInState(@Root() { range }: StatsType): Promise<StateTime[]> {
    return this.#stats.timeInState(range);
  }

  @FieldResolver(() => [FailureCountType], { description: 'Why orders failed or went back, the most frequent first.' })
  failures(@Root() { range }: StatsType): Promise<FailureCount[]> {
    return this.#stats.failures(range);
  }
}
