import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { AuditedResult, AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { permissionsOf } from '../../accounts/staff/permissions.ts';
import { StaffChange } from '../../accounts/staff/staff-change.entity.ts';
import type { StaffChangeOutcome, StaffChangeProposal, StaffChanges } from '../../accounts/staff/staff-changes.ts';
import type { StaffMember, StaffRole } from '../../accounts/staff/staff-member.entity.ts';
import type { StaffService } from '../../accounts/staff/staff-service.ts';
import { AppError } from '../../base/errors.ts';
import type { GraphqlContext } from './server/context.ts';
import { StaffRoleEnum } from './server/enumerations.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { StaffChangeOutcomeType, StaffChangeType } from './staff-changes.ts';
import { StaffMemberType, ViewerType } from './staff-types.ts';

@Resolver(() => StaffMemberType)
export class StaffResolver {
  readonly #audit: AuditLog;
  readonly #staff: StaffService;
  readonly #changes: StaffChanges;

  constructor(audit: AuditLog, staff: StaffService, changes: StaffChanges) {
    this.#audit = audit;
    this.#staff = staff;
    this.#changes = changes;
  }

  @RequiresPermission('self:read')
  @Query(() => ViewerType, { description: 'The member who is signed in.' })
  me(@Ctx() { caller }: GraphqlContext): ViewerType {
    return { ...caller, permissions: permissionsOf(caller.role) };
  }

  @RequiresPermission('staff:read')
  @Query(() => [StaffMemberType], { description: 'All members of staff, oldest first.' })
  staff(): Promise<StaffMember[]> {
    return this.#staff.list();
  }

  @FieldResolver(() => Boolean, {
    description: 'Whether the member has a token. Other members sign in with OpenID Connect only.',
  })
  hasToken(@Root() { tokenId }: StaffMember): boolean {
    return tokenId !== null;
  }

  @RequiresPermission('staff:read')
  @Query(() => [StaffChangeType], { description: 'Changes of staff that wait for a second admin, oldest first.' })
  staffChanges(@Ctx() { em }: GraphqlContext): Promise<StaffChange[]> {
    return em.find(StaffChange, { state: 'proposed' }, { orderBy: { proposedAt: 'asc' }, limit: 200 });
  }

  @RequiresPermission('staff:write')
  @Mutation(() => StaffChangeOutcomeType, {
    description: 'Adds a member, who enrols with a code or signs in at the identity provider.',
  })
  staffInvite(
    @Arg('email', () => String, { description: 'E-mail address.' }) email: string,
    @Arg('role', () => StaffRoleEnum, { description: 'Role of the member.' }) role: StaffRole,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffChangeOutcome> {
    return this.#propose(context, 'staffInvite', { change: 'invite', email, role, reason });
  }

  @RequiresPermission('staff:write')
  @Mutation(() => StaffChangeOutcomeType, {
    description: "Changes a member's role, and ends the member's sessions. A lower role also ends the token.",
  })
  staffRole(
    @Arg('id', () => ID, { description: 'The member.' }) id: string,
    @Arg('role', () => StaffRoleEnum, { description: 'The new role.' }) role: StaffRole,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffChangeOutcome> {
    return this.#propose(context, 'staffRole', { change: 'role', memberId: id, role, reason });
  }

  @RequiresPermission('staff:write')
  @Mutation(() => StaffChangeOutcomeType, {
    description: 'Gives a member a code that makes a new token. The old token and the sessions end at once.',
  })
  staffToken(
    @Arg('id', () => ID, { description: 'The member.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffChangeOutcome> {
    return this.#propose(context, 'staffToken', { change: 'token', memberId: id, reason });
  }

  @RequiresPermission('staff:write')
  @Mutation(() => StaffChangeOutcomeType, {
    description: 'Suspends a member at once, until a second admin decides. An approval revokes the member for good.',
  })
  staffRevoke(
    @Arg('id', () => ID, { description: 'The member.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffChangeOutcome> {
    return this.#propose(context, 'staffRevoke', { change: 'revoke', memberId: id, reason });
  }

  @RequiresPermission('staff:write')
  @Mutation(() => StaffChangeOutcomeType, { description: 'Carries out a change of staff that another admin proposed.' })
  staffChangeApprove(
    @Arg('id', () => ID, { description: 'The change.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffChangeOutcome> {
    return this.#decide(context, 'staffChangeApprove', 'approve', id, reason);
  }

  @RequiresPermission('staff:write')
  @Mutation(() => StaffChangeOutcomeType, {
    description: 'Rejects or withdraws a change of staff. A member that it suspended may act again.',
  })
  staffChangeReject(
    @Arg('id', () => ID, { description: 'The change.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffChangeOutcome> {
    return this.#decide(context, 'staffChangeReject', 'reject', id, reason);
  }

  #propose(context: GraphqlContext, operation: string, proposal: StaffChangeProposal): Promise<StaffChangeOutcome> {
    return this.#audit.act(context.actor, operation, proposal.reason, async (em) => {
      const id = proposal.memberId?.toLowerCase();
      const known = id === undefined ? undefined : (await this.#staff.list(em)).find((member) => member.id === id);
      const before = known ? snapshot(known) : null;
      const outcome = await this.#changes.propose(em, proposal, context.caller.id);
      return { result: outcome, ...told(outcome), before };
    });
  }

  #decide(
    context: GraphqlContext,
    operation: string,
    verdict: 'approve' | 'reject',
    id: string,
    reason: string,
  ): Promise<StaffChangeOutcome> {
    if (!isUuid(id)) throw new AppError('action_not_found', 'there is no such change');
    return this.#audit.act(context.actor, operation, reason, async (em) => {
      const outcome = await this.#changes[verdict](em, id, context.caller.id);
      return { result: outcome, ...told(outcome) };
    });
  }
}

/** The audit log's record of a change. */
function told({ change, member }: StaffChangeOutcome): Pick<AuditedResult<unknown>, 'target' | 'after'> {
  const { id, email, role, state, alone } = change;
  return {
    target: member ? `staff:${member.id}` : `staff:${email}`,
    after: { change: id, what: change.change, role, state, alone, ...(member ? { member: snapshot(member) } : {}) },
  };
}

function snapshot({ email, role, revokedAt, suspendedAt }: StaffMember): Record<string, unknown> {
  return { email, role, revokedAt, suspendedAt };
}
