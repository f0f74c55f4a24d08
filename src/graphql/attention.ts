import { Arg, Ctx, Field, FieldResolver, ID, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Order } from '../orders/order.entity.ts';
import { type AttentionItem, type AttentionKind, attention } from '../reports/attention.ts';
import type { Deposit } from '../settlement/deposits/deposit.entity.ts';
import { OrderType } from './order-types.ts';
import type { GraphqlContext } from './server/context.ts';
import { enumOf } from './server/enums.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime } from './server/scalars.ts';
import { DepositType } from './settlement.ts';

const AttentionKindEnum = enumOf<AttentionKind>('AttentionKind', 'Why staff must look at an item.', {
  held_order: 'An order is held.',
  failed_order: 'An order failed, and staff decide how it ends.',
  overdue_order: 'An order is long overdue for its next step.',
  action_overdue: 'A partner did not say in time what to do with a deposit, and the order was not refunded.',
  client_debit:
    'The account of an order is in debit, or its payments would bring it there: a deposit that was used is gone.',
  deposit_problem: 'The gateway does nothing more with a deposit until staff decide.',
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
  wallet_level: 'A hot wallet holds too little to pay for long, or more than it should.',
});

@ObjectType('AttentionItem', { description: 'An item that staff must look at.' })
export class AttentionItemType {
  @Field(() => ID, { description: 'Stays the same as long as the problem lasts.' })
  id!: string;

  @Field(() => AttentionKindEnum, { description: 'Kind of the problem.' })
  kind!: AttentionKind;

  @Field(() => String, {
    description:
      'Id of the order, deposit, payment, proposal, hold, partner or left-out transfer, or name of the chain or of the limit.',
  })
  subjectId!: string;

  @Field(() => DateTime, { description: 'Since when.' })
  since!: Date;

  @Field(() => String, { description: 'The problem.' })
  detail!: string;
}

const listed = 500;

@Resolver(() => AttentionItemType)
export class AttentionResolver {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
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
}
