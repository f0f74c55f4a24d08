import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** Roles in rising order of what they may do. */
export const staffRoles = ['viewer', 'support', 'operator', 'admin'] as const;
export type StaffRole = (typeof staffRoles)[number];

/** A member of staff with the hash of a token for the internal API. */
@Entity({ tableName: 'staff_member' })
export class StaffMember {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  email!: string;

  @Property({ type: 'text' })
  role!: StaffRole;

  @Property({ type: 'text' })
  tokenId!: string;

  /** HMAC-SHA256 of the whole token under the pepper of `pepperVersion`. */
  @Property({ type: 'blob' })
  tokenMac!: Buffer;

  @Property({ type: 'integer' })
  pepperVersion!: number;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;
}
