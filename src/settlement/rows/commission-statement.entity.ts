import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { Opt } from '@mikro-orm/postgresql';

/**
 * - `open`: entries are still added.
 * - `closed`: nothing is due, as the balance is not positive.
 * - `rolled`: the balance is below the minimum, and counts in the next month.
 * - `payable`: `due` is to be paid.
 * - `paid`: `due` was paid.
 */
export const commissionStates = ['open', 'closed', 'rolled', 'payable', 'paid'] as const;
export type CommissionState = (typeof commissionStates)[number];

/** The figures of one asset in a month, as decimal text. Positive is what the partner is owed. */
export interface CommissionFigures {
  readonly coin: string;
  readonly network: string;
  readonly opening: string;
  readonly accrued: string;
  readonly converted: string;
  readonly corrected: string;
  readonly paid: string;
  readonly closing: string;
}

/** A month of a partner's commission. The database refuses changes of a closed month. */
@Entity({ tableName: 'commission_statement' })
export class CommissionStatement {
  @PrimaryKey({ type: 'uuid' })
  partnerId!: string;

  /** The first day of the month in UTC, such as '2026-11-01'. */
  @PrimaryKey({ type: 'date' })
  month!: string;

  /** What the month is settled in. */
  @Property({ type: 'text' })
  coin!: string;

  @Property({ type: 'text' })
  network!: string;

  @Property({ type: 'text' })
  state!: CommissionState & Opt;

  @Property({ type: 'timestamptz', nullable: true })
  closedAt!: Date | null;

  /** By asset, the settlement asset first. */
  @Property({ type: 'json', nullable: true })
  figures!: readonly CommissionFigures[] | null;

  /** Orders that earned something in the month. */
  @Property({ type: 'integer', nullable: true })
  orders!: number | null;

  /** SHA-256 of the CSV of the month's entries, in hex. */
  @Property({ type: 'text', nullable: true })
  sha256!: string | null;

  /** What is paid for the month in its asset, network fee included. */
  @Property({ type: 'decimal', precision: 38, scale: 18, nullable: true })
  due!: string | null;

  /** The newest payment. */
  @Property({ type: 'uuid', nullable: true })
  paymentId!: string | null;

  /** Payments that were decided so far. */
  @Property({ type: 'integer' })
  attempts!: number & Opt;

  /** Why it is not paid yet. */
  @Property({ type: 'text', nullable: true })
  problem!: string | null;

  /** Since when staff hold the payment. */
  @Property({ type: 'timestamptz', nullable: true })
  heldAt!: Date | null;

  @Property({ type: 'text', nullable: true })
  holdReason!: string | null;

  /**
   * When two members of staff decided to pay it, although its partner is inactive or payments
   * failed.
   */
  @Property({ type: 'timestamptz', nullable: true })
  approvedAt!: Date | null;

  /** The partner was inactive when they decided. */
  @Property({ type: 'boolean' })
  approvedInactive!: boolean & Opt;

  @Property({ type: 'timestamptz', nullable: true })
  paidAt!: Date | null;
}
