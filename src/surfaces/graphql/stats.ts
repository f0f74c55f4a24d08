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
import { AppError } from '../../base/errors.ts';
import type {
  FailureCount,
  OrderStats,
  StatePercentiles,
  StateTime,
  StatsDimension,
  StatsInterval,
  StatsRange,
  StatsRow,
  TimePercentiles,
} from '../../operations/order-stats.ts';
import type { OrderStatus } from '../../orders/order-status.ts';
import { OrderCauseEnum, OrderStatusEnum } from './server/enumerations.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';

const StatsIntervalEnum = { HOUR: 'hour', DAY: 'day', MONTH: 'month' } as const;
registerEnumType(StatsIntervalEnum, {
  name: 'StatsInterval',
  description: 'Length of a bucket. Buckets begin in UTC.',
  valuesConfig: {
    HOUR: { description: 'Ranges of up to 31 days; of up to 7 days by partner; not by pair.' },
    DAY: { description: 'Ranges of up to 366 days; of up to 14 days by pair.' },
    MONTH: { description: 'Ranges of up to 10 years; of up to 366 days by pair.' },
  },
});

const StatsDimensionEnum = { PARTNER: 'partner', PAIR: 'pair' } as const;
registerEnumType(StatsDimensionEnum, {
  name: 'StatsDimension',
  description: 'Dimension of the statistics.',
  valuesConfig: {
    PARTNER: { description: 'By partner; the key is its id.' },
    PAIR: { description: "By pair; the key is like 'BTC/BTC-USDT/ERC20'." },
  },
});

@ArgsType()
class StatsArgs {
  @Field(() => DateTime, {
    description: 'Orders created at this time or later. The bucket that contains it counts whole.',
  })
  from!: Date;

  @Field(() => DateTime, { description: 'Orders created before this time.' })
  to!: Date;

  @Field(() => StatsIntervalEnum, { defaultValue: 'day', description: 'Length of a bucket.' })
  interval!: StatsInterval;

  @Field(() => StatsDimensionEnum, {
    nullable: true,
    description: 'Dimension of the buckets; all orders together by default.',
  })
  by?: StatsDimension | null;

  @Field(() => String, { nullable: true, description: 'Only this partner or pair.' })
  key?: string | null;

  @Field(() => Int, {
    defaultValue: 20,
    description: 'Number of partners or pairs with the most orders, 1 to 100.',
  })
  top!: number;
}

@ObjectType('StatsBucket', { description: 'The orders created in a bucket of time, by outcome.' })
export class StatsBucketType {
  @Field(() => DateTime, { description: 'Beginning of the bucket.' })
  at!: Date;

  @Field(() => String, { nullable: true, description: 'The partner or pair; null without a dimension.' })
  key!: string | null;

  @Field(() => Int, { description: 'Orders created.' })
  created!: number;

  @Field(() => Int, { description: 'Number of them that completed.' })
  completed!: number;

  @Field(() => Int, { description: 'Number of them that expired.' })
  expired!: number;

  @Field(() => Int, { description: 'Number of them that were refunded.' })
  refunded!: number;

  @Field(() => Int, { description: 'Number of them that failed.' })
  failed!: number;

  @Field(() => Decimal, { nullable: true, description: 'completed / created; null for a bucket without orders.' })
  conversion!: string | null;

  @Field(() => Decimal, { description: 'Exchanged value, in US dollars at the prices of the exchange.' })
  volumeUsd!: string;

  @Field(() => Decimal, { description: 'Service fees, in US dollars at the prices of the exchange.' })
  revenueUsd!: string;
}

@ObjectType('StateTime', { description: 'How long orders stay in a status before they leave it.' })
class StateTimeType {
  @Field(() => OrderStatusEnum, { description: 'The status.' })
  status!: OrderStatus;

  @Field(() => Int, { description: 'How often an order left it.' })
  count!: number;

  @Field(() => Decimal, { description: 'Mean time in it, in seconds.' })
  meanSeconds!: string;
}

@ObjectType('StatePercentiles', {
  description: 'How long single stays in a status took. A percentile is a stay that happened.',
})
class StatePercentilesType {
  @Field(() => OrderStatusEnum, { description: 'The status.' })
  status!: OrderStatus;

  @Field(() => Int, { description: 'How often an order left it.' })
  count!: number;

  @Field(() => Decimal, { description: 'Half of the stays took at most this long, in seconds.' })
  p50Seconds!: string;

  @Field(() => Decimal, { description: '95 of 100 stays took at most this long, in seconds.' })
  p95Seconds!: string;
}

@ObjectType('TimePercentiles', { description: 'Percentiles of the time in each status.' })
class TimePercentilesType {
  @Field(() => Int, { description: 'Number of orders whose history was read, at most 20,000.' })
  orders!: number;

  @Field(() => Boolean, {
    description: 'False when the range has more orders, so that only its newest ones were read.',
  })
  isWhole!: boolean;

  @Field(() => [StatePercentilesType], { description: 'By status.' })
  statuses!: StatePercentiles[];
}

@ObjectType('FailureCount', { description: 'How often orders failed or were refunded for a reason.' })
class FailureCountType {
  @Field(() => OrderStatusEnum, { description: 'FAILED, or REFUNDING for refunded orders.' })
  status!: OrderStatus;

  @Field(() => OrderCauseEnum, { description: 'Cause of the change of status.' })
  cause!: string;

  @Field(() => Int, { description: 'Number of times.' })
  count!: number;
}

@ObjectType('Stats', {
  description: 'Statistics of the orders created in a range. They are up to date within seconds.',
})
class StatsType {
  /** The requested range. Each part is computed when it is selected. */
  range!: StatsRange;
}

const mostTop = 100;

@Resolver(() => StatsType)
export class StatsResolver {
  readonly #stats: OrderStats;

  constructor(stats: OrderStats) {
    this.#stats = stats;
  }

  @RequiresPermission('stats:read')
  @Query(() => StatsType, { description: 'Statistics for dashboards. Each part is computed when it is selected.' })
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

  @FieldResolver(() => TimePercentilesType, {
    description: "Percentiles of the time in each status, of the range's newest 20,000 orders. They follow at once.",
  })
  timePercentiles(@Root() { range }: StatsType): Promise<TimePercentiles> {
    return this.#stats.timePercentiles(range);
  }

  @FieldResolver(() => [FailureCountType], {
    description: 'Why orders failed or were refunded, the most frequent first.',
  })
  failures(@Root() { range }: StatsType): Promise<FailureCount[]> {
    return this.#stats.failures(range);
  }
}
