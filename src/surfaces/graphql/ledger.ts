import { Arg, Ctx, Field, FieldResolver, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import { type LedgerBalance, ledgerBalances } from '../../ledger/reconcile.ts';
import { PartnerType } from './partner-types.ts';
import type { GraphqlContext } from './server/context.ts';
import { AccountEnum } from './server/enumerations.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';
import { accountOf, partnerOf, venueOf } from './settlement.ts';

@ObjectType('LedgerBalance', { description: 'The balance of an account of the ledger in one asset.' })
class LedgerBalanceType {
  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;

  @Field(() => Decimal, { description: "Positive debits, negative credits, in the coin's units. Never zero." })
  balance!: string;
}

@Resolver(() => LedgerBalanceType)
export class LedgerBalanceResolver {
  @RequiresPermission('ledger:read')
  @Query(() => [LedgerBalanceType], { description: 'Balances of the ledger by account and asset.' })
  ledgerBalances(
    @Arg('at', () => DateTime, { nullable: true, description: 'As they were at this time; now by default.' })
    at: Date | null | undefined,
    @Ctx() { em }: GraphqlContext,
  ): Promise<readonly LedgerBalance[]> {
    return ledgerBalances(em, at ?? null);
  }

  @FieldResolver(() => AccountEnum, { description: 'Account.' })
  account(@Root() balance: LedgerBalance): string {
    return accountOf(balance);
  }

  @FieldResolver(() => PartnerType, { nullable: true, description: "The partner of a partner's account." })
  partner(@Root() balance: LedgerBalance, @Ctx() context: GraphqlContext): Promise<Partner | null> {
    return partnerOf(balance, context);
  }

  @FieldResolver(() => String, { nullable: true, description: 'The exchange of an account at an exchange.' })
  venue(@Root() balance: LedgerBalance): string | null {
    return venueOf(balance);
  }
}
