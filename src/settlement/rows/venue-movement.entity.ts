import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { MovementKind, MovementState } from '../../exchanges/exchange.ts';

/**
 * What a movement is to the books.
 *
 * - `open`: not decided yet.
 * - `none`: it needs no entry. It ended before the account was watched, or without effect.
 * - `transfer`: between the account and a hot wallet of ours.
 * - `foreign`: none of ours, until two members classify it.
 * - `classified`: two members said what it is, and it is booked.
 */
export type MovementPart = 'open' | 'none' | 'transfer' | 'foreign' | 'classified';

/**
 * A deposit to our account at an exchange, or a withdrawal, as its list shows it. Amounts are
 * decimal strings in the coin's units.
 */
@Entity({ tableName: 'venue_movement' })
export class VenueMovement {
  @PrimaryKey({ type: 'text' })
  venue!: string;

  @PrimaryKey({ type: 'text' })
  kind!: MovementKind;

  /** Its id at the exchange. */
  @PrimaryKey({ type: 'text' })
  reference!: string;

  @Property({ type: 'text' })
  coin!: string;

  /** The exchange's own name of the network. */
  @Property({ type: 'text', nullable: true })
  network!: string | null;

  @Property({ type: 'text', nullable: true })
  txid!: string | null;

  @Property({ type: 'boolean' })
  isInternal!: boolean;

  @Property({ type: 'text', nullable: true })
  address!: string | null;

  @Property({ type: 'text', nullable: true })
  tag!: string | null;

  /** Of a withdrawal what leaves the account, with the fee; of a deposit what the account gets. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amount!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  fee!: string;

  @Property({ type: 'text' })
  state!: MovementState;

  /** The exchange's own words for its state. */
  @Property({ type: 'text' })
  told!: string;

  /** By the exchange's clock. */
  @Property({ type: 'timestamptz' })
  at!: Date;

  @Property({ type: 'timestamptz' })
  seenAt!: Date;

  @Property({ type: 'timestamptz' })
  changedAt!: Date;

  /** When the newest reading that shows it began. */
  @Property({ type: 'timestamptz' })
  readAt!: Date;

  /** When a chain was asked last whether the hot wallet paid it. */
  @Property({ type: 'timestamptz', nullable: true })
  lookedAt!: Date | null;

  @Property({ type: 'text' })
  part!: MovementPart;
}
