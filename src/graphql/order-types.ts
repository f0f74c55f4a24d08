import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { Order } from '../orders/order.entity.ts';
import type { OrderStatus } from '../orders/order-status.ts';
import type { RateType } from '../rates/quote.ts';
import type { OrderFilter, OrderSorting } from '../reports/order-search.ts';
import { PageInfoType } from './connection.ts';
import { OrderCauseEnum, OrderStatusEnum, RateTypeEnum } from './enumerations.ts';
import { DateTime, Decimal } from './scalars.ts';

@ObjectType('OrderEvent', { description: 'One move of an order. Never changed or removed.' })
export class OrderEventType {
  @Field(() => Int, { description: 'Counts from 1 without a gap.' })
  seq!: number;

  @Field(() => DateTime, { description: 'When.' })
  at!: Date;

  @Field(() => OrderStatusEnum, { nullable: true, description: 'Status before; null for the creation.' })
  fromStatus!: OrderStatus | null;

  @Field(() => OrderStatusEnum, { description: 'Status since then.' })
  toStatus!: OrderStatus;

  @Field(() => OrderCauseEnum, { description: 'Why.' })
  cause!: string;

  @Field(() => String, { description: "Who: 'partner:<id>', 'staff:<id>' or 'system'." })
  actor!: string;

  @Field(() => String, { nullable: true, description: 'What people should know of it: the reason that staff gave.' })
  detail!: string | null;
}

@ObjectType('OrderNote', { description: 'What a member of staff wrote about an order.' })
export class OrderNoteType {
  @Field(() => ID, { description: 'Id of the note.' })
  id!: string;

  @Field(() => DateTime, { description: 'When.' })
  at!: Date;

  @Field(() => String, { description: 'The note.' })
  text!: string;
}

@ObjectType('OrderTerms', { description: 'What an order was quoted when it was created.' })
export class OrderTermsType {
  @Field(() => Decimal, { description: 'Net units of the coin that goes, for one of the coin that comes.' })
  rate!: string;

  @Field(() => Decimal, { description: 'Service fee as a fraction: 0.005 is half a percent.' })
  feeRate!: string;

  @Field(() => Decimal, { description: 'Service fee, in units of the coin that goes.' })
  serviceFee!: string;

  @Field(() => Decimal, { description: 'Network fee, in units of the coin that goes.' })
  networkFee!: string;

  @Field(() => Decimal, { nullable: true, description: 'Smallest amount, in units of the coin that comes.' })
  minAmount!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Largest amount, in units of the coin that comes.' })
  maxAmount!: string | null;
}

@ObjectType('OrderHold', { description: 'A hold: the order does not go on, and no payment of it goes out.' })
export class OrderHoldType {
  @Field(() => DateTime, { description: 'Since when.' })
  since!: Date;

  @Field(() => String, { description: "Why: 'staff', whose words are in actions, or what the gateway found." })
  reason!: string;
}

@ObjectType('Order', { description: 'An exchange order.' })
export class OrderType {
  @Field(() => ID, { description: 'Id of the order.' })
  id!: string;

  @Field(() => String, { description: 'The id that people read to each other.' })
  shortId!: string;

  @Field(() => OrderStatusEnum, { description: 'Where it stands.' })
  status!: OrderStatus;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When its deposit window ends.' })
  expiresAt!: Date;

  @Field(() => DateTime, { description: 'When it changed last.' })
  updatedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When something is due; null while it rests.' })
  nextActionAt!: Date | null;

  @Field(() => String, { description: 'Coin that comes.' })
  coinFrom!: string;

  @Field(() => String, { description: 'Network that it comes on.' })
  networkFrom!: string;

  @Field(() => String, { description: 'Coin that goes.' })
  coinTo!: string;

  @Field(() => String, { description: 'Network that it goes on.' })
  networkTo!: string;

  @Field(() => RateTypeEnum, { description: 'When its rate is decided.' })
  rateType!: RateType;

  @Field(() => Decimal, { description: 'What should come.' })
  amountFromExpected!: string;

  @Field(() => Decimal, { description: 'What should go.' })
  amountToExpected!: string;

  @Field(() => Decimal, { nullable: true, description: 'What was exchanged; null before that.' })
  amountFromActual!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'What was bought for the user; null before that.' })
  amountToActual!: string | null;

  @Field(() => String, { description: 'Address that the payout goes to.' })
  recipientAddress!: string;

  @Field(() => String, { nullable: true, description: 'Its tag or memo.' })
  recipientAddressTag!: string | null;

  @Field(() => String, { nullable: true, description: 'Address that a refund goes to.' })
  refundAddress!: string | null;

  @Field(() => String, { nullable: true, description: 'Its tag or memo.' })
  refundAddressTag!: string | null;

  @Field(() => String, { nullable: true, description: 'Transaction of the deposit.' })
  depositTxid!: string | null;

  @Field(() => Int, { nullable: true, description: 'Its confirmations.' })
  depositConfirmations!: number | null;

  @Field(() => Int, { description: 'Confirmations that it needs.' })
  depositConfirmationsRequired!: number;

  @Field(() => String, { nullable: true, description: 'Transaction of the payout, once it is on its chain.' })
  payoutTxid!: string | null;
}

@ObjectType('OrderEdge', { description: 'An order in a list.' })
export class OrderEdgeType {
  @Field(() => String, { description: 'Where it lies in the list.' })
  cursor!: string;

  @Field(() => OrderType, { description: 'The order.' })
  node!: Order;
}

@ObjectType('OrderCount', { description: 'How many there are.' })
export class OrderCountType {
  @Field(() => Int, { description: 'How many were counted.' })
  value!: number;

  @Field(() => Boolean, { description: 'False when counting stopped at its limit of 10,000.' })
  isExact!: boolean;
}

@ObjectType('OrderConnection', { description: 'A page of orders.' })
export class OrderConnectionType {
  @Field(() => [OrderEdgeType], { description: 'The orders.' })
  edges!: OrderEdgeType[];

  @Field(() => PageInfoType, { description: 'Where the page lies.' })
  pageInfo!: PageInfoType;

  /** Kept to count by, when the count is asked for. */
  filter!: OrderFilter;
}

@InputType('OrderFilter', { description: 'Which orders. Everything that is given must hold.' })
export class OrderFilterInput {
  @Field(() => [OrderStatusEnum], { nullable: true, description: 'In one of these.' })
  statuses?: OrderStatus[] | null;

  @Field(() => ID, { nullable: true, description: 'Of this partner.' })
  partnerId?: string | null;

  @Field(() => String, { nullable: true, description: 'With this coin on either side.' })
  coin?: string | null;

  @Field(() => String, { nullable: true, description: 'With this coin that comes.' })
  coinFrom?: string | null;

  @Field(() => String, { nullable: true, description: 'On this network.' })
  networkFrom?: string | null;

  @Field(() => String, { nullable: true, description: 'With this coin that goes.' })
  coinTo?: string | null;

  @Field(() => String, { nullable: true, description: 'On this network.' })
  networkTo?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Created then or later.' })
  createdFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Created before then.' })
  createdTo?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Changed then or later.' })
  updatedFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Changed before then.' })
  updatedTo?: Date | null;

  @Field(() => Decimal, {
    nullable: true,
    description: 'Of at least this much, in units of coinFrom, which must be given as well.',
  })
  minAmount?: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Of at most this much.' })
  maxAmount?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Those that `attention` has an item about.',
  })
  needsAttention?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Held.' })
  heldOnly?: boolean | null;

  @Field(() => String, {
    nullable: true,
    description: 'Beginning of an order id, a short id, a transaction hash or an address; at least 4 characters.',
  })
  search?: string | null;
}

/** How a list of orders is sorted. */
const OrderSort = { CREATED_AT: 'created', UPDATED_AT: 'updated' } as const;
registerEnumType(OrderSort, {
  name: 'OrderSort',
  description: 'What a list of orders is sorted by.',
  valuesConfig: { CREATED_AT: { description: 'When created.' }, UPDATED_AT: { description: 'When changed last.' } },
});

const SortDirection = { ASC: 'asc', DESC: 'desc' } as const;
registerEnumType(SortDirection, {
  name: 'SortDirection',
  description: 'Which end comes first.',
  valuesConfig: { ASC: { description: 'Oldest first.' }, DESC: { description: 'Newest first.' } },
});

@InputType('OrderOrder', { description: 'How a list of orders is sorted.' })
export class OrderOrderInput {
  @Field(() => OrderSort, { defaultValue: 'created', description: 'By what.' })
  field!: OrderSorting['field'];

  @Field(() => SortDirection, { defaultValue: 'desc', description: 'Which end first.' })
  direction!: OrderSorting['direction'];
}

@InputType('RefundInput', { description: 'A refund to an address.' })
export class RefundInput {
  @Field(() => ID, { nullable: true, description: 'The order.' })
  orderId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: "One of its deposits instead of the order's own, or a deposit of no order.",
  })
  depositId?: string | null;

  @Field(() => String, { description: "Address on the deposit's network." })
  address!: string;

  @Field(() => String, { nullable: true, description: 'Its tag or memo.' })
  tag?: string | null;
}
