import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { Big, formatDecimal } from '../../base/money.ts';
import type { BookedLine } from '../../ledger/ledger.ts';
import { markupPart } from '../../market/rates/binding-terms.ts';
import type { StaffChange } from '../../orders/locked-changes.ts';
import type { Order } from '../../orders/order.entity.ts';
import type { OrderAction } from '../../orders/order-action.entity.ts';
import type { OrderEvent } from '../../orders/order-event.entity.ts';
import type { OrderNote } from '../../orders/order-note.entity.ts';
import { staffScope } from '../../orders/order-scope.ts';
import type { OrderService } from '../../orders/order-service.ts';
import type { MarkupAccrual } from '../../orders/read/order-agreements.ts';
import type { OrderFilter } from '../../orders/read/order-filter.ts';
import { newestFirst } from '../../orders/read/order-walk.ts';
import { shownTerms } from '../../orders/read/shown-terms.ts';
import type { Deposit } from '../../settlement/rows/deposit.entity.ts';
import type { Payment } from '../../settlement/rows/payment.entity.ts';
import type { StaffAction, StaffActionName } from '../../settlement/rows/staff-action.entity.ts';
import type { Trade } from '../../settlement/rows/trade.entity.ts';
import type { StaffActions, StaffProposal } from '../../settlement/staff-actions.ts';
import { ActionType } from './actions.ts';
import {
  DepositAssignInput,
  MarkupAccrualType,
  OrderConnectionType,
  OrderCountType,
  OrderEventType,
  OrderFilterInput,
  OrderHoldType,
  OrderMarkupType,
  OrderMetadataType,
  OrderNoteType,
  OrderOrderInput,
  OrderPolicyType,
  OrderQuestionType,
  OrderQuoteType,
  OrderTermsType,
  OrderType,
  RefundInput,
} from './order-types.ts';
import { PartnerType } from './partner-types.ts';
import { PageArgs, pageOf } from './server/connection.ts';
import type { GraphqlContext } from './server/context.ts';
import { omitNullish } from './server/omit-nullish.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { Decimal } from './server/scalars.ts';
import { DepositType, LedgerLineType, PaymentType, TradeType } from './settlement.ts';
import { StaffNameType, staffName } from './staff-types.ts';

const countCap = 10_000;

@Resolver(() => OrderConnectionType)
export class OrderConnectionResolver {
  @FieldResolver(() => OrderCountType, { description: 'Number of orders on all pages, counted up to 10,000.' })
  async count(@Root() { filter }: OrderConnectionType, @Ctx() { orders }: GraphqlContext): Promise<OrderCountType> {
    const value = await orders.count(staffScope, filter, countCap);
    return { value, isExact: value < countCap };
  }
}

@Resolver(() => OrderNoteType)
export class OrderNoteResolver {
  @FieldResolver(() => StaffNameType, { description: 'The member who wrote it.' })
  author(@Root() { staffId }: OrderNote, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, staffId);
  }
}

@Resolver(() => OrderType)
export class OrderResolver {
  readonly #clock: Clock;
  readonly #audit: AuditLog;
  readonly #actions: StaffActions;
  readonly #service: OrderService;

  constructor(clock: Clock, audit: AuditLog, actions: StaffActions, service: OrderService) {
    this.#clock = clock;
    this.#audit = audit;
    this.#actions = actions;
    this.#service = service;
  }

  @RequiresPermission('orders:read')
  @Query(() => OrderConnectionType, { description: 'Orders, in pages.' })
  async orders(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('filter', () => OrderFilterInput, { nullable: true, description: 'Conditions; all orders by default.' })
    filterInput: OrderFilterInput | null,
    @Arg('orderBy', () => OrderOrderInput, { nullable: true, description: 'Sort order; newest first by default.' })
    orderBy: OrderOrderInput | null,
    @Ctx() { em, orders }: GraphqlContext,
  ): Promise<OrderConnectionType> {
    const { backwards, size, cursor } = pageOf(pageArgs);
    const filter: OrderFilter = filterInput ?? {};
    const request = {
      filter,
      orderBy: orderBy ?? newestFirst,
      page: backwards ? { last: size, before: cursor } : { first: size, after: cursor },
      now: this.#clock.now(),
    };
    const found = await orders.listEntities(staffScope, em, request).catch(wrongCursor);
    const edges = found.orders.map(({ row, behind }) => ({ node: row, cursor: behind() }));
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

  @RequiresPermission('orders:read')
  @Query(() => OrderType, { description: 'One order, by its id or short id.' })
  async order(
    @Arg('id', () => ID, { description: 'Id or short id, in upper or lower case.' }) id: string,
    @Ctx() { em, orders }: GraphqlContext,
  ): Promise<Order> {
    return orders.entity(staffScope, em, id);
  }

  @FieldResolver(() => PartnerType, { description: 'The partner that created it.' })
  async partner(@Root() order: Order, @Ctx() { loaders }: GraphqlContext): Promise<Partner> {
    return existing(await loaders.partner.load(order.partner.id));
  }

  @FieldResolver(() => OrderTermsType, { description: 'The quote of the order.' })
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

  @FieldResolver(() => String, { description: 'Address that receives the deposit.' })
  depositAddress(@Root() order: Order): string {
    return order.depositAddress.address;
  }

  @FieldResolver(() => String, { nullable: true, description: 'Tag or memo that the deposit must carry.' })
  depositAddressTag(@Root() order: Order): string | null {
    return order.depositAddress.tag;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'URI that opens a wallet with the payment, while the order waits for it.',
  })
  paymentUri(@Root() order: Order, @Ctx() { wallets }: GraphqlContext): string | null {
    if (order.status !== 'waiting_deposit') return null;
    const { coinFrom, networkFrom, amountFromExpected, depositAddress } = order;
    return wallets.paymentUri({
      coinFrom,
      networkFrom,
      amountFromExpected: formatDecimal(amountFromExpected),
      depositAddress: depositAddress.address,
      depositAddressTag: depositAddress.tag,
    });
  }

  @FieldResolver(() => OrderHoldType, { nullable: true, description: 'The hold of the order, while it is held.' })
  hold(@Root() { heldAt, holdReason }: Order): OrderHoldType | null {
    return heldAt === null || holdReason === null ? null : { since: heldAt, reason: holdReason };
  }

  @FieldResolver(() => Boolean, { description: 'Whether its page for the user has a link that was not ended.' })
  async hasPageLink(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<boolean> {
    return (await loaders.pageLink.load(id)) !== null;
  }

  @FieldResolver(() => [OrderEventType], { description: 'Its history, oldest first.' })
  events(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderEvent[]> {
    return loaders.events.load(id);
  }

  @FieldResolver(() => String, { nullable: true, description: 'The name that its partner gave it.' })
  async externalId(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<string | null> {
    return (await loaders.agreements.load(id))?.externalId ?? null;
  }

  @FieldResolver(() => [OrderMetadataType], { description: 'Notes that its partner keeps with it.' })
  async metadata(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderMetadataType[]> {
    const metadata = (await loaders.agreements.load(id))?.metadata ?? {};
    return Object.entries(metadata).map(([key, value]) => ({ key, value }));
  }

  @FieldResolver(() => OrderPolicyType, { nullable: true, description: 'Null where its partner chose nothing.' })
  async policy(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderPolicyType | null> {
    const policy = (await loaders.agreements.load(id))?.policy;
    if (!policy) return null;
    const { on_late: late, on_underpaid: under, on_overpaid: over, on_price_moved: moved } = policy;
    return {
      onLate: late ?? null,
      onUnderpaid: under ?? null,
      onOverpaid: over ?? null,
      onPriceMoved: moved ?? null,
    };
  }

  @FieldResolver(() => Decimal, { nullable: true, description: 'The smallest payout that its user accepts.' })
  async minAmountTo(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<string | null> {
    return (await loaders.agreements.load(id))?.minAmountTo ?? null;
  }

  @FieldResolver(() => OrderQuoteType, { nullable: true, description: 'The binding quote that it used.' })
  async quote(@Root() order: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderQuoteType | null> {
    const agreement = await loaders.agreements.load(order.id);
    if (!agreement?.quoteNonce) return null;
    const { mid, serviceFee, partnerMarkup, networkFee } = shownTerms({
      isFinal: false,
      amountFrom: order.amountFromExpected,
      amountTo: order.amountToExpected,
      fees: order.serviceFeeQuoted,
      networkFee: order.networkFeeQuoted,
      rateQuoted: order.rateQuoted,
      markupBps: agreement.markupBps,
      feeRate: order.feeRate,
      decimals: agreement.decimalsTo,
    });
    const { quoteNonce: nonce, quoteAdverseBps: adverseBps } = agreement;
    return { nonce, mid, serviceFee, markup: partnerMarkup, networkFee, adverseBps };
  }

  @FieldResolver(() => OrderMarkupType, { nullable: true, description: 'Null for an order without a markup.' })
  async markup(@Root() order: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderMarkupType | null> {
    const bps = (await loaders.agreements.load(order.id))?.markupBps ?? 0;
    if (bps === 0) return null;
    const trade = await loaders.trade.load(order.id);
    const fees = trade?.state === 'filled' ? trade.serviceFee : order.serviceFeeQuoted;
    return { bps, amount: markupPart(new Big(fees), bps, order.feeRate).toFixed() };
  }

  @RequiresPermission('ledger:read')
  @FieldResolver(() => MarkupAccrualType, {
    nullable: true,
    description: 'What it earned its partner; null before it is completed, and without a markup.',
  })
  markupAccrual(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<MarkupAccrual | null> {
    return loaders.accruals.load(id);
  }

  @FieldResolver(() => [OrderQuestionType], { description: 'Questions to its partner about deposits, oldest first.' })
  questions(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderAction[]> {
    return loaders.questions.load(id);
  }

  @FieldResolver(() => [DepositType], {
    description:
      'The deposits to its address, in the order in which they were seen: at most 200, the main one and the first others.',
  })
  deposits(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<Deposit[]> {
    return loaders.deposits.load(id);
  }

  @FieldResolver(() => TradeType, { nullable: true, description: 'Its exchange at the venue, once it is decided.' })
  trade(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<Trade | null> {
    return loaders.trade.load(id);
  }

  @FieldResolver(() => [PaymentType], { description: 'Payouts and refunds, oldest first.' })
  payments(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<Payment[]> {
    return loaders.payments.load(id);
  }

  @RequiresPermission('ledger:read')
  @FieldResolver(() => [LedgerLineType], { description: 'The first 1,000 ledger lines of the order, oldest first.' })
  ledgerLines(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<BookedLine[]> {
    return loaders.ledgerLines.load(id);
  }

  @FieldResolver(() => [OrderNoteType], { description: 'Notes of staff about it, oldest first.' })
  notes(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<OrderNote[]> {
    return loaders.notes.load(id);
  }

  @RequiresPermission('actions:read')
  @FieldResolver(() => [ActionType], { description: 'Actions of staff on it and proposals, oldest first.' })
  actions(@Root() { id }: Order, @Ctx() { loaders }: GraphqlContext): Promise<StaffAction[]> {
    return loaders.actions.load(id);
  }

  @RequiresPermission('orders:note')
  @Mutation(() => OrderNoteType, { description: 'Writes a note about an order.' })
  async orderNote(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @Arg('text', () => String, { description: 'The note, 1 to 4000 characters.' }) text: string,
    @Ctx() context: GraphqlContext,
  ): Promise<OrderNote> {
    const { id } = await context.orders.entity(staffScope, context.em, orderId);
    return this.#audit.act(context.actor, 'orderNote', 'a note for colleagues', async (em) => {
      const note = await this.#service.note(em, { orderId: id, staffId: context.caller.id, text });
      return { result: note, target: `order:${id}` };
    });
  }

  @RequiresPermission('orders:hold')
  @Mutation(() => ActionType, {
    description: 'Holds an order until it is released. A held order takes no further step and sends no payment.',
  })
  orderHold(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderHold', 'hold', { orderId }, reason);
  }

  @RequiresPermission('orders:act')
  @Mutation(() => ActionType, { description: 'Proposes to release a held order.' })
  orderRelease(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderRelease', 'release', { orderId }, reason);
  }

  @RequiresPermission('orders:act')
  @Mutation(() => ActionType, { description: 'Proposes to send a deposit, or its unspent part, to an address.' })
  orderRefund(
    @Arg('input', () => RefundInput, { description: 'The order or deposit, and the address.' }) {
      orderId,
      depositId,
      address,
      tag,
      evidence,
    }: RefundInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    if (!orderId && !depositId) throw new AppError('missing_field', 'give an orderId, or the depositId of a deposit');
    const subject = { ...omitNullish({ orderId, depositId, evidence }), recipient: { address, tag: tag ?? null } };
    return this.#propose(context, 'orderRefund', 'refund', subject, reason);
  }

  @RequiresPermission('orders:act')
  @Mutation(() => ActionType, {
    description:
      'Proposes to give a deposit of no order to an order. It then counts as if it had come with the tag of the order: by its time, its coin and its amount.',
  })
  depositAssign(
    @Arg('input', () => DepositAssignInput, { description: 'The deposit, the order and the evidence.' }) {
      orderId,
      depositId,
      evidence,
    }: DepositAssignInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'depositAssign', 'assign_deposit', { orderId, depositId, evidence }, reason);
  }

  @RequiresPermission('orders:act')
  @Mutation(() => ActionType, { description: 'Proposes to continue the payout of a failed order.' })
  orderRetryPayout(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderRetryPayout', 'retry_payout', { orderId }, reason);
  }

  @RequiresPermission('orders:act')
  @Mutation(() => ActionType, { description: 'Ends a payout or refund that was never signed, and fails the order.' })
  orderMarkFailed(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderMarkFailed', 'mark_failed', { orderId }, reason);
  }

  @RequiresPermission('orders:act')
  @Mutation(() => ActionType, {
    description:
      "Proposes the worst price for trading the rest that an order's exchange left at the venue: at most a quarter away from the market's.",
  })
  orderVenuePrice(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @Arg('price', () => Decimal, { description: "The venue's cash for one coin." }) price: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'orderVenuePrice', 'venue_price', { orderId, price }, reason);
  }

  @RequiresPermission('orders:hold')
  @Mutation(() => OrderType, {
    description:
      "Gives an order a new link to its page for the user, and ends the previous one. The partner's API shows it.",
  })
  orderPageRenew(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<Order> {
    return this.#change(context, 'orderPageRenew', orderId, reason, (change) =>
      this.#service.renewPageForStaff(change),
    );
  }

  @RequiresPermission('orders:hold')
  @Mutation(() => OrderType, { description: "Ends the link to an order's page at once." })
  orderPageRevoke(
    @Arg('orderId', () => ID, { description: 'The order.' }) orderId: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<Order> {
    return this.#change(context, 'orderPageRevoke', orderId, reason, (change) =>
      this.#service.revokePageForStaff(change),
    );
  }

  /** Runs a change that partners can make too, with its audit entry. */
  async #change(
    context: GraphqlContext,
    operation: string,
    orderName: string,
    reason: string,
    change: (request: StaffChange) => Promise<Order>,
  ): Promise<Order> {
    const { id } = await this.#audit.act(context.actor, operation, reason, async (em) => {
      const order = await change({ em, orderName, staffId: context.caller.id });
      return { result: order, target: `order:${order.id}` };
    });
    return context.orders.entity(staffScope, context.em, id);
  }

  async #propose(
    context: GraphqlContext,
    operation: string,
    action: StaffActionName,
    {
      orderId,
      depositId,
      recipient,
      price,
      evidence,
    }: Pick<StaffProposal, 'orderId' | 'depositId' | 'recipient' | 'price' | 'evidence'>,
    reason: string,
  ): Promise<StaffAction> {
    if (depositId !== undefined && !isUuid(depositId)) {
      throw new AppError('deposit_not_found', 'there is no such deposit');
    }
    const order = orderId === undefined ? null : await context.orders.entity(staffScope, context.em, orderId);
    return this.#audit.act(context.actor, operation, reason, async (em) => {
      const made = await this.#actions.propose(
        {
          action,
          staffId: context.caller.id,
          reason,
          ...(order ? { orderId: order.id } : {}),
          ...(depositId === undefined ? {} : { depositId }),
          ...(recipient ? { recipient } : {}),
          ...(price === undefined ? {} : { price }),
          ...(evidence === undefined ? {} : { evidence }),
        },
        em,
      );
      const { address, tag, state, price: worst, evidence: proof } = made;
      const target = made.orderId === null ? `deposit:${made.depositId}` : `order:${made.orderId}`;
      return {
        result: made,
        target,
        after: {
          action: made.id,
          state,
          ...(address ? { address, tag } : {}),
          ...(worst ? { price: worst } : {}),
          ...(proof ? { depositId: made.depositId, evidence: proof } : {}),
        },
      };
    });
  }
}

/** Staff know one code for all that is wrong with a page. */
function wrongCursor(error: unknown): never {
  if (!(error instanceof AppError) || error.kind !== 'invalid_cursor') throw error;
  throw new AppError('invalid_value', 'this is not a cursor of a page of orders in this sorting');
}

function existing<Row>(row: Row | null): Row {
  if (row === null) throw new Error('a row that is referred to is gone');
  return row;
}
