import { Arg, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { AppError } from '../../base/errors.ts';
import type { Currency } from '../../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { CurrencyChanges, CurrencyService } from '../../market/currencies/currency-service.ts';
import type { GraphqlContext } from './server/context.ts';
import { omitNullish } from './server/omit-nullish.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';

@ObjectType('Currency', { description: 'One coin on one network.' })
class CurrencyType {
  @Field(() => ID, { description: 'Id of the currency.' })
  id!: string;

  @Field(() => String, { description: 'Ticker.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;

  @Field(() => String, { description: 'Name of the coin.' })
  name!: string;

  @Field(() => Boolean, { description: 'Whether partners see the currency.' })
  isActive!: boolean;

  @Field(() => Boolean, { description: 'Whether new orders may deposit it.' })
  isDepositEnabled!: boolean;

  @Field(() => Boolean, { description: 'Whether new orders may pay it out.' })
  isWithdrawEnabled!: boolean;

  @Field(() => Decimal, { description: "Smallest amount of an order, in the coin's units." })
  minAmount!: string;

  @Field(() => Decimal, { description: "Largest amount of an order, in the coin's units." })
  maxAmount!: string;

  @Field(() => Int, { description: 'Confirmations that a deposit needs.' })
  minConfirmations!: number;

  @Field(() => Int, { description: 'Digits after the decimal point on its chain.' })
  decimals!: number;

  @Field(() => Boolean, { description: 'Whether its addresses may carry a tag or memo.' })
  isMemo!: boolean;

  @Field(() => Decimal, { description: "Network fee that the user pays for a payout, in the coin's units." })
  networkFee!: string;

  @Field(() => String, {
    nullable: true,
    description: "Contract, mint or issuer of a token; null for a network's own coin.",
  })
  contract!: string | null;

  @Field(() => DateTime, { description: 'When it last changed.' })
  updatedAt!: Date;
}

@InputType('CurrencySwitchesInput', { description: 'Switches of a currency. An absent one stays as it is.' })
class CurrencySwitchesInput {
  @Field(() => Boolean, { nullable: true, description: 'Whether partners see the currency.' })
  isActive?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether new orders may deposit it.' })
  isDepositEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether new orders may pay it out.' })
  isWithdrawEnabled?: boolean | null;
}

@InputType('CurrencyTermsInput', {
  description: 'Limits, fee and confirmations of a currency. An absent one stays as it is.',
})
class CurrencyTermsInput {
  @Field(() => Decimal, { nullable: true, description: "Smallest amount of an order, in the coin's units." })
  minAmount?: string | null;

  @Field(() => Decimal, { nullable: true, description: "Largest amount of an order, in the coin's units." })
  maxAmount?: string | null;

  @Field(() => Decimal, {
    nullable: true,
    description: "Network fee that the user pays for a payout, in the coin's units.",
  })
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

  @RequiresPermission('currencies:read')
  @Query(() => [CurrencyType], { description: 'The whole catalogue, by coin and network.' })
  currencies(): Promise<Currency[]> {
    return this.#currencies.list();
  }

  @RequiresPermission('currencies:switch')
  @Mutation(() => CurrencyType, { description: 'Switches a currency, or one direction of it, on or off.' })
  currencySwitch(
    @Arg('coin', () => String, { description: 'Ticker.' }) coin: string,
    @Arg('network', () => String, { description: 'Network.' }) network: string,
    @Arg('switches', () => CurrencySwitchesInput, { description: 'The switches.' }) switches: CurrencySwitchesInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<Currency> {
    return this.#change(context, 'currencySwitch', coin, network, switches, reason);
  }

  @RequiresPermission('currencies:write')
  @Mutation(() => CurrencyType, { description: 'Sets limits, fee and confirmations of a currency.' })
  currencyTerms(
    @Arg('coin', () => String, { description: 'Ticker.' }) coin: string,
    @Arg('network', () => String, { description: 'Network.' }) network: string,
    @Arg('terms', () => CurrencyTermsInput, { description: 'The terms.' }) terms: CurrencyTermsInput,
    @ReasonArg() reason: string,
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
    const changes: CurrencyChanges = omitNullish(input);
    if (Object.keys(changes).length === 0) throw new AppError('invalid_value', 'name at least one change');
    const changed = await this.#audit.act(context.actor, operation, reason, async (em) => {
      const known = await this.#currencies.lockAll(em);
      const earlier = known.find((row) => row.coin === coin && row.network === network);
      const before = earlier ? snapshot(earlier) : null;
      const currency = await this.#currencies.change(coin, network, changes, em);
      return { result: currency, target: `currency:${coin}/${network}`, before, after: snapshot(currency) };
    });
    // Other processes reload it within seconds.
    await this.#catalogue.refresh();
    return changed;
  }
}

function snapshot(currency: Currency): Record<string, unknown> {
  const { isActive, isDepositEnabled, isWithdrawEnabled, minAmount, maxAmount, networkFee, minConfirmations } =
    currency;
  return { isActive, isDepositEnabled, isWithdrawEnabled, minAmount, maxAmount, networkFee, minConfirmations };
}
