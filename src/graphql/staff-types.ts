import { Field, ID, ObjectType } from 'type-graphql';
import type { Permission } from '../staff/permissions.ts';
import type { StaffRole } from '../staff/staff-member.entity.ts';
import type { GraphqlContext } from './context.ts';
import { StaffRoleEnum } from './enumerations.ts';
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

  @Field(() => DateTime, {
    nullable: true,
    description: 'Since when it is shut out until a second admin decides.',
  })
  suspendedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'From when on the member may approve: a day after an invitation, a new token or another role.',
  })
  approvesFrom!: Date | null;
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

/** A colleague's name, for what they did. */
export async function staffName({ loaders }: GraphqlContext, id: string): Promise<StaffNameType> {
  const member = await loaders.staffMember.load(id);
  if (!member) throw new Error('a member of staff that is referred to is gone');
  return member;
}
