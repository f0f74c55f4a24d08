import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import type { Clock } from '../../base/clock.ts';
import {
  movementId,
  treasuryTransfers,
  type VenueAccountStatus,
  type VenueBalanceStatus,
  venueAccounts,
  venueMovements,
} from '../../operations/venue-status.ts';
import type { Deposit } from '../../settlement/rows/deposit.entity.ts';
import type { StaffAction, VenueClass } from '../../settlement/rows/staff-action.entity.ts';
import type {
  TransferProblem,
  TransferState,
  TreasuryTransfer,
} from '../../settlement/rows/treasury-transfer.entity.ts';
import type { MovementPart, VenueMovement } from '../../settlement/rows/venue-movement.entity.ts';
import type { StaffActions, StaffProposal } from '../../settlement/staff-actions.ts';
import { ActionType } from './actions.ts';
import { type ListPage, listPage, PageArgs, PageInfoType, pageOf, uuidPageOf } from './server/connection.ts';
import type { GraphqlContext } from './server/context.ts';
import { MovementKindEnum, VenueClassEnum } from './server/enumerations.ts';
import { enumOf } from './server/enums.ts';
import { omitNullish } from './server/omit-nullish.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime, Decimal } from './server/scalars.ts';
import { DepositType } from './settlement.ts';

const MovementStateEnum = enumOf<VenueMovement['state']>(
  'VenueMovementState',
  'State of a movement at an exchange, as its list tells it.',
  {
    pending: 'A deposit that is not credited, or a withdrawal that was accepted and has not ended.',
    locked: 'A deposit that is credited and may be traded, and cannot be withdrawn yet.',
    done: 'A credited deposit, or a withdrawal that was paid.',
    returned: 'The exchange ended it without effect.',
    unknown: 'The gateway does not know the word of the exchange for it.',
  },
);

const MovementPartEnum = enumOf<MovementPart>('VenueMovementPart', 'What a movement at an exchange is to the books.', {
  open: 'Not decided yet.',
  none: 'It needs no entry: it ended before the account was watched, or without effect.',
  transfer: 'Between the account and a hot wallet of ours.',
  foreign: 'None of ours, until two members classify it.',
  classified: 'Two members said what it is, and it is booked.',
});

const TransferStateEnum = enumOf<TransferState>(
  'TreasuryTransferState',
  'State of coins on their way between an exchange and a hot wallet.',
  {
    asked: 'The exchange has accepted it, or it waits for a block.',
    sent: 'It is on its chain.',
    arrived: 'It was seen where it goes, and is not final, not credited or locked there.',
    done: 'Both sides are booked.',
    returned: 'It ended without effect.',
  },
);

const TransferProblemEnum = enumOf<TransferProblem>('TreasuryTransferProblem', 'What is wrong with a transfer.', {
  short_arrival: 'Less arrived than left.',
  not_arrived: 'Nothing has arrived, a day after it was paid or three days after it began.',
  arrived_after_end: 'It arrived, although the exchange says that it gave the coins back.',
});

@ObjectType('VenueBalance', { description: 'What an account at an exchange holds of a coin, and what the books say.' })
class VenueBalanceType {
  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => Decimal, { description: 'The newest balance, with what open orders and withdrawals lock.' })
  total!: string;

  @Field(() => Decimal, { description: 'The part of it that nothing locks.' })
  free!: string;

  @Field(() => DateTime, { description: 'When it was read.' })
  readAt!: Date;

  @Field(() => Decimal, {
    nullable: true,
    description: 'The balance at the newest comparison with the books, during which no order moved. Null before one.',
  })
  comparedTotal!: string | null;

  @Field(() => Decimal, { nullable: true, description: 'What the ledger said then.' })
  booked!: string | null;

  @Field(() => Decimal, {
    nullable: true,
    description: 'What had happened at the exchange and was rightly not booked yet.',
  })
  inFlight!: string | null;

  @Field(() => Decimal, {
    nullable: true,
    description: 'How much more the exchange had than the books: `comparedTotal - inFlight - booked`.',
  })
  difference!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When they were compared.' })
  comparedAt!: Date | null;

  @Field(() => Int, { description: 'How many comparisons in a row found too much, or too little.' })
  differing!: number;

  @Field(() => DateTime, { nullable: true, description: 'Since when every comparison found a difference.' })
  differingSince!: Date | null;

  @Field(() => Boolean, {
    description:
      'Whether `treasuryClassify` accepts the difference now: two comparisons in a row found the same amount, and no movement of the coin may be it.',
  })
  isClassifiable!: boolean;
}

@ObjectType('VenueAccount', { description: 'Our account at an exchange, as workers last read it.' })
class VenueAccountType {
  @Field(() => ID, { description: "The exchange: 'kraken'." })
  venue!: string;

  @Field(() => Boolean, { description: 'Whether workers read it now.' })
  isWatched!: boolean;

  @Field(() => DateTime, { description: 'What ended at the exchange before this is not booked.' })
  watchedFrom!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When two members took its balances into the books.' })
  openedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the newest complete reading of its deposits and withdrawals began.',
  })
  listedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When the newest reading of its balances began.' })
  balancesAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when it gives no answer.' })
  failingSince!: Date | null;

  @Field(() => String, { nullable: true, description: 'Why it gives no answer.' })
  failure!: string | null;

  @Field(() => [VenueBalanceType], { description: 'Its balances, by coin.' })
  balances!: readonly VenueBalanceStatus[];
}

@ObjectType('VenueMovement', {
  description: 'A deposit to our account at an exchange, or a withdrawal, as its list shows it.',
})
class VenueMovementType {
  @Field(() => String, { description: 'The exchange.' })
  venue!: string;

  @Field(() => MovementKindEnum, { description: 'Deposit or withdrawal.' })
  kind!: VenueMovement['kind'];

  @Field(() => String, { description: 'Its id at the exchange.' })
  reference!: string;

  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { nullable: true, description: "The exchange's own name of the network." })
  network!: string | null;

  @Field(() => String, { nullable: true, description: 'Hash of its transaction, once the exchange tells it.' })
  txid!: string | null;

  @Field(() => Boolean, { description: 'Whether the exchange moved the coins inside, on no chain.' })
  isInternal!: boolean;

  @Field(() => String, { nullable: true, description: 'Address that it went to.' })
  address!: string | null;

  @Field(() => String, { nullable: true, description: 'Tag or memo of the address.' })
  tag!: string | null;

  @Field(() => Decimal, {
    description: 'Of a withdrawal what leaves the account, with the fee. Of a deposit what the account gets.',
  })
  amount!: string;

  @Field(() => Decimal, { description: 'The fee of the exchange.' })
  fee!: string;

  @Field(() => MovementStateEnum, { description: 'Its state.' })
  state!: VenueMovement['state'];

  @Field(() => String, { description: "The exchange's own words for its state." })
  told!: string;

  @Field(() => DateTime, { description: 'When it began, by the clock of the exchange.' })
  at!: Date;

  @Field(() => DateTime, { description: 'When it was seen first.' })
  seenAt!: Date;

  @Field(() => DateTime, { description: 'When it changed last.' })
  changedAt!: Date;

  @Field(() => MovementPartEnum, { description: 'What it is to the books.' })
  part!: MovementPart;
}

@ObjectType('TreasuryTransfer', {
  description: 'Coins on their way between an account at an exchange and a hot wallet.',
})
class TreasuryTransferType {
  @Field(() => ID, { description: 'Id of the transfer.' })
  id!: string;

  @Field(() => String, { description: 'The exchange.' })
  venue!: string;

  @Field(() => MovementKindEnum, {
    description: 'A withdrawal goes from the exchange to a hot wallet, a deposit goes the other way.',
  })
  movementKind!: VenueMovement['kind'];

  @Field(() => String, { description: 'Id of its movement at the exchange.' })
  reference!: string;

  @Field(() => String, { description: 'Coin.' })
  coin!: string;

  @Field(() => String, { description: 'Network.' })
  network!: string;

  @Field(() => String, { description: 'Chain of the hot wallet.' })
  chain!: string;

  @Field(() => TransferStateEnum, { description: 'State of the transfer.' })
  state!: TransferState;

  @Field(() => Decimal, { description: 'What leaves the source; of a withdrawal with the fee of the exchange.' })
  amount!: string;

  @Field(() => Decimal, { description: "What the chain took from the hot wallet for it, in the chain's own coin." })
  gas!: string;

  @Field(() => Decimal, { description: 'What has left the source by the ledger.' })
  bookedAmount!: string;

  @Field(() => Decimal, { description: 'The part of it that is the fee of the exchange.' })
  bookedFee!: string;

  @Field(() => Decimal, { description: 'What has arrived by the ledger.' })
  arrived!: string;

  @Field(() => Decimal, { description: 'A small remainder that is booked as a cost.' })
  writtenOff!: string;

  @Field(() => TransferProblemEnum, { nullable: true, description: 'What is wrong with it.' })
  problem!: TransferProblem | null;

  @Field(() => DateTime, { description: 'When the gateway learned of it.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it changed last.' })
  updatedAt!: Date;
}

@ObjectType('VenueMovementEdge', { description: 'A movement in a list.' })
class VenueMovementEdgeType {
  @Field(() => String, { description: 'Cursor of the movement: its id.' })
  cursor!: string;

  @Field(() => VenueMovementType, { description: 'The movement.' })
  node!: VenueMovement;
}

@ObjectType('VenueMovementConnection', { description: 'A page of movements at exchanges.' })
class VenueMovementConnectionType {
  @Field(() => [VenueMovementEdgeType], { description: 'The movements.' })
  edges!: VenueMovementEdgeType[];

  @Field(() => PageInfoType, { description: 'Position of the page.' })
  pageInfo!: PageInfoType;
}

@ObjectType('TreasuryTransferEdge', { description: 'A transfer in a list.' })
class TreasuryTransferEdgeType {
  @Field(() => String, { description: 'Cursor of the transfer: its id.' })
  cursor!: string;

  @Field(() => TreasuryTransferType, { description: 'The transfer.' })
  node!: TreasuryTransfer;
}

@ObjectType('TreasuryTransferConnection', { description: 'A page of transfers.' })
class TreasuryTransferConnectionType {
  @Field(() => [TreasuryTransferEdgeType], { description: 'The transfers.' })
  edges!: TreasuryTransferEdgeType[];

  @Field(() => PageInfoType, { description: 'Position of the page.' })
  pageInfo!: PageInfoType;
}

@ObjectType('Treasury', { description: 'Our accounts at exchanges, and coins on their way to and from them.' })
class TreasuryType {}

const venueArg = { description: "The exchange: 'kraken'." };

@Resolver(() => TreasuryType)
export class TreasuryResolver {
  readonly #clock: Clock;
  readonly #audit: AuditLog;
  readonly #actions: StaffActions;

  constructor(clock: Clock, audit: AuditLog, actions: StaffActions) {
    this.#clock = clock;
    this.#audit = audit;
    this.#actions = actions;
  }

  @RequiresPermission('treasury:read')
  @Query(() => TreasuryType, { description: 'Our accounts at exchanges, and coins on their way to and from them.' })
  treasury(): TreasuryType {
    return {};
  }

  @FieldResolver(() => [VenueAccountType], { description: 'Accounts that are or were read, by exchange.' })
  accounts(@Ctx() { em }: GraphqlContext): Promise<VenueAccountStatus[]> {
    return venueAccounts(em, this.#clock.now());
  }

  @FieldResolver(() => TreasuryTransferConnectionType, { description: 'Transfers, newest first.' })
  async transfers(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('state', () => [TransferStateEnum], { nullable: true, description: 'Only transfers in one of these states.' })
    states: TransferState[] | null | undefined,
    @Ctx() { em }: GraphqlContext,
  ): Promise<ListPage<TreasuryTransfer>> {
    const page = uuidPageOf(pageArgs);
    const found = await treasuryTransfers(em, states ?? null, { ...page, limit: page.size + 1 });
    return listPage(found, page, ({ id }) => id);
  }

  @RequiresPermission('treasury:read')
  @Query(() => VenueMovementConnectionType, {
    description: 'Deposits to our accounts at exchanges and withdrawals from them, newest first.',
  })
  async venueMovements(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('venue', () => String, { nullable: true, description: 'Only movements at this exchange.' })
    venue: string | null | undefined,
    @Arg('kind', () => MovementKindEnum, { nullable: true, description: 'Only deposits, or only withdrawals.' })
    kind: VenueMovement['kind'] | null | undefined,
    @Arg('part', () => MovementPartEnum, { nullable: true, description: 'Only movements that are this to the books.' })
    part: MovementPart | null | undefined,
    @Arg('coin', () => String, { nullable: true, description: 'Only movements of this coin.' })
    coin: string | null | undefined,
    @Ctx() { em }: GraphqlContext,
  ): Promise<ListPage<VenueMovement>> {
    const page = pageOf(pageArgs);
    const found = await venueMovements(em, omitNullish({ venue, kind, part, coin }), { ...page, limit: page.size + 1 });
    return listPage(found, page, movementId);
  }

  @RequiresPermission('treasury:decide')
  @Mutation(() => ActionType, {
    description:
      'Proposes to take the balances of an account at an exchange into the books, once. From then on they are compared.',
  })
  venueOpeningPropose(
    @Arg('venue', () => String, venueArg) venue: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    return this.#propose(context, 'venueOpeningPropose', { action: 'venue_opening', venue }, reason);
  }

  @RequiresPermission('treasury:decide')
  @Mutation(() => ActionType, {
    description:
      'Proposes what an entry of an exchange is that the gateway did not make: a movement, by its kind and reference, or a lasting difference, by its coin and amount. Of a transfer with a problem, that the rest in transit is a cost.',
  })
  treasuryClassify(
    @Arg('venue', () => String, venueArg) venue: string,
    @Arg('kind', () => MovementKindEnum, { nullable: true, description: 'Kind of the movement.' })
    kind: VenueMovement['kind'] | null | undefined,
    @Arg('reference', () => String, { nullable: true, description: 'Id of the movement at the exchange.' })
    reference: string | null | undefined,
    @Arg('coin', () => String, { nullable: true, description: 'Coin of the difference.' })
    coin: string | null | undefined,
    @Arg('amount', () => Decimal, {
      nullable: true,
      description: 'How much more the exchange has of it than the books; negative where it has less.',
    })
    amount: string | null | undefined,
    @Arg('class', () => VenueClassEnum, { description: 'What it is.' }) what: VenueClass,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffAction> {
    const venueSubject = omitNullish({ kind, reference, coin, amount });
    const proposal = { action: 'venue_classify', venue, venueSubject, class: what } as const;
    return this.#propose(context, 'treasuryClassify', proposal, reason);
  }

  #propose(
    context: GraphqlContext,
    operation: string,
    proposal: Pick<StaffProposal, 'action' | 'venueSubject' | 'class'> & { readonly venue: string },
    reason: string,
  ): Promise<StaffAction> {
    return this.#audit.act(context.actor, operation, reason, async (em) => {
      const made = await this.#actions.propose({ ...proposal, staffId: context.caller.id, reason }, em);
      const { id, state, movementKind, reference, coin, amount, class: what } = made;
      const after = omitNullish({ class: what, kind: movementKind, reference, coin, amount });
      return { result: made, target: `venue:${proposal.venue}`, after: { action: id, state, ...after } };
    });
  }
}

@Resolver(() => VenueMovementType)
export class VenueMovementResolver {
  @FieldResolver(() => ID, { description: 'Id of the movement, which attention items name.' })
  id(@Root() movement: VenueMovement): string {
    return movementId(movement);
  }

  @FieldResolver(() => TreasuryTransferType, { nullable: true, description: 'The transfer that it is a side of.' })
  transfer(@Root() movement: VenueMovement, @Ctx() { loaders }: GraphqlContext): Promise<TreasuryTransfer | null> {
    return movement.part === 'transfer' ? loaders.movementTransfer.load(movementId(movement)) : Promise.resolve(null);
  }

  @FieldResolver(() => Boolean, {
    description: 'Whether `treasuryClassify` accepts it now. Of the side of a transfer, see the transfer.',
  })
  async isClassifiable(@Root() movement: VenueMovement, @Ctx() { loaders }: GraphqlContext): Promise<boolean> {
    return movement.part === 'foreign' && (await loaders.classifiable.load(movementId(movement))) !== null;
  }
}

@Resolver(() => TreasuryTransferType)
export class TreasuryTransferResolver {
  @FieldResolver(() => VenueMovementType, { description: 'Its side at the exchange.' })
  async movement(@Root() transfer: TreasuryTransfer, @Ctx() { loaders }: GraphqlContext): Promise<VenueMovement> {
    const { venue, movementKind: kind, reference } = transfer;
    const movement = await loaders.movement.load(movementId({ venue, kind, reference }));
    if (!movement) throw new Error(`the movement of transfer ${transfer.id} is gone`);
    return movement;
  }

  @FieldResolver(() => Boolean, {
    description: 'Whether `treasuryClassify` accepts its rest in transit as a cost now.',
  })
  async isClassifiable(@Root() { id }: TreasuryTransfer, @Ctx() { loaders }: GraphqlContext): Promise<boolean> {
    return (await loaders.endable.load(id)) !== null;
  }

  @FieldResolver(() => [DepositType], {
    description: 'Its arrivals at the hot wallet, in the order in which they were seen.',
  })
  arrivals(@Root() { id }: TreasuryTransfer, @Ctx() { loaders }: GraphqlContext): Promise<Deposit[]> {
    return loaders.arrivals.load(id);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'Page of a block explorer that shows its transaction; null without one, and in a sandbox.',
  })
  async explorerUrl(@Root() transfer: TreasuryTransfer, @Ctx() context: GraphqlContext): Promise<string | null> {
    const { txid } = await this.movement(transfer, context);
    const { coin, network } = transfer;
    return txid === null ? null : context.wallets.explorerUrl(coin, network, 'transaction', txid);
  }
}
