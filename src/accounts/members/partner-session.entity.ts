import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { PartnerMember } from './partner-member.entity.ts';

/** A member of a partner signed in with a browser. */
@Entity({ tableName: 'partner_session' })
export class PartnerSession {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @ManyToOne(() => PartnerMember)
  member!: PartnerMember;

  /** SHA-256 of the 256 random bits that the browser holds. */
  @Property({ type: 'blob' })
  secretHash!: Buffer;

  /** The network of the client when the session began, without the host part of its address. */
  @Property({ type: 'text' })
  network!: string;

  @Property({ type: 'text' })
  browser!: string;

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
