import { Arg, Args, Ctx, Field, FieldResolver, ID, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import { AuditEntry } from '../../accounts/staff/audit/audit-entry.entity.ts';
import { AppError } from '../../base/errors.ts';
import { AuditObjectType, AuditProposalType, auditObject, auditProposal } from './audit-objects.ts';
import { type ListPage, listPage, PageArgs, PageInfoType, uuidPageOf } from './server/connection.ts';
import type { GraphqlContext } from './server/context.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime } from './server/scalars.ts';
import { StaffNameType, staffName } from './staff-types.ts';

@ObjectType('AuditEntry', {
  description: 'One action of staff, or of an operator on the command line. Never changed or removed.',
})
class AuditEntryType {
  @Field(() => ID, { description: 'Id of the entry.' })
  id!: string;

  @Field(() => DateTime, { description: 'Time of the action.' })
  at!: Date;

  @Field(() => String, { description: 'Name of the mutation or command.' })
  operation!: string;

  @Field(() => String, {
    description: "Object of the action: 'order:<id>', 'partner:<id>', 'key:<id>', 'currency:BTC/BTC'.",
  })
  target!: string;

  @Field(() => String, { description: 'Reason that was given.' })
  reason!: string;

  @Field(() => String, { description: 'Id of the request.' })
  requestId!: string;

  @Field(() => String, { description: 'Network of the client.' })
  ip!: string;
}

@ObjectType('AuditEntryEdge', { description: 'An entry in a list.' })
class AuditEntryEdgeType {
  @Field(() => String, { description: 'Cursor of the entry.' })
  cursor!: string;

  @Field(() => AuditEntryType, { description: 'The entry.' })
  node!: AuditEntry;
}

@ObjectType('AuditEntryConnection', { description: 'A page of the audit log.' })
class AuditEntryConnectionType {
  @Field(() => [AuditEntryEdgeType], { description: 'The entries.' })
  edges!: AuditEntryEdgeType[];

  @Field(() => PageInfoType, { description: 'Position of the page.' })
  pageInfo!: PageInfoType;
}

@Resolver(() => AuditEntryType)
export class AuditResolver {
  @RequiresPermission('audit:read')
  @Query(() => AuditEntryConnectionType, { description: 'Actions of staff, newest first.' })
  async auditLog(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('staffId', () => ID, { nullable: true, description: 'Only actions of this member.' })
    staffId: string | null | undefined,
    @Arg('target', () => String, { nullable: true, description: "Only actions on this object: 'order:<id>'." })
    target: string | null | undefined,
    @Arg('operation', () => String, { nullable: true, description: 'Only this mutation or command.' })
    operation: string | null | undefined,
    @Arg('from', () => DateTime, { nullable: true, description: 'Only actions at this time or later.' })
    from: Date | null | undefined,
    @Arg('to', () => DateTime, { nullable: true, description: 'Only actions before this time.' })
    to: Date | null | undefined,
    @Ctx() { em }: GraphqlContext,
  ): Promise<ListPage<AuditEntry>> {
    const page = uuidPageOf(pageArgs);
    const { backwards, size, cursor } = page;
    if (typeof staffId === 'string' && !isUuid(staffId)) {
      throw new AppError('invalid_value', `'${staffId.slice(0, 40)}' is no id of a member`);
    }
    if (from && to && from >= to) throw new AppError('invalid_value', 'from must be before to');
    // Ids grow with time, so they order the list and serve as its cursors.
    const found = await em.find(
      AuditEntry,
      {
        ...(staffId ? { staffId } : {}),
        ...(target ? { target } : {}),
        ...(operation ? { operation } : {}),
        ...(from || to ? { at: { ...(from ? { $gte: from } : {}), ...(to ? { $lt: to } : {}) } } : {}),
        ...(cursor === null ? {} : { id: backwards ? { $gt: cursor } : { $lt: cursor } }),
      },
      { orderBy: { id: backwards ? 'asc' : 'desc' }, limit: size + 1 },
    );
    return listPage(found, page, ({ id }) => id);
  }

  @FieldResolver(() => AuditObjectType, { description: 'The object of the action, by its name.' })
  object(@Root() entry: AuditEntry, @Ctx() { loaders }: GraphqlContext): Promise<AuditObjectType> {
    return auditObject(entry, loaders);
  }

  @FieldResolver(() => AuditProposalType, {
    nullable: true,
    description: 'The proposal that the action made or decided; null when it was carried out by itself.',
  })
  proposal(@Root() entry: AuditEntry, @Ctx() { loaders }: GraphqlContext): Promise<AuditProposalType | null> {
    return auditProposal(entry, loaders);
  }

  @FieldResolver(() => StaffNameType, {
    nullable: true,
    description: 'The member who did it; null for an operator or a partner.',
  })
  async actor(@Root() { staffId }: AuditEntry, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return staffId === null ? null : staffName(context, staffId);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: "For an action on the command line: 'cli:' and the operator's account on the machine.",
  })
  operator(@Root() { actor }: AuditEntry): string | null {
    return actor;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: "For an action in the partner cabinet: the name of the partner's member.",
  })
  async member(@Root() { memberId }: AuditEntry, @Ctx() { loaders }: GraphqlContext): Promise<string | null> {
    return memberId === null ? null : ((await loaders.partnerMember.load(memberId))?.name ?? null);
  }

  @FieldResolver(() => String, { nullable: true, description: 'The changed values before the action, as JSON.' })
  before(@Root() { before }: AuditEntry): string | null {
    return before && JSON.stringify(before);
  }

  @FieldResolver(() => String, { nullable: true, description: 'The changed values after the action, as JSON.' })
  after(@Root() { after }: AuditEntry): string | null {
    return after && JSON.stringify(after);
  }
}
