import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Partner } from '../partners/partner.entity.ts';
import type { MemberRole } from './rights.ts';

/** A person of a partner, in the cabinet. */
@Entity({ tableName: 'partner_member' })
export class PartnerMember {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @ManyToOne(() => Partner)
  partner!: Partner;

  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'text' })
  role!: MemberRole;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  removedAt!: Date | null;

  /** When a link of staff last gave a passkey. A member's link passes on that member's value. */
  @Property({ type: 'timestamptz', nullable: true })
  linkedByStaffAt!: Date | null;
}
