import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { BigIntType, type Opt } from '@mikro-orm/postgresql';

/**
 * - `ready`: decided.
 * - `prepared`: the transaction is built and its inputs are reserved.
 * - `signed`: the signed bytes are stored.
 * - `sent`: broadcast, perhaps more than once.
 * - `confirmed`: final on the chain.
 * - `dead`: can never be confirmed.
 */
export type PaymentState = 'ready' | 'prepared' | 'signed' | 'sent' | 'confirmed' | 'dead';

/**
 * - `payout`: what an order bought.
 * - `refund`: a deposit, or the rest of one, going back.
 * - `sweep`: coins of deposit addresses going to the hot wallet.
 * - `gas`: coins for the fee of an address that is swept.
 * - `setup`: prepares the hot wallet for payments. It pays no one, and its amount is 0.
 * - `commission`: what a partner has earned in a month.
 */
export type PaymentKind = 'payout' | 'refund' | 'sweep' | 'gas' | 'setup' | 'commission';

/** The kinds of payments that leave us. The others move coins between our own addresses. */
const leavingKinds: readonly PaymentKind[] = ['payout', 'refund', 'commission'];

/**
 * Whether a payment goes to an address that is not ours. Such a payment comes under payout holds
 * and limits, and is not ended at its first refusal.
 */
export function leavesUs({ kind }: Pick<Payment, 'kind'>): boolean {
  return leavingKinds.includes(kind);
}

/** SQL: `leavesUs`. `payment` is the alias of the payment's row. */
export const leavesUsSql = (payment: string): string =>
  `${payment}.kind in (${leavingKinds.map((kind) => `'${kind}'`).join(', ')})`;

/**
 * The problem of a payment that staff end. One with signed transactions ends only when the chain
 * calls all of them finally dead.
 */
export const markedFailed = 'marked_failed';

/** A payment on a chain. Its recipient and amount never change; the database enforces this. */
@Entity({ tableName: 'payment' })
export class Payment {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  /** Assigned by the database: the order in which payments were decided. */
  @Property({ type: new BigIntType('string'), generated: 'identity' })
  number!: string & Opt;

  @Property({ type: 'text' })
  kind!: PaymentKind;

  @Property({ type: 'uuid', nullable: true })
  orderId!: string | null;

  /** The deposit that a payout or a refund settles. */
  @Property({ type: 'uuid', nullable: true })
  depositId!: string | null;

  /**
   * The sources of a sweep: one address, or outputs by their keys. Null for payments of the hot
   * wallet.
   */
  @Property({ type: 'array', nullable: true })
  sources!: string[] | null;

  /**
   * 'main' is the deposit itself, exchanged or refunded. 'excess' is the part that was not
   * exchanged.
   */
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

  /** What a set-up does, as its chain names it: 'tickets:40'. Null for payments. */
  @Property({ type: 'text', nullable: true })
  setup!: string | null;

  /** The network fee kept from the leg. For a payout it was charged with the exchange. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  feeCharged!: string;

  @Property({ type: 'text' })
  state!: PaymentState;

  /** Number of the newest attempt; 0 before the first. */
  @Property({ type: 'integer' })
  attempt!: number;

  /** Failed tries to begin since it last made progress. */
  @Property({ type: 'integer' })
  tries!: number;

  /**
   * The present problem: 'fee_too_high', 'signer_unavailable', 'unknown'. 'paid_twice' of a
   * confirmed payment: another of its transactions moved the amount as well.
   */
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

  /** Value in US dollars when it began, or when it last found no room. */
  @Property({ type: 'decimal', precision: 24, scale: 2, nullable: true })
  valueUsd!: string | null;

  /** When it began and was counted in the payout limits. Null while it is not counted. */
  @Property({ type: 'timestamptz', nullable: true })
  begunAt!: Date | null;
}
