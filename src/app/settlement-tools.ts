import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import { OrderSettler } from '../settlement/order-settler.ts';
import type { LiquidityVenue } from '../settlement/rows/liquidity-venue.ts';
import type { SettlementTools } from '../settlement/rules/settling.ts';
import { StaffActions } from '../settlement/staff-actions.ts';
import { StartError } from './start-error.ts';

export interface StaffActionsOptions {
  readonly config: Config;
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
}

/** The dependencies of the steps of an order, for every kind of process. */
export function settlementTools(
  { config, catalogue, prices }: Pick<StaffActionsOptions, 'config' | 'catalogue' | 'prices'>,
  venue: LiquidityVenue,
): SettlementTools {
  return {
    catalogue,
    prices,
    venue,
    rules: {
      maxSlippage: config.MAX_SLIPPAGE,
      maxRefunds: config.MAX_REFUNDS_PER_ORDER,
      exchangeDeadlineSec: config.EXCHANGE_DEADLINE_SEC,
      paymentUnknownSec: config.PAYMENT_UNKNOWN_SEC,
      depositGraceSec: config.DEPOSIT_GRACE_SEC,
      actionDeadlineSec: config.ACTION_DEADLINE_SEC,
      lateRefundLimitUsd: config.LATE_REFUND_LIMIT_USD,
    },
  };
}

/**
 * What staff can do to orders, in a process that settles none: the order's row says that something
 * is due, and the next sweep of a worker takes it up.
 */
export function staffActionsWithoutWorker(options: StaffActionsOptions): StaffActions {
  const { orm, clock, log } = options;
  const tools = settlementTools(options, noVenue);
  const settler = new OrderSettler({ orm, clock, log, tools, onCrashPoint: () => {} });
  return new StaffActions({ orm, clock, settler, jobs: { wake: async () => {} } });
}

/**
 * A process that settles nothing has no account to trade with, so nothing is ever asked of this.
 */
const notTrading = (): Promise<never> => Promise.reject(new StartError('this process has no venue'));
const noVenue: LiquidityVenue = { name: 'none', trade: notTrading, find: notTrading };
