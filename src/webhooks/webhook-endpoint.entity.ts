import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Partner } from '../accounts/partners/partner.entity.ts';
import type { WebhookEventType } from './partner-events.ts';

/** `deleted` endpoints are kept until their deliveries are forgotten, and shown to no partner. */
type EndpointStatus = 'enabled' | 'disabled' | 'deleted';

/** `gone`: it answered 410. `failing`: no attempt succeeded for days. */
export type DisabledReason = 'partner' | 'staff' | 'gone' | 'failing';

/** Where a partner gets its events. */
@Entity({ tableName: 'webhook_endpoint' })
export class WebhookEndpoint {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @ManyToOne(() => Partner)
  partner!: Partner;

  @Property({ type: 'text' })
  url!: string;

  /** Null for all types. */
  @Property({ type: 'array', nullable: true })
  types!: WebhookEventType[] | null;

  @Property({ type: 'text', nullable: true })
  coinFrom!: string | null;

  @Property({ type: 'text', nullable: true })
  coinTo!: string | null;

  /** How amounts are written in its events. */
  @Property({ type: 'text' })
  amounts!: 'string' | 'number';

  @Property({ type: 'text' })
  status!: EndpointStatus;

  @Property({ type: 'text', nullable: true })
  disabledReason!: DisabledReason | null;

  @Property({ type: 'timestamptz', nullable: true })
  disabledAt!: Date | null;

  /** The signing secret under the key of `secretVersion`. */
  @Property({ type: 'blob', lazy: true })
  secret!: Buffer;

  @Property({ type: 'integer', lazy: true })
  secretVersion!: number;

  @Property({ type: 'blob', nullable: true, lazy: true })
  oldSecret!: Buffer | null;

  @Property({ type: 'integer', nullable: true, lazy: true })
  oldSecretVersion!: number | null;

  /** Until then the secret before the last rotation signs too. */
  @Property({ type: 'timestamptz', nullable: true })
  oldSecretUntil!: Date | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  updatedAt!: Date;

  /** Failed attempts since the last success. */
  @Property({ type: 'integer' })
  failures!: number;

  @Property({ type: 'timestamptz', nullable: true })
  failingSince!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  probeAt!: Date | null;

  @Property({ type: 'boolean' })
  isQuick!: boolean;

  @Property({ type: 'timestamptz', nullable: true })
  lastSuccessAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  lastFailureAt!: Date | null;
}
