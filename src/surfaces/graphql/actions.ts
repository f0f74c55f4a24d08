import { Arg, Ctx, Field, FieldResolver, ID, Int, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { AppError } from '../../base/errors.ts';
import type { Order } from '../../orders/order.entity.ts';
import type { Deposit } from '../../settlement/rows/deposit.entity.ts';
import { StaffAction, type StaffActionName, type VenueClass } from '../../settlement/rows/staff-action.entity.ts';
import { proposedActions, type StaffActions } from '../../settlement/staff-actions.ts';
import { OrderType } from './order-types.ts';
import type { GraphqlContext } from './server/context.ts';
import { MovementKindEnum, StaffActionEnum, StaffActionStateEnum, VenueClassEnum } from './server/enumerations.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';
import { DepositType } from './settlement.ts';
import { approvableFromDescription, callerApprovesFrom, StaffNameType, staffName } from './staff-types.ts';

@ObjectType('OrderAction', {
  description:
    'An action of staff on an order, on payouts, on an account at an exchange or on commission, done or proposed for a second member to approve.',
})
export class ActionType {
  @Field(() => ID, { description: 'Id of the action.' })
  id!: string;

  @Field(() => StaffActionEnum, { description: 'Kind of the action.' })
  action!: StaffActionName;

  @Field(() => String, { nullable: true, description: 'Address of a refund or of commission.' })
  address!: string | null;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the address.' })
  tag!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'The worst price at the venue: its cash for one coin.' })
  price!: string | null;

  @Field(() => String, { nullable: true, description: 'The exchange whose account the action is about.' })
  venue!: string | null;

  @Field(() => MovementKindEnum, { nullable: true, description: 'Kind of the movement there that is classified.' })
  movementKind!: StaffAction['movementKind'];

  @Field(() => String, { nullable: true, description: 'Id of that movement at the exchange.' })
  reference!: string | null;

  @Field(() => String, { nullable: true, description: 'Coin of a difference, a correction or an address.' })
  coin!: string | null;

  @Field(() => String, { nullable: true, description: 'Network of the coin of a correction or an address.' })
  network!: string | null;

  @Field(() => Decimal, {
    nullable: true,
    description:
      'Of a difference, how much more the exchange has than the books. Of a correction, what it adds for the partner. Either may be negative.',
  })
  amount!: string | null;

  @Field(() => ID, { nullable: true, description: 'The entry of commission that a correction is about.' })
  corrects!: string | null;

  @Field(() => Boolean, {
    description: 'Of an address: nothing is paid to the one in effect while this one waits.',
  })
  oldIsLost!: boolean;

  @Field(() => VenueClassEnum, { nullable: true, description: 'What it is classified as.' })
  class!: VenueClass | null;

  @Field(() => String, { nullable: true, description: 'What proves whose deposit it is, of a deposit of no order.' })
  evidence!: string | null;

  @Field(() => String, { description: 'Reason that the member gave.' })
  reason!: string;

  @Field(() => StaffActionStateEnum, { description: 'State of the action.' })
  state!: StaffAction['state'];

  @Field(() => DateTime, { description: 'When it was requested.' })
  proposedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was decided.' })
  decidedAt!: Date | null;
}

const listed = 200;

@Resolver(() => ActionType)
export class ActionResolver {
  readonly #audit: AuditLog;
  readonly #actions: StaffActions;

  constructor(audit: AuditLog, actions: StaffActions) {
    this.#audit = audit;
    this.#actions = actions;
  }

  @RequiresPermission('actions:read')
  @Query(() => [ActionType], { description: 'Proposals that wait for a second member, oldest first, at most 200.' })
  proposals(@Ctx() { em }: GraphqlContext): Promise<StaffAction[]> {
    return em.find(StaffAction, { state: 'proposed' }, { orderBy: { proposedAt: 'asc' }, limit: listed });
  }

  @RequiresPermission('actions:read')
  @Query(() => [ActionType], {
    description: 'Proposals that were approved, rejected or withdrawn, the last decided first.',
  })
  decidedProposals(
    @Arg('limit', () => Int, { defaultValue: 20, description: `Most proposals, 1 to ${listed}.` }) limit: number,
    @Ctx() { em }: GraphqlContext,
  ): Promise<StaffAction[]> {
    if (limit < 1 || limit > listed) throw new AppError('invalid_value', `limit is a whole number from 1 to ${listed}`);
    return em.find(
      StaffAction,
      { decidedAt: { $ne: null }, action: { $in: proposedActions } },
      { orderBy: { decidedAt: 'desc', id: 'desc' }, limit },
    );
  }

  @FieldResolver(() => OrderType, { nullable: true, description: 'The order; null for an action on none.' })
  order(@Root() { orderId }: StaffAction, @Ctx() { loaders }: GraphqlContext): Promise<Order | null> {
    return orderId === null ? Promise.resolve(null) : loaders.order.load(orderId);
  }

  @FieldResolver(() => DepositType, {
    nullable: true,
    description: 'The deposit of the action; null when it concerns none.',
  })
  deposit(@Root() { depositId }: StaffAction, @Ctx() { loaders }: GraphqlContext): Promise<Deposit | null> {
    return depositId === null ? Promise.resolve(null) : loaders.deposit.load(depositId);
  }

  @FieldResolver(() => StaffNameType, { description: 'The member who requested it.' })
  proposedBy(@Root() { proposedBy }: StaffAction, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, proposedBy);
  }

  @FieldResolver(() => DateTime, { nullable: true, description: approvableFromDescription })
  approvableFrom(@Root() { proposedBy }: StaffAction, @Ctx() context: GraphqlContext): Promise<Date | null> {
    return callerApprovesFrom(context, proposedBy);
  }

  @FieldResolver(() => StaffNameType, { nullable: true, description: 'The member who decided it.' })
  async decidedBy(@Root() { decidedBy }: StaffAction, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return decidedBy === null ? null : staffName(context, decidedBy);
  }

  @RequiresPermission('actions:decide')
  @Mutation(() => ActionType, { description: 'Carries out a proposal of another member.' })
  actionApprove(
    @Arg('id', () => ID, { description: 'The proposal.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#decide(context, 'actionApprove', 'approve', id, reason);
  }

  @RequiresPermission('actions:decide')
  @Mutation(() => ActionType, { description: 'Rejects a proposal, or withdraws an own one.' })
  actionReject(
    @Arg('id', () => ID, { description: 'The proposal.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#decide(context, 'actionReject', 'reject', id, reason);
  }

  #decide(
    context: GraphqlContext,
    operation: string,
    verdict: 'approve' | 'reject',
    id: string,
    reason: string,
  ): Promise<StaffAction> {
    if (!isUuid(id)) throw new AppError('action_not_found', 'there is no such proposal');
    return this.#audit.act(context.actor, operation, reason, async (em) => {
      const decided = await this.#actions[verdict](id, context.caller.id, em);
      return { result: decided, target: targetOf(decided), after: { action: id, state: decided.state } };
    });
  }
}

function targetOf({ orderId, depositId, holdId, venue, partnerId }: StaffAction): string {
  if (holdId !== null) return `hold:${holdId}`;
  if (venue !== null) return `venue:${venue}`;
  if (partnerId !== null) return `partner:${partnerId}`;
  return orderId === null ? `deposit:${depositId}` : `order:${orderId}`;
}
