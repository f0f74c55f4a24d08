import { Ctx, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import type { StaffChange, StaffChangeName } from '../staff/staff-change.entity.ts';
import type { StaffMember, StaffRole } from '../staff/staff-member.entity.ts';
import type { GraphqlContext } from './context.ts';
import { StaffActionStateEnum, StaffChangeEnum, StaffRoleEnum } from './enumerations.ts';
import { DateTime } from './scalars.ts';
import { StaffMemberType, StaffNameType, staffName } from './staff-types.ts';

@ObjectType('StaffChange', { description: 'A change of staff, made or proposed for a second admin to approve.' })
export class StaffChangeType {
  @Field(() => ID, { description: 'Id of the change.' })
  id!: string;

  @Field(() => StaffChangeEnum, { description: 'What.' })
  change!: StaffChangeName;

  @Field(() => String, { nullable: true, description: 'Who is invited.' })
  email!: string | null;

  @Field(() => StaffRoleEnum, { nullable: true, description: 'The role of an invitation, or the new one.' })
  role!: StaffRole | null;

  @Field(() => String, { description: 'Why.' })
  reason!: string;

  @Field(() => StaffActionStateEnum, { description: 'Where it stands.' })
  state!: StaffChange['state'];

  @Field(() => Boolean, { description: 'Whether one admin carried it out because there was no other.' })
  alone!: boolean;

  @Field(() => DateTime, { description: 'When it was asked for.' })
  proposedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was decided.' })
  decidedAt!: Date | null;
}

@ObjectType('StaffChangeOutcome', { description: 'A change of staff, and what came of it.' })
export class StaffChangeOutcomeType {
  @Field(() => StaffChangeType, { description: 'The change.' })
  change!: StaffChange;

  @Field(() => StaffMemberType, { nullable: true, description: 'Whom it is about; null while an invitation waits.' })
  member!: StaffMember | null;

  @Field(() => String, {
    nullable: true,
    description:
      'The code with which the member makes a token at /sign-in, once and within three days. Shown this once.',
  })
  enrolmentCode!: string | null;
}

@Resolver(() => StaffChangeType)
export class StaffChangeResolver {
  @FieldResolver(() => StaffNameType, { nullable: true, description: 'Whom it is about.' })
  async member(@Root() { memberId }: StaffChange, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return memberId === null ? null : staffName(context, memberId);
  }

  @FieldResolver(() => StaffNameType, { description: 'Who asked for it.' })
  proposedBy(@Root() { proposedBy }: StaffChange, @Ctx() context: GraphqlContext): Promise<StaffNameType> {
    return staffName(context, proposedBy);
  }

  @FieldResolver(() => StaffNameType, { nullable: true, description: 'Who decided it.' })
  async decidedBy(@Root() { decidedBy }: StaffChange, @Ctx() context: GraphqlContext): Promise<StaffNameType | null> {
    return decidedBy === null ? null : staffName(context, decidedBy);
  }
}
