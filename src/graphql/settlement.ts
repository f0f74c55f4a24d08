import { Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { Deposit, DepositProblem, DepositState } from '../settlement/deposit.entity.ts';
import type { Payment, PaymentState } from '../settlement/payment.entity.ts';
import type { PaymentAttempt } from '../settlement/payment-attempt.entity.ts';
import type { TradeState } from '../settlement/trade.entity.ts';
import type { GraphqlContext } from './context.ts';
import {
  AccountEnum,
  DepositProblemEnum,
  DepositStateEnum,
  PaymentKindEnum,
  PaymentLegEnum,
  PaymentStateEnum,
  TradeStateEnum,
} from './enumerations.ts';
import { DateTime, Decimal } from './scalars.ts';

@ObjectType('Deposit', { description: 'A transfer to one of our addresses.' })
export class DepositType {
  @Field(() => ID, { description: 'Id of the deposit.' })
  id!: string;

  @Field(() => ID, { nullable: true, description: "The order that it is for; null when its tag is nobody's." })
  orderId!: string | null;

  @Field(() => String, { description: 'Chain that it is on.' })
  chain!: string;

  @Field(() => String, { description: 'Hash of its transaction.' })
  txid!: string;

  @Field(() => String, { description: 'Address that it went to.' })
  address!: string;

  @Field(() => String, { nullable: true, description: 'Tag or memo that it carries.' })
  tag!: string | null;

  @Field(() => String, { description: 'Coin that arrived.' })
  coin!: string;

  @Field(() => String, { description: 'Network that it arrived on.' })
  network!: string;

  @Field(() => Decimal, { description: "What arrived, in the coin's units." })
  amount!: string;

  @Field(() => DepositStateEnum, { description: 'Where it stands.' })
  state!: DepositState;

  @Field(() => Int, { nullable: true, description: 'Height of its block, while it is in one.' })
  height!: number | null;

  @Field(() => Int, { description: 'Confirmations that it needs.' })
  confirmationsRequired!: number;

  @Field(() => DateTime, { description: 'When it was first seen.' })
  seenAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was first seen in a block.' })
  minedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'The earliest time that it can have come, by its chain; null where nothing bounds it.',
  })
  arrivedAfter!: Date | null;

  @Field(() => DateTime, { description: 'The latest time that it can have come: in time when within the window.' })
  arrivedBy!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was credited.' })
  creditedAt!: Date | null;

  @Field(() => DepositProblemEnum, { nullable: true, description: 'Why staff must decide what becomes of it.' })
  problem!: DepositProblem | null;
}

@ObjectType('Trade', { description: 'The one exchange of an order at the liquidity venue.' })
export class TradeType {
  @Field(() => String, { description: 'Venue that is asked.' })
  venue!: string;

  @Field(() => TradeStateEnum, { description: 'Where it stands.' })
  state!: TradeState;

  @Field(() => Decimal, { description: 'What of the deposit is exchanged, in units of the coin that came.' })
  amountFrom!: string;

  @Field(() => Decimal, { description: 'What the user is paid for it, in units of the coin that goes.' })
  amountTo!: string;

  @Field(() => Decimal, { description: 'Service fee, in units of the coin that goes.' })
  serviceFee!: string;

  @Field(() => Decimal, { description: 'Network fee, in units of the coin that goes.' })
  networkFee!: string;

  @Field(() => Decimal, { description: 'The slippage bound: a venue that gives less is refused.' })
  minBought!: string;

  @Field(() => Decimal, { nullable: true, description: 'What the venue gave; null until it filled.' })
  bought!: string | null;

  @Field(() => Int, { description: 'How often the venue refused.' })
  tries!: number;

  @Field(() => String, { nullable: true, description: 'What the venue said last.' })
  problem!: string | null;

  @Field(() => DateTime, { description: 'When its terms were decided.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was filled or given up.' })
  settledAt!: Date | null;
}

@ObjectType('PaymentAttempt', { description: 'One transaction for a payment.' })
export class PaymentAttemptType {
  @Field(() => Int, { description: 'Counts from 1.' })
  attempt!: number;

  @Field(() => Decimal, { description: "Its fee, in units of the chain's own coin." })
  fee!: string;

  @Field(() => [String], { description: 'What it spends: outputs, or a nonce.' })
  reserves!: string[];

  @Field(() => String, { nullable: true, description: 'Its hash; null until it was signed.' })
  txid!: string | null;

  @Field(() => Int, { nullable: true, description: 'Height of its block.' })
  minedHeight!: number | null;

  @Field(() => DateTime, { description: 'When it was built.' })
  preparedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When its bytes were stored.' })
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

@ObjectType('Payment', { description: 'A payment on a chain. Where it goes and how much never changes.' })
export class PaymentType {
  @Field(() => ID, { description: 'Id of the payment.' })
  id!: string;

  @Field(() => PaymentKindEnum, { description: 'What it is for.' })
  kind!: Payment['kind'];

  @Field(() => PaymentLegEnum, { description: 'Which part of the deposit it settles.' })
  leg!: Payment['leg'];

  @Field(() => ID, { nullable: true, description: 'The deposit that a payout or a refund settles.' })
  depositId!: string | null;

  @Field(() => String, { description: 'Chain that it is made on.' })
  chain!: string;

  @Field(() => String, { description: 'Coin that is paid.' })
  coin!: string;

  @Field(() => String, { description: 'Network that it is paid on.' })
  network!: string;

  @Field(() => String, { description: 'Address that it goes to.' })
  address!: string;

  @Field(() => String, { nullable: true, description: 'Tag or memo that it carries.' })
  tag!: string | null;

  @Field(() => Decimal, { description: "What the user gets, in the coin's units." })
  amount!: string;

  @Field(() => Decimal, { description: 'What was kept of the leg for the network.' })
  feeCharged!: string;

  @Field(() => PaymentStateEnum, { description: 'Where it stands.' })
  state!: PaymentState;

  @Field(() => String, { nullable: true, description: 'What stands in its way at present.' })
  problem!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when.' })
  problemSince!: Date | null;

  @Field(() => DateTime, { description: 'When it was decided.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was first broadcast.' })
  sentAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it confirmed, or died.' })
  endedAt!: Date | null;
}

@ObjectType('LedgerLine', { description: 'A line of the double-entry book.' })
export class LedgerLineType {
  @Field(() => String, { description: 'What was booked.' })
  kind!: string;

  @Field(() => DateTime, { description: 'When.' })
  at!: Date;

  @Field(() => AccountEnum, { description: 'Account.' })
  account!: string;

  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;

  @Field(() => Decimal, { description: "Positive debits, negative credits, in the coin's units." })
  amount!: string;
}

@Resolver(() => DepositType)
export class DepositResolver {
  @FieldResolver(() => [PaymentType], { description: 'Payments that settle it: a payout, refunds.' })
  async payments(@Root() deposit: Deposit, @Ctx() { loaders }: GraphqlContext): Promise<Payment[]> {
    if (deposit.orderId === null) return loaders.strangerPayments.load(deposit.id);
    const payments = await loaders.payments.load(deposit.orderId);
    return payments.filter(({ depositId }) => depositId === deposit.id);
  }
}

@Resolver(() => PaymentType)
export class PaymentResolver {
  @FieldResolver(() => [PaymentAttemptType], { description: 'Its transactions, oldest first.' })
  attempts(@Root() payment: Payment, @Ctx() { loaders }: GraphqlContext): Promise<PaymentAttempt[]> {
    return loaders.attempts.load(payment.id);
  }
}
