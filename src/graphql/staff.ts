import { Arg, Ctx, Field, FieldResolver, ID, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { AuditLog } from '../audit/audit-log.ts';
import { type Permission, permissionsOf } from '../staff/permissions.ts';
import type { StaffMember, StaffRole } from '../staff/staff-member.entity.ts';
import type { StaffService } from '../staff/staff-service.ts';
import type { GraphqlContext } from './context.ts';
import { StaffRoleEnum } from './enumerations.ts';
import { Permit } from './permit.ts';
import { DateTime } from './scalars.ts';

@ObjectType('StaffName', { description: 'A member of staff, as colleagues see them.' })
export class StaffNameType {
  @Field(() => ID, { description: 'Id of the member.' })
  id!: string;

  @Field(() => String, { description: 'E-mail address.' })
  email!: string;
}

@ObjectType('StaffMember', { description: 'A member of staff.' })
export class StaffMemberType {
  @Field(() => ID, { description: 'Id of the member.' })
  id!: string;

  @Field(() => String, { description: 'E-mail address.' })
  email!: string;

  @Field(() => StaffRoleEnum, { description: 'What the member may do.' })
  role!: StaffRole;

  @Field(() => DateTime, { description: 'When the member was invited.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was shut out.' })
  revokedAt!: Date | null;
}

@ObjectType('Viewer', { description: 'Who is signed in.' })
export class ViewerType {
  @Field(() => ID, { description: 'Id of the member.' })
  id!: string;

  @Field(() => String, { description: 'E-mail address.' })
  email!: string;

  @Field(() => StaffRoleEnum, { description: 'Role.' })
  role!: StaffRole;

  @Field(() => [String], { description: 'All that the member may do.' })
  permissions!: Permission[];
}

@ObjectType('IssuedToken', { description: 'A token at the one moment when it is whole. It cannot be read again.' })
export class IssuedTokenType {
  @Field(() => StaffMemberType, { description: 'Whose it is.' })
  member!: StaffMember;

  @Field(() => String, { description: 'The token. Give it to the member over a safe channel.' })
  token!: string;
}

/** A colleague's name, for what they did. */
export async function staffName({ loaders }: GraphqlContext, id: string): Promise<StaffNameType> {
  const member = await loaders.staffMember.load(id);
  if (!member) throw new Error('a member of staff that is referred to is gone');
  return member;
}

@Resolver(() => StaffMemberType)
export class StaffResolver {
  readonly #audit: AuditLog;
  readonly #staff: StaffService;

  constructor(audit: AuditLog, staff: StaffService) {
    this.#audit = audit;
    this.#staff = staff;
  }

  @Permit('self:read')
  @Query(() => ViewerType, { description: 'Who is signed in.' })
  me(@Ctx() { caller }: GraphqlContext): ViewerType {
    return { ...caller, permissions: permissionsOf(caller.role) };
  }

  @Permit('staff:read')
  @Query(() => [StaffMemberType], { description: 'All members of staff, oldest first.' })
  staff(): Promise<StaffMember[]> {
    return this.#staff.list();
  }

  @FieldResolver(() => Boolean, {
    description: 'Whether the member has a token. Others sign in with OpenID Connect only.',
  })
  hasToken(@Root() { tokenId }: StaffMember): boolean {
    return tokenId !== null;
  }

  @Permit('staff:write')
  @Mutation(() => IssuedTokenType, { description: 'Adds a member and issues their token.' })
  staffInvite(
    @Arg('email', () => String, { description: 'E-mail address.' }) email: string,
    @Arg('role', () => StaffRoleEnum, { description: 'What the member may do.' }) role: StaffRole,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<IssuedTokenType> {
    return this.#audit.act(context.actor, 'staffInvite', reason, async (em) => {
      const issued = await this.#staff.invite(em, email, role);
      return { result: issued, target: `staff:${issued.member.id}`, after: snapshot(issued.member) };
    });
  }

  @Permit('staff:write')
  @Mutation(() => StaffMemberType, { description: "Changes a member's role, and ends their sessions." })
  staffRole(
    @Arg('id', () => ID, { description: 'The member.' }) id: string,
    @Arg('role', () => StaffRoleEnum, { description: 'What the member may do from now on.' }) role: StaffRole,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffMember> {
    return this.#audit.act(context.actor, 'staffRole', reason, async (em) => {
      const before = (await this.#staff.list(em)).find((member) => member.id === id.toLowerCase())?.role;
      const member = await this.#staff.changeRole(em, id, role);
      return { result: member, target: `staff:${member.id}`, before: { role: before }, after: { role } };
    });
  }

  @Permit('staff:write')
  @Mutation(() => IssuedTokenType, {
    description: "Issues a new token. The old one, and the member's sessions, end at once.",
  })
  staffToken(
    @Arg('id', () => ID, { description: 'The member.' }) id: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<IssuedTokenType> {
    return this.#audit.act(context.actor, 'staffToken', reason, async (em) => {
      const issued = await this.#staff.rotateToken(em, id);
      return { result: issued, target: `staff:${issued.member.id}` };
    });
  }

  @Permit('staff:write')
  @Mutation(() => StaffMemberType, { description: 'Shuts a member out, at once.' })
  staffRevoke(
    @Arg('id', () => ID, { description: 'The member.' }) id: string,
    @Arg('reason', () => String, { description: 'Why.' }) reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<StaffMember> {
    return this.#audit.act(context.actor, 'staffRevoke', reason, async (em) => {
      const member = await this.#staff.revoke(em, id);
      return { result: member, target: `staff:${member.id}`, after: snapshot(member) };
    });
  }
}

function snapshot({ email, role, revokedAt }: StaffMember): Record<string, unknown> {
  return { email, role, revokedAt };
}
