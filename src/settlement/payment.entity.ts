import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { Opt } from '@mikro-orm/postgresql';

/**
 * ready: decided. prepared: its transaction is built and what it spends is reserved. signed: the bytes are stored.
 * sent: they were broadcast, perhaps more than once. confirmed: final on the chain. dead: can never confirm.
 */
export type PaymentState = 'ready' | 'prepared' | 'signed' | 'sent' | 'confirmed' | 'dead';

/**
 * payout: what an order bought. refund: a deposit, or a rest of it, on its way back. sweep: coins of deposit addresses on
 * their way to the hot wallet. gas: coins for the fee of an address that is swept.
 */
export type PaymentKind = 'payout' | 'refund' | 'sweep' | 'gas';

/** A payment on a chain. Where it goes and how much never changes; the database sees to that. */
@Entity({ tableName: 'payment' })
export class Payment {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  /** Given by the database: payments in the order in which they were decided. */
  @Property({ type: 'bigint', generated: 'identity' })
  number!: string & Opt;

  @Property({ type: 'text' })
  kind!: PaymentKind;

  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  /** The deposit that a payout or a refund settles. */
  @Property({ type: 'uuid', nullable: true })
  depositId!: string | null;

  /** What a sweep takes: one address, or outputs by their keys. Null for what the hot wallet pays. */
  @Property({ type: 'array', nullable: true })
  sources!: string[] | null;

  /** 'main' is the deposit itself, exchanged or refunded; 'excess' is what of it was not exchanged. */
  @Property({ type: 'text' })
  leg!: 'main' | 'excess';

  @Property({ type: 'text' })
  chain!: string;

  @Property({ type: 'text' })
  coin!: string;

  @Property({ type: 'text' })
  network!: string;

  @Property({ type: 'text', nullable: true })
  contract!: string | null;

  @Property({ type: 'text' })
  address!: string;

  @Property({ type: 'text', nullable: true })
  tag!: string | null;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amount!: string;

  /** Kept of the leg for the network; for a payout it was taken with the exchange. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  feeCharged!: string;

  @Property({ type: 'text' })
  state!: PaymentState;

  /** Number of the newest attempt; 0 before the first. */
  @Property({ type: 'integer' })
  attempt!: number;

  /** How often it could not begin since it last went on. */
  @Property({ type: 'integer' })
  tries!: number;

  /** What stands in its way at present: 'fee_too_high', 'signer_unavailable', 'unknown'. */
  @Property({ type: 'text', nullable: true })
  problem!: string | null;

  @Property({ type: 'timestamptz', nullable: true })
  problemSince!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  nextActionAt!: Date | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz', nullable: true })
  sentAt!: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  endedAt!: Date | null;

  /** Worth in US dollars when it began, or when it was last told to wait for room. */
  @Property({ type: 'decimal', precision: 24, scale: 2, nullable: true })
  valueUsd!: string | null;

  /** When it began and was counted in the limits of payouts; null while it was not. */
  @Property({ type: 'timestamptz', nullable: true })
  begunAt!: Date | null;
}
