import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { Opt } from '@mikro-orm/postgresql';
import { TextArray } from '../../base/db/text-array.ts';

/** Causes of payout holds. The gateway opens all but the last automatically. */
export type HoldCause = 'reconciliation' | 'client_debit' | 'venue_loss' | 'staff';

/** While one is open, no payout or refund of its asset begins. Never deleted. */
@Entity({ tableName: 'payout_hold' })
export class PayoutHold {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  /** Null, as `network`, for every asset. */
  @Property({ type: 'text', nullable: true })
  coin!: string | null;

  @Property({ type: 'text', nullable: true })
  network!: string | null;

  @Property({ type: 'text' })
  cause!: HoldCause;

  @Property({ type: 'text' })
  detail!: string;

  /** What was found. A finding keeps its name while it stays the same. */
  @Property({ type: TextArray })
  findings!: string[];

  @Property({ type: 'timestamptz' })
  openedAt!: Date;

  /** Null for one that the gateway opened, or an operator by command. */
  @Property({ type: 'uuid', nullable: true })
  openedBy!: string | null;

  /** When a check last found the cause. */
  @Property({ type: 'timestamptz' })
  foundAt!: Date;

  /** When findings were last added to it. */
  @Property({ type: 'timestamptz' })
  changedAt!: Date;

  /** Since when checks do not find the cause. Always null for a stop by staff. */
  @Property({ type: 'timestamptz', nullable: true })
  clearedAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  closedAt!: Date | null;

  @Property({ type: 'uuid', nullable: true })
  proposedBy!: string | null;

  @Property({ type: 'uuid', nullable: true })
  closedBy!: string | null;

  /** Closed although the cause remained: the same findings open no other. */
  @Property({ type: 'boolean' })
  acknowledged!: boolean & Opt;
}
