import { Arg, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Currency } from '../currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { CurrencyChanges, CurrencyService } from '../currencies/currency-service.ts';
import { AppError } from '../errors.ts';
import type { GraphqlContext } from './context.ts';
import { given } from './given.ts';
import { Permit } from './permit.ts';
import { DateTime, Decimal } from './scalars.ts';

@ObjectType('Currency', { description: 'One coin on one network.' })
export class CurrencyType {
  @Field(() => ID, { description: 'Id of the currency.' })
  id!: string;

  @Field(() => String, { description: 'Ticker.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;

  @Field(() => String, { description: 'Name of the coin.' })
  name!: string;

  @Field(() => Boolean, { description: 'Whether partners see it at all.' })
  isActive!: boolean;

  @Field(() => Boolean, { description: 'Whether orders may begin with it.' })
  isDepositEnabled!: boolean;

  @Field(() => Boolean, { description: 'Whether orders may end with it.' })
  isWithdrawEnabled!: boolean;

  @Field(() => Decimal, { description: "Smallest amount of an order, in the coin's units." })
  minAmount!: string;

  @Field(() => Decimal, { description: "Largest amount of an order, in the coin's units." })
  maxAmount!: string;

  @Field(() => Int, { description: 'Confirmations that a deposit needs.' })
  minConfirmations!: number;

  @Field(() => Int, { description: 'Digits after the point that its chain knows.' })
  decimals!: number;

  @Field(() => Boolean, { description: 'Whether its addresses may carry a tag or memo.' })
  isMemo!: boolean;

  @Field(() => Decimal, { description: "What a payout costs the user, in the coin's units." })
  networkFee!: string;

  @Field(() => String, {
    nullable: true,
    description: "Contract, mint or issuer of a token; null for a network's own coin.",
  })
  contract!: string | null;

  @Field(() => DateTime, { description: 'When it was changed last.' })
  updatedAt!: Date;
}

@InputType('CurrencySwitchesInput', { description: 'What is possible with a currency. What is absent stays.' })
export class CurrencySwitchesInput {
  @Field(() => Boolean, { nullable: true, description: 'Everything: whether partners see it at all.' })
  isActive?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether orders may begin with it.' })
  isDepositEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether orders may end with it.' })
  isWithdrawEnabled?: boolean | null;
}

@InputType('CurrencyTermsInput', { description: 'Limits, fee and confirmations of a currency. What is absent stays.' })
export class CurrencyTermsInput {
  @Field(() => Decimal, { nullable: true, description: "Smallest amount of an order, in the coin's units." })
  minAmount?: string | null;

  @Field(() => Decimal, { nullable: true, description: "Largest amount of an order, in the coin's units." })
  maxAmount?: string | null;

  @Field(() => Decimal, { nullable: true, description: "What a payout costs the user, in the coin's units." })
  networkFee?: string | null;

  @Field(() => Int, { nullable: true, description: 'Confirmations that a deposit needs.' })
  minConfirmations?: number | null;
}

@Resolver(() => CurrencyType)
export class CurrencyResolver {
  readonly #audit: AuditLog;
  readonly #currencies: CurrencyService;
  readonly #catalogue: CurrencyCatalogue;

  constructor(audit: AuditLog, currencies: CurrencyService, catalogue: CurrencyCatalogue) {
    this.#audit = audit;
    this.#currencies = currencies;
    this.#catalogue = catalogue;
  }

  @Permit('currencies:read')
  @Query(() => [CurrencyType], { description: 'The whole catalogue, by coin and network.' })
  currencies(): Promise<Currency[]> {
    return this.#currencies.list();
  }

  @Permit('currencies:switch')
  @Mutation(() => CurrencyType, { description: 'Switches a currency, or one direction of it, on or off.' })
  currencySwitch(
    @Arg('coin', () => String, { description: 'Ticker.' }) coin: string,
    @Arg('network', () => String, { description: 'Network.' }) network: string,
    @Arg('switches', () => CurrencySwitchesInput, { description: 'The switches.' }) switches: CurrencySwitchesInput,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<Currency> {
    return this.#change(context, 'currencySwitch', coin, network, switches, reason);
  }

  @Permit('currencies:write')
  @Mutation(() => CurrencyType, { description: 'Sets limits, fee and confirmations of a currency.' })
  currencyTerms(
    @Arg('coin', () => String, { description: 'Ticker.' }) coin: string,
    @Arg('network', () => String, { description: 'Network.' }) network: string,
    @Arg('terms', () => CurrencyTermsInput, { description: 'The terms.' }) terms: CurrencyTermsInput,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<Currency> {
    return this.#change(context, 'currencyTerms', coin, network, terms, reason);
  }

  async #change(
    context: GraphqlContext,
    operation: string,
    coin: string,
    network: string,
    input: CurrencySwitchesInput & CurrencyTermsInput,
    reason: string,
  ): Promise<Currency> {
    const changes: CurrencyChanges = given(input);
    if (Object.keys(changes).length === 0) throw new AppError('invalid_value', 'say what is to be changed');
    const changed = await this.#audit.act(context.actor, operation, reason, async (em) => {
      const known = await this.#currencies.lockAll(em);
      const earlier = known.find((row) => row.coin === coin && row.network === network);
      const before = earlier ? snapshot(earlier) : null;
      const currency = await this.#currencies.change(coin, network, changes, em);
      return { result: currency, target: `currency:${coin}/${network}`, before, after: snapshot(currency) };
    });
    // Other processes follow within seconds.
    await this.#catalogue.refresh();
    return changed;
  }
}

function snapshot(currency: Currency): Record<string, unknown> {
  const { isActive, isDepositEnabled, isWithdrawEnabled, minAmount, maxAmount, networkFee, minConfirmations } =
    currency;
  return { isActive, isDepositEnabled, isWithdrawEnabled, minAmount, maxAmount, networkFee, minConfirmations };
}
