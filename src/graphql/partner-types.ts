import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { PartnerStatus } from '../partners/partner.entity.ts';
import { KeyScopeEnum, PartnerStatusEnum, type scopeOf } from './enumerations.ts';
import { DateTime, Decimal } from './scalars.ts';

@ObjectType('ApiKey', {
  description: "A partner's key, without its secret: that is shown once, when the key is issued.",
})
export class ApiKeyType {
  @Field(() => ID, { description: 'Public half of the key.' })
  keyId!: string;

  @Field(() => String, { description: 'Last four characters of the secret, so that people can tell keys apart.' })
  last4!: string;

  @Field(() => String, { description: 'What it is for.' })
  label!: string;

  @Field(() => [String], { description: 'Client networks that may use it; none means all.' })
  allowedCidrs!: string[];

  @Field(() => DateTime, { description: 'When it was issued.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it ends by itself.' })
  expiresAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was ended by hand.' })
  revokedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was used last, to the minute.' })
  lastUsedAt!: Date | null;
}

@ObjectType('Partner', { description: 'An account that creates orders.' })
export class PartnerType {
  @Field(() => ID, { description: 'Id of the partner.' })
  id!: string;

  @Field(() => String, { description: 'Name.' })
  name!: string;

  @Field(() => PartnerStatusEnum, { description: 'Whether it may use the API.' })
  status!: PartnerStatus;

  @Field(() => Decimal, { nullable: true, description: "Its own service fee on float orders; null is the gateway's." })
  feeRateFloat!: string | null;

  @Field(() => Decimal, { nullable: true, description: "Its own service fee on fixed orders; null is the gateway's." })
  feeRateFixed!: string | null;

  @Field(() => Int, { nullable: true, description: "Its own limit of requests a minute; null is the gateway's." })
  rateLimitPerMin!: number | null;

  @Field(() => Int, { nullable: true, description: "Its own limit of orders created a minute; null is the gateway's." })
  ordersLimitPerMin!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: "Its own cap on orders that wait for their deposit; null is the gateway's.",
  })
  maxOpenOrders!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Its own cap on what fixed orders created within an hour are worth together, in US dollars; null is the gateway's.",
  })
  maxFixedExposureUsd!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Its own cap on what fixed orders created within a day are worth together, in US dollars; null is the gateway's, or that of an hour where it is higher.",
  })
  maxFixedDayUsd!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Its own cap on what float orders that wait or are between deposit and payout are worth together, in US dollars; null is the gateway's.",
  })
  maxFloatExposureUsd!: number | null;

  @Field(() => Boolean, {
    description:
      'Whether its fixed caps stay when its fixed orders cost more than they bring. Otherwise they fall to a tenth.',
  })
  keepsFixedCaps!: boolean;

  @Field(() => Boolean, { description: 'Whether order requests must be signed.' })
  requireSignature!: boolean;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was changed last.' })
  updatedAt!: Date;
}

@ObjectType('FixedResult', {
  description: 'What the fixed orders of a partner came to, by the market prices at the decision of each exchange.',
})
export class FixedResultType {
  @Field(() => Int, { description: 'Orders that were exchanged.' })
  orders!: number;

  @Field(() => Decimal, { description: 'What users sent, in US dollars.' })
  sentUsd!: string;

  @Field(() => Decimal, {
    nullable: true,
    description:
      'By how many basis points users were owed more than they sent, before fees, weighted by value. Near 0 when the market decides, above the fee when users pick the orders that they pay. Null without orders.',
  })
  adverseBps!: string | null;

  @Field(() => Decimal, {
    description:
      'What users were owed after the service fee less what they sent, in US dollars. Negative when we earned.',
  })
  lossUsd!: string;
}

@ObjectType('FixedResults', { description: 'How fixed orders of a partner went. A worker sums them up each minute.' })
export class FixedResultsType {
  @Field(() => FixedResultType, { description: 'Of the last 24 hours.' })
  day!: FixedResultType;

  @Field(() => FixedResultType, { description: 'Of the last 30 days.' })
  month!: FixedResultType;
}

@ObjectType('Pricing', { description: 'Service fees as fractions.' })
export class PricingType {
  @Field(() => Decimal, { description: 'On float orders.' })
  float!: string;

  @Field(() => Decimal, { description: 'On fixed orders.' })
  fixed!: string;
}

@ObjectType('IssuedKey', { description: 'A key at the one moment when it is whole. It cannot be read again.' })
export class IssuedKeyType {
  @Field(() => ID, { description: 'Public half of the key.' })
  keyId!: string;

  @Field(() => String, { description: 'The whole key. Give it to the partner over a safe channel.' })
  key!: string;
}

@InputType('PricingInput', {
  description: 'Service fees as fractions. What is absent stays; null goes back to the gateway.',
})
export class PricingInput {
  @Field(() => Decimal, { nullable: true, description: 'On float orders: 0.004.' })
  float?: string | null;

  @Field(() => Decimal, { nullable: true, description: 'On fixed orders.' })
  fixed?: string | null;
}

@InputType('LimitsInput', { description: 'Limits of a partner. What is absent stays; null goes back to the gateway.' })
export class LimitsInput {
  @Field(() => Int, { nullable: true, description: 'Requests a minute.' })
  requests?: number | null;

  @Field(() => Int, { nullable: true, description: 'Orders created a minute.' })
  orders?: number | null;

  @Field(() => Int, { nullable: true, description: 'Orders that may wait for their deposit.' })
  openOrders?: number | null;

  @Field(() => Int, { nullable: true, description: 'Worth of fixed orders created within an hour, in US dollars.' })
  fixedExposureUsd?: number | null;

  @Field(() => Int, { nullable: true, description: 'Worth of fixed orders created within a day, in US dollars.' })
  fixedDayUsd?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Worth of float orders that wait or are between deposit and payout, in US dollars.',
  })
  floatExposureUsd?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the fixed caps stay when fixed orders cost more than they bring; null is false.',
  })
  keepsFixedCaps?: boolean | null;
}

@InputType('KeyInput', { description: 'What a key is. What is absent stays, or is the default for a new key.' })
export class KeyInput {
  @Field(() => String, { nullable: true, description: 'What it is for.' })
  label?: string | null;

  @Field(() => [KeyScopeEnum], { nullable: true, description: 'What it may do; everything for a new key.' })
  scopes?: Parameters<typeof scopeOf>[0][] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Client networks that may use it, like 203.0.113.0/24; none means all.',
  })
  allowedCidrs?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ends; null for never.' })
  expiresAt?: Date | null;
}
