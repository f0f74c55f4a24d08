import { BigIntType } from '@mikro-orm/core';
import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { PartnerMember } from './partner-member.entity.ts';

/** A passkey of a member: https://www.w3.org/TR/webauthn-3/#credential-record. */
@Entity({ tableName: 'partner_passkey' })
export class PartnerPasskey {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @ManyToOne(() => PartnerMember)
  member!: PartnerMember;

  @Property({ type: 'blob' })
  credentialId!: Buffer;

  @Property({ type: 'blob' })
  publicKey!: Buffer;

  /** The number of uses that the authenticator reported last, of 32 bits. */
  @Property({ type: new BigIntType('number') })
  counter!: number;

  @Property({ type: 'array' })
  transports!: string[];

  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;
}
