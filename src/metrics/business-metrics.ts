import type { EntityManager } from '@mikro-orm/postgresql';
import { Gauge, Registry } from 'prom-client';
import { reconcileChecks } from '../ledger/reconcile/report.ts';
import { worstFixedResult } from '../orders/fixed-results.ts';
import type { OrderStatus } from '../orders/order-status.ts';
import type { PriceBook } from '../rates/price-book.ts';
import { attention, attentionKinds } from '../reports/attention.ts';
import { openHolds, payoutSpending } from '../reports/payout-brakes.ts';
import { systemStatus } from '../reports/system-status.ts';

/** Statuses of orders that somebody waits for. */
const underWay = [
  'waiting_deposit',
  'confirming',
  'exchanging',
  'sending',
  'refunding',
] as const satisfies OrderStatus[];

/** A worker that was seen within this time lives. */
const workerLifeMs = 60_000;

/** Why payouts are held. */
const holdCauses = ['reconciliation', 'client_debit', 'venue_loss', 'staff'] as const;

/** So many things that need attention are counted at most. */
const mostItems = 1_000;

const reconciledHelp = 'Since the book was last reconciled, or since that was first begun.';

export interface BusinessSources {
  readonly em: EntityManager;
  readonly prices: PriceBook;
  readonly now: Date;
  readonly payoutRules: PayoutRules;
}

/** Most US dollars that automatic payments may begin to send: of all assets together, and of each. */
interface PayoutRules {
  readonly overall: { readonly hour: number; readonly day: number };
  readonly asset: (asset: { coin: string; network: string }) => { readonly hour: number; readonly day: number };
}

/**
 * The state of the business as Prometheus metrics: orders under way, what needs attention, chains, wallets, workers,
 * queues, prices. Read from the database, so every process tells the same.
 *
 * @throws when the database does not answer.
 */
export async function businessMetrics({ em, prices, now, payoutRules }: BusinessSources): Promise<string> {
  const registry = new Registry();
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> =>
    new Gauge({ name: `gateway_${name}`, help, labelNames, registers: [registry] });
  const secondsSince = (at: Date): number => Math.max(0, (now.getTime() - at.getTime()) / 1000);

  const orders = gauge('orders', 'Orders under way.', 'status');
  const oldest = gauge('order_oldest_seconds', 'Age of the oldest order in a status, since it was created.', 'status');
  const found = await em.execute<{ status: string; count: number; seconds: number }[]>(
    `select status, count(*)::int as count, extract(epoch from ?::timestamptz - min(created_at))::float8 as seconds
       from exchange_order where status in (${underWay.map((status) => `'${status}'`).join(', ')}) group by status`,
    [now],
  );
  for (const status of underWay) {
    const row = found.find((one) => one.status === status);
    orders.set({ status }, row?.count ?? 0);
    oldest.set({ status }, Math.max(0, row?.seconds ?? 0));
  }

  const items = gauge('attention_items', 'What staff must look at, by kind, up to 1,000 in all.', 'kind');
  const since = gauge('attention_oldest_seconds', 'For how long the oldest of a kind has needed attention.', 'kind');
  const troubles = await attention(em, mostItems, now);
  for (const kind of attentionKinds) {
    const ofKind = troubles.filter((trouble) => trouble.kind === kind);
    items.set({ kind }, ofKind.length);
    since.set({ kind }, Math.max(0, ...ofKind.map((trouble) => secondsSince(trouble.since))));
  }

  const held = gauge(
    'venue_position_usd',
    'What exchanges left at the venue, by coin, at the prices of the exchanges.',
    'coin',
  );
  const positions = await em.execute<{ coin: string; usd: number }[]>(
    'select coin, sum(abs(usd))::float8 as usd from venue_position where usd is not null group by coin',
  );
  for (const { coin, usd } of positions) held.set({ coin }, usd);

  const adverse = await worstFixedResult(em, now);
  gauge('fixed_adverse_partners', 'Partners whose fixed orders of 24 hours cost more than they brought.').set(
    adverse.partners,
  );
  gauge(
    'fixed_adverse_bps',
    'What users were owed more than they sent by fixed orders of 24 hours, of the partner with the highest figure.',
  ).set(adverse.adverseBps ?? 0);

  const { chains, wallets, workers, queues, overdueOrders, statistics, reconciliation } = await systemStatus(em, now);
  gauge('orders_overdue', 'Orders that were due more than 10 minutes ago, up to 10,000.').set(overdueOrders);
  const lag = gauge('chain_lag_blocks', 'Blocks of a chain that are not read yet.', 'chain');
  const scanned = gauge('chain_scan_age_seconds', 'Since a chain was last read.', 'chain');
  const failing = gauge('chain_failing_seconds', 'For how long the node of a chain gives no answer.', 'chain');
  const stopped = gauge('chain_stopped', '1 where a chain is not read until somebody acts.', 'chain');
  for (const { chain, lag: blocks, scannedAt, failingSince, problem } of chains) {
    lag.set({ chain }, blocks);
    if (scannedAt) scanned.set({ chain }, secondsSince(scannedAt));
    failing.set({ chain }, failingSince ? secondsSince(failingSince) : 0);
    stopped.set({ chain }, problem === null ? 0 : 1);
  }
  const left = gauge('left_out_transfers', 'Transfers to our addresses that could not become deposits.', 'chain');
  const leftOut = await em.execute<{ chain: string; count: number }[]>(
    'select chain, count(*)::int as count from left_out_transfer group by chain',
  );
  for (const { chain, count } of leftOut) left.set({ chain }, count);
  const balance = gauge('wallet_balance', 'Balance of a hot wallet, in coins.', 'chain', 'coin');
  const low = gauge('wallet_low', 'The level below which a hot wallet needs more, in coins.', 'chain', 'coin');
  for (const { chain, coin, ...wallet } of wallets) {
    balance.set({ chain, coin }, Number(wallet.balance));
    if (wallet.low !== null) low.set({ chain, coin }, Number(wallet.low));
  }
  const alive = workers.filter(({ seenAt }) => now.getTime() - seenAt.getTime() < workerLifeMs);
  gauge('workers', 'Workers that were seen within the last minute.').set(alive.length);
  const waiting = gauge('jobs_waiting', 'Jobs that wait in a queue.', 'queue');
  const late = gauge('job_lag_seconds', 'How long the oldest job of a queue waits beyond its time.', 'queue');
  for (const { name: queue, waiting: count, oldestSec } of queues) {
    waiting.set({ queue }, count);
    late.set({ queue }, oldestSec ?? 0);
  }
  gauge('statistics_behind_events', 'Events that are not in the statistics yet, up to 10,000.').set(
    statistics.eventsBehind,
  );
  if (reconciliation) {
    const { byCheck, endedAt } = reconciliation;
    const differs = gauge('ledger_differences', 'Differences that the last reconciliation found, by check.', 'check');
    for (const check of reconcileChecks) differs.set({ check }, byCheck[check] ?? 0);
    gauge('ledger_reconciled_age_seconds', reconciledHelp).set(secondsSince(endedAt));
  } else {
    const [begun] = await em.execute<{ seconds: number | null }[]>(
      'select extract(epoch from ?::timestamptz - min(started_at))::float8 as seconds from reconciliation',
      [now],
    );
    if (begun?.seconds != null) gauge('ledger_reconciled_age_seconds', reconciledHelp).set(begun.seconds);
  }
  const holdCounts = gauge('payout_holds', 'Holds of payouts that are open, by cause.', 'cause');
  const heldPayments = gauge('payouts_held', 'Payouts and refunds that wait for a hold to end.');
  const holds = await openHolds(em);
  for (const cause of holdCauses) holdCounts.set({ cause }, holds.filter((hold) => hold.cause === cause).length);
  heldPayments.set(Math.max(0, ...holds.map(({ waiting: payments }) => payments)));
  const used = gauge('payout_limit_used', 'Used of a limit on automatic payments, 1 for all of it.', 'asset', 'window');
  const full = gauge('payout_limit_waiting_seconds', 'For how long a payment waits for room in a limit.', 'asset');
  for (const { coin, network, hourUsd, dayUsd, waitingSince } of await payoutSpending(em, now)) {
    const asset = coin === null ? 'all' : `${coin}/${network}`;
    const { overall, asset: limitOf } = payoutRules;
    const { hour, day } = coin === null || network === null ? overall : limitOf({ coin, network });
    used.set({ asset, window: 'hour' }, usedOf(hourUsd, hour));
    used.set({ asset, window: 'day' }, usedOf(dayUsd, day));
    full.set({ asset }, waitingSince ? secondsSince(waitingSince) : 0);
  }
  const price = gauge('price_age_seconds', 'Age of the newest price of a coin in this process.', 'coin');
  for (const { coin, ageSec } of prices.newest()) price.set({ coin }, Math.max(0, ageSec));
  return registry.metrics();
}

/** Of a limit of nothing, all is used. */
function usedOf(usd: string, limit: number): number {
  return limit === 0 ? 1 : Number(usd) / limit;
}
