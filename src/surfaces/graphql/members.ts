import { Arg, Ctx, Field, FieldResolver, ID, Int, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import type { InvitationView, IssuedInvitation, Members, MemberView } from '../../accounts/members/members.ts';
import type { MemberRole } from '../../accounts/members/rights.ts';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { AppError } from '../../base/errors.ts';
import { PartnerType } from './partner-types.ts';
import type { GraphqlContext } from './server/context.ts';
import { enumOf } from './server/enums.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime } from './server/scalars.ts';

const MemberRoleEnum = enumOf<MemberRole>('MemberRole', "What a member of a partner's team may do.", {
  owner: 'All of it, also people and the audit log.',
  developer: 'Keys, webhooks and orders.',
  finance: 'Statements and orders.',
  viewer: 'Orders.',
});

@ObjectType('PartnerMember', { description: "A person of a partner's team, who signs in to the cabinet." })
class PartnerMemberType {
  @Field(() => ID, { description: 'Id of the member.' })
  id!: string;

  @Field(() => String, { description: 'Name of the person.' })
  name!: string;

  @Field(() => MemberRoleEnum, { description: 'Role.' })
  role!: MemberRole;

  @Field(() => Int, { description: 'How many passkeys the member has.' })
  passkeys!: number;

  @Field(() => DateTime, { description: 'When the member came.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the member was last seen.' })
  lastSeenAt!: Date | null;
}

@ObjectType('PartnerInvitation', {
  description: 'An open invitation to the cabinet of a partner. Its link was shown when it was made.',
})
class PartnerInvitationType {
  @Field(() => ID, { description: 'Id of the invitation.' })
  id!: string;

  @Field(() => String, { description: 'Name of the person.' })
  name!: string;

  @Field(() => MemberRoleEnum, { description: 'Role that the person gets.' })
  role!: MemberRole;

  @Field(() => Boolean, { description: 'Whether it is for a member who has lost all passkeys.' })
  isRecovery!: boolean;

  @Field(() => String, { nullable: true, description: 'Name of the member who invites; null for staff.' })
  invitedBy!: string | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'Until when it works.' })
  expiresAt!: Date;
}

@ObjectType('WithdrawnInvitation', { description: 'An invitation that was ended.' })
class WithdrawnInvitationType {
  @Field(() => ID, { description: 'Id of the invitation.' })
  id!: string;
}

@ObjectType('IssuedInvitation', { description: 'An invitation to the cabinet. Its link is shown only now.' })
class IssuedInvitationType {
  @Field(() => String, { description: 'The link. It works once.' })
  link!: string;

  @Field(() => DateTime, { description: 'Until when it works.' })
  expiresAt!: Date;
}

/** People of partners, as staff see and invite them. */
@Resolver(() => PartnerType)
export class MemberResolver {
  readonly #audit: AuditLog;
  readonly #members: Members | null;

  /** @param members null without CABINET_URL. */
  constructor(audit: AuditLog, members: Members | null) {
    this.#audit = audit;
    this.#members = members;
  }

  @RequiresPermission('keys:read')
  @FieldResolver(() => [PartnerMemberType], { description: 'People who sign in to the cabinet, oldest first.' })
  members(@Root() { id }: Partner, @Ctx() { loaders }: GraphqlContext): Promise<MemberView[]> {
    return loaders.members.load(id);
  }

  @RequiresPermission('keys:read')
  @FieldResolver(() => [PartnerInvitationType], {
    description: 'Invitations to the cabinet that can still be accepted, oldest first.',
  })
  invitations(@Root() { id }: Partner, @Ctx() { loaders }: GraphqlContext): Promise<InvitationView[]> {
    return loaders.invitations.load(id);
  }

  @RequiresPermission('keys:write')
  @Mutation(() => IssuedInvitationType, { description: 'Invites a person to the cabinet of a partner.' })
  memberInvite(
    @Arg('partnerId', () => ID, { description: 'The partner.' }) partnerId: string,
    @Arg('name', () => String, { description: 'Name of the person, 1 to 100 characters.' }) name: string,
    @Arg('role', () => MemberRoleEnum, { description: 'Role.' }) role: MemberRole,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<IssuedInvitationType> {
    return this.#audit.act(context.actor, 'memberInvite', reason, async (em) => {
      const issued = await this.#open().invite(partnerId, { name, role }, null, em);
      return { result: shown(issued), target: `partner:${partnerId}`, after: { name, role } };
    });
  }

  @RequiresPermission('keys:write')
  @Mutation(() => IssuedInvitationType, {
    description: 'Invites a member who has lost all passkeys to make a new one.',
  })
  memberRecover(
    @Arg('memberId', () => ID, { description: 'The member.' }) memberId: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<IssuedInvitationType> {
    return this.#audit.act(context.actor, 'memberRecover', reason, async (em) => {
      const issued = await this.#open().recover(null, memberId, null, em);
      return { result: shown(issued), target: `member:${memberId}` };
    });
  }

  @RequiresPermission('keys:write')
  @Mutation(() => WithdrawnInvitationType, { description: 'Ends an open invitation. Its link works no more.' })
  invitationWithdraw(
    @Arg('id', () => ID, { description: 'The invitation.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<WithdrawnInvitationType> {
    return this.#audit.act(context.actor, 'invitationWithdraw', reason, async (em) => {
      const { partnerId, name, role } = await this.#open().withdraw(null, id, em);
      return { result: { id }, target: `partner:${partnerId}`, before: { name, role } };
    });
  }

  #open(): Members {
    if (this.#members) return this.#members;
    throw new AppError('action_not_possible', 'there is no partner cabinet here; set CABINET_URL');
  }
}

function shown({ link, invitation }: IssuedInvitation): IssuedInvitationType {
  return { link, expiresAt: invitation.expiresAt };
}
