import { Arg, Args, Ctx, Field, FieldResolver, ID, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import { AuditEntry } from '../audit/audit-entry.entity.ts';
import { AppError } from '../errors.ts';
import { PageArgs, PageInfoType, pageOf } from './connection.ts';
import type { GraphqlContext } from './context.ts';
import { Permit } from './permit.ts';
import { DateTime } from './scalars.ts';
import { StaffNameType, staffName } from './staff-types.ts';

@ObjectType('AuditEntry', {
  description: 'One thing that staff did, or an operator by command line. Never changed or removed.',
})
export class AuditEntryType {
  @Field(() => ID, { description: 'Id of the entry.' })
  id!: string;

  @Field(() => DateTime, { description: 'When.' })
  at!: Date;

  @Field(() => String, { description: 'Which mutation or command.' })
  operation!: string;

  @Field(() => String, {
    description: "What it was done to: 'order:<id>', 'partner:<id>', 'key:<id>', 'currency:BTC/BTC'.",
  })
  target!: string;

  @Field(() => String, { description: 'Why.' })
  reason!: string;

  @Field(() => String, { description: 'The request that asked for it.' })
  requestId!: string;

  @Field(() => String, { description: 'Network that the request came from.' })
  ip!: string;
}

@ObjectType('AuditEntryEdge', { description: 'An entry in a list.' })
export class AuditEntryEdgeType {
  @Field(() => String, { description: 'Where it lies in the list.' })
  cursor!: string;

  @Field(() => AuditEntryType, { description: 'The entry.' })
  node!: AuditEntry;
}

@ObjectType('AuditEntryConnection', { description: 'A page of the audit log.' })
export class AuditEntryConnectionType {
  @Field(() => [AuditEntryEdgeType], { description: 'The entries.' })
  edges!: AuditEntryEdgeType[];

  @Field(() => PageInfoType, { description: 'Where the page lies.' })
  pageInfo!: PageInfoType;
}

@Resolver(() => AuditEntryType)
export class AuditResolver {
  @Permit('audit:read')
  @Query(() => AuditEntryConnectionType, { description: 'What staff did, newest first.' })
  async auditLog(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('staffId', () => ID, { nullable: true, description: 'Only what this member did.' })
    staffId: string | null | undefined,
    @Arg('target', () => String, { nullable: true, description: "Only what was done to this: 'order:<id>'." })
    target: string | null | undefined,
    @Ctx() { em }: GraphqlContext,
  ): Promise<AuditEntryConnectionType> {
    const { backwards, size, cursor } = pageOf(pageArgs);
    for (const id of [staffId, cursor]) {
      if ((id ?? null) !== null && !isUuid(id)) {
        throw new AppError('invalid_value', `'${id?.slice(0, 40)}' is no id of this list`);
      }
    }
    // Ids grow with time, so they are the order of the list and its cursors.
    const found = await em.find(
      AuditEntry,
      {
        ...(staffId ? { staffId } : {}),
        ...(target ? { target } : {}),
        ...(cursor === null ? {} : { id: backwards ? { $gt: cursor } : { $lt: cursor } }),
      },
      { orderBy: { id: backwards ? 'asc' : 'desc' }, limit: size + 1 },
    );
    const rows = found.slice(0, size);
    if (backwards) rows.reverse();
    const edges = rows.map((node) => ({ node, cursor: node.id }));
    const more = found.length > size;
    return {
      edges,
      pageInfo: {
        hasNextPage: backwards ? cursor !== null : more,
        hasPreviousPage: backwards ? more : cursor !== null,
        startCursor: edges.at(0)?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null,
      },
    };
  }

  @FieldResolver(() => StaffNameType, { nullable: true, description: 'Who did it; null for what an operator did.' })
  async actor(@Root() { staffId }: AuditEntry, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return staffId === null ? null : staffName(context, staffId);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: "For what was done by command line: 'cli:' and the operator's account on the machine.",
  })
  operator(@Root() { actor }: AuditEntry): string | null {
    return actor;
  }

  @FieldResolver(() => String, { nullable: true, description: 'What was changed, as it was, as JSON.' })
  before(@Root() { before }: AuditEntry): string | null {
    return before && JSON.stringify(before);
  }

  @FieldResolver(() => String, { nullable: true, description: 'And as it was from then on, as JSON.' })
  after(@Root() { after }: AuditEntry): string | null {
    return after && JSON.stringify(after);
  }
}
