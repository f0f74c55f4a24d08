import type { EntityManager } from '@mikro-orm/postgresql';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { Booking, LedgerLine } from '../ledger/ledger.ts';
import type { Order } from '../orders/order.entity.ts';
import { moveOrder } from '../orders/order-moves.ts';
import type { OrderMove } from '../orders/order-status.ts';
import type { PriceBook } from '../rates/price-book.ts';
import type { Deposit } from './deposit.entity.ts';
import type { LiquidityVenue } from './liquidity-venue.ts';
import type { Payment } from './payment.entity.ts';
import type { Trade } from './trade.entity.ts';

/** How settlement behaves; durations in seconds. */
export interface SettlementRules {
  /**
   * How far below the agreed gross amount the venue may fill, and what the legs of a trade may lose together of its worth; a
   * fraction in decimal text.
   */
  readonly maxSlippage: string;
  /** Extra deposits of an order that are refunded by themselves. */
  readonly maxRefunds: number;
  /** How long liquidity is looked for. */
  readonly exchangeDeadlineSec: number;
  /** How long a payment's fate may stay unknown before its order fails and staff look at it. */
  readonly paymentUnknownSec: number;
  /** How long after the window a deposit that came in time may be mined; then it is late. */
  readonly depositGraceSec: number;
}

/** What the steps need beside the rows. */
export interface SettlementTools {
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
  readonly venue: LiquidityVenue;
  readonly rules: SettlementRules;
}

/** How far a chain was read. */
export interface ScannedTo {
  readonly height: number;
  /** The height up to which the chain itself called its blocks final; null where confirmations alone decide. */
  readonly final: number | null;
  /** Whether no block of the chain was left to read. */
  readonly isAtHead: boolean;
  /** When a look began that read the chain to its head; null while none did. */
  readonly readAt: Date | null;
}

/** One order under its row lock, with everything that decides its next move, inside one transaction. */
export interface Settling {
  readonly em: EntityManager;
  readonly tools: SettlementTools;
  readonly now: Date;
  readonly order: Order;
  /** Every deposit to the order's address, in the order they were seen. */
  readonly deposits: readonly Deposit[];
  readonly payments: Payment[];
  /** The exchange of the order, once it is decided. */
  trade: Trade | null;
  /** What the steps book; written with the rest, for all orders of the transaction at once. */
  readonly bookings: Booking[];
  /** What the book has of the order's account `client`; `client-account` tells what follows. */
  readonly client: LedgerLine[];
  /** How far each chain was read. */
  readonly scanned: ReadonlyMap<string, ScannedTo>;
}

/** What a step came to: the order moved and the next step may follow, or it rests until a time or an event. */
export type StepResult =
  | { readonly outcome: 'moved' }
  | { readonly outcome: 'rest'; readonly until: Date | null }
  /** The trade is decided and stored; the venue is asked after the commit. */
  | { readonly outcome: 'trade'; readonly trade: Trade };

export const moved: StepResult = { outcome: 'moved' };

export function rest(until: Date | null = null): StepResult {
  return { outcome: 'rest', until };
}

/** Moves the order of a settling. */
export function move({ em, order, now }: Settling, cause: OrderMove, detail: string | null = null): StepResult {
  moveOrder(em, order, cause, { at: now, detail });
  return moved;
}

export function secondsAfter(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000);
}
