import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { StaffMember } from './staff-member.entity.ts';

/** A member of staff signed in with a browser. */
@Entity({ tableName: 'staff_session' })
export class StaffSession {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  /** SHA-256 of the 256 random bits that the browser holds. */
  @Property({ type: 'blob' })
  secretHash!: Buffer;

  @ManyToOne(() => StaffMember)
  staff!: StaffMember;

  /** How the member proved the identity: by a token or by the identity provider. */
  @Property({ type: 'text' })
  via!: 'token' | 'oidc';

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  lastSeenAt!: Date;

  /** The session ends at this moment, even while it is used. */
  @Property({ type: 'timestamptz' })
  expiresAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  endedAt!: Date | null;
}
