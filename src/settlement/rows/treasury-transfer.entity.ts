import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { MovementKind } from '../../exchanges/exchange.ts';

/**
 * - `asked`: the exchange has accepted it, or it waits for a block.
 * - `sent`: it is on its chain.
 * - `arrived`: it was seen where it goes, and is not final, not credited or locked there.
 * - `done`: both sides are booked.
 * - `returned`: it ended without effect. Of a deposit, the coins are back at the hot wallet.
 */
export type TransferState = 'asked' | 'sent' | 'arrived' | 'done' | 'returned';

/**
 * - `short_arrival`: less arrived than left.
 * - `not_arrived`: nothing has arrived a day after a withdrawal that the exchange calls paid, or
 *   three days after another one. Or nothing was credited three days after a deposit.
 * - `arrived_after_end`: it arrived although the exchange says that it gave the coins back.
 */
export type TransferProblem = 'short_arrival' | 'not_arrived' | 'arrived_after_end';

/**
 * Coins on their way between our account at an exchange and a hot wallet, in either direction: the
 * kind of its movement at the exchange tells which. Amounts are decimal strings in the coin's
 * units.
 *
 * The entries of a transfer are `booked_*`, `arrived` and `written_off` of its row. What they leave
 * in the account `transit` is `bookedAmount - bookedFee - arrived - writtenOff`.
 */
@Entity({ tableName: 'treasury_transfer' })
export class TreasuryTransfer {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  venue!: string;

  @Property({ type: 'text' })
  movementKind!: MovementKind;

  /** The id of its movement at the exchange. */
  @Property({ type: 'text' })
  reference!: string;

  @Property({ type: 'text' })
  coin!: string;

  @Property({ type: 'text' })
  network!: string;

  @Property({ type: 'text' })
  chain!: string;

  @Property({ type: 'text' })
  state!: TransferState;

  /** What leaves the source. Of a withdrawal with the exchange's fee. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  amount!: string;

  /** What the chain took from the hot wallet, in the chain's own coin. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  gas!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  bookedAmount!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  bookedFee!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  arrived!: string;

  /** The remainder that is booked as a cost. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  writtenOff!: string;

  /** A remainder beyond a rounding that two members called a cost. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  acceptedRest!: string;

  /** Number of its entries, which numbers the next one. */
  @Property({ type: 'integer' })
  entries!: number;

  @Property({ type: 'text', nullable: true })
  problem!: TransferProblem | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  updatedAt!: Date;
}
