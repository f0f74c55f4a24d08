import type { MikroORM } from '@mikro-orm/postgresql';
import { familyOf } from '../chains/families/families.ts';
import { depositsOf, rulesByName, traitsOf } from '../chains/sandbox/sandbox-rules.ts';
import { CommissionDecisions } from '../settlement/commission/commission-decisions.ts';
import { OrderSettler } from '../settlement/order-settler.ts';
import type { LiquidityVenue } from '../settlement/rows/liquidity-venue.ts';
import type { SettlementTools } from '../settlement/rules/settling.ts';
import { StaffActions, type StaffActionsOptions } from '../settlement/staff-actions.ts';
import type { GatewayShared } from './services.ts';
import { StartError } from './start-error.ts';

/** The dependencies of the steps of an order, for every kind of process. */
export function settlementTools(
  { config, catalogue, prices, networks }: Pick<GatewayShared, 'config' | 'catalogue' | 'prices' | 'networks'>,
  venue: LiquidityVenue,
): SettlementTools {
  const rules = rulesByName(config.SANDBOX_RULES);
  return {
    catalogue,
    prices,
    venue,
    traitsOf: (chain) => {
      const live = networks.live.get(chain);
      return live ? familyOf(live).traits : traitsOf(rules, depositsOf(chain));
    },
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
export function staffActionsWithoutWorker(shared: GatewayShared, orm: MikroORM): StaffActions {
  const { clock, log, commissionEntries: commission } = shared;
  const tools = settlementTools(shared, noVenue);
  const settler = new OrderSettler({ orm, clock, log, tools, onCrashPoint: () => {}, commission });
  return staffActionsWith(shared, { orm, settler, jobs: { wake: async () => {} } });
}

/** Builds the actions of staff over a settler. */
export function staffActionsWith(
  shared: Pick<GatewayShared, 'clock' | 'catalogue' | 'commissionEntries' | 'commissionAddresses'>,
  own: Pick<StaffActionsOptions, 'orm' | 'settler' | 'jobs'>,
): StaffActions {
  const { clock, catalogue, commissionEntries: entries, commissionAddresses: addresses } = shared;
  return new StaffActions({ ...own, clock, commission: new CommissionDecisions({ catalogue, entries, addresses }) });
}

/**
 * A process that settles nothing has no account to trade with, so nothing is ever asked of this.
 */
const notTrading = (): Promise<never> => Promise.reject(new StartError('this process has no venue'));
const noVenue: LiquidityVenue = { name: 'none', trade: notTrading, find: notTrading };
