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
import type { AuditLog } from '../audit/audit-log.ts';
import { AppError } from '../errors.ts';
import { type Big, formatDecimal, parseDecimal } from '../money.ts';
import type { PartnerService } from '../partners/partner-service.ts';
import type { PriceBook } from '../rates/price-book.ts';
import type { PriceOverride } from '../rates/price-override.entity.ts';
import type { PriceOverrideService } from '../rates/price-override-service.ts';
import type { RateType } from '../rates/quote.ts';
import type { RateService } from '../rates/rate-service.ts';
import type { GraphqlContext } from './context.ts';
import { RateTypeEnum } from './enumerations.ts';
import { Permit } from './permit.ts';
import { DateTime, Decimal } from './scalars.ts';
import { StaffNameType, staffName } from './staff-types.ts';

@ObjectType('Quote', { description: 'What a partner would be quoted now.' })
export class QuoteType {
  @Field(() => String, { description: 'Coin that comes.' })
  coinFrom!: string;

  @Field(() => String, { description: 'Network that it comes on.' })
  networkFrom!: string;

  @Field(() => String, { description: 'Coin that goes.' })
  coinTo!: string;

  @Field(() => String, { description: 'Network that it goes on.' })
  networkTo!: string;

  @Field(() => RateTypeEnum, { description: 'When the rate is decided.' })
  rateType!: RateType;

  @Field(() => Decimal, { description: 'What comes.' })
  amountFrom!: string;

  @Field(() => Decimal, { description: 'What goes.' })
  amountTo!: string;

  @Field(() => Decimal, { description: 'Net units of the coin that goes, for one of the coin that comes.' })
  rate!: string;

  @Field(() => Decimal, { description: 'Service fee as a fraction.' })
  feeRate!: string;

  @Field(() => Decimal, { description: 'Service fee, in units of the coin that goes.' })
  serviceFee!: string;

  @Field(() => Decimal, { description: 'Network fee, in units of the coin that goes.' })
  networkFee!: string;

  @Field(() => Decimal, { description: 'Smallest amount, in units of the coin that comes.' })
  minAmount!: string;

  @Field(() => Decimal, { description: 'Largest amount, in units of the coin that comes.' })
  maxAmount!: string;

  @Field(() => Int, { nullable: true, description: 'Whole seconds for which the rate holds; null for float.' })
  expiresIn!: number | null;
}

@InputType('QuoteInput', { description: 'What is quoted.' })
export class QuoteInput {
  @Field(() => String, { description: 'Coin that comes.' })
  coinFrom!: string;

  @Field(() => String, { nullable: true, description: 'Its network, when it is on several.' })
  networkFrom?: string | null;

  @Field(() => String, { description: 'Coin that goes.' })
  coinTo!: string;

  @Field(() => String, { nullable: true, description: 'Its network, when it is on several.' })
  networkTo?: string | null;

  @Field(() => Decimal, { nullable: true, description: "What comes; the pair's minimum unless given." })
  amount?: string | null;

  @Field(() => RateTypeEnum, { defaultValue: 'float', description: 'When the rate is decided.' })
  rateType!: RateType;

  @Field(() => ID, { nullable: true, description: 'Partner whose pricing counts; the public one unless given.' })
  partnerId?: string | null;
}

@ObjectType('PriceOverride', { description: 'A price of a pair that staff set by hand for a while.' })
export class PriceOverrideType {
  @Field(() => ID, { description: 'Id of the override.' })
  id!: string;

  @Field(() => String, { description: 'Coin that comes.' })
  coinFrom!: string;

  @Field(() => String, { description: 'Coin that goes.' })
  coinTo!: string;

  @Field(() => Decimal, { description: 'Units of the coin that goes, for one of the coin that comes, before fees.' })
  price!: string;

  @Field(() => DateTime, { description: 'When it was set.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it ends by itself.' })
  endsAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was ended before that.' })
  endedAt!: Date | null;
}

@InputType('PriceOverrideInput', { description: 'A price for a pair.' })
export class PriceOverrideInput {
  @Field(() => String, { description: 'Coin that comes.' })
  coinFrom!: string;

  @Field(() => String, { description: 'Coin that goes.' })
  coinTo!: string;

  @Field(() => Decimal, { description: 'Units of the coin that goes, for one of the coin that comes, before fees.' })
  price!: string;

  @Field(() => DateTime, { description: 'When it ends, at most seven days from now.' })
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

  @Permit('rates:read')
  @Query(() => QuoteType, { description: 'A quote, exactly as a partner would get it.' })
  async quote(
    @Arg('input', () => QuoteInput, { description: 'What is quoted.' }) input: QuoteInput,
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

  @Permit('rates:read')
  @Query(() => [PriceOverrideType], { description: 'Prices that are set by hand at present, oldest first.' })
  priceOverrides(): Promise<PriceOverride[]> {
    return this.#overrides.live();
  }

  @FieldResolver(() => StaffNameType, { description: 'Who set it.' })
  setBy(@Root() { staffId }: PriceOverride, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, staffId);
  }

  @Permit('prices:override')
  @Mutation(() => PriceOverrideType, {
    description:
      'Sets the price of a pair, in this direction, by hand until a time, at most a quarter away from the market. Float quotes follow at once, fixed ones within two windows; other processes within seconds.',
  })
  async priceOverride(
    @Arg('input', () => PriceOverrideInput, { description: 'The price.' }) input: PriceOverrideInput,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
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

  @Permit('prices:override')
  @Mutation(() => PriceOverrideType, { description: 'Gives a pair back to the market.' })
  async priceOverrideEnd(
    @Arg('coinFrom', () => String, { description: 'Coin that comes.' }) coinFrom: string,
    @Arg('coinTo', () => String, { description: 'Coin that goes.' }) coinTo: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
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
