import { Arg, Args, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { AppError } from '../../base/errors.ts';
import { formatDecimal } from '../../base/money.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import {
  commissionOfMonth,
  commissionTotals,
  entriesOfMonth,
  type MonthTotal,
  monthId,
  monthsOfPartner,
} from '../../operations/commission-status.ts';
import type { Order } from '../../orders/order.entity.ts';
import type { CommissionAddresses, ShownAddress } from '../../settlement/commission/commission-addresses.ts';
import { type CommissionSubject, firstDayOf } from '../../settlement/commission/commission-decisions.ts';
import type { CommissionEntry } from '../../settlement/rows/commission-entry.entity.ts';
import {
  type CommissionFigures,
  type CommissionState,
  CommissionStatement,
} from '../../settlement/rows/commission-statement.entity.ts';
import type { Payment } from '../../settlement/rows/payment.entity.ts';
import type { StaffAction, StaffActionName } from '../../settlement/rows/staff-action.entity.ts';
import type { StaffActions } from '../../settlement/staff-actions.ts';
import { ActionType } from './actions.ts';
import {
  CommissionAddressInput,
  CommissionAddressType,
  CommissionCorrectionInput,
  CommissionEntryConnectionType,
  CommissionEntryType,
  CommissionFiguresType,
  CommissionMonthConnectionType,
  CommissionMonthType,
  CommissionStateEnum,
  CommissionTotalType,
  PartnerCommissionType,
} from './commission-types.ts';
import { OrderType } from './order-types.ts';
import { PartnerType } from './partner-types.ts';
import { type ListPage, listPage, PageArgs, pageOf } from './server/connection.ts';
import type { GraphqlContext } from './server/context.ts';
import { omitNullish } from './server/omit-nullish.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { PaymentType } from './settlement.ts';

const mostMonths = 36;
const partnerArg = { description: 'The partner.' };
const monthArg = { description: "The month: '2026-11'." };
const monthsArg = { defaultValue: 12, description: `Most months, 1 to ${mostMonths}, the newest.` };

type Prices = Pick<PriceBook, 'reference'>;

type Total = MonthTotal & Pick<CommissionTotalType, 'priceUsd'>;

@Resolver(() => CommissionMonthType)
export class CommissionResolver {
  readonly #audit: AuditLog;
  readonly #actions: StaffActions;
  readonly #prices: Prices;

  constructor(audit: AuditLog, actions: StaffActions, prices: Prices) {
    this.#audit = audit;
    this.#actions = actions;
    this.#prices = prices;
  }

  @RequiresPermission('partners:read')
  @Query(() => CommissionMonthConnectionType, {
    description: 'A month of all partners that earned something until then, the oldest partner first.',
  })
  async commissions(
    @Arg('month', () => String, monthArg) month: string,
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('state', () => [CommissionStateEnum], { nullable: true, description: 'Only months in one of these states.' })
    states: CommissionState[] | null | undefined,
    @Ctx() { em }: GraphqlContext,
  ): Promise<ListPage<CommissionStatement>> {
    const page = pageOf(pageArgs);
    if (page.cursor !== null && !isUuid(page.cursor)) throw noCursor(page.cursor);
    const found = await commissionOfMonth(em, firstDayOf(month), states ?? null, { ...page, limit: page.size + 1 });
    return listPage(found, page, ({ partnerId }) => partnerId);
  }

  @RequiresPermission('partners:read')
  @Query(() => [CommissionTotalType], {
    description: 'What all partners together earned and were paid, by month and asset, the oldest month first.',
  })
  async commissionMonths(
    @Arg('limit', () => Int, monthsArg) limit: number,
    @Ctx() { em }: GraphqlContext,
  ): Promise<Total[]> {
    const totals = await commissionTotals(em, monthCount(limit));
    return totals.map((total) => {
      const price = this.#prices.reference(total.coin);
      return { ...total, priceUsd: price && formatDecimal(price) };
    });
  }

  @RequiresPermission('partners:read')
  @Query(() => PartnerCommissionType, { description: 'The commission of one partner.' })
  async partnerCommission(
    @Arg('partnerId', () => ID, partnerArg) partnerId: string,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<Partner> {
    const partner = isUuid(partnerId) ? await loaders.partner.load(partnerId) : null;
    if (!partner) throw new AppError('partner_not_found', 'there is no such partner');
    return partner;
  }

  @FieldResolver(() => ID, { description: 'Id of the month in lists: its partner and month.' })
  id(@Root() month: CommissionStatement): string {
    return monthId(month);
  }

  @FieldResolver(() => String, monthArg)
  month(@Root() { month }: CommissionStatement): string {
    return month.slice(0, 7);
  }

  @FieldResolver(() => PartnerType, partnerArg)
  async partner(@Root() { partnerId }: CommissionStatement, @Ctx() { loaders }: GraphqlContext): Promise<Partner> {
    const partner = await loaders.partner.load(partnerId);
    if (!partner) throw new Error(`partner ${partnerId} is gone`);
    return partner;
  }

  @FieldResolver(() => [CommissionFiguresType], {
    description: 'Its figures by asset, the settlement asset first. Those of an open month are of this moment.',
  })
  async figures(
    @Root() month: CommissionStatement,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<readonly CommissionFigures[]> {
    return month.figures ?? (await loaders.commissionFigures.load(monthId(month)))?.figures ?? [];
  }

  @FieldResolver(() => Int, { description: 'Orders that earned something in it.' })
  async orders(@Root() month: CommissionStatement, @Ctx() { loaders }: GraphqlContext): Promise<number> {
    return month.orders ?? (await loaders.commissionFigures.load(monthId(month)))?.orders ?? 0;
  }

  @FieldResolver(() => PaymentType, { nullable: true, description: 'Its newest payment.' })
  payment(@Root() { paymentId }: CommissionStatement, @Ctx() { loaders }: GraphqlContext): Promise<Payment | null> {
    return paymentId === null ? Promise.resolve(null) : loaders.payment.load(paymentId);
  }

  @FieldResolver(() => CommissionEntryConnectionType, { description: 'Its entries, newest first.' })
  async entries(
    @Root() month: CommissionStatement,
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Ctx() { em }: GraphqlContext,
  ): Promise<ListPage<CommissionEntry>> {
    const page = pageOf(pageArgs);
    if (page.cursor !== null && !/^\d{1,18}$/.test(page.cursor)) throw noCursor(page.cursor);
    const found = await entriesOfMonth(em, month, { ...page, limit: page.size + 1 });
    return listPage(found, page, ({ number }) => number);
  }

  @RequiresPermission('payouts:stop')
  @Mutation(() => ActionType, {
    description:
      'Holds the payment of a month that is to be paid, at once. A payment that has begun goes on. Two members release it.',
  })
  commissionHold(
    @Arg('partnerId', () => ID, partnerArg) partnerId: string,
    @Arg('month', () => String, monthArg) month: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'commissionHold', 'commission_hold', { partnerId, month }, reason);
  }

  @RequiresPermission('treasury:decide')
  @Mutation(() => ActionType, { description: 'Proposes to end the hold of a month. Another member approves.' })
  commissionRelease(
    @Arg('partnerId', () => ID, partnerArg) partnerId: string,
    @Arg('month', () => String, monthArg) month: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'commissionRelease', 'commission_release', { partnerId, month }, reason);
  }

  @RequiresPermission('treasury:decide')
  @Mutation(() => ActionType, {
    description:
      'Proposes to pay a month now: one that is held, whose partner is inactive or whose payments died. Also the last closed month of a partner that is below the minimum. Another member approves.',
  })
  commissionPay(
    @Arg('partnerId', () => ID, partnerArg) partnerId: string,
    @Arg('month', () => String, monthArg) month: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'commissionPay', 'commission_pay', { partnerId, month }, reason);
  }

  @RequiresPermission('treasury:decide')
  @Mutation(() => ActionType, {
    description:
      'Proposes to end the payment of a month that cannot be paid. Its balance counts in the next month that is closed. Another member approves.',
  })
  commissionCancel(
    @Arg('partnerId', () => ID, partnerArg) partnerId: string,
    @Arg('month', () => String, monthArg) month: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'commissionCancel', 'commission_cancel', { partnerId, month }, reason);
  }

  @RequiresPermission('treasury:decide')
  @Mutation(() => ActionType, {
    description:
      'Proposes a correction, which is an entry of the month in which another member approves it. A balance below zero counts in the next month.',
  })
  commissionCorrect(
    @Arg('input', () => CommissionCorrectionInput, { description: 'The correction.' }) input: CommissionCorrectionInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    const { coin, network, corrects, ...subject } = input;
    const correction = { ...subject, ...omitNullish({ corrects }), asset: { coin, network } };
    return this.#propose(context, 'commissionCorrect', 'commission_correct', correction, reason);
  }

  @RequiresPermission('treasury:decide')
  @Mutation(() => ActionType, {
    description:
      'Proposes another payout address. It takes effect 72 hours after another member approves it, and the partner can cancel it.',
  })
  commissionAddressSet(
    @Arg('input', () => CommissionAddressInput, { description: 'The address.' }) input: CommissionAddressInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    const { partnerId, coin, network, address, tag, oldIsLost = false } = input;
    const subject = { partnerId, asset: { coin, network }, address, tag: tag ?? null, oldIsLost };
    return this.#propose(context, 'commissionAddressSet', 'commission_address', subject, reason);
  }

  #propose(
    context: GraphqlContext,
    operation: string,
    action: StaffActionName,
    commission: CommissionSubject,
    reason: string,
  ): Promise<StaffAction> {
    return this.#audit.act(context.actor, operation, reason, async (em) => {
      const made = await this.#actions.propose({ action, commission, staffId: context.caller.id, reason }, em);
      const { id, state, month, coin, network, amount, corrects, address, tag } = made;
      const after = omitNullish({ month: month?.slice(0, 7), coin, network, amount, corrects, address, tag });
      const lost = made.oldIsLost ? { oldIsLost: true } : {};
      return { result: made, target: `partner:${made.partnerId}`, after: { action: id, state, ...after, ...lost } };
    });
  }
}

@Resolver(() => PartnerCommissionType)
export class PartnerCommissionResolver {
  readonly #addresses: CommissionAddresses;

  constructor(addresses: CommissionAddresses) {
    this.#addresses = addresses;
  }

  @FieldResolver(() => PartnerType, partnerArg)
  partner(@Root() partner: Partner): Partner {
    return partner;
  }

  @FieldResolver(() => [CommissionMonthType], { description: 'Its months, newest first.' })
  months(
    @Root() { id }: Partner,
    @Arg('limit', () => Int, monthsArg) limit: number,
    @Ctx() { em }: GraphqlContext,
  ): Promise<CommissionStatement[]> {
    return monthsOfPartner(em, id, monthCount(limit));
  }

  @FieldResolver(() => CommissionMonthType, { description: 'One month of it.' })
  async month(
    @Root() { id }: Partner,
    @Arg('month', () => String, monthArg) month: string,
    @Ctx() { em }: GraphqlContext,
  ): Promise<CommissionStatement> {
    const found = await em.findOne(CommissionStatement, { partnerId: id, month: firstDayOf(month) });
    if (!found) throw new AppError('not_found', `the partner has no month ${month}`);
    return found;
  }

  @FieldResolver(() => [CommissionAddressType], {
    description: 'Payout addresses: the one that waits, then the one in effect of each asset.',
  })
  async addresses(
    @Root() { id }: Partner,
    @Ctx() { em }: GraphqlContext,
  ): Promise<Omit<ShownAddress, 'cancelledAt'>[]> {
    const waiting = await this.#addresses.waiting(em, id);
    const inEffect = await this.#addresses.allInEffect(em, id);
    return (waiting === null ? inEffect : [waiting, ...inEffect]).map(withDates);
  }
}

@Resolver(() => CommissionEntryType)
export class CommissionEntryResolver {
  @FieldResolver(() => OrderType, { nullable: true, description: 'The order of an accrual.' })
  order(@Root() { orderId }: CommissionEntry, @Ctx() { loaders }: GraphqlContext): Promise<Order | null> {
    return orderId === null ? Promise.resolve(null) : loaders.order.load(orderId);
  }

  @FieldResolver(() => PaymentType, { nullable: true, description: 'The payment of an earlier month.' })
  payment(@Root() { paymentId }: CommissionEntry, @Ctx() { loaders }: GraphqlContext): Promise<Payment | null> {
    return paymentId === null ? Promise.resolve(null) : loaders.payment.load(paymentId);
  }
}

/** Adds the partner to a proposal about commission. */
@Resolver(() => ActionType)
export class ActionPartnerResolver {
  @FieldResolver(() => PartnerType, {
    nullable: true,
    description: 'The partner whose commission the action is about; null for any other action.',
  })
  partner(@Root() { partnerId }: StaffAction, @Ctx() { loaders }: GraphqlContext): Promise<Partner | null> {
    return partnerId === null ? Promise.resolve(null) : loaders.partner.load(partnerId);
  }

  @FieldResolver(() => String, { nullable: true, description: "The month of that partner: '2026-11'." })
  month(@Root() { month }: StaffAction): string | null {
    return month?.slice(0, 7) ?? null;
  }
}

/** The times of an address as dates, which its statement reads as text. */
function withDates({ requestedAt, effectiveAt, tookEffectAt, ...address }: ShownAddress) {
  return {
    ...address,
    requestedAt: new Date(requestedAt),
    effectiveAt: new Date(effectiveAt),
    tookEffectAt: tookEffectAt && new Date(tookEffectAt),
  };
}

function monthCount(limit: number): number {
  if (limit < 1 || limit > mostMonths) {
    throw new AppError('invalid_value', `limit is a whole number from 1 to ${mostMonths}`);
  }
  return limit;
}

function noCursor(cursor: string): AppError {
  return new AppError('invalid_value', `'${cursor.slice(0, 40)}' is no cursor of this list`);
}
