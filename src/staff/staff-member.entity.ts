import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** Roles in rising order of what they may do. */
export const staffRoles = ['viewer', 'support', 'operator', 'admin'] as const;
export type StaffRole = (typeof staffRoles)[number];

/** A member of staff. One who signs in at the identity provider only has no token. */
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

  @Property({ type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;
}
