import type { EntityManager } from '@mikro-orm/postgresql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { BookedLine } from '../ledger/ledger.ts';
import { Order } from '../orders/order.entity.ts';
import type { OrderEvent } from '../orders/order-event.entity.ts';
import type { OrderNote } from '../orders/order-note.entity.ts';
import { addNote } from '../orders/order-notes.ts';
import type { OrderStatus } from '../orders/order-status.ts';
import { canonicalShortId } from '../orders/short-id.ts';
import type { Partner } from '../partners/partner.entity.ts';
import type { RateType } from '../rates/quote.ts';
import { countOrders, type OrderFilter, type OrderSorting, searchOrders } from '../reports/order-search.ts';
import type { Deposit } from '../settlement/deposit.entity.ts';
import type { Payment } from '../settlement/payment.entity.ts';
import type { StaffAction, StaffActionName } from '../settlement/staff-action.entity.ts';
import type { StaffActions, StaffProposal } from '../settlement/staff-actions.ts';
import type { Trade } from '../settlement/trade.entity.ts';
import { ActionType } from './actions.ts';
import { PageArgs, PageInfoType, pageOf } from './connection.ts';
import type { GraphqlContext } from './context.ts';
import { OrderCauseEnum, OrderStatusEnum, RateTypeEnum } from './enumerations.ts';
import { PartnerType } from './partners.ts';
import { Permit } from './permit.ts';
import { DateTime, Decimal } from './scalars.ts';
import { DepositType, LedgerLineType, PaymentType, TradeType } from './settlement.ts';
import { StaffNameType, staffName } from './staff.ts';

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
    description: 'Held, failed, overdue, or with a deposit or payment that has a problem.',
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
export const OrderSort = { CREATED_AT: 'created', UPDATED_AT: 'updated' } as const;
registerEnumType(OrderSort, {
  name: 'OrderSort',
  description: 'What a list of orders is sorted by.',
  valuesConfig: { CREATED_AT: { description: 'When created.' }, UPDATED_AT: { description: 'When changed last.' } },
});

export const SortDirection = { ASC: 'asc', DESC: 'desc' } as const;
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

const countCap = 10_000;

@Resolver(() => OrderConnectionType)
export class OrderConnectionResolver {
  @FieldResolver(() => OrderCountType, { description: 'How many orders there are on all pages, counted up to 10,000.' })
  async count(@Root() { filter }: OrderConnectionType, @Ctx() { em }: GraphqlContext): Promise<OrderCountType> {
    const value = await countOrders(em, filter, countCap);
    return { value, isExact: value < countCap };
  }
}

@Resolver(() => OrderNoteType)
export class OrderNoteResolver {
  @FieldResolver(() => StaffNameType, { description: 'Who wrote it.' })
  author(@Root() { staffId }: OrderNote, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, staffId);
  }
}

@Resolver(() => OrderType)
export class OrderResolver {
  readonly #clock: Clock;
  readonly #audit: AuditLog;
  readonly #actions: StaffActions;

  constructor(clock: Clock, audit: AuditLog, actions: StaffActions) {
    this.#clock = clock;
    this.#audit = audit;
    this.#actions = actions;
  }

  @Permit('orders:read')
  @Query(() => OrderConnectionType, { description: 'Orders, a page at a time.' })
  async orders(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('filter', () => OrderFilterInput, { nullable: true, description: 'Which; all unless given.' })
    filterInput: OrderFilterInput | null,
    @Arg('orderBy', () => OrderOrderInput, { nullable: true, description: 'Sorted how; newest first unless given.' })
    orderBy: OrderOrderInput | null,
    @Ctx() { em }: GraphqlContext,
  ): Promise<OrderConnectionType> {
    const { backwards, size, cursor } = pageOf(pageArgs);
    const filter = given(filterInput ?? {}) as OrderFilter;
    const found = await searchOrders(em, {
      filter,
      orderBy: orderBy ?? { field: 'created', direction: 'desc' },
      page: backwards ? { last: size, before: cursor } : { first: size, after: cursor },
      now: this.#clock.now(),
    });
    const edges = found.orders.map((node, index) => ({ node, cursor: found.cursors[index] ?? '' }));
    return {
      edges,
      filter,
      pageInfo: {
        hasNextPage: found.hasNext,
        hasPreviousPage: found.hasPrevious,
        startCursor: edges.at(0)?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null,
      },
    };
  }

  @Permit('orders:read')
  @Query(() => OrderType, { description: 'One order, by its id or short id.' })
  async order(
    @Arg('id', () => ID, { description: 'Id or short id, in either case.' }) id: string,
    @Ctx() { em }: GraphqlContext,
  ): Promise<Order> {
    return findOrder(em, id);
  }

  @FieldResolver(() => PartnerType, { description: 'The partner that created it.' })
  async partner(@Root() order: Order, @Ctx() { loaders }: GraphqlContext): Promise<Partner> {
    return existing(await loaders.partner.load(order.partner.id));
  }

  @FieldResolver(() => OrderTermsType, { description: 'What it was quoted.' })
  terms(@Root() order: Order): OrderTermsType {
    const { rateQuoted, feeRate, serviceFeeQuoted, networkFeeQuoted, minAmount, maxAmount } = order;
    return {
      rate: rateQuoted,
      feeRate,
      serviceFee: serviceFeeQuoted,
      networkFee: networkFeeQuoted,
      minAmount,
      maxAmount,
    };
  }

  @FieldResolver(() => String, { description: 'Address that the deposit is awaited at.' })
  depositAddress(@Root() order: Order): string {
    return order.depositAddress.address;
  }

  @FieldResolver(() => String, { nullable: true, description: 'Tag or memo that the deposit must carry.' })
  depositAddressTag(@Root() order: Order): string | null {
    return order.depositAddress.tag;
  }

  @FieldResolver(() => OrderHoldType, { nullable: true, description: 'Its hold, while it is held.' })
  hold(@Root() { heldAt, holdReason }: Order): OrderHoldType | null {
    return heldAt === null || holdReason === null ? null : { since: heldAt, reason: holdReason };
  }

  @FieldResolver(() => [OrderEventType], { description: 'Its history, oldest first.' })
  events(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderEvent[]> {
    return loaders.events.load(id);
  }

  @FieldResolver(() => [DepositType], { description: 'Every deposit to its address, in the order they were seen.' })
  deposits(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<Deposit[]> {
    return loaders.deposits.load(id);
  }

  @FieldResolver(() => TradeType, { nullable: true, description: 'Its exchange at the venue, once decided.' })
  trade(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<Trade | null> {
    return loaders.trade.load(id);
  }

  @FieldResolver(() => [PaymentType], { description: 'Payouts and refunds, oldest first.' })
  payments(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<Payment[]> {
    return loaders.payments.load(id);
  }

  @Permit('ledger:read')
  @FieldResolver(() => [LedgerLineType], { description: 'What was booked for it, oldest first.' })
  ledgerLines(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<BookedLine[]> {
    return loaders.ledgerLines.load(id);
  }

  @FieldResolver(() => [OrderNoteType], { description: 'What staff wrote about it, oldest first.' })
  notes(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderNote[]> {
    return loaders.notes.load(id);
  }

  @Permit('actions:read')
  @FieldResolver(() => [ActionType], { description: 'What staff did to it, or proposed, oldest first.' })
  actions(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<StaffAction[]> {
    return loaders.actions.load(id);
  }

  @Permit('orders:note')
  @Mutation(() => OrderNoteType, { description: 'Writes a note about an order.' })
  async orderNote(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @Arg('text', () => String, { description: 'The note, 1 to 4000 characters.' }) text: string,
    @Ctx() context: GraphqlContext,
  ): Promise<OrderNote> {
    const { id } = await findOrder(context.em, orderId);
    return this.#audit.act(context.actor, 'orderNote', 'a note for colleagues', async (em) => {
      const note = await addNote(em, this.#clock, { orderId: id, staffId: context.caller.id, text });
      return { result: note, target: `order:${id}` };
    });
  }

  @Permit('orders:hold')
  @Mutation(() => ActionType, {
    description: 'Holds an order: it does not go on, and no payment of it goes out, until it is released.',
  })
  orderHold(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderHold', 'hold', { orderId }, reason);
  }

  @Permit('orders:act')
  @Mutation(() => ActionType, { description: 'Proposes to release a held order.' })
  orderRelease(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderRelease', 'release', { orderId }, reason);
  }

  @Permit('orders:act')
  @Mutation(() => ActionType, { description: 'Proposes to send a deposit, or what of it is left, to an address.' })
  orderRefund(
    @Arg('input', () => RefundInput, { description: 'What goes where.' }) {
      orderId,
      depositId,
      address,
      tag,
    }: RefundInput,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    if (!orderId && !depositId) throw new AppError('missing_field', 'give an orderId, or the depositId of a deposit');
    const subject = { ...given({ orderId, depositId }), recipient: { address, tag: tag ?? null } };
    return this.#propose(context, 'orderRefund', 'refund', subject, reason);
  }

  @Permit('orders:act')
  @Mutation(() => ActionType, { description: 'Proposes to go on with the payout of a failed order.' })
  orderRetryPayout(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderRetryPayout', 'retry_payout', { orderId }, reason);
  }

  @Permit('orders:act')
  @Mutation(() => ActionType, { description: 'Ends a payout or refund that was never signed, and fails the order.' })
  orderMarkFailed(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderMarkFailed', 'mark_failed', { orderId }, reason);
  }

  async #propose(
    context: GraphqlContext,
    operation: string,
    action: StaffActionName,
    { orderId, depositId, recipient }: Pick<StaffProposal, 'orderId' | 'depositId' | 'recipient'>,
    reason: string,
  ): Promise<StaffAction> {
    if (depositId !== undefined && !isUuid(depositId)) {
      throw new AppError('deposit_not_found', 'there is no such deposit');
    }
    const order = orderId === undefined ? null : await findOrder(context.em, orderId);
    return this.#audit.act(context.actor, operation, reason, async (em) => {
      const made = await this.#actions.propose(
        {
          action,
          staffId: context.caller.id,
          reason,
          ...(order ? { orderId: order.id } : {}),
          ...(depositId === undefined ? {} : { depositId }),
          ...(recipient ? { recipient } : {}),
        },
        em,
      );
      const { address, tag, state } = made;
      const target = made.orderId === null ? `deposit:${made.depositId}` : `order:${made.orderId}`;
      return { result: made, target, after: { action: made.id, state, ...(address ? { address, tag } : {}) } };
    });
  }
}

/** @throws AppError order_not_found */
export async function findOrder(em: EntityManager, id: string): Promise<Order> {
  const shortId = canonicalShortId(id);
  const where = shortId ? { shortId } : isUuid(id) ? { id: id.toLowerCase() } : null;
  const order = where && (await em.findOne(Order, where, { populate: ['depositAddress'], strategy: 'joined' }));
  if (!order) throw new AppError('order_not_found', 'there is no such order');
  return order;
}

/** The members that were given: null is as good as absent. */
function given<Input extends object>(input: Input): { [Key in keyof Input]?: NonNullable<Input[Key]> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined)) as {
    [Key in keyof Input]?: NonNullable<Input[Key]>;
  };
}

function existing<Row>(row: Row | null): Row {
  if (row === null) throw new Error('a row that is referred to is gone');
  return row;
}
