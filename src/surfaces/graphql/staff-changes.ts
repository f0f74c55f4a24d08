import { Ctx, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import type { StaffChange, StaffChangeName } from '../../accounts/staff/staff-change.entity.ts';
import type { StaffMember, StaffRole } from '../../accounts/staff/staff-member.entity.ts';
import type { GraphqlContext } from './server/context.ts';
import { StaffActionStateEnum, StaffChangeEnum, StaffRoleEnum } from './server/enumerations.ts';
import { DateTime } from './server/scalars.ts';
import {
  approvableFromDescription,
  callerApprovesFrom,
  StaffMemberType,
  StaffNameType,
  staffName,
} from './staff-types.ts';

@ObjectType('StaffChange', { description: 'A change of staff, done or proposed for a second admin to approve.' })
export class StaffChangeType {
  @Field(() => ID, { description: 'Id of the change.' })
  id!: string;

  @Field(() => StaffChangeEnum, { description: 'Kind of the change.' })
  change!: StaffChangeName;

  @Field(() => String, { nullable: true, description: 'The invited address.' })
  email!: string | null;

  @Field(() => StaffRoleEnum, { nullable: true, description: 'The role of an invitation, or the new role.' })
  role!: StaffRole | null;

  @Field(() => String, { description: 'Reason that was given.' })
  reason!: string;

  @Field(() => StaffActionStateEnum, { description: 'State of the change.' })
  state!: StaffChange['state'];

  @Field(() => Boolean, { description: 'Whether a single admin carried it out because there was no other admin.' })
  alone!: boolean;

  @Field(() => DateTime, { description: 'When it was requested.' })
  proposedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was decided.' })
  decidedAt!: Date | null;
}

@ObjectType('StaffChangeOutcome', { description: 'A change of staff and its result.' })
export class StaffChangeOutcomeType {
  @Field(() => StaffChangeType, { description: 'The change.' })
  change!: StaffChange;

  @Field(() => StaffMemberType, {
    nullable: true,
    description: 'The member of the change; null while an invitation waits for approval.',
  })
  member!: StaffMember | null;

  @Field(() => String, {
    nullable: true,
    description: 'The code with which the member makes a token at /sign-in, once and within three days. Shown once.',
  })
  enrolmentCode!: string | null;
}

@Resolver(() => StaffChangeType)
export class StaffChangeResolver {
  @FieldResolver(() => StaffNameType, { nullable: true, description: 'The member of the change.' })
  async member(@Root() { memberId }: StaffChange, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return memberId === null ? null : staffName(context, memberId);
  }

  @FieldResolver(() => StaffNameType, { description: 'The admin who requested it.' })
  proposedBy(@Root() { proposedBy }: StaffChange, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, proposedBy);
  }

  @FieldResolver(() => DateTime, { nullable: true, description: approvableFromDescription })
  approvableFrom(@Root() { proposedBy }: StaffChange, @Ctx() context: GraphqlContext): Promise<Date | null> {
    return callerApprovesFrom(context, proposedBy);
  }

  @FieldResolver(() => StaffNameType, { nullable: true, description: 'The admin who decided it.' })
  async decidedBy(@Root() { decidedBy }: StaffChange, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return decidedBy === null ? null : staffName(context, decidedBy);
  }
}
