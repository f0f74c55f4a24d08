import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { BigIntType, type Opt } from '@mikro-orm/postgresql';
import type { RecordedEvent } from './partner-events.ts';

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

  /** The order of the event. Null for an event without one, a test and a sample. */
  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  @Property({ type: 'integer', nullable: true })
  seq!: number | null;

  @Property({ type: 'text' })
  type!: string;

  /** The members of an event without an order. Null for events of orders, tests and samples. */
  @Property({ type: 'json', nullable: true })
  data!: (RecordedEvent & Opt) | null;

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
