import { Arg, Ctx, Field, Float, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { Clock } from '../../base/clock.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import { apiTraffic, mostTrafficMinutes, type Traffic } from '../../operations/api-traffic.ts';
import { type SystemStatus, systemStatus } from '../../operations/system-status.ts';
import type { GraphqlContext } from './server/context.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';
import { WalletNameType } from './wallet-name.ts';

@ObjectType('ChainStatus', { description: 'A chain in the last state that its scanner saw.' })
class ChainStatusType {
  @Field(() => String, { description: 'Chain.' })
  chain!: string;

  @Field(() => Int, { description: 'Its newest block.' })
  head!: number;

  @Field(() => Int, { description: 'The newest block that was read.' })
  height!: number;

  @Field(() => Int, { description: 'Number of blocks still to be read.' })
  lag!: number;

  @Field(() => String, { nullable: true, description: 'Why it is not read any further.' })
  problem!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Why its nodes do not answer at present, or `no_second_node`: its payments wait for a second node.',
  })
  failure!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when they do not answer, or its payments wait.' })
  failingSince!: Date | null;

  @Field(() => ID, { nullable: true, description: 'The worker that holds its lease.' })
  leaseOwner!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When something new was read from it. An idle chain has nothing new.',
  })
  scannedAt!: Date | null;
}

@ObjectType('WalletStatus', { description: 'A hot wallet of a live chain in the last state that a worker saw.' })
class WalletStatusType extends WalletNameType {
  @Field(() => Decimal, { description: "Its balance, in the coin's units." })
  balance!: string;

  @Field(() => Decimal, { nullable: true, description: 'A balance below this needs a top-up by staff.' })
  low!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'A balance above this needs a withdrawal by staff.' })
  high!: string | null;

  @Field(() => DateTime, { description: 'When it was seen.' })
  seenAt!: Date;
}

@ObjectType('WorkerStatus', { description: 'A process that settles orders.' })
class WorkerStatusType {
  @Field(() => ID, { description: 'Id of the worker.' })
  id!: string;

  @Field(() => DateTime, { description: 'When it last reported.' })
  seenAt!: Date;
}

@ObjectType('QueueStatus', { description: 'A queue of jobs.' })
class QueueStatusType {
  @Field(() => String, { description: 'Name.' })
  name!: string;

  @Field(() => Int, { description: 'Jobs that wait.' })
  waiting!: number;

  @Field(() => Int, {
    nullable: true,
    description: 'Age of the oldest waiting job in seconds; null when no job waits.',
  })
  oldestSec!: number | null;
}

@ObjectType('StatisticsStatus', { description: 'How current the statistics are.' })
class StatisticsStatusType {
  @Field(() => Int, { description: 'Status changes that the statistics still lack, counted up to 10,000.' })
  eventsBehind!: number;

  @Field(() => DateTime, { nullable: true, description: 'When the oldest of those happened.' })
  behindSince!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When they were last brought up to date.' })
  rolledAt!: Date | null;
}

@ObjectType('ReconciliationStatus', {
  description: 'The newest comparison of the ledger with the chains, the venue and the orders.',
})
class ReconciliationStatusType {
  @Field(() => DateTime, { description: 'When it ended.' })
  endedAt!: Date;

  @Field(() => Int, { description: 'Number of comparisons.' })
  checks!: number;

  @Field(() => Int, { description: 'Number of differences.' })
  differences!: number;
}

@ObjectType('PriceStatus', { description: "The newest price of a coin, in this process's memory." })
class PriceStatusType {
  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => Decimal, { description: 'In US dollars.' })
  price!: string;

  @Field(() => Float, { description: 'Seconds since its source observed it.' })
  ageSec!: number;
}

@ObjectType('SystemStatus', { description: "State of the gateway's background machinery." })
class SystemStatusType {
  @Field(() => [ChainStatusType], { description: 'Chains, by name.' })
  chains!: ChainStatusType[];

  @Field(() => [WalletStatusType], { description: 'Hot wallets of live chains, by chain and coin.' })
  wallets!: WalletStatusType[];

  @Field(() => [WorkerStatusType], { description: 'Workers.' })
  workers!: WorkerStatusType[];

  @Field(() => [QueueStatusType], { description: 'Job queues; empty before the first worker.' })
  queues!: QueueStatusType[];

  @Field(() => Int, {
    description: 'Orders that were due more than 10 minutes ago and are not held, counted up to 10,000.',
  })
  overdueOrders!: number;

  @Field(() => StatisticsStatusType, { description: 'Statistics.' })
  statistics!: StatisticsStatusType;

  @Field(() => ReconciliationStatusType, { nullable: true, description: 'Null before the first comparison.' })
  reconciliation!: ReconciliationStatusType | null;

  @Field(() => [PriceStatusType], { description: 'Prices, the oldest first.' })
  prices!: PriceStatusType[];
}

@ObjectType('EndpointTraffic', { description: 'The requests of partners to one endpoint of the REST API.' })
class EndpointTrafficType {
  @Field(() => String, { description: "Method and path, such as 'GET /api/v1/partner/orders/{order_id}'." })
  endpoint!: string;

  @Field(() => Int, { description: 'Number of requests.' })
  requests!: number;

  @Field(() => Int, { description: 'Number of them that were refused: status 400 to 499.' })
  clientErrors!: number;

  @Field(() => Int, { description: 'Number of them that failed here: status 500 and above.' })
  serverErrors!: number;

  @Field(() => Float, {
    description: 'Half of them took at most about this long, in milliseconds; 10,000 stands for longer times too.',
  })
  p50Ms!: number;

  @Field(() => Float, { description: '99 of 100 took at most about this long, in the same way.' })
  p99Ms!: number;
}

@ObjectType('ApiTraffic', {
  description:
    'The REST API in the last minutes, of all processes on this database. Each adds its requests every 10 seconds.',
})
class ApiTrafficType {
  @Field(() => DateTime, { description: 'From this minute on.' })
  from!: Date;

  @Field(() => DateTime, { description: 'Until this moment.' })
  to!: Date;

  @Field(() => [EndpointTrafficType], { description: 'By endpoint, with the most requests first.' })
  endpoints!: readonly EndpointTrafficType[];
}

@Resolver(() => SystemStatusType)
export class SystemResolver {
  readonly #prices: PriceBook;
  readonly #clock: Clock;

  constructor(prices: PriceBook, clock: Clock) {
    this.#prices = prices;
    this.#clock = clock;
  }

  @RequiresPermission('system:read')
  @Query(() => SystemStatusType, { description: "State of the gateway's background machinery." })
  async system(@Ctx() { em }: GraphqlContext): Promise<SystemStatus & Pick<SystemStatusType, 'prices'>> {
    const prices = this.#prices.newest();
    prices.sort((a, b) => b.ageSec - a.ageSec || (a.coin < b.coin ? -1 : 1));
    return { ...(await systemStatus(em, this.#clock.now())), prices };
  }

  @RequiresPermission('system:read')
  @Query(() => ApiTrafficType, { description: 'Requests, latency and errors of the REST API in the last minutes.' })
  apiTraffic(
    @Arg('minutes', () => Int, { defaultValue: 15, description: `How many, 1 to ${mostTrafficMinutes}.` })
    minutes: number,
    @Ctx() { em }: GraphqlContext,
  ): Promise<Traffic> {
    return apiTraffic(em, minutes, this.#clock.now());
  }
}
