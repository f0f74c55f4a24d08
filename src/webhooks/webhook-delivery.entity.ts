import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { BigIntType, type Opt } from '@mikro-orm/postgresql';

export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** An attempt as its sender saw it. An attempt whose sender died is missing. */
export interface AttemptView {
  readonly attempt: number;
  readonly at: string;
  readonly status: number | null;
  readonly ms: number;
  readonly error: string | null;
  /** The beginning of the answer, as `answerText` keeps it. Attempts of old versions have none. */
  readonly answer?: string | null;
}

/** The delivery of an event, a test or a sample to one endpoint. */
@Entity({ tableName: 'webhook_delivery' })
export class WebhookDelivery {
  /** Assigned by the database. */
  @PrimaryKey({ type: new BigIntType('string'), generated: 'identity' })
  id!: string;

  @Property({ type: 'uuid' })
  endpointId!: string;

  /** The event. Null for a test and for a sample. */
  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  @Property({ type: 'integer', nullable: true })
  seq!: number | null;

  @Property({ type: 'text' })
  type!: string;

  /** Counts the replays of the event to the endpoint. */
  @Property({ type: 'integer' })
  generation!: number & Opt;

  @Property({ type: 'text' })
  state!: DeliveryState;

  @Property({ type: 'integer' })
  attempts!: number & Opt;

  @Property({ type: 'timestamptz', nullable: true })
  nextAttemptAt!: Date | null;

  /** A sender works on it until then. */
  @Property({ type: 'timestamptz', nullable: true })
  leasedUntil!: Date | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  endedAt!: Date | null;

  @Property({ type: 'json' })
  log!: AttemptView[] & Opt;
}
