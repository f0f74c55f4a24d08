import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { RateType } from '../../market/rates/quote.ts';
import type { Order } from '../../orders/order.entity.ts';
import type { OrderStatus } from '../../orders/order-status.ts';
import type { OrderFilter } from '../../orders/read/order-filter.ts';
import type { OrderSorting } from '../../orders/read/order-walk.ts';
import { PageInfoType } from './server/connection.ts';
import { OrderCauseEnum, OrderStatusEnum, RateTypeEnum } from './server/enumerations.ts';
import { DateTime, Decimal } from './server/scalars.ts';

@ObjectType('OrderEvent', { description: 'One status change of an order. Never changed or removed.' })
export class OrderEventType {
  @Field(() => Int, { description: 'Counts from 1 without a gap.' })
  seq!: number;

  @Field(() => DateTime, { description: 'Time of the change.' })
  at!: Date;

  @Field(() => OrderStatusEnum, { nullable: true, description: 'Status before; null for the creation.' })
  fromStatus!: OrderStatus | null;

  @Field(() => OrderStatusEnum, { description: 'Status after the change.' })
  toStatus!: OrderStatus;

  @Field(() => OrderCauseEnum, { description: 'Cause of the change.' })
  cause!: string;

  @Field(() => String, { description: "Who: 'partner:<id>', 'staff:<id>' or 'system'." })
  actor!: string;

  @Field(() => String, { nullable: true, description: 'A note for people: the reason that staff gave.' })
  detail!: string | null;
}

@ObjectType('OrderQuestion', {
  description: 'A question to the partner about a deposit: `ask` of the policies of its order. It ends once.',
})
export class OrderQuestionType {
  @Field(() => Int, { description: 'Number of the event that asked.' })
  seq!: number;

  @Field(() => String, { description: "Why: 'late', 'underpaid', 'overpaid' or 'price_moved'." })
  reason!: string;

  @Field(() => Decimal, { description: 'What arrived, in units of coinFrom.' })
  amount!: string;

  @Field(() => Decimal, { description: 'The part of it that would be exchanged.' })
  amountFrom!: string;

  @Field(() => DateTime, { description: 'Time of the question.' })
  askedAt!: Date;

  @Field(() => DateTime, { description: 'When the deposit is refunded without an answer.' })
  deadline!: Date;

  @Field(() => String, {
    nullable: true,
    description: "'exchange' or 'refund' by the partner, 'deadline', or 'deposit_lost'; null while it is open.",
  })
  outcome!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ended.' })
  endedAt!: Date | null;

  @Field(() => String, { nullable: true, description: "Who ended it: 'partner:<id>' or 'system'." })
  actor!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'The payout of the exchange that the partner chose.' })
  amountTo!: string | null;
}

@ObjectType('OrderNote', { description: 'A note of staff about an order.' })
export class OrderNoteType {
  @Field(() => ID, { description: 'Id of the note.' })
  id!: string;

  @Field(() => DateTime, { description: 'Time of the note.' })
  at!: Date;

  @Field(() => String, { description: 'The note.' })
  text!: string;
}

@ObjectType('OrderTerms', { description: 'The quote of an order at its creation.' })
export class OrderTermsType {
  @Field(() => Decimal, { description: 'Net units of the destination coin for one unit of the source coin.' })
  rate!: string;

  @Field(() => Decimal, { description: 'Service fee as a fraction: 0.005 is half a percent.' })
  feeRate!: string;

  @Field(() => Decimal, { description: 'Service fee, in units of the destination coin.' })
  serviceFee!: string;

  @Field(() => Decimal, { description: 'Network fee, in units of the destination coin.' })
  networkFee!: string;

  @Field(() => Decimal, { nullable: true, description: 'Smallest amount, in units of the source coin.' })
  minAmount!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Largest amount, in units of the source coin.' })
  maxAmount!: string | null;
}

@ObjectType('OrderMetadata', { description: 'A note that the partner keeps with its order.' })
export class OrderMetadataType {
  @Field(() => String, { description: 'Key.' })
  key!: string;

  @Field(() => String, { description: 'Value.' })
  value!: string;
}

@ObjectType('OrderPolicy', {
  description: 'What the partner chose for unusual deposits; null where it chose nothing.',
})
export class OrderPolicyType {
  @Field(() => String, { nullable: true, description: "'refund', 'market' or 'ask'." })
  onLate!: string | null;

  @Field(() => String, { nullable: true, description: "'exchange', 'refund' or 'ask'." })
  onUnderpaid!: string | null;

  @Field(() => String, { nullable: true, description: "'refund_excess', 'refund_all' or 'ask'." })
  onOverpaid!: string | null;

  @Field(() => String, { nullable: true, description: "'refund' or 'ask'." })
  onPriceMoved!: string | null;
}

@ObjectType('OrderQuote', {
  description:
    'The binding quote that an order used. Amounts are those of the quote, in units of the destination coin.',
})
export class OrderQuoteType {
  @Field(() => String, { description: 'The 64 random bits of the quote, as 16 hexadecimal digits.' })
  nonce!: string;

  @Field(() => Decimal, { description: 'Price of a unit of the source coin before fees.' })
  mid!: string;

  @Field(() => Decimal, { description: 'Service fee without the markup.' })
  serviceFee!: string;

  @Field(() => Decimal, { description: 'Markup of the partner.' })
  markup!: string;

  @Field(() => Decimal, { description: 'Network fee.' })
  networkFee!: string;

  @Field(() => Decimal, {
    nullable: true,
    description: 'By how many basis points a fixed quote exceeded the market when the order was created.',
  })
  adverseBps!: string | null;
}

@ObjectType('MarkupAccrual', { description: 'The markup that an order earned its partner, as it is in the ledger.' })
export class MarkupAccrualType {
  @Field(() => DateTime, { description: 'Time of the journal entry.' })
  at!: Date;

  @Field(() => Decimal, { description: 'Amount.' })
  amount!: string;

  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;
}

@ObjectType('OrderMarkup', { description: "The partner's part of the fee of an order." })
export class OrderMarkupType {
  @Field(() => Int, { description: 'Basis points.' })
  bps!: number;

  @Field(() => Decimal, {
    description: 'Of what was exchanged, or of the quote before the exchange, in units of the destination coin.',
  })
  amount!: string;
}

@ObjectType('OrderHold', { description: 'A hold. A held order takes no further step and sends no payment.' })
export class OrderHoldType {
  @Field(() => DateTime, { description: 'Since when.' })
  since!: Date;

  @Field(() => String, { description: "'staff', whose reason is in actions, or the finding of the gateway." })
  reason!: string;
}

@ObjectType('Order', { description: 'An exchange order.' })
export class OrderType {
  @Field(() => ID, { description: 'Id of the order.' })
  id!: string;

  @Field(() => String, { description: 'Short identifier for people.' })
  shortId!: string;

  @Field(() => OrderStatusEnum, { description: 'Status of the order.' })
  status!: OrderStatus;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When its deposit window ends.' })
  expiresAt!: Date;

  @Field(() => DateTime, { description: 'When it last changed.' })
  updatedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When its next step is due; null while nothing is due.' })
  nextActionAt!: Date | null;

  @Field(() => String, { description: 'Source coin.' })
  coinFrom!: string;

  @Field(() => String, { description: 'Source network.' })
  networkFrom!: string;

  @Field(() => String, { description: 'Destination coin.' })
  coinTo!: string;

  @Field(() => String, { description: 'Destination network.' })
  networkTo!: string;

  @Field(() => RateTypeEnum, { description: 'Whether the rate is fixed at creation or floats.' })
  rateType!: RateType;

  @Field(() => Decimal, { description: 'Amount to be deposited.' })
  amountFromExpected!: string;

  @Field(() => Decimal, { description: 'Amount to be paid out.' })
  amountToExpected!: string;

  @Field(() => Decimal, { nullable: true, description: 'Amount that was exchanged; null before the exchange.' })
  amountFromActual!: string | null;

  @Field(() => Decimal, {
    nullable: true,
    description: 'Amount that was bought for the user; null before the exchange.',
  })
  amountToActual!: string | null;

  @Field(() => String, { description: 'Address that receives the payout.' })
  recipientAddress!: string;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the recipient.' })
  recipientAddressTag!: string | null;

  @Field(() => String, { nullable: true, description: 'Address that receives a refund.' })
  refundAddress!: string | null;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the refund address.' })
  refundAddressTag!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the partner set the refund address, if that was after the creation.',
  })
  refundAddressSetAt!: Date | null;

  @Field(() => String, { nullable: true, description: 'Transaction of the deposit.' })
  depositTxid!: string | null;

  @Field(() => Int, { nullable: true, description: 'Its confirmations.' })
  depositConfirmations!: number | null;

  @Field(() => Int, { description: 'Confirmations that the deposit needs.' })
  depositConfirmationsRequired!: number;

  @Field(() => String, { nullable: true, description: 'Transaction of the payout, once it is on its chain.' })
  payoutTxid!: string | null;
}

@ObjectType('OrderEdge', { description: 'An order in a list.' })
class OrderEdgeType {
  @Field(() => String, { description: 'Cursor of the order.' })
  cursor!: string;

  @Field(() => OrderType, { description: 'The order.' })
  node!: Order;
}

@ObjectType('OrderCount', { description: 'A number of orders.' })
export class OrderCountType {
  @Field(() => Int, { description: 'Number of counted orders.' })
  value!: number;

  @Field(() => Boolean, { description: 'False when counting stopped at its limit of 10,000.' })
  isExact!: boolean;
}

@ObjectType('OrderConnection', { description: 'A page of orders.' })
export class OrderConnectionType {
  @Field(() => [OrderEdgeType], { description: 'The orders.' })
  edges!: OrderEdgeType[];

  @Field(() => PageInfoType, { description: 'Position of the page.' })
  pageInfo!: PageInfoType;

  /** The filter of the page, for the count of all pages. */
  filter!: OrderFilter;
}

@InputType('OrderFilter', { description: 'Conditions on orders. An order must meet all given ones.' })
export class OrderFilterInput {
  @Field(() => [OrderStatusEnum], { nullable: true, description: 'In one of these statuses.' })
  statuses?: OrderStatus[] | null;

  @Field(() => ID, { nullable: true, description: 'Orders of this partner.' })
  partnerId?: string | null;

  @Field(() => String, { nullable: true, description: 'Orders with this source or destination coin.' })
  coin?: string | null;

  @Field(() => String, { nullable: true, description: 'Orders with this source coin.' })
  coinFrom?: string | null;

  @Field(() => String, { nullable: true, description: 'Orders with this source network.' })
  networkFrom?: string | null;

  @Field(() => String, { nullable: true, description: 'Orders with this destination coin.' })
  coinTo?: string | null;

  @Field(() => String, { nullable: true, description: 'Orders with this destination network.' })
  networkTo?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Created at this time or later.' })
  createdFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Created before this time.' })
  createdTo?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Changed at this time or later.' })
  updatedFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Changed before this time.' })
  updatedTo?: Date | null;

  @Field(() => Decimal, {
    nullable: true,
    description: 'Orders of at least this amount, in units of coinFrom, which is then required.',
  })
  minAmount?: string | null;

  @Field(() => Decimal, { nullable: true, description: 'Orders of at most this amount.' })
  maxAmount?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Orders that have an item in `attention`.',
  })
  needsAttention?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Held.' })
  heldOnly?: boolean | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Beginning of an order id, a short id, an external id, a transaction hash or an address; at least 4 characters.',
  })
  search?: string | null;
}

/** The sort keys of a list of orders. */
const OrderSort = { CREATED_AT: 'created', UPDATED_AT: 'updated' } as const;
registerEnumType(OrderSort, {
  name: 'OrderSort',
  description: 'Sort key of a list of orders.',
  valuesConfig: {
    CREATED_AT: { description: 'Time of creation.' },
    UPDATED_AT: { description: 'Time of the last change.' },
  },
});

const SortDirection = { ASC: 'asc', DESC: 'desc' } as const;
registerEnumType(SortDirection, {
  name: 'SortDirection',
  description: 'Sort direction.',
  valuesConfig: { ASC: { description: 'Oldest first.' }, DESC: { description: 'Newest first.' } },
});

@InputType('OrderOrder', { description: 'Sort key and direction of a list of orders.' })
export class OrderOrderInput {
  @Field(() => OrderSort, { defaultValue: 'created', description: 'By what.' })
  field!: OrderSorting['field'];

  @Field(() => SortDirection, { defaultValue: 'desc', description: 'Sort direction.' })
  direction!: OrderSorting['direction'];
}

@InputType('RefundInput', { description: 'A refund to an address.' })
export class RefundInput {
  @Field(() => ID, { nullable: true, description: 'The order.' })
  orderId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Another deposit of the order instead of its main one, or a deposit of no order.',
  })
  depositId?: string | null;

  @Field(() => String, { description: "Address on the deposit's network." })
  address!: string;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the address.' })
  tag?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'What proves whose deposit it is, 1 to 4000 characters. Needed for a deposit of no order.',
  })
  evidence?: string | null;
}

@InputType('DepositAssignInput', { description: 'A deposit of no order, and the order that gets it.' })
export class DepositAssignInput {
  @Field(() => ID, { description: 'The deposit.' })
  depositId!: string;

  @Field(() => ID, { description: 'The order: its id or short id.' })
  orderId!: string;

  @Field(() => String, { description: 'What proves whose deposit it is, 1 to 4000 characters.' })
  evidence!: string;
}
