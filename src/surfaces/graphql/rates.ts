import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { PartnerService } from '../../accounts/partners/partner-service.ts';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { AppError } from '../../base/errors.ts';
import { type Big, formatDecimal, parseDecimal } from '../../base/money.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import type { PriceOverride } from '../../market/rates/price-override.entity.ts';
import type { PriceOverrideService } from '../../market/rates/price-override-service.ts';
import type { RateType } from '../../market/rates/quote.ts';
import type { RateService } from '../../market/rates/rate-service.ts';
import type { GraphqlContext } from './server/context.ts';
import { RateTypeEnum } from './server/enumerations.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';
import { StaffNameType, staffName } from './staff-types.ts';

@ObjectType('Quote', { description: 'The current quote for a partner.' })
class QuoteType {
  @Field(() => String, { description: 'Source coin.' })
  coinFrom!: string;

  @Field(() => String, { description: 'Source network.' })
  networkFrom!: string;

  @Field(() => String, { description: 'Destination coin.' })
  coinTo!: string;

  @Field(() => String, { description: 'Destination network.' })
  networkTo!: string;

  @Field(() => RateTypeEnum, { description: 'Whether the rate is fixed at creation or floats.' })
  rateType!: RateType;

  @Field(() => Decimal, { description: 'Amount to be deposited.' })
  amountFrom!: string;

  @Field(() => Decimal, { description: 'Amount to be paid out.' })
  amountTo!: string;

  @Field(() => Decimal, { description: 'Net units of the destination coin for one unit of the source coin.' })
  rate!: string;

  @Field(() => Decimal, { description: 'Service fee as a fraction.' })
  feeRate!: string;

  @Field(() => Decimal, { description: 'Service fee, in units of the destination coin.' })
  serviceFee!: string;

  @Field(() => Decimal, { description: 'Network fee, in units of the destination coin.' })
  networkFee!: string;

  @Field(() => Decimal, { description: 'Smallest amount, in units of the source coin.' })
  minAmount!: string;

  @Field(() => Decimal, { description: 'Largest amount, in units of the source coin.' })
  maxAmount!: string;

  @Field(() => Int, { nullable: true, description: 'Whole seconds for which the rate holds; null for float.' })
  expiresIn!: number | null;
}

@InputType('QuoteInput', { description: 'The pair, amount and rate type of a quote.' })
class QuoteInput {
  @Field(() => String, { description: 'Source coin.' })
  coinFrom!: string;

  @Field(() => String, { nullable: true, description: 'Source network; required when the coin has several.' })
  networkFrom?: string | null;

  @Field(() => String, { description: 'Destination coin.' })
  coinTo!: string;

  @Field(() => String, { nullable: true, description: 'Destination network; required when the coin has several.' })
  networkTo?: string | null;

  @Field(() => Decimal, { nullable: true, description: "Amount of the source coin; the pair's minimum by default." })
  amount?: string | null;

  @Field(() => RateTypeEnum, { defaultValue: 'float', description: 'Whether the rate is fixed at creation or floats.' })
  rateType!: RateType;

  @Field(() => ID, { nullable: true, description: 'Partner whose pricing applies; the public pricing by default.' })
  partnerId?: string | null;
}

@ObjectType('PriceOverride', { description: 'A temporary price of a pair that staff set.' })
class PriceOverrideType {
  @Field(() => ID, { description: 'Id of the override.' })
  id!: string;

  @Field(() => String, { description: 'Source coin.' })
  coinFrom!: string;

  @Field(() => String, { description: 'Destination coin.' })
  coinTo!: string;

  @Field(() => Decimal, { description: 'Units of the destination coin for one unit of the source coin, before fees.' })
  price!: string;

  @Field(() => DateTime, { description: 'When it was set.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it expires.' })
  endsAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When staff ended it before its expiry.' })
  endedAt!: Date | null;
}

@InputType('PriceOverrideInput', { description: 'A price for a pair.' })
class PriceOverrideInput {
  @Field(() => String, { description: 'Source coin.' })
  coinFrom!: string;

  @Field(() => String, { description: 'Destination coin.' })
  coinTo!: string;

  @Field(() => Decimal, { description: 'Units of the destination coin for one unit of the source coin, before fees.' })
  price!: string;

  @Field(() => DateTime, { description: 'When it expires, at most seven days from now.' })
  endsAt!: Date;
}

@Resolver(() => PriceOverrideType)
export class RateResolver {
  readonly #audit: AuditLog;
  readonly #rates: RateService;
  readonly #partners: PartnerService;
  readonly #overrides: PriceOverrideService;
  readonly #prices: PriceBook;
  readonly #refreshPrices: () => Promise<void>;

  constructor(
    audit: AuditLog,
    rates: RateService,
    partners: PartnerService,
    overrides: PriceOverrideService,
    prices: PriceBook,
    refreshPrices: () => Promise<void>,
  ) {
    this.#audit = audit;
    this.#rates = rates;
    this.#partners = partners;
    this.#overrides = overrides;
    this.#prices = prices;
    this.#refreshPrices = refreshPrices;
  }

  @RequiresPermission('rates:read')
  @Query(() => QuoteType, { description: 'A quote, exactly as a partner would get it.' })
  async quote(
    @Arg('input', () => QuoteInput, { description: 'The pair, amount and rate type.' }) input: QuoteInput,
  ): Promise<QuoteType> {
    const { coinFrom, coinTo, rateType, partnerId } = input;
    const partner = partnerId ? await this.#partners.get(partnerId) : null;
    const amount: Big | null = input.amount ? parseDecimal(input.amount) : null;
    if (input.amount && !amount) throw new AppError('invalid_amount', 'amount has too many digits');
    const pair = {
      coinFrom,
      networkFrom: input.networkFrom ?? undefined,
      coinTo,
      networkTo: input.networkTo ?? undefined,
      rateType,
    };
    const quote = this.#rates.quote(pair, amount, this.#rates.pricing(partner), 'amount');
    return {
      coinFrom: quote.from.coin,
      networkFrom: quote.from.network,
      coinTo: quote.to.coin,
      networkTo: quote.to.network,
      rateType,
      amountFrom: formatDecimal(quote.amountFrom),
      amountTo: formatDecimal(quote.amountTo),
      rate: formatDecimal(quote.rate),
      feeRate: quote.feeRate,
      serviceFee: formatDecimal(quote.serviceFee),
      networkFee: formatDecimal(quote.networkFee),
      minAmount: formatDecimal(quote.minAmount),
      maxAmount: formatDecimal(quote.maxAmount),
      expiresIn: quote.expiresIn,
    };
  }

  @RequiresPermission('rates:read')
  @Query(() => [PriceOverrideType], { description: 'Prices that staff have set at present, oldest first.' })
  priceOverrides(): Promise<PriceOverride[]> {
    return this.#overrides.live();
  }

  @FieldResolver(() => StaffNameType, { description: 'The member who set it.' })
  setBy(@Root() { staffId }: PriceOverride, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, staffId);
  }

  @RequiresPermission('prices:override')
  @Mutation(() => PriceOverrideType, {
    description:
      'Sets the price of a pair in this direction until a time, at most a quarter away from the market. Float quotes use it at once, fixed quotes within two windows, other processes within seconds.',
  })
  async priceOverride(
    @Arg('input', () => PriceOverrideInput, { description: 'The price.' }) input: PriceOverrideInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<PriceOverride> {
    const override = await this.#audit.act(context.actor, 'priceOverride', reason, async (em) => {
      const { coinFrom, coinTo } = input;
      const live = await this.#overrides.live(em);
      const earlier = live.find((row) => row.coinFrom === coinFrom && row.coinTo === coinTo);
      const before = earlier ? { price: earlier.price, endsAt: earlier.endsAt } : null;
      const made = await this.#overrides.set(context.caller.id, input, this.#prices.market(coinFrom, coinTo), em);
      const { price, endsAt } = made;
      return { result: made, target: pairTarget(made), before, after: { price, endsAt } };
    });
    await this.#refreshPrices();
    return override;
  }

  @RequiresPermission('prices:override')
  @Mutation(() => PriceOverrideType, { description: 'Ends a set price, so that the pair follows the market again.' })
  async priceOverrideEnd(
    @Arg('coinFrom', () => String, { description: 'Source coin.' }) coinFrom: string,
    @Arg('coinTo', () => String, { description: 'Destination coin.' }) coinTo: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<PriceOverride> {
    const override = await this.#audit.act(context.actor, 'priceOverrideEnd', reason, async (em) => {
      const ended = await this.#overrides.end(coinFrom, coinTo, em);
      return { result: ended, target: pairTarget(ended), before: { price: ended.price, endsAt: ended.endsAt } };
    });
    await this.#refreshPrices();
    return override;
  }
}

function pairTarget({ coinFrom, coinTo }: PriceOverride): string {
  return `pair:${coinFrom}-${coinTo}`;
}
