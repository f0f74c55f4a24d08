import type { EntityManager } from '@mikro-orm/postgresql';
import type { Big } from '../../base/money.ts';
import type { ChainTraits } from '../../chains/port/chain-adapter.ts';
import type { Booking, LedgerLine } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import type { PricePair } from '../../market/rates/quote.ts';
import type { Order } from '../../orders/order.entity.ts';
import type { OrderAction } from '../../orders/order-action.entity.ts';
import { moveOrder } from '../../orders/order-moves.ts';
import type { OrderMove } from '../../orders/order-status.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import type { LiquidityVenue } from '../rows/liquidity-venue.ts';
import type { Payment } from '../rows/payment.entity.ts';
import type { Trade } from '../rows/trade.entity.ts';
import type { AgreedPolicy } from './agreed-policy.ts';
import type { LateRefunds } from './late-refunds.ts';

/** Rules of settlement. Durations are in seconds. */
interface SettlementRules {
  /**
   * How far below the agreed gross amount the venue may fill, and what both legs of a trade
   * together may lose of its value. A fraction in decimal text.
   */
  readonly maxSlippage: string;
  /** Extra deposits of an order that are refunded automatically. */
  readonly maxRefunds: number;
  /** How long the settler looks for liquidity. */
  readonly exchangeDeadlineSec: number;
  /** How long a payment's status may stay unknown before its order fails and staff check it. */
  readonly paymentUnknownSec: number;
  /** How long after the window a deposit that came in time may be mined. After that it is late. */
  readonly depositGraceSec: number;
  /**
   * US dollars that a partner's refunds to addresses set after the create may pay within 24 hours
   * without staff.
   */
  readonly lateRefundLimitUsd: number;
  /** How long a partner that is asked about a deposit may take. After that it is refunded. */
  readonly actionDeadlineSec: number;
}

/** Everything that the steps need besides the rows. */
export interface SettlementTools {
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
  readonly venue: LiquidityVenue;
  readonly rules: SettlementRules;
  /** What each chain does. */
  readonly traitsOf: (chain: string) => ChainTraits;
}

/** How far a chain was read. */
export interface ScannedTo {
  readonly height: number;
  /**
   * The height up to which the chain itself calls its blocks final. Null where confirmations alone
   * decide.
   */
  readonly final: number | null;
  /** Whether the chain was read to its head. */
  readonly isAtHead: boolean;
  /** Start of the last scan that reached the chain's head. Null before the first. */
  readonly readAt: Date | null;
}

/** What an order has earned its partner, in units of `coin_to`. */
export interface Accrual {
  readonly partnerId: string;
  readonly orderId: string;
  readonly coin: string;
  readonly network: string;
  readonly amount: Big;
  /** Prices of the order's trade, in US dollars by coin. */
  readonly prices: Readonly<Record<string, string>>;
  readonly at: Date;
}

/**
 * One order under its row lock, with everything that decides its next move, inside one transaction.
 */
export interface Settling {
  readonly em: EntityManager;
  readonly tools: SettlementTools;
  readonly now: Date;
  readonly order: Order;
  /**
   * The deposits of the order that decide, in the order of their sightings. Of many deposits of one
   * kind it holds the first ones (`order-deposits`).
   */
  readonly deposits: readonly Deposit[];
  readonly payments: Payment[];
  /** The trade of the order, once it is decided. */
  trade: Trade | null;
  /** Journal entries of the steps, written together for all orders of the transaction. */
  readonly bookings: Booking[];
  /** What the order's completion earned its partner, added with the journal entries. */
  readonly accruals: Accrual[];
  /**
   * The ledger lines of the order's `client` account. `client-account` computes balances from them.
   */
  readonly client: LedgerLine[];
  /** Null unless the partner set the order's refund address after the create. */
  readonly late: LateRefunds | null;
  /** How far each chain was read. */
  readonly scanned: ReadonlyMap<string, ScannedTo>;
  /** Null for an order whose partner agreed on no policy and no smallest payout. */
  readonly agreed: AgreedPolicy | null;
  /** The partner's part of the order's fee rate, in basis points. */
  readonly markupBps: number;
  /** The newest question to the partner, open or ended. Null without one. */
  action: OrderAction | null;
  /** The live prices on which this transaction's decisions rest, once they are read. */
  market?: PricePair | null;
  /** There are more deposits than one turn takes. */
  isUnfinished?: boolean;
}

/**
 * Result of a step: the order moved and the next step may follow, or it waits for a time or an
 * event.
 */
export type StepResult =
  | { readonly outcome: 'moved' }
  | { readonly outcome: 'wait'; readonly until: Date | null }
  /** The trade is decided and stored. The venue is asked after the commit. */
  | { readonly outcome: 'trade'; readonly trade: Trade };

const moved: StepResult = { outcome: 'moved' };

export function wait(until: Date | null = null): StepResult {
  return { outcome: 'wait', until };
}

export function move({ em, order, now }: Settling, cause: OrderMove, detail: string | null = null): StepResult {
  moveOrder(em, order, cause, { at: now, detail });
  return moved;
}

/** The live prices of the order's pair, the same for all steps of a transaction. */
export function liveMarket(settling: Settling): PricePair | null {
  const { order, tools } = settling;
  settling.market ??= tools.prices.pair(order.coinFrom, order.coinTo, 'live');
  return settling.market;
}

export function secondsAfter(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000);
}
