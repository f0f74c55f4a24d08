import { Arg, Ctx, Field, FieldResolver, ID, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Order } from '../orders/order.entity.ts';
import { type AttentionItem, type AttentionKind, attention } from '../reports/attention.ts';
import type { Deposit } from '../settlement/deposit.entity.ts';
import type { GraphqlContext } from './context.ts';
import { enumOf } from './enums.ts';
import { OrderType } from './order-types.ts';
import { Permit } from './permit.ts';
import { DateTime } from './scalars.ts';
import { DepositType } from './settlement.ts';

const AttentionKindEnum = enumOf<AttentionKind>('AttentionKind', 'Why staff must look at something.', {
  held_order: 'An order is held.',
  failed_order: 'An order failed, and staff decide what becomes of it.',
  overdue_order: 'An order should have gone on long ago.',
  client_debit:
    'The account of an order is in debit, or its payments would bring it there: a deposit that was used is gone.',
  deposit_problem: 'Nothing more is done with a deposit by itself.',
  payment_unknown: 'Nobody knows where a payment is.',
  payment_problem: 'Something stands in the way of a payment.',
  trade_stuck: 'An exchange is not decided long after its deadline.',
  venue_position:
    'An exchange left a coin at the venue that it cannot sell, or buy back, at its worst price or better. It waits for the market or for orderVenuePrice.',
  payout_hold: 'Payouts of an asset, or of all, are held.',
  payout_limit: 'Payments wait for room in a limit on automatic payouts.',
  proposal_open: 'A proposal waits for a second member.',
  staff_change_open: 'A change of staff waits for a second admin.',
  chain_problem: 'A chain is not read on.',
  adverse_partner:
    'The fixed orders of a partner cost more than they bring, and its fixed caps have fallen to a tenth, or to nothing.',
  transfer_left_out: 'A transfer to an address of ours could not become a deposit; the scan went on without it.',
  wallet_level: 'A hot wallet holds too little to pay for long, or more than it should.',
});

@ObjectType('AttentionItem', { description: 'Something that staff must look at.' })
export class AttentionItemType {
  @Field(() => ID, { description: 'The same as long as the trouble lasts.' })
  id!: string;

  @Field(() => AttentionKindEnum, { description: 'Why.' })
  kind!: AttentionKind;

  @Field(() => String, {
    description:
      'Id of the order, deposit, payment, proposal, hold, partner or left-out transfer, or name of the chain or of what is limited.',
  })
  subjectId!: string;

  @Field(() => DateTime, { description: 'Since when.' })
  since!: Date;

  @Field(() => String, { description: 'What is wrong.' })
  detail!: string;
}

const listed = 500;

@Resolver(() => AttentionItemType)
export class AttentionResolver {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  @Permit('orders:read')
  @Query(() => [AttentionItemType], { description: 'Everything that staff must look at, oldest first.' })
  attention(
    @Arg('limit', () => Int, { defaultValue: 100, description: `At most so many, 1 to ${listed}.` }) limit: number,
    @Ctx() { em }: GraphqlContext,
  ): Promise<AttentionItem[]> {
    if (limit < 1 || limit > listed) throw new AppError('invalid_value', `limit is a whole number from 1 to ${listed}`);
    return attention(em, limit, this.#clock.now());
  }

  @FieldResolver(() => OrderType, { nullable: true, description: 'The order that it is about, if it is about one.' })
  order(@Root() { orderId }: AttentionItem, @Ctx() { loaders }: GraphqlContext): Promise<Order | null> {
    return orderId === null ? Promise.resolve(null) : loaders.order.load(orderId);
  }

  @FieldResolver(() => DepositType, {
    nullable: true,
    description: 'The deposit that it is about, if it is about one.',
  })
  deposit(@Root() { kind, subjectId }: AttentionItem, @Ctx() { loaders }: GraphqlContext): Promise<Deposit | null> {
    return kind === 'deposit_problem' ? loaders.deposit.load(subjectId) : Promise.resolve(null);
  }
}
