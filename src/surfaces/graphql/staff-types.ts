import { Field, ID, ObjectType } from 'type-graphql';
import { approvableFrom } from '../../accounts/staff/approvals.ts';
import type { Permission } from '../../accounts/staff/permissions.ts';
import type { StaffRole } from '../../accounts/staff/staff-member.entity.ts';
import type { GraphqlContext } from './server/context.ts';
import { StaffRoleEnum } from './server/enumerations.ts';
import { DateTime } from './server/scalars.ts';

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

  @Field(() => StaffRoleEnum, { description: 'Role of the member.' })
  role!: StaffRole;

  @Field(() => DateTime, { description: 'When the member was invited.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the member was revoked.' })
  revokedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Since when the member is suspended until a second admin decides.',
  })
  suspendedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'From when the member may approve: a day after an invitation, a new token or another role.',
  })
  approvesFrom!: Date | null;
}

@ObjectType('Viewer', { description: 'The member who is signed in.' })
export class ViewerType {
  @Field(() => ID, { description: 'Id of the member.' })
  id!: string;

  @Field(() => String, { description: 'E-mail address.' })
  email!: string;

  @Field(() => StaffRoleEnum, { description: 'Role.' })
  role!: StaffRole;

  @Field(() => [String], { description: 'All permissions of the member.' })
  permissions!: Permission[];
}

/** From when the caller may approve a proposal of a member. Null without a delay. */
export async function callerApprovesFrom({ caller, loaders }: GraphqlContext, proposer: string): Promise<Date | null> {
  const [own, other] = await Promise.all([loaders.staffMember.load(caller.id), loaders.staffMember.load(proposer)]);
  return own && other ? approvableFrom(own, other) : null;
}

export const approvableFromDescription =
  'From when you may approve it: a day after you or its proposer were invited or got a new token or role. Null without such a delay.';

/** Returns the name of a member, for the actions of the member. */
export async function staffName({ loaders }: GraphqlContext, id: string): Promise<StaffNameType> {
  const member = await loaders.staffMember.load(id);
  if (!member) throw new Error('a member of staff that is referred to is gone');
  return member;
}
