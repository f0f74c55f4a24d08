import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import {
  type AmountBucket,
  type ChainBucket,
  chainHistory,
  type HistorySeries,
  venueHistory,
  type WalletBucket,
  walletHistory,
} from '../../operations/history-points.ts';
import type { VenueMeasure } from '../../operations/history-turns.ts';
import type { GraphqlContext } from './server/context.ts';
import { enumOf } from './server/enums.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';
import { WalletNameType } from './wallet-name.ts';

const VenueMeasureEnum = enumOf<VenueMeasure>('VenueMeasure', 'A figure of the venue.', {
  balance: 'Our balance by the ledger, in coins, as the last comparison of the ledger found it.',
  stock: 'What our own inventory may sell, in coins.',
  buy_depth: 'What the order book sells near the price, in US dollars.',
  sell_depth: 'What the order book buys near the price, in US dollars.',
  held: 'What the account at the exchange holds by its own word, in coins.',
  held_free: 'The part of it that no open order and no withdrawal locks.',
  open_usd: 'Open positions of all coins, in US dollars at the prices of their trades.',
});

@ArgsType()
class HistoryArgs {
  @Field(() => DateTime, { description: 'Readings from this time on. The bucket that contains it counts whole.' })
  from!: Date;

  @Field(() => DateTime, { description: 'Readings before this time, at most 92 days after `from`.' })
  to!: Date;

  @Field(() => Int, { defaultValue: 20, description: 'Number of lines of the answer, 1 to 100.' })
  first!: number;
}

@ArgsType()
class ChainHistoryArgs extends HistoryArgs {
  @Field(() => String, { nullable: true, description: 'Only this chain.' })
  chain?: string | null;
}

@ArgsType()
class WalletHistoryArgs extends ChainHistoryArgs {
  @Field(() => String, { nullable: true, description: 'Only this coin.' })
  coin?: string | null;

  @Field(() => String, { nullable: true, description: 'Only this network.' })
  network?: string | null;
}

@ArgsType()
class VenueHistoryArgs extends HistoryArgs {
  @Field(() => String, { nullable: true, description: 'Only this coin.' })
  coin?: string | null;

  @Field(() => VenueMeasureEnum, { nullable: true, description: 'Only this figure.' })
  measure?: VenueMeasure | null;
}

@ObjectType('WalletPoint', { description: 'The balance of a hot wallet in a bucket of time.' })
class WalletPointType {
  @Field(() => DateTime, { description: 'Beginning of the bucket.' })
  at!: Date;

  @Field(() => Decimal, { nullable: true, description: 'Lowest balance; null while it was not known.' })
  lowest!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Highest balance.' })
  highest!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Last balance.' })
  last!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'The balance below which it needed a top-up.' })
  low!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'The balance above which it needed a withdrawal.' })
  high!: string | null;

  @Field(() => Int, { description: 'Number of minutes with a reading.' })
  readings!: number;
}

@ObjectType('WalletHistory', { description: 'The balance of a hot wallet over time.' })
class WalletHistoryType extends WalletNameType {}

@ObjectType('VenuePoint', { description: 'A figure of the venue in a bucket of time.' })
class VenuePointType {
  @Field(() => DateTime, { description: 'Beginning of the bucket.' })
  at!: Date;

  @Field(() => Decimal, { nullable: true, description: 'Lowest reading; null while it was not known.' })
  lowest!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Highest reading.' })
  highest!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Last reading.' })
  last!: string | null;

  @Field(() => Int, { description: 'Number of minutes with a reading.' })
  readings!: number;
}

@ObjectType('VenueHistory', { description: 'A figure of the venue over time.' })
class VenueHistoryType {
  @Field(() => VenueMeasureEnum, { description: 'The figure.' })
  measure!: VenueMeasure;
}

@ObjectType('ChainPoint', { description: 'How far a chain was read in a bucket of time.' })
class ChainPointType {
  @Field(() => DateTime, { description: 'Beginning of the bucket.' })
  at!: Date;

  @Field(() => Int, { nullable: true, description: 'Fewest blocks still to be read; null while it was not known.' })
  lagLowest!: number | null;

  @Field(() => Int, { nullable: true, description: 'Most blocks still to be read.' })
  lagHighest!: number | null;

  @Field(() => Int, { nullable: true, description: 'Blocks still to be read at the last reading.' })
  lagLast!: number | null;

  @Field(() => Int, { nullable: true, description: 'The newest block that was read.' })
  height!: number | null;

  @Field(() => Int, { nullable: true, description: 'The newest block of its node.' })
  head!: number | null;

  @Field(() => Int, { description: 'Number of minutes in which it could not be read.' })
  failures!: number;

  @Field(() => String, { nullable: true, description: 'Why it could not be read, the last time.' })
  failure!: string | null;

  @Field(() => Int, { description: 'Number of minutes in which its lag was known or it could not be read.' })
  readings!: number;
}

@ObjectType('ChainHistory', { description: 'How far a chain was read over time.' })
class ChainHistoryType {
  @Field(() => String, { description: 'Chain.' })
  chain!: string;
}

type WalletSeries = HistorySeries<'chain' | 'coin' | 'network', WalletBucket>;
type VenueSeries = HistorySeries<'coin' | 'measure', AmountBucket>;
type ChainSeries = HistorySeries<'chain', ChainBucket>;

const limitArg = {
  defaultValue: 96,
  description: 'Most buckets, 1 to 400. Each has its lowest, highest and last reading, so none is hidden.',
};
const pointsAbout = { description: 'Every bucket of the range, oldest first. A bucket without a reading is a gap.' };

@Resolver(() => WalletHistoryType)
export class WalletHistoryResolver {
  @RequiresPermission('system:read')
  @Query(() => [WalletHistoryType], { description: 'Balances of the hot wallets over time, by chain and coin.' })
  walletHistory(
    @Args(() => WalletHistoryArgs) { from, to, first, chain, coin, network }: WalletHistoryArgs,
    @Ctx() { em }: GraphqlContext,
  ): Promise<WalletSeries[]> {
    return walletHistory(em, { from, to, first, only: { chain, coin, network } });
  }

  @FieldResolver(() => [WalletPointType], pointsAbout)
  points(@Root() series: WalletSeries, @Arg('limit', () => Int, limitArg) limit: number): Promise<WalletBucket[]> {
    return series.points(limit);
  }
}

@Resolver(() => VenueHistoryType)
export class VenueHistoryResolver {
  @RequiresPermission('ledger:read')
  @Query(() => [VenueHistoryType], { description: 'Balances, depth and open positions at the venue over time.' })
  venueHistory(
    @Args(() => VenueHistoryArgs) { from, to, first, coin, measure }: VenueHistoryArgs,
    @Ctx() { em }: GraphqlContext,
  ): Promise<VenueSeries[]> {
    return venueHistory(em, { from, to, first, only: { coin, measure } });
  }

  @FieldResolver(() => String, { nullable: true, description: 'Coin; null for all coins together.' })
  coin(@Root() { coin }: VenueSeries): string | null {
    return coin === '' ? null : coin;
  }

  @FieldResolver(() => [VenuePointType], pointsAbout)
  points(@Root() series: VenueSeries, @Arg('limit', () => Int, limitArg) limit: number): Promise<AmountBucket[]> {
    return series.points(limit);
  }
}

@Resolver(() => ChainHistoryType)
export class ChainHistoryResolver {
  @RequiresPermission('system:read')
  @Query(() => [ChainHistoryType], { description: 'How far chains were read over time, by name.' })
  chainHistory(
    @Args(() => ChainHistoryArgs) { from, to, first, chain }: ChainHistoryArgs,
    @Ctx() { em }: GraphqlContext,
  ): Promise<ChainSeries[]> {
    return chainHistory(em, { from, to, first, only: { chain } });
  }

  @FieldResolver(() => [ChainPointType], pointsAbout)
  points(@Root() series: ChainSeries, @Arg('limit', () => Int, limitArg) limit: number): Promise<ChainBucket[]> {
    return series.points(limit);
  }
}
