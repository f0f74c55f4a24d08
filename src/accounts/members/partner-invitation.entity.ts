import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Partner } from '../partners/partner.entity.ts';
import { PartnerMember } from './partner-member.entity.ts';
import type { MemberRole } from './rights.ts';

/** An invitation by a link that works once. */
@Entity({ tableName: 'partner_invitation' })
export class PartnerInvitation {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @ManyToOne(() => Partner)
  partner!: Partner;

  /** The member whose passkeys the invitation replaces; null for a new member. */
  @ManyToOne(() => PartnerMember, { nullable: true })
  member!: PartnerMember | null;

  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'text' })
  role!: MemberRole;

  /** SHA-256 of the 256 random bits of the link. */
  @Property({ type: 'blob' })
  tokenHash!: Buffer;

  /** Null for staff and operators. */
  @ManyToOne(() => PartnerMember, { nullable: true, fieldName: 'invited_by' })
  invitedBy!: PartnerMember | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  expiresAt!: Date;

  /** When it was accepted, withdrawn or replaced. */
  @Property({ type: 'timestamptz', nullable: true })
  endedAt!: Date | null;
}
