import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** Roles, from the fewest permissions to the most. */
export const staffRoles = ['viewer', 'support', 'operator', 'admin'] as const;
export type StaffRole = (typeof staffRoles)[number];

/** A member of staff. A member who signs in only at the identity provider has no token. */
@Entity({ tableName: 'staff_member' })
export class StaffMember {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  email!: string;

  @Property({ type: 'text' })
  role!: StaffRole;

  @Property({ type: 'text', nullable: true })
  tokenId!: string | null;

  /** HMAC-SHA256 of the whole token under the pepper of `pepperVersion`. */
  @Property({ type: 'blob', nullable: true })
  tokenMac!: Buffer | null;

  @Property({ type: 'integer', nullable: true })
  pepperVersion!: number | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  /** The member approves nothing before this moment; null for a member who may approve. */
  @Property({ type: 'timestamptz', nullable: true })
  approvesFrom!: Date | null;

  /** Set when one admin locks the member out, until a second admin decides. */
  @Property({ type: 'timestamptz', nullable: true })
  suspendedAt!: Date | null;

  /** The account at the identity provider, bound at the first sign-in there. */
  @Property({ type: 'text', nullable: true })
  oidcSubject!: string | null;

  /** SHA-256 of the code with which the member makes a token. */
  @Property({ type: 'blob', nullable: true })
  enrolmentHash!: Buffer | null;

  @Property({ type: 'timestamptz', nullable: true })
  enrolmentEndsAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;
}
