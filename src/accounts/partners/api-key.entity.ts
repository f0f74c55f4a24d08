import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { KeyScope } from './key-scope.ts';
import { Partner } from './partner.entity.ts';

/** A partner's API key. The row holds only a keyed hash of the whole key, never the secret. */
@Entity({ tableName: 'api_key' })
export class ApiKey {
  @PrimaryKey({ type: 'text' })
  keyId!: string;

  @ManyToOne(() => Partner)
  partner!: Partner;

  /** HMAC-SHA256 of the whole key under the pepper of `pepperVersion`. */
  @Property({ type: 'blob' })
  mac!: Buffer;

  @Property({ type: 'integer' })
  pepperVersion!: number;

  /** The key's last four characters, by which people tell keys apart. */
  @Property({ type: 'text' })
  last4!: string;

  @Property({ type: 'text' })
  label!: string;

  @Property({ type: 'array' })
  scopes!: KeyScope[];

  /** Client networks that may use the key; empty allows all. */
  @Property({ type: 'array' })
  allowedCidrs!: string[];

  /** The markup of quotes and creates by the key that name none, in basis points. */
  @Property({ type: 'integer', nullable: true })
  defaultMarkupBps!: number | null;

  /** When that markup was set or changed. Null for a key that has had none. */
  @Property({ type: 'timestamptz', nullable: true })
  markupChangedAt!: Date | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;

  /** The address that used the key last. Null for uses before it was written down. */
  @Property({ type: 'text', nullable: true })
  lastUsedFrom!: string | null;
}

/** Another default markup of a key, as the event `key.markup_changed` tells it. */
export interface MarkupChange {
  readonly key_id: string;
  readonly label: string;
  /** Basis points. Null for none. */
  readonly markup_bps: number | null;
  readonly previous_markup_bps: number | null;
}
