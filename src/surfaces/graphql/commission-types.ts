import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { CommissionEntry, CommissionEntryKind } from '../../settlement/rows/commission-entry.entity.ts';
import type {
  CommissionFigures,
  CommissionState,
  CommissionStatement,
} from '../../settlement/rows/commission-statement.entity.ts';
import { PageInfoType } from './server/connection.ts';
import { enumOf } from './server/enums.ts';
import { DateTime, Decimal } from './server/scalars.ts';

export const CommissionStateEnum = enumOf<CommissionState>('CommissionState', "State of a partner's month.", {
  open: 'Entries are still added.',
  closed: 'Nothing is due, because the balance is not positive.',
  rolled: 'The balance is below the minimum, and counts in the next month.',
  payable: 'It is to be paid.',
  paid: 'It was paid.',
});

export const CommissionEntryKindEnum = enumOf<CommissionEntryKind>(
  'CommissionEntryKind',
  "Kind of an entry of a partner's commission.",
  {
    accrual: 'The markup of a completed order.',
    conversion: 'One of two entries, out of one asset and into another.',
    correction: 'Two members of staff decided it.',
    payment: 'The payment of an earlier month.',
  },
);

/** The asset of what a type tells, or that an input names. */
@ObjectType()
@InputType()
abstract class OfAsset {
  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { description: 'Network of the coin.' })
  network!: string;
}

/** An input about what a partner is paid. */
@InputType()
abstract class OfPartner extends OfAsset {
  @Field(() => ID, { description: 'The partner.' })
  partnerId!: string;
}

@ObjectType('CommissionFigures', {
  description: 'A month in one asset. Positive amounts are owed to the partner, except `paid`.',
})
export class CommissionFiguresType extends OfAsset implements CommissionFigures {
  @Field(() => Decimal, { description: 'What was owed at its beginning.' })
  opening!: string;

  @Field(() => Decimal, { description: 'The markups of orders.' })
  accrued!: string;

  @Field(() => Decimal, { description: 'What conversions added; negative for what they took.' })
  converted!: string;

  @Field(() => Decimal, { description: 'What corrections added; negative for what they took.' })
  corrected!: string;

  @Field(() => Decimal, { description: 'What was paid in the month, for earlier ones.' })
  paid!: string;

  @Field(() => Decimal, { description: 'What is owed at its end; in an open month, what is owed now.' })
  closing!: string;
}

@ObjectType('CommissionMonth', {
  description:
    "A month of a partner's commission, in the asset in which it is settled. Its figures do not change once it is closed.",
})
export class CommissionMonthType extends OfAsset {
  @Field(() => CommissionStateEnum, { description: 'State of the month.' })
  state!: CommissionState;

  @Field(() => DateTime, { nullable: true, description: 'When it was closed.' })
  closedAt!: Date | null;

  @Field(() => String, { nullable: true, description: 'SHA-256 of the CSV of its entries, in hex.' })
  sha256!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'What is paid for it, network fee included.' })
  due!: string | null;

  @Field(() => Int, { description: 'Payments that were decided for it.' })
  attempts!: number;

  @Field(() => String, { nullable: true, description: "Why it is not paid yet: 'no_address', 'partner_inactive'." })
  problem!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when a member holds its payment.' })
  heldAt!: Date | null;

  @Field(() => String, { nullable: true, description: 'Why a member holds it.' })
  holdReason!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When two members decided to pay it in spite of a problem.' })
  approvedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was paid.' })
  paidAt!: Date | null;
}

@ObjectType('CommissionMonthEdge', { description: 'A month of a partner in a list.' })
export class CommissionMonthEdgeType {
  @Field(() => String, { description: 'Cursor of the month.' })
  cursor!: string;

  @Field(() => CommissionMonthType, { description: 'The month.' })
  node!: CommissionStatement;
}

@ObjectType('CommissionMonthConnection', { description: 'A page of months of partners.' })
export class CommissionMonthConnectionType {
  @Field(() => [CommissionMonthEdgeType], { description: 'The months.' })
  edges!: CommissionMonthEdgeType[];

  @Field(() => PageInfoType, { description: 'Position of the page.' })
  pageInfo!: PageInfoType;
}

@ObjectType('CommissionEntry', { description: "A change of a partner's commission. It never changes." })
export class CommissionEntryType extends OfAsset {
  @Field(() => ID, { description: 'Id of the entry.' })
  id!: string;

  @Field(() => DateTime, { description: 'When it was booked.' })
  at!: Date;

  @Field(() => CommissionEntryKindEnum, { description: 'Its kind.' })
  kind!: CommissionEntryKind;

  @Field(() => Decimal, { description: 'Positive for the partner.' })
  amount!: string;

  @Field(() => String, { nullable: true, description: 'Coin that was converted into the amount.' })
  fromCoin!: string | null;

  @Field(() => String, { nullable: true, description: 'Network of that coin.' })
  fromNetwork!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'How much of it was converted.' })
  fromAmount!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Its price in US dollars at the conversion.' })
  fromPrice!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'The price of the coin of the amount then.' })
  price!: string | null;

  @Field(() => ID, { nullable: true, description: 'The entry that a correction is about.' })
  corrects!: string | null;

  @Field(() => String, { nullable: true, description: 'Reason of a correction.' })
  reason!: string | null;
}

@ObjectType('CommissionEntryEdge', { description: 'An entry in a list.' })
export class CommissionEntryEdgeType {
  @Field(() => String, { description: 'Cursor of the entry.' })
  cursor!: string;

  @Field(() => CommissionEntryType, { description: 'The entry.' })
  node!: CommissionEntry;
}

@ObjectType('CommissionEntryConnection', { description: 'A page of entries.' })
export class CommissionEntryConnectionType {
  @Field(() => [CommissionEntryEdgeType], { description: 'The entries.' })
  edges!: CommissionEntryEdgeType[];

  @Field(() => PageInfoType, { description: 'Position of the page.' })
  pageInfo!: PageInfoType;
}

@ObjectType('CommissionAddress', { description: 'An address to which a partner is paid its commission.' })
export class CommissionAddressType extends OfAsset {
  @Field(() => ID, { description: 'Id of the address.' })
  id!: string;

  @Field(() => String, { description: 'The address.' })
  address!: string;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the address.' })
  tag!: string | null;

  @Field(() => Boolean, { description: 'Whether nothing is paid to the address in effect while this one waits.' })
  oldIsLost!: boolean;

  @Field(() => String, { nullable: true, description: 'The member of the partner who requested it; null for staff.' })
  requestedBy!: string | null;

  @Field(() => DateTime, { description: 'When it was requested.' })
  requestedAt!: Date;

  @Field(() => DateTime, { description: 'From when it may take effect.' })
  effectiveAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it took effect; null while it waits.' })
  tookEffectAt!: Date | null;
}

@ObjectType('PartnerCommission', { description: 'The commission of one partner.' })
export class PartnerCommissionType {}

@ObjectType('CommissionTotal', { description: 'What all partners together earned and were paid in a month.' })
export class CommissionTotalType extends OfAsset {
  @Field(() => String, { description: "The month: '2026-11'." })
  month!: string;

  @Field(() => Decimal, { description: 'The markups of orders.' })
  accrued!: string;

  @Field(() => Decimal, { description: 'What corrections added; negative for what they took.' })
  corrected!: string;

  @Field(() => Decimal, { description: 'What was paid in the month, for earlier ones.' })
  paid!: string;

  @Field(() => Decimal, {
    nullable: true,
    description: 'US dollars for one coin now, to compare months. It is not the price of the month. Null without one.',
  })
  priceUsd!: string | null;
}

@InputType('CommissionCorrection', { description: "A correction of a partner's commission." })
export class CommissionCorrectionInput extends OfPartner {
  @Field(() => Decimal, { description: 'Positive for the partner, negative to take from it.' })
  amount!: string;

  @Field(() => ID, { nullable: true, description: 'The entry of the partner that the correction is about.' })
  corrects?: string | null;
}

@InputType('CommissionAddressRequest', { description: "Another address of a partner's commission." })
export class CommissionAddressInput extends OfPartner {
  @Field(() => String, { description: 'The address.' })
  address!: string;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the address.' })
  tag?: string | null;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'The partner has lost the address in effect: nothing is paid to it while this one waits.',
  })
  oldIsLost?: boolean;
}
