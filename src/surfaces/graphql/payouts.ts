import { Arg, Ctx, Field, FieldResolver, ID, Int, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { Currency } from '../../market/currencies/currency.entity.ts';
import {
  holdsById,
  openHolds,
  type PayoutHold,
  type PayoutSpending,
  payoutSpending,
} from '../../operations/payout-brakes.ts';
import type { PayoutHolds } from '../../settlement/pay/payout-holds.ts';
import type { PayoutRules } from '../../settlement/pay/payout-limits.ts';
import type { HoldCause } from '../../settlement/rows/payout-hold.entity.ts';
import type { StaffAction } from '../../settlement/rows/staff-action.entity.ts';
import type { StaffActions } from '../../settlement/staff-actions.ts';
import { ActionType } from './actions.ts';
import type { GraphqlContext } from './server/context.ts';
import { enumOf } from './server/enums.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';
import { StaffNameType, staffName } from './staff-types.ts';

const HoldCauseEnum = enumOf<HoldCause>('PayoutHoldCause', 'Why payouts are held.', {
  reconciliation: 'The ledger differs from the chains, the venue or the orders.',
  client_debit: 'An order was paid more than its deposits brought.',
  venue_loss: 'Exchanges lost more than the limit within 24 hours.',
  staff: 'A member of staff stopped them.',
});

@ObjectType('PayoutHold', {
  description: 'While it is open, no payout or refund of its asset begins. Signed payments continue.',
})
export class PayoutHoldType {
  @Field(() => ID, { description: 'Id of the hold.' })
  id!: string;

  @Field(() => HoldCauseEnum, { description: 'Cause of the hold.' })
  cause!: HoldCause;

  @Field(() => String, { nullable: true, description: 'Coin; null for all assets.' })
  coin!: string | null;

  @Field(() => String, { nullable: true, description: 'Network; null for all assets.' })
  network!: string | null;

  @Field(() => String, { description: 'The finding, or the reason of the member who stopped payouts.' })
  detail!: string;

  @Field(() => DateTime, { description: 'Since when.' })
  openedAt!: Date;

  @Field(() => Boolean, {
    description: 'Whether the last check still found the cause. The cause of a stop by staff always stands.',
  })
  isStanding!: boolean;

  @Field(() => Int, { description: 'Payouts and refunds that it holds, counted up to 10,000.' })
  waiting!: number;

  @Field(() => DateTime, { nullable: true, description: 'When it ended.' })
  closedAt!: Date | null;

  @Field(() => Boolean, { description: 'Whether it was ended although its cause stood.' })
  isAcknowledged!: boolean;
}

@ObjectType('PayoutLimit', { description: 'A limit on automatic payouts and refunds, and its usage.' })
class PayoutLimitType {
  @Field(() => String, { nullable: true, description: 'Coin; null for all assets together.' })
  coin!: string | null;

  @Field(() => String, { nullable: true, description: 'Network; null for all assets together.' })
  network!: string | null;

  @Field(() => Decimal, { description: 'US dollars of payments that began within an hour.' })
  hourUsd!: string;

  @Field(() => Int, { description: 'Limit for an hour, in US dollars.' })
  hourLimitUsd!: number;

  @Field(() => Decimal, { description: 'US dollars of payments that began within 24 hours.' })
  dayUsd!: string;

  @Field(() => Int, { description: 'Limit for 24 hours, in US dollars.' })
  dayLimitUsd!: number;

  @Field(() => Int, { description: 'Payments that wait for room.' })
  waiting!: number;

  @Field(() => DateTime, { nullable: true, description: 'Since when the oldest of them waits.' })
  waitingSince!: Date | null;
}

@ObjectType('PayoutBrakes', { description: 'The open holds and the limits of automatic payments.' })
class PayoutBrakesType {
  @Field(() => [PayoutHoldType], { description: 'Open holds, oldest first.' })
  holds!: PayoutHold[];

  @Field(() => [PayoutLimitType], {
    description: 'The limit of all assets, then of each asset with payments within 24 hours or waiting payments.',
  })
  limits!: PayoutLimitType[];
}

@Resolver(() => PayoutHoldType)
export class PayoutResolver {
  readonly #clock: Clock;
  readonly #audit: AuditLog;
  readonly #holds: PayoutHolds;
  readonly #actions: StaffActions;
  readonly #rules: PayoutRules;

  constructor(clock: Clock, audit: AuditLog, holds: PayoutHolds, actions: StaffActions, rules: PayoutRules) {
    this.#clock = clock;
    this.#audit = audit;
    this.#holds = holds;
    this.#actions = actions;
    this.#rules = rules;
  }

  @RequiresPermission('system:read')
  @Query(() => PayoutBrakesType, { description: 'The open holds and the limits of automatic payments.' })
  async payoutBrakes(@Ctx() { em }: GraphqlContext): Promise<{ holds: PayoutHold[]; limits: PayoutLimitType[] }> {
    const spending = await payoutSpending(em, this.#clock.now());
    return { holds: await openHolds(em), limits: spending.map((spent) => this.#limitOf(spent)) };
  }

  #limitOf(spent: PayoutSpending): PayoutLimitType {
    const { coin, network } = spent;
    const { overall, asset } = this.#rules;
    const { hour, day } = coin === null || network === null ? overall : asset({ coin, network });
    return { ...spent, hourLimitUsd: hour, dayLimitUsd: day };
  }

  @FieldResolver(() => StaffNameType, {
    nullable: true,
    description: 'The member who stopped payouts; null for the gateway, or for an operator on the command line.',
  })
  async openedBy(@Root() { openedBy }: PayoutHold, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return openedBy === null ? null : staffName(context, openedBy);
  }

  @FieldResolver(() => StaffNameType, { nullable: true, description: 'The member who proposed to end it.' })
  async proposedBy(
    @Root() { id, proposedBy }: PayoutHold,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffNameType | null> {
    // While the hold is open, its proposal waits for a second member.
    const by = proposedBy ?? (await context.loaders.resumption.load(id))?.proposedBy ?? null;
    return by === null ? null : staffName(context, by);
  }

  @FieldResolver(() => StaffNameType, { nullable: true, description: 'The member who ended it.' })
  async closedBy(@Root() { closedBy }: PayoutHold, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return closedBy === null ? null : staffName(context, closedBy);
  }

  @RequiresPermission('payouts:stop')
  @Mutation(() => PayoutHoldType, {
    description: 'Stops payouts and refunds of one asset, or of all assets, at once. Two members resume them.',
  })
  payoutStop(
    @Arg('coin', () => String, { nullable: true, description: 'Coin; omitted with network for all assets.' })
    coin: string | null,
    @Arg('network', () => String, { nullable: true, description: 'Network.' }) network: string | null,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<PayoutHold> {
    return this.#audit.act(context.actor, 'payoutStop', reason, async (em) => {
      if (!coin !== !network) throw new AppError('missing_field', 'give a coin and its network, or neither');
      const asset = coin && network ? { coin, network } : null;
      if (asset && (await em.count(Currency, asset)) === 0) {
        throw new AppError('currency_not_found', `there is no ${asset.coin} on ${asset.network}`);
      }
      const id = await this.#holds.stop(em, asset, reason.trim(), context.caller.id);
      const result = await heldNow(em, id);
      return { result, target: `hold:${id}`, after: { coin: result.coin, network: result.network } };
    });
  }

  @RequiresPermission('payouts:resume')
  @Mutation(() => ActionType, { description: 'Proposes to end a hold of payouts. Another member approves.' })
  payoutResume(
    @Arg('holdId', () => ID, { description: 'The hold.' }) holdId: string,
    @Arg('acknowledge', () => Boolean, {
      defaultValue: false,
      description: 'End it although its cause stands. The same finding then opens no other hold.',
    })
    acknowledges: boolean,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    if (!isUuid(holdId)) throw new AppError('hold_not_found', 'there is no such hold of payouts');
    return this.#audit.act(context.actor, 'payoutResume', reason, async (em) => {
      const staffId = context.caller.id;
      const proposal = { action: 'resume_payouts', staffId, holdId, acknowledges, reason } as const;
      const result = await this.#actions.propose(proposal, em);
      return { result, target: `hold:${holdId}`, after: { action: result.id, acknowledges } };
    });
  }
}

/** Adds the hold of payouts to a proposal. */
@Resolver(() => ActionType)
export class ActionHoldResolver {
  @FieldResolver(() => PayoutHoldType, {
    nullable: true,
    description: 'The hold of payouts of the proposal; null when it concerns none.',
  })
  async hold(@Root() { holdId }: StaffAction, @Ctx() { loaders }: GraphqlContext): Promise<PayoutHold | null> {
    return holdId === null ? null : loaders.hold.load(holdId);
  }
}

async function heldNow(em: GraphqlContext['em'], id: string): Promise<PayoutHold> {
  const [hold] = await holdsById(em, [id]);
  if (!hold) throw new Error(`hold ${id} was not stored`);
  return hold;
}
