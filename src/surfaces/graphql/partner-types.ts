import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Partner, PartnerStatus } from '../../accounts/partners/partner.entity.ts';
import { PageInfoType } from './server/connection.ts';
import { KeyScopeEnum, PartnerStatusEnum, type scopeOf } from './server/enumerations.ts';
import { DateTime, Decimal } from './server/scalars.ts';

@ObjectType('ApiKey', {
  description: 'A key of a partner without its secret. The secret is shown once, when the key is issued.',
})
export class ApiKeyType {
  @Field(() => ID, { description: 'Public half of the key.' })
  keyId!: string;

  @Field(() => String, { description: 'Last four characters of the secret, so that people can tell keys apart.' })
  last4!: string;

  @Field(() => String, { description: 'Purpose of the key.' })
  label!: string;

  @Field(() => [String], { description: 'Client networks that may use the key; an empty list allows all.' })
  allowedCidrs!: string[];

  @Field(() => Int, {
    nullable: true,
    description: 'Markup of its quotes and creates that name none, in basis points; null for none.',
  })
  defaultMarkupBps!: number | null;

  @Field(() => DateTime, { description: 'When it was issued.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it expires.' })
  expiresAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was revoked.' })
  revokedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was last used, to the minute.' })
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

  @Field(() => Decimal, { nullable: true, description: "Its own service fee on float orders; null for the gateway's." })
  feeRateFloat!: string | null;

  @Field(() => Decimal, { nullable: true, description: "Its own service fee on fixed orders; null for the gateway's." })
  feeRateFixed!: string | null;

  @Field(() => Int, { nullable: true, description: "Its own limit of requests each minute; null for the gateway's." })
  rateLimitPerMin!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: "Its own limit of orders created each minute; null for the gateway's.",
  })
  ordersLimitPerMin!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: "Its own limit of lists of orders read each minute; null for the gateway's.",
  })
  listsLimitPerMin!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: "Its own cap on orders that wait for their deposit; null for the gateway's.",
  })
  maxOpenOrders!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Its own cap on the total value of fixed orders created within an hour, in US dollars; null for the gateway's.",
  })
  maxFixedExposureUsd!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Its own cap on the total value of fixed orders created within a day, in US dollars. Null for the gateway's, or for its own cap of an hour when that is higher.",
  })
  maxFixedDayUsd!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Its own cap on the total value of float orders that wait or are between deposit and payout, in US dollars; null for the gateway's.",
  })
  maxFloatExposureUsd!: number | null;

  @Field(() => Boolean, {
    description:
      'Whether its fixed caps stay when its fixed orders cost more than they earn. Otherwise they fall to a tenth.',
  })
  keepsFixedCaps!: boolean;

  @Field(() => Int, {
    nullable: true,
    description: "Its own largest markup in basis points; null for the gateway's.",
  })
  maxMarkupBps!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: "For how many seconds its binding quotes hold; null for the gateway's.",
  })
  quoteHoldSec!: number | null;

  @Field(() => Decimal, {
    nullable: true,
    description:
      'By how many basis points its used quotes of 24 hours exceeded the market, weighted by value. A worker updates it each minute. Null without such quotes.',
  })
  quoteAdverseBps!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Since when that is above its fixed fee, so that its fixed quotes hold for 15 seconds.',
  })
  quoteCutSince!: Date | null;

  @Field(() => Boolean, { description: 'Whether order requests must be signed.' })
  requireSignature!: boolean;

  @Field(() => Boolean, { description: 'Whether everyone who knows the id of an order may read its status.' })
  publicStatus!: boolean;

  @Field(() => Boolean, { description: 'Whether its orders have a page for the users who pay them.' })
  orderPage!: boolean;

  @Field(() => String, { nullable: true, description: 'What the order page calls it; null without a page.' })
  displayName!: string | null;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it last changed.' })
  updatedAt!: Date;
}

@ObjectType('FixedResult', {
  description: "Results of a partner's fixed orders, at the market prices when each exchange was decided.",
})
class FixedResultType {
  @Field(() => Int, { description: 'Orders that were exchanged.' })
  orders!: number;

  @Field(() => Decimal, { description: 'Value of the deposits, in US dollars.' })
  sentUsd!: string;

  @Field(() => Decimal, {
    nullable: true,
    description:
      'By how many basis points the owed value exceeds the deposited value, before fees, weighted by value. Near 0 when the market decides, above the fee when users pick the orders that they pay. Null without orders.',
  })
  adverseBps!: string | null;

  @Field(() => Decimal, {
    description:
      'Value owed to users after the service fee minus value deposited, in US dollars. Negative when the gateway earned.',
  })
  lossUsd!: string;
}

@ObjectType('FixedResults', { description: "Results of a partner's fixed orders. A worker updates them each minute." })
export class FixedResultsType {
  @Field(() => FixedResultType, { description: 'Of the last 24 hours.' })
  day!: FixedResultType;

  @Field(() => FixedResultType, { description: 'Of the last 30 days.' })
  month!: FixedResultType;
}

@ObjectType('Exposure', {
  description: "What a partner's orders take of its caps, as the next order would find it. Amounts are US dollars.",
})
export class ExposureType {
  @Field(() => Int, { description: 'Orders that wait for their deposit, and cancels beyond their bound.' })
  orders!: number;

  @Field(() => Int, { description: 'Cap of the orders that wait.' })
  ordersCap!: number;

  @Field(() => Decimal, { description: 'Value of the fixed orders created within an hour.' })
  fixedHourUsd!: string;

  @Field(() => Decimal, { description: 'Cap of the fixed orders of an hour.' })
  fixedHourCapUsd!: string;

  @Field(() => Decimal, { description: 'Value of the fixed orders created within a day.' })
  fixedDayUsd!: string;

  @Field(() => Decimal, { description: 'Cap of the fixed orders of a day.' })
  fixedDayCapUsd!: string;

  @Field(() => Decimal, { description: 'Value of the float orders that wait, or are between deposit and payout.' })
  floatUsd!: string;

  @Field(() => Decimal, { description: 'Cap of these float orders.' })
  floatCapUsd!: string;

  @Field(() => Boolean, { description: 'Whether its fixed caps are lower because its fixed orders lose money.' })
  areFixedCapsCut!: boolean;
}

@ObjectType('KeyRefusals', {
  description: 'Requests with a key that were refused in the last 24 hours. The counts are seconds late.',
})
export class KeyRefusalsType {
  @Field(() => Int, { description: 'Answers 400 to 499 but 429.' })
  refused!: number;

  @Field(() => Int, { description: 'Answers 429, beyond a rate limit.' })
  limited!: number;
}

@ObjectType('PartnerEdge', { description: 'A partner in a list.' })
class PartnerEdgeType {
  @Field(() => String, { description: 'Cursor of the partner.' })
  cursor!: string;

  @Field(() => PartnerType, { description: 'The partner.' })
  node!: Partner;
}

@ObjectType('PartnerConnection', { description: 'A page of partners.' })
export class PartnerConnectionType {
  @Field(() => [PartnerEdgeType], { description: 'The partners.' })
  edges!: PartnerEdgeType[];

  @Field(() => PageInfoType, { description: 'Position of the page.' })
  pageInfo!: PageInfoType;
}

@ObjectType('Pricing', { description: 'Service fees as fractions.' })
export class PricingType {
  @Field(() => Decimal, { description: 'On float orders.' })
  float!: string;

  @Field(() => Decimal, { description: 'On fixed orders.' })
  fixed!: string;
}

@ObjectType('Limits', { description: 'Limits in force: those of the partner, else those of the gateway.' })
export class LimitsType {
  @Field(() => Int, { description: 'Requests each minute.' })
  requests!: number;

  @Field(() => Int, { description: 'Orders created each minute.' })
  orders!: number;

  @Field(() => Int, { description: 'Lists of orders read each minute.' })
  lists!: number;

  @Field(() => Int, { description: 'Binding quotes each minute. Partners have no own one.' })
  quotes!: number;

  @Field(() => Int, { description: 'Validations of addresses and orders each minute. Partners have no own one.' })
  validations!: number;

  @Field(() => Int, { description: 'Changes of orders each minute. Partners have no own one.' })
  changes!: number;

  @Field(() => Int, { description: 'Orders that may wait for their deposit.' })
  openOrders!: number;

  @Field(() => Int, { description: 'Total value of fixed orders created within an hour, in US dollars.' })
  fixedExposureUsd!: number;

  @Field(() => Int, { description: 'Total value of fixed orders created within a day, in US dollars.' })
  fixedDayUsd!: number;

  @Field(() => Int, {
    description: 'Total value of float orders that wait or are between deposit and payout, in US dollars.',
  })
  floatExposureUsd!: number;

  @Field(() => Int, { description: 'Largest markup in basis points.' })
  markupBps!: number;

  @Field(() => Int, { description: 'For how many seconds binding quotes hold.' })
  quoteHoldSec!: number;
}

@ObjectType('IssuedKey', { description: 'A new key with its secret. It cannot be read again.' })
export class IssuedKeyType {
  @Field(() => ID, { description: 'Public half of the key.' })
  keyId!: string;

  @Field(() => String, { description: 'The whole key. Give it to the partner over a safe channel.' })
  key!: string;
}

@InputType('PricingInput', {
  description: "Service fees as fractions. An absent one stays as it is; null restores the gateway's.",
})
export class PricingInput {
  @Field(() => Decimal, { nullable: true, description: 'On float orders: 0.004.' })
  float?: string | null;

  @Field(() => Decimal, { nullable: true, description: 'On fixed orders.' })
  fixed?: string | null;
}

@InputType('LimitsInput', {
  description: "Limits of a partner. An absent one stays as it is; null restores the gateway's.",
})
export class LimitsInput {
  @Field(() => Int, { nullable: true, description: 'Requests each minute.' })
  requests?: number | null;

  @Field(() => Int, { nullable: true, description: 'Orders created each minute.' })
  orders?: number | null;

  @Field(() => Int, { nullable: true, description: 'Lists of orders read each minute.' })
  lists?: number | null;

  @Field(() => Int, { nullable: true, description: 'Orders that may wait for their deposit.' })
  openOrders?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Total value of fixed orders created within an hour, in US dollars.',
  })
  fixedExposureUsd?: number | null;

  @Field(() => Int, { nullable: true, description: 'Total value of fixed orders created within a day, in US dollars.' })
  fixedDayUsd?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Total value of float orders that wait or are between deposit and payout, in US dollars.',
  })
  floatExposureUsd?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the fixed caps stay when fixed orders cost more than they earn; null counts as false.',
  })
  keepsFixedCaps?: boolean | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Largest markup in basis points, 0 to 500. It is at least the default markup of each valid key.',
  })
  markupBps?: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "For how many seconds binding quotes hold, 15 to 300. More than the gateway's needs a fixed fee above the gateway's.",
  })
  quoteHoldSec?: number | null;
}

@InputType('PartnerChangesInput', {
  description: 'What becomes different of a partner. What is absent or null stays as it is.',
})
export class PartnerChangesInput {
  @Field(() => String, { nullable: true, description: 'Name, 1 to 200 characters.' })
  name?: string | null;

  @Field(() => PartnerStatusEnum, {
    nullable: true,
    description: 'Whether it may use the API. Orders under way continue.',
  })
  status?: PartnerStatus | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether its order requests must be signed.' })
  requireSignature?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether everyone who knows the id of one of its orders can read the status of that order.',
  })
  publicStatus?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether its orders have a page for the users who pay them; false closes all pages.',
  })
  orderPage?: boolean | null;

  @Field(() => String, { nullable: true, description: 'What the page calls the partner, 1 to 60 characters.' })
  displayName?: string | null;

  @Field(() => PricingInput, { nullable: true, description: 'Its service fees; needs partners:price.' })
  pricing?: PricingInput | null;

  @Field(() => LimitsInput, { nullable: true, description: 'Its limits; needs partners:price.' })
  limits?: LimitsInput | null;
}

@InputType('KeyInput', {
  description: 'Properties of a key. An absent one stays as it is, or is the default for a new key.',
})
export class KeyInput {
  @Field(() => String, { nullable: true, description: 'Purpose of the key.' })
  label?: string | null;

  @Field(() => [KeyScopeEnum], {
    nullable: true,
    description: 'Permissions of the key; by default all but `orders_manage`.',
  })
  scopes?: Parameters<typeof scopeOf>[0][] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Client networks that may use the key, like 203.0.113.0/24; an empty list allows all.',
  })
  allowedCidrs?: string[] | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Markup of quotes and creates that name none, in basis points; null for none.',
  })
  defaultMarkupBps?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When it expires; null for never.' })
  expiresAt?: Date | null;
}
