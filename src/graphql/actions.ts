import { Arg, Ctx, Field, FieldResolver, ID, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { AuditLog } from '../audit/audit-log.ts';
import { AppError } from '../errors.ts';
import type { Order } from '../orders/order.entity.ts';
import type { Deposit } from '../settlement/deposit.entity.ts';
import { StaffAction, type StaffActionName } from '../settlement/staff-action.entity.ts';
import type { StaffActions } from '../settlement/staff-actions.ts';
import type { GraphqlContext } from './context.ts';
import { StaffActionEnum, StaffActionStateEnum } from './enumerations.ts';
import { OrderType } from './order-types.ts';
import { Permit } from './permit.ts';
import { DateTime, Decimal } from './scalars.ts';
import { DepositType } from './settlement.ts';
import { StaffNameType, staffName } from './staff-types.ts';

@ObjectType('OrderAction', {
  description: 'What a member of staff did to an order, or proposed for a second one to approve.',
})
export class ActionType {
  @Field(() => ID, { description: 'Id of the action.' })
  id!: string;

  @Field(() => StaffActionEnum, { description: 'What.' })
  action!: StaffActionName;

  @Field(() => String, { nullable: true, description: 'Where a refund goes.' })
  address!: string | null;

  @Field(() => String, { nullable: true, description: 'Its tag or memo.' })
  tag!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'The worst price at the venue: its cash for one coin.' })
  price!: string | null;

  @Field(() => String, { description: 'Why.' })
  reason!: string;

  @Field(() => StaffActionStateEnum, { description: 'Where it stands.' })
  state!: StaffAction['state'];

  @Field(() => DateTime, { description: 'When it was asked for.' })
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

  @Permit('actions:read')
  @Query(() => [ActionType], { description: 'Proposals that wait for a second member, oldest first, at most 200.' })
  proposals(@Ctx() { em }: GraphqlContext): Promise<StaffAction[]> {
    return em.find(StaffAction, { state: 'proposed' }, { orderBy: { proposedAt: 'asc' }, limit: listed });
  }

  @FieldResolver(() => OrderType, { nullable: true, description: "The order; null for a deposit that is nobody's." })
  order(@Root() { orderId }: StaffAction, @Ctx() { loaders }: GraphqlContext): Promise<Order | null> {
    return orderId === null ? Promise.resolve(null) : loaders.order.load(orderId);
  }

  @FieldResolver(() => DepositType, {
    nullable: true,
    description: 'The deposit that it is about, if it is about one.',
  })
  deposit(@Root() { depositId }: StaffAction, @Ctx() { loaders }: GraphqlContext): Promise<Deposit | null> {
    return depositId === null ? Promise.resolve(null) : loaders.deposit.load(depositId);
  }

  @FieldResolver(() => StaffNameType, { description: 'Who asked for it.' })
  proposedBy(@Root() { proposedBy }: StaffAction, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, proposedBy);
  }

  @FieldResolver(() => StaffNameType, { nullable: true, description: 'Who decided it.' })
  async decidedBy(@Root() { decidedBy }: StaffAction, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return decidedBy === null ? null : staffName(context, decidedBy);
  }

  @Permit('actions:decide')
  @Mutation(() => ActionType, { description: 'Carries out what another member proposed.' })
  actionApprove(
    @Arg('id', () => ID, { description: 'The proposal.' }) id: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#decide(context, 'actionApprove', 'approve', id, reason);
  }

  @Permit('actions:decide')
  @Mutation(() => ActionType, { description: 'Turns a proposal down, or withdraws it.' })
  actionReject(
    @Arg('id', () => ID, { description: 'The proposal.' }) id: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
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

function targetOf({ orderId, depositId, holdId }: StaffAction): string {
  if (holdId !== null) return `hold:${holdId}`;
  return orderId === null ? `deposit:${depositId}` : `order:${orderId}`;
}
