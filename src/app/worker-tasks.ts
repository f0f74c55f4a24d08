import type { MikroORM } from '@mikro-orm/postgresql';
import type { Reconciliations } from '../ledger/reconciliations.ts';
import type { HistoryTurns } from '../operations/history-turns.ts';
import type { OrderStats } from '../operations/order-stats.ts';
import { FixedResults } from '../orders/fixed-results.ts';
import type { OpenOrders } from '../orders/open-orders.ts';
import type { OrderCreation } from '../orders/order-creation.ts';
import { QuoteResults } from '../orders/quote-results.ts';
import { forgetEndedAssignees } from '../orders/read/attention.ts';
import type { CommissionTurns } from '../settlement/commission/commission-turns.ts';
import type { PayoutWatch } from '../settlement/pay/payout-watch.ts';
import { type Foundation, inBackground } from './foundation.ts';
import type { Treasury } from './open-treasury.ts';

interface WorkerTaskParts {
  readonly orm: MikroORM;
  readonly creation: OrderCreation;
  readonly openOrders: OpenOrders;
  readonly stats: OrderStats;
  readonly payoutWatch: PayoutWatch;
  readonly history: HistoryTurns;
  readonly treasury: Treasury;
  readonly commission: CommissionTurns;
  /** Null in a process that does not reconcile. */
  readonly reconciliations: Reconciliations | null;
}

const forgetOldMs = 600_000;
const rollUpMs = 3_000;
const assigneesMs = 10_000;
const fixedResultsMs = 60_000;
/** How often a worker checks whether a reconciliation is due. */
const reconcileLookMs = 30_000;
/** How often a worker checks whether a minute of the history is due. */
const historyLookMs = 15_000;
/** How often a worker checks whether a reading of the account at the exchange is due. */
const venueLookMs = 15_000;
/** How often a worker looks for months to close and to pay. */
const commissionMs = 60_000;
/** How often a worker checks whether payouts must be held. */
const payoutWatchMs = 10_000;

/**
 * What a worker does from time to time in addition to settling orders. A new background task is one
 * `run` line here. Each task runs for the first time one interval after the start.
 */
export function startWorkerTasks(
  foundation: Foundation,
  { orm, creation, openOrders, stats, payoutWatch, history, treasury, commission, reconciliations }: WorkerTaskParts,
): void {
  const { config, clock, log, outside } = foundation;
  const run = (everyMs: number, event: string, task: () => Promise<unknown>): void =>
    inBackground(foundation, everyMs, event, task);
  run(forgetOldMs, 'forget_answers_failed', () => creation.forgetOldAnswers());
  run(forgetOldMs, 'forget_turnover_failed', () => openOrders.forgetOld());
  // Tests that drive the worker themselves call the tasks below directly.
  if (outside.background === false) return;
  run(rollUpMs, 'roll_up_failed', () => stats.rollUp());
  run(assigneesMs, 'assignees_failed', () => forgetEndedAssignees(orm.em.fork(), clock.now()));
  const results = new FixedResults(orm, clock);
  run(fixedResultsMs, 'fixed_results_failed', () => results.rollUp());
  const quoteResults = new QuoteResults({
    orm,
    clock,
    feeRateFixed: config.FEE_RATE_FIXED,
    onChange: ({ partnerId, adverseBps, isCut }) => {
      const members = { partner_id: partnerId, code: isCut ? 'cut' : 'restored', adverse_bps: Number(adverseBps) };
      log.warn({ event: 'quote_hold_changed', ...members }, 'the hold of the quotes of a partner has changed');
    },
  });
  run(fixedResultsMs, 'quote_results_failed', () => quoteResults.rollUp());
  run(payoutWatchMs, 'payout_watch_failed', () => payoutWatch.runIfDue());
  run(historyLookMs, 'history_failed', () => history.takeIfDue());
  run(commissionMs, 'commission_failed', () => commission.run());
  const { reader } = treasury;
  if (reader) run(venueLookMs, 'venue_read_failed', () => reader.runIfDue());
  const lookMs = Math.min(reconcileLookMs, config.RECONCILE_EVERY_SEC * 1000);
  if (reconciliations) run(lookMs, 'reconcile_failed', () => reconciliations.runIfDue());
}
