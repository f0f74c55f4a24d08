import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { Opt } from '@mikro-orm/postgresql';

/** An address to which a partner is paid its commission, in one asset. */
@Entity({ tableName: 'commission_address' })
export class CommissionAddress {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'uuid' })
  partnerId!: string;

  @Property({ type: 'text' })
  coin!: string;

  @Property({ type: 'text' })
  network!: string;

  @Property({ type: 'text' })
  address!: string;

  @Property({ type: 'text', nullable: true })
  tag!: string | null;

  @Property({ type: 'timestamptz' })
  requestedAt!: Date;

  /** The member of the partner who confirmed it with a passkey. Null when staff decided it. */
  @Property({ type: 'uuid', nullable: true })
  memberId!: string | null;

  /** The action of two members of staff. */
  @Property({ type: 'uuid', nullable: true })
  actionId!: string | null;

  /** While this address waits, nothing is paid to the previous one, which the partner has lost. */
  @Property({ type: 'boolean' })
  oldIsLost!: boolean & Opt;

  /** From when it may take effect. */
  @Property({ type: 'timestamptz' })
  effectiveAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  tookEffectAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  cancelledAt!: Date | null;
}
