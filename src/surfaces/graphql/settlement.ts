import { Arg, Args, Ctx, Field, FieldResolver, ID, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import type { BookedLine } from '../../ledger/ledger.ts';
import type { Deposit, DepositProblem, DepositState } from '../../settlement/rows/deposit.entity.ts';
import type { Payment, PaymentState } from '../../settlement/rows/payment.entity.ts';
import type { PaymentAttempt } from '../../settlement/rows/payment-attempt.entity.ts';
import type { TradeState } from '../../settlement/rows/trade.entity.ts';
import { unassignedDeposits } from '../../settlement/rows/unassigned-deposits.ts';
import { PartnerType } from './partner-types.ts';
import { type ListPage, listPage, PageArgs, PageInfoType, uuidPageOf } from './server/connection.ts';
import type { GraphqlContext } from './server/context.ts';
import {
  AccountEnum,
  DepositProblemEnum,
  DepositStateEnum,
  PaymentKindEnum,
  PaymentLegEnum,
  PaymentStateEnum,
  TradeStateEnum,
} from './server/enumerations.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';

@ObjectType('Deposit', { description: 'A transfer to one of our addresses.' })
export class DepositType {
  @Field(() => ID, { description: 'Id of the deposit.' })
  id!: string;

  @Field(() => ID, { nullable: true, description: 'The order of the deposit; null when no order has its tag.' })
  orderId!: string | null;

  @Field(() => String, { description: 'Chain of the transfer.' })
  chain!: string;

  @Field(() => String, { description: 'Hash of its transaction.' })
  txid!: string;

  @Field(() => String, { description: 'Address that received it.' })
  address!: string;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the transfer.' })
  tag!: string | null;

  @Field(() => String, { description: 'Coin that arrived.' })
  coin!: string;

  @Field(() => String, { description: 'Network that it arrived on.' })
  network!: string;

  @Field(() => Decimal, { description: "Amount that arrived, in the coin's units." })
  amount!: string;

  @Field(() => DepositStateEnum, { description: 'State of the deposit.' })
  state!: DepositState;

  @Field(() => Int, { nullable: true, description: 'Height of its block; null while no block has it.' })
  height!: number | null;

  @Field(() => Int, { description: 'Confirmations that it needs.' })
  confirmationsRequired!: number;

  @Field(() => DateTime, { description: 'When it was first seen.' })
  seenAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was first seen in a block.' })
  minedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'The earliest time at which it can have arrived, by its chain; null where the chain gives no bound.',
  })
  arrivedAfter!: Date | null;

  @Field(() => DateTime, {
    description: 'The latest time at which it can have arrived. A deposit is in time when this is within the window.',
  })
  arrivedBy!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was credited.' })
  creditedAt!: Date | null;

  @Field(() => DepositProblemEnum, { nullable: true, description: 'Why staff must decide about it.' })
  problem!: DepositProblem | null;
}

@ObjectType('DepositEdge', { description: 'A deposit and its position.' })
class DepositEdgeType {
  @Field(() => DepositType, { description: 'The deposit.' })
  node!: Deposit;

  @Field(() => String, { description: 'Position of the deposit in the list.' })
  cursor!: string;
}

@ObjectType('DepositConnection', { description: 'A page of deposits.' })
class DepositConnectionType {
  @Field(() => [DepositEdgeType], { description: 'The deposits.' })
  edges!: DepositEdgeType[];

  @Field(() => PageInfoType, { description: 'Position of the page.' })
  pageInfo!: PageInfoType;
}

@ObjectType('Trade', { description: 'The one exchange of an order at the liquidity venue.' })
export class TradeType {
  @Field(() => String, { description: 'The venue of the exchange.' })
  venue!: string;

  @Field(() => TradeStateEnum, { description: 'State of the exchange.' })
  state!: TradeState;

  @Field(() => Decimal, { description: 'The exchanged part of the deposit, in units of the source coin.' })
  amountFrom!: string;

  @Field(() => Decimal, { description: 'The payout to the user, in units of the destination coin.' })
  amountTo!: string;

  @Field(() => Decimal, { description: 'Service fee, in units of the destination coin.' })
  serviceFee!: string;

  @Field(() => Decimal, { description: 'Network fee, in units of the destination coin.' })
  networkFee!: string;

  @Field(() => Decimal, { description: 'The slippage bound: a fill below it is refused.' })
  minBought!: string;

  @Field(() => Decimal, { nullable: true, description: 'Amount that the venue filled; null until then.' })
  bought!: string | null;

  @Field(() => Int, { description: 'How often the venue refused.' })
  tries!: number;

  @Field(() => String, { nullable: true, description: 'Last answer of the venue.' })
  problem!: string | null;

  @Field(() => DateTime, { description: 'When its terms were decided.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was filled or abandoned.' })
  settledAt!: Date | null;
}

@ObjectType('PaymentAttempt', { description: 'One transaction for a payment.' })
class PaymentAttemptType {
  @Field(() => Int, { description: 'Counts from 1.' })
  attempt!: number;

  @Field(() => Decimal, { description: "Its fee, in units of the chain's own coin." })
  fee!: string;

  @Field(() => [String], { description: 'Its inputs: outputs, or a nonce.' })
  reserves!: string[];

  @Field(() => Int, { nullable: true, description: 'The last height whose block can hold it, where it has one.' })
  expiresAtHeight!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When it expires, where that is a time.' })
  expiresAt!: Date | null;

  @Field(() => String, { nullable: true, description: 'Its hash; null until it is signed.' })
  txid!: string | null;

  @Field(() => Int, { nullable: true, description: 'Height of its block.' })
  minedHeight!: number | null;

  @Field(() => DateTime, { description: 'When it was built.' })
  preparedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When its signed bytes were stored.' })
  signedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was first broadcast.' })
  sentAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When the chain showed that it can never confirm.' })
  deadAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description: "'conflict', 'expired', 'failed', 'never_signed' or 'replaced'.",
  })
  deadWhy!: string | null;
}

@ObjectType('Payment', { description: 'A payment on a chain. Its address and amount never change.' })
export class PaymentType {
  @Field(() => ID, { description: 'Id of the payment.' })
  id!: string;

  @Field(() => PaymentKindEnum, { description: 'Purpose of the payment.' })
  kind!: Payment['kind'];

  @Field(() => PaymentLegEnum, { description: 'The part of the deposit that it settles.' })
  leg!: Payment['leg'];

  @Field(() => ID, { nullable: true, description: 'The deposit that a payout or a refund settles.' })
  depositId!: string | null;

  @Field(() => String, { description: 'Chain of the payment.' })
  chain!: string;

  @Field(() => String, { description: 'Coin of the payment.' })
  coin!: string;

  @Field(() => String, { description: 'Network of the payment.' })
  network!: string;

  @Field(() => String, { description: 'Address that it goes to.' })
  address!: string;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the payment.' })
  tag!: string | null;

  @Field(() => Decimal, { description: "Amount that the user receives, in the coin's units." })
  amount!: string;

  @Field(() => Decimal, { description: 'Network fee that was deducted from its part of the deposit.' })
  feeCharged!: string;

  @Field(() => PaymentStateEnum, { description: 'State of the payment.' })
  state!: PaymentState;

  @Field(() => String, { nullable: true, description: 'What blocks it at present.' })
  problem!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when.' })
  problemSince!: Date | null;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was first broadcast.' })
  sentAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it confirmed, or was found dead.' })
  endedAt!: Date | null;
}

@ObjectType('LedgerLine', { description: 'A line of the double-entry ledger.' })
export class LedgerLineType {
  @Field(() => String, { description: 'Kind of the journal entry.' })
  kind!: string;

  @Field(() => DateTime, { description: 'Time of the journal entry.' })
  at!: Date;

  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;

  @Field(() => Decimal, { description: "Positive debits, negative credits, in the coin's units." })
  amount!: string;
}

@Resolver(() => DepositType)
export class DepositResolver {
  @RequiresPermission('orders:read')
  @Query(() => DepositConnectionType, {
    description:
      'Deposits in blocks that belong to no order and are not on their way back, newest first. Staff assign them with `depositAssign`, or return them with `orderRefund`.',
  })
  async unassignedDeposits(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('txid', () => String, { nullable: true, description: 'Only those of this transaction.' })
    txid: string | null | undefined,
    @Arg('withSmall', () => Boolean, {
      defaultValue: false,
      description: 'Whether those below the minimum of their coin are listed too.',
    })
    withSmall: boolean,
    @Ctx() { em }: GraphqlContext,
  ): Promise<ListPage<Deposit>> {
    const page = uuidPageOf(pageArgs);
    const { backwards, size, cursor } = page;
    const filter = { txid: txid?.trim() || null, withSmall };
    const found = await unassignedDeposits(em, filter, { backwards, limit: size + 1, cursor });
    return listPage(found, page, ({ id }) => id);
  }

  @FieldResolver(() => [PaymentType], { description: 'Payments that settle it: a payout, refunds.' })
  async payments(@Root() deposit: Deposit, @Ctx() { loaders }: GraphqlContext): Promise<Payment[]> {
    if (deposit.orderId === null) return loaders.strangerPayments.load(deposit.id);
    const payments = await loaders.payments.load(deposit.orderId);
    return payments.filter(({ depositId }) => depositId === deposit.id);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'Page of a block explorer that shows its transaction; null in a sandbox.',
  })
  explorerUrl(@Root() { coin, network, txid }: Deposit, @Ctx() { wallets }: GraphqlContext): string | null {
    return wallets.explorerUrl(coin, network, 'transaction', txid);
  }
}

@Resolver(() => PaymentType)
export class PaymentResolver {
  @FieldResolver(() => [PaymentAttemptType], { description: 'Its transactions, oldest first.' })
  attempts(@Root() payment: Payment, @Ctx() { loaders }: GraphqlContext): Promise<PaymentAttempt[]> {
    return loaders.attempts.load(payment.id);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Page of a block explorer that shows its transaction in a block, or else its newest; null in a sandbox.',
  })
  async explorerUrl(
    @Root() { id, coin, network }: Payment,
    @Ctx() { loaders, wallets }: GraphqlContext,
  ): Promise<string | null> {
    const attempts = await loaders.attempts.load(id);
    const inBlock = attempts.findLast(({ deadAt, minedHeight }) => deadAt === null && minedHeight !== null);
    const txid = (inBlock ?? attempts.at(-1))?.txid ?? null;
    return txid === null ? null : wallets.explorerUrl(coin, network, 'transaction', txid);
  }
}

/** The beginnings of the names of a partner's account, and of an account at an exchange. */
const partnerAccount = 'partner:';
const exchangeAccount = 'venue:';

@Resolver(() => LedgerLineType)
export class LedgerLineResolver {
  @FieldResolver(() => AccountEnum, { description: 'Account.' })
  account(@Root() line: BookedLine): string {
    return accountOf(line);
  }

  @FieldResolver(() => PartnerType, { nullable: true, description: "The partner of a partner's account." })
  partner(@Root() line: BookedLine, @Ctx() context: GraphqlContext): Promise<Partner | null> {
    return partnerOf(line, context);
  }

  @FieldResolver(() => String, { nullable: true, description: 'The exchange of an account at an exchange.' })
  venue(@Root() line: BookedLine): string | null {
    return venueOf(line);
  }
}

/** The account as the schema names it: all partners have one, and all venues. */
export function accountOf({ account }: { readonly account: string }): string {
  if (account.startsWith(exchangeAccount)) return 'venue';
  return account.startsWith(partnerAccount) ? 'partner' : account;
}

/** The exchange of an account at one; null for any other account. */
export function venueOf({ account }: { readonly account: string }): string | null {
  return account.startsWith(exchangeAccount) ? account.slice(exchangeAccount.length) : null;
}

/** The partner of a partner's account; null for any other account. */
export async function partnerOf(
  { account }: { readonly account: string },
  { loaders }: GraphqlContext,
): Promise<Partner | null> {
  return account.startsWith(partnerAccount) ? loaders.partner.load(account.slice(partnerAccount.length)) : null;
}
