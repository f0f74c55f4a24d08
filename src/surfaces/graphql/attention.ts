import type { EntityManager } from '@mikro-orm/postgresql';
import { Arg, Ctx, Field, FieldResolver, ID, Int, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import {
  type Assignee,
  handOverItem,
  possibleAssignees,
  releaseItem,
  takeItem,
} from '../../accounts/staff/assignees.ts';
import type { AuditedResult, AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { PayoutHold } from '../../operations/payout-brakes.ts';
import type { Order } from '../../orders/order.entity.ts';
import { type AttentionItem, attention } from '../../orders/read/attention.ts';
import type { AttentionKind } from '../../orders/read/attention-troubles.ts';
import type { Deposit } from '../../settlement/rows/deposit.entity.ts';
import { OrderType } from './order-types.ts';
import { PartnerType } from './partner-types.ts';
import { PayoutHoldType } from './payouts.ts';
import type { GraphqlContext } from './server/context.ts';
import { enumOf } from './server/enums.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime } from './server/scalars.ts';
import { DepositType } from './settlement.ts';
import { StaffNameType, staffName } from './staff-types.ts';

const AttentionKindEnum = enumOf<AttentionKind>('AttentionKind', 'Why staff must look at an item.', {
  held_order: 'An order is held.',
  failed_order: 'An order failed, and staff decide how it ends.',
  overdue_order: 'An order is long overdue for its next step, or cannot be settled.',
  action_overdue: 'A partner did not say in time what to do with a deposit, and the order was not refunded.',
  client_debit:
    'The account of an order is in debit, or its payments would bring it there: a deposit that was used is gone.',
  deposit_problem: 'The gateway does nothing more with a deposit until staff decide.',
  small_deposits:
    'Deposits without an order, each below the minimum of its coin, came to a chain on one day. It ends by itself after two days.',
  payment_unknown: 'The state of a payment is unknown.',
  payment_problem: 'A payment is blocked.',
  trade_stuck: 'An exchange is undecided long after its deadline.',
  venue_position:
    'An exchange left a coin at the venue that cannot be sold or bought back within its worst price. It waits for the market or for orderVenuePrice.',
  payout_hold: 'Payouts of one asset, or of all assets, are held.',
  payout_limit: 'Payments wait for room in a limit on automatic payouts.',
  proposal_open: 'A proposal waits for a second member.',
  staff_change_open: 'A change of staff waits for a second admin.',
  chain_problem: 'A chain is not read any further.',
  adverse_partner:
    'The fixed orders of a partner cost more than they earn. Its fixed caps have fallen to a tenth, or to zero.',
  adverse_quotes:
    'The used quotes of a partner exceed the market by more than its fixed fee. Its fixed quotes hold for 15 seconds.',
  transfer_left_out: 'A transfer to an address of ours could not become a deposit. The scan went on without it.',
  sweep_refused:
    'The chain or the token does not let coins of deposits be swept. They are tried again, hourly at last.',
  wallet_level: 'A hot wallet holds too little to pay for long, or more than it should.',
  venue_unopened: 'An account at an exchange is read, and two members have not taken its balances into the books.',
  venue_foreign: 'A withdrawal or deposit at an exchange is none of ours. A withdrawal also holds trades of its coin.',
  venue_difference: 'An exchange lastingly holds another amount of a coin than the books say.',
  transfer_short: 'Coins between an exchange and a hot wallet did not all arrive, or arrived after their end.',
  transfer_slow: 'Coins are on their way between an exchange and a hot wallet for more than two hours.',
  commission_not_closed:
    'A month of partners ended more than an hour ago and is open: the books were not compared since, or differ.',
  transfer_unknown: 'An exchange tells a state of a movement that the gateway does not know.',
});

@ObjectType('AttentionAssignee', { description: 'The member who works on an attention item.' })
class AttentionAssigneeType {
  @Field(() => DateTime, { description: 'Since when.' })
  since!: Date;

  readonly staffId!: string;
}

@ObjectType('AttentionItem', { description: 'An item that staff must look at.' })
export class AttentionItemType {
  @Field(() => ID, { description: 'Stays the same as long as the problem lasts.' })
  id!: string;

  @Field(() => AttentionKindEnum, { description: 'Kind of the problem.' })
  kind!: AttentionKind;

  @Field(() => String, {
    description:
      'Id of the order, deposit, payment, proposal, hold, partner or left-out transfer. Or of the movement at an exchange, or of the transfer to or from one. Or name of the chain, the limit, the exchange or its coin; or the chain and the day.',
  })
  subjectId!: string;

  @Field(() => DateTime, { description: 'Since when.' })
  since!: Date;

  @Field(() => String, { description: 'The problem.' })
  detail!: string;

  @Field(() => AttentionAssigneeType, {
    nullable: true,
    description: 'The member who works on it. Null when no member does.',
  })
  assignee!: Assignee | null;
}

const listed = 500;
/** The longest list of items, in which a mutation looks for one. */
const watched = 1_000;

@Resolver(() => AttentionAssigneeType)
export class AttentionAssigneeResolver {
  @FieldResolver(() => StaffNameType, { description: 'The member.' })
  member(@Root() { staffId }: Assignee, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, staffId);
  }
}

@Resolver(() => AttentionItemType)
export class AttentionResolver {
  readonly #clock: Clock;
  readonly #audit: AuditLog;

  constructor(clock: Clock, audit: AuditLog) {
    this.#clock = clock;
    this.#audit = audit;
  }

  @RequiresPermission('orders:read')
  @Query(() => [AttentionItemType], { description: 'Every item that staff must look at, oldest first.' })
  attention(
    @Arg('limit', () => Int, { defaultValue: 100, description: `Most items, 1 to ${listed}.` }) limit: number,
    @Ctx() { em }: GraphqlContext,
  ): Promise<AttentionItem[]> {
    if (limit < 1 || limit > listed) throw new AppError('invalid_value', `limit is a whole number from 1 to ${listed}`);
    return attention(em, limit, this.#clock.now());
  }

  @FieldResolver(() => OrderType, { nullable: true, description: 'The order of the item; null when it concerns none.' })
  order(@Root() { orderId }: AttentionItem, @Ctx() { loaders }: GraphqlContext): Promise<Order | null> {
    return orderId === null ? Promise.resolve(null) : loaders.order.load(orderId);
  }

  @FieldResolver(() => DepositType, {
    nullable: true,
    description: 'The deposit of the item; null when it concerns none.',
  })
  deposit(@Root() { kind, subjectId }: AttentionItem, @Ctx() { loaders }: GraphqlContext): Promise<Deposit | null> {
    return kind === 'deposit_problem' ? loaders.deposit.load(subjectId) : Promise.resolve(null);
  }

  @FieldResolver(() => PartnerType, {
    nullable: true,
    description: 'The partner of the item; null when it concerns an order or no partner.',
  })
  partner(@Root() { kind, subjectId }: AttentionItem, @Ctx() { loaders }: GraphqlContext): Promise<Partner | null> {
    const isPartner = kind === 'adverse_partner' || kind === 'adverse_quotes';
    return isPartner ? loaders.partner.load(subjectId) : Promise.resolve(null);
  }

  @FieldResolver(() => PayoutHoldType, {
    nullable: true,
    description: 'The hold of payouts, of which the item or its proposal tells; null when it concerns none.',
  })
  async hold(
    @Root() { kind, subjectId }: AttentionItem,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<PayoutHold | null> {
    if (kind === 'payout_hold') return loaders.hold.load(subjectId);
    const holdId = kind === 'proposal_open' ? (await loaders.staffAction.load(subjectId))?.holdId : null;
    return holdId ? loaders.hold.load(holdId) : null;
  }

  @RequiresPermission('actions:read')
  @FieldResolver(() => String, {
    nullable: true,
    description: 'What the member wrote who held the order or made the proposal; null when the gateway did.',
  })
  async reason(
    @Root() { kind, orderId, subjectId, detail }: AttentionItem,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<string | null> {
    if (kind === 'proposal_open') return (await loaders.staffAction.load(subjectId))?.reason ?? null;
    if (kind !== 'held_order' || detail !== 'staff' || orderId === null) return null;
    return (await loaders.actions.load(orderId)).findLast(({ action }) => action === 'hold')?.reason ?? null;
  }

  @RequiresPermission('attention:assign')
  @Query(() => [StaffNameType], { description: 'Members to whom an attention item can be handed over.' })
  attentionAssignees(@Ctx() { em }: GraphqlContext): Promise<StaffNameType[]> {
    return possibleAssignees(em);
  }

  @RequiresPermission('attention:take')
  @Mutation(() => AttentionItemType, {
    description: 'Takes an attention item that no member works on. The others see it.',
  })
  attentionTake(
    @Arg('itemId', () => ID, { description: 'The item.' }) itemId: string,
    @Ctx() context: GraphqlContext,
  ): Promise<AttentionItem> {
    const assignee = { staffId: context.caller.id, since: this.#clock.now() };
    return this.#assign(context, { operation: 'attentionTake', reason: 'works on it', itemId }, async (em) => {
      await takeItem(em, itemId, assignee);
      return { result: assignee, after: { assignee: context.caller.email } };
    });
  }

  @RequiresPermission('attention:take')
  @Mutation(() => AttentionItemType, {
    description: 'Releases an attention item. For an item of another member this needs `attention:assign`.',
  })
  attentionRelease(
    @Arg('itemId', () => ID, { description: 'The item.' }) itemId: string,
    @Ctx() context: GraphqlContext,
  ): Promise<AttentionItem> {
    const { caller } = context;
    return this.#assign(context, { operation: 'attentionRelease', reason: 'released', itemId }, async (em) => {
      const holder = await releaseItem(em, itemId, caller);
      return { result: null, before: { assignee: holder.email } };
    });
  }

  @RequiresPermission('attention:assign')
  @Mutation(() => AttentionItemType, { description: 'Gives an attention item to another member.' })
  attentionHandOver(
    @Arg('itemId', () => ID, { description: 'The item.' }) itemId: string,
    @Arg('to', () => ID, { description: 'The member who gets it, one of `attentionAssignees`.' }) to: string,
    @Arg('from', () => ID, {
      nullable: true,
      description: 'The member who works on it at present. Null when no member does. Refused when this is not so.',
    })
    from: string | null,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<AttentionItem> {
    if (!isUuid(to)) throw new AppError('staff_not_found', 'there is no such member');
    const assignee = { staffId: to, since: this.#clock.now() };
    return this.#assign(context, { operation: 'attentionHandOver', reason, itemId }, async (em) => {
      const holder = await handOverItem(em, itemId, { from: from ?? null, to: assignee });
      const { email } = await staffName(context, to);
      return { result: assignee, before: { assignee: holder?.email ?? null }, after: { assignee: email } };
    });
  }

  /** @throws AppError not_found for an item that has ended. */
  async #assign(
    { actor, em: reader }: GraphqlContext,
    { operation, reason, itemId }: { readonly operation: string; readonly reason: string; readonly itemId: string },
    work: (em: EntityManager) => Promise<Omit<AuditedResult<Assignee | null>, 'target'>>,
  ): Promise<AttentionItem> {
    const item = (await attention(reader, watched, this.#clock.now())).find(({ id }) => id === itemId);
    if (!item) throw new AppError('not_found', 'this item has ended; read the list again');
    const assignee = await this.#audit.act(actor, operation, reason, async (em) => {
      return { ...(await work(em)), target: `attention:${itemId}` };
    });
    return { ...item, assignee };
  }
}
