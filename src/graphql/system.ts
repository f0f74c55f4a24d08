import { Ctx, Field, Float, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { Clock } from '../clock.ts';
import type { PriceBook } from '../rates/price-book.ts';
import { type SystemStatus, systemStatus } from '../reports/system-status.ts';
import type { GraphqlContext } from './context.ts';
import { Permit } from './permit.ts';
import { DateTime, Decimal } from './scalars.ts';

@ObjectType('ChainStatus', { description: 'A chain as its scanner saw it last.' })
export class ChainStatusType {
  @Field(() => String, { description: 'Chain.' })
  chain!: string;

  @Field(() => Int, { description: 'Its newest block.' })
  head!: number;

  @Field(() => Int, { description: 'The newest block that was read.' })
  height!: number;

  @Field(() => Int, { description: 'Blocks that are not read yet.' })
  lag!: number;

  @Field(() => String, { nullable: true, description: 'Why it is not read on.' })
  problem!: string | null;

  @Field(() => String, { nullable: true, description: 'Why its node gives no answer at present.' })
  failure!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when it gives none.' })
  failingSince!: Date | null;

  @Field(() => ID, { nullable: true, description: 'The worker that has it now.' })
  leaseOwner!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When something new was read of it; an idle chain has nothing new.',
  })
  scannedAt!: Date | null;
}

@ObjectType('WalletStatus', { description: 'A hot wallet of a live chain as a worker saw it last.' })
export class WalletStatusType {
  @Field(() => String, { description: 'Chain.' })
  chain!: string;

  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;

  @Field(() => Decimal, { description: "What it holds, in the coin's units." })
  balance!: string;

  @Field(() => Decimal, { nullable: true, description: 'Below this staff are told to top it up.' })
  low!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Above this staff are told to take coins out.' })
  high!: string | null;

  @Field(() => DateTime, { description: 'When it was seen.' })
  seenAt!: Date;
}

@ObjectType('WorkerStatus', { description: 'A process that settles orders.' })
export class WorkerStatusType {
  @Field(() => ID, { description: 'Id of the worker.' })
  id!: string;

  @Field(() => DateTime, { description: 'When it was last heard of.' })
  seenAt!: Date;
}

@ObjectType('QueueStatus', { description: 'A queue of jobs.' })
export class QueueStatusType {
  @Field(() => String, { description: 'Name.' })
  name!: string;

  @Field(() => Int, { description: 'Jobs that wait.' })
  waiting!: number;

  @Field(() => Int, { nullable: true, description: 'Seconds that the oldest of them waits; null when none does.' })
  oldestSec!: number | null;
}

@ObjectType('StatisticsStatus', { description: 'How far the statistics are.' })
export class StatisticsStatusType {
  @Field(() => Int, { description: 'Moves that are not in them yet, counted up to 10,000.' })
  eventsBehind!: number;

  @Field(() => DateTime, { nullable: true, description: 'When the oldest of those happened.' })
  behindSince!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When they were last brought up to date.' })
  rolledAt!: Date | null;
}

@ObjectType('ReconciliationStatus', { description: 'The newest comparison of the book with everything else.' })
export class ReconciliationStatusType {
  @Field(() => DateTime, { description: 'When it was ended.' })
  endedAt!: Date;

  @Field(() => Int, { description: 'How much was compared.' })
  checks!: number;

  @Field(() => Int, { description: 'How much of it differed.' })
  differences!: number;
}

@ObjectType('PriceStatus', { description: "The newest price of a coin, in this process's memory." })
export class PriceStatusType {
  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => Decimal, { description: 'In US dollars.' })
  price!: string;

  @Field(() => Float, { description: 'Seconds since its source observed it.' })
  ageSec!: number;
}

@ObjectType('SystemStatus', { description: 'How the machinery is doing.' })
export class SystemStatusType {
  @Field(() => [ChainStatusType], { description: 'Chains, by name.' })
  chains!: ChainStatusType[];

  @Field(() => [WalletStatusType], { description: 'Hot wallets of live chains, by chain and coin.' })
  wallets!: WalletStatusType[];

  @Field(() => [WorkerStatusType], { description: 'Workers.' })
  workers!: WorkerStatusType[];

  @Field(() => [QueueStatusType], { description: 'Queues. None before the first worker.' })
  queues!: QueueStatusType[];

  @Field(() => Int, {
    description: 'Orders that were due more than 10 minutes ago and are not held, counted up to 10,000.',
  })
  overdueOrders!: number;

  @Field(() => StatisticsStatusType, { description: 'Statistics.' })
  statistics!: StatisticsStatusType;

  @Field(() => ReconciliationStatusType, { nullable: true, description: 'Null before the first.' })
  reconciliation!: ReconciliationStatusType | null;

  @Field(() => [PriceStatusType], { description: 'Prices, the oldest first.' })
  prices!: PriceStatusType[];
}

@Resolver(() => SystemStatusType)
export class SystemResolver {
  readonly #prices: PriceBook;
  readonly #clock: Clock;

  constructor(prices: PriceBook, clock: Clock) {
    this.#prices = prices;
    this.#clock = clock;
  }

  @Permit('system:read')
  @Query(() => SystemStatusType, { description: 'How the machinery is doing.' })
  async system(@Ctx() { em }: GraphqlContext): Promise<SystemStatus & Pick<SystemStatusType, 'prices'>> {
    const prices = this.#prices.newest();
    prices.sort((a, b) => b.ageSec - a.ageSec || (a.coin < b.coin ? -1 : 1));
    return { ...(await systemStatus(em, this.#clock.now())), prices };
  }
}
