import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { StaffRole } from './staff-member.entity.ts';

const staffChangeNames = ['invite', 'role', 'token', 'revoke'] as const;
export type StaffChangeName = (typeof staffChangeNames)[number];

/** A change of staff that an admin made, or proposed for another admin to approve. */
@Entity({ tableName: 'staff_change' })
export class StaffChange {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  change!: StaffChangeName;

  /** Null for an invitation that was not carried out. */
  @Property({ type: 'uuid', nullable: true })
  memberId!: string | null;

  /** Address of the invited person. */
  @Property({ type: 'text', nullable: true })
  email!: string | null;

  @Property({ type: 'text', nullable: true })
  role!: StaffRole | null;

  @Property({ type: 'text' })
  reason!: string;

  @Property({ type: 'text' })
  state!: 'proposed' | 'done' | 'rejected';

  /** Carried out by one admin alone, because there was no other. */
  @Property({ type: 'boolean' })
  alone!: boolean;

  @Property({ type: 'uuid' })
  proposedBy!: string;

  @Property({ type: 'timestamptz' })
  proposedAt!: Date;

  @Property({ type: 'uuid', nullable: true })
  decidedBy!: string | null;

  @Property({ type: 'timestamptz', nullable: true })
  decidedAt!: Date | null;
}
