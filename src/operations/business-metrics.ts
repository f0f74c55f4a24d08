import type { EntityManager } from '@mikro-orm/postgresql';
import { Gauge, Registry } from 'prom-client';
import { sql } from '../base/db/sql.ts';
import { reconcileChecks } from '../ledger/reconcile/report.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import { worstFixedResult } from '../orders/fixed-results.ts';
import type { OrderStatus } from '../orders/order-status.ts';
import { attention } from '../orders/read/attention.ts';
import { attentionKinds } from '../orders/read/attention-troubles.ts';
import type { TransferState } from '../settlement/rows/treasury-transfer.entity.ts';
import { openHolds, payoutSpending } from './payout-brakes.ts';
import { type SystemStatus, systemStatus } from './system-status.ts';
import { venueAccounts } from './venue-status.ts';

/** Statuses of orders that are not finished. */
const underWay = [
  'waiting_deposit',
  'confirming',
  'exchanging',
  'sending',
  'refunding',
] as const satisfies OrderStatus[];

/** A worker counts as alive when it was seen within this time. */
const workerLifeMs = 60_000;

/** Causes of payout holds. */
const holdCauses = ['reconciliation', 'client_debit', 'venue_loss', 'staff'] as const;

/** Most coins of an account at an exchange that have their own metrics. */
const mostCoins = 100;

/** States of transfers that are not over. */
const transferStates = ['asked', 'sent', 'arrived'] as const satisfies TransferState[];

/** Most attention items that are counted. */
const mostItems = 1_000;

const reconciledHelp = 'Seconds since the last reconciliation ended, or since the first one began.';

export interface BusinessSources {
  readonly em: EntityManager;
  readonly prices: PriceBook;
  readonly now: Date;
  readonly payoutRules: PayoutRules;
}

/** Limits of automatic payments in US dollars, for all assets together and for each asset. */
interface PayoutRules {
  readonly overall: { readonly hour: number; readonly day: number };
  readonly asset: (asset: { coin: string; network: string }) => { readonly hour: number; readonly day: number };
}

/** The context of the functions of this file; each adds its gauges. */
interface Metrics {
  readonly em: EntityManager;
  readonly now: Date;
  gauge<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Gauge<Label>;
  secondsSince(at: Date): number;
}

/**
 * Renders the state of the business as Prometheus metrics: open orders, attention items, chains,
 * wallets, workers, queues, prices. All but the prices is read from the database, so that every
 * process reports the same.
 *
 * @throws when the database does not answer.
 */
export async function businessMetrics({ em, prices, now, payoutRules }: BusinessSources): Promise<string> {
  const registry = new Registry();
  const metrics: Metrics = {
    em,
    now,
    gauge: (name, help, ...labelNames) =>
      new Gauge({ name: `gateway_${name}`, help, labelNames, registers: [registry] }),
    secondsSince: (at) => Math.max(0, (now.getTime() - at.getTime()) / 1000),
  };
  await addOrders(metrics);
  await addAttention(metrics);
  await addVenue(metrics);
  await addVenueAccounts(metrics);
  await addTransfers(metrics);
  await addFixedResults(metrics);
  await addQuoteResults(metrics);
  const status = await systemStatus(em, now);
  metrics
    .gauge(
      'orders_overdue',
      'Orders that were due more than 10 minutes ago, or could not be settled for as long, up to 10,000.',
    )
    .set(status.overdueOrders);
  addChains(metrics, status);
  await addLeftOut(metrics);
  addWallets(metrics, status);
  addWorkers(metrics, status);
  await addReconciliation(metrics, status);
  await addPayouts(metrics, payoutRules);
  await addWebhooks(metrics);
  const price = metrics.gauge('price_age_seconds', 'Age of the newest price of a coin in this process.', 'coin');
  for (const { coin, ageSec } of prices.newest()) price.set({ coin }, Math.max(0, ageSec));
  return registry.metrics();
}

async function addOrders({ em, now, gauge }: Metrics): Promise<void> {
  const orders = gauge('orders', 'Orders under way.', 'status');
  const oldest = gauge('order_oldest_seconds', 'Age of the oldest order in a status, since it was created.', 'status');
  const found = await sql<{ status: string; count: number; seconds: number }>(
    em,
    `select status, count(*)::int as count, extract(epoch from ?::timestamptz - min(created_at))::float8 as seconds
       from exchange_order where status in (${underWay.map((status) => `'${status}'`).join(', ')}) group by status`,
    [now],
  );
  for (const status of underWay) {
    const row = found.find((one) => one.status === status);
    orders.set({ status }, row?.count ?? 0);
    oldest.set({ status }, Math.max(0, row?.seconds ?? 0));
  }
}

async function addAttention({ em, now, gauge, secondsSince }: Metrics): Promise<void> {
  const items = gauge('attention_items', 'What staff must look at, by kind, up to 1,000 in all.', 'kind');
  const since = gauge('attention_oldest_seconds', 'Age of the oldest item of a kind that needs attention.', 'kind');
  const troubles = await attention(em, mostItems, now);
  for (const kind of attentionKinds) {
    const ofKind = troubles.filter((trouble) => trouble.kind === kind);
    items.set({ kind }, ofKind.length);
    since.set({ kind }, Math.max(0, ...ofKind.map((trouble) => secondsSince(trouble.since))));
  }
}

async function addWebhooks({ em, now, gauge }: Metrics): Promise<void> {
  const [row] = await sql<{ lag: number | null; waiting: number; oldest: number | null }>(
    em,
    `select (select extract(epoch from ?::timestamptz - e.at)::float8 from webhook_place p cross join lateral (
               select e.at from order_event e where (e.xid, e.order_id, e.seq) > (p.xid, p.order_id, p.seq)
                order by e.xid, e.order_id, e.seq limit 1) e) as lag, d.waiting, d.oldest
       from (select count(*)::int as waiting, extract(epoch from ?::timestamptz - min(d.created_at))::float8 as oldest
               from (select d.created_at from webhook_endpoint w join webhook_delivery d on d.endpoint_id = w.id
                      where w.status = 'enabled' and w.failures = 0 and d.state = 'pending' and d.attempts = 0
                      limit 10000) d) d`,
    [now, now],
  );
  gauge('feed_lag_seconds', 'Age of the oldest event that no webhook was made of yet.').set(Math.max(0, row?.lag ?? 0));
  gauge('webhook_waiting', 'Webhooks to endpoints without failures that had no attempt, up to 10,000.').set(
    row?.waiting ?? 0,
  );
  gauge('webhook_oldest_seconds', 'Age of the oldest of these.').set(Math.max(0, row?.oldest ?? 0));
  const endpoints = gauge('webhook_endpoints', 'Webhook endpoints: working, failing, or disabled, by why.', 'state');
  const states = await sql<{ state: string; count: number }>(
    em,
    `select coalesce(disabled_reason, case when failures >= 10 then 'failing_now' else 'working' end) as state,
            count(*)::int as count from webhook_endpoint where status <> 'deleted' group by 1`,
  );
  for (const { state, count } of states) endpoints.set({ state }, count);
}

async function addVenue({ em, gauge }: Metrics): Promise<void> {
  const held = gauge(
    'venue_position_usd',
    'Value of the open positions at the venue, by coin, at the prices of the exchanges.',
    'coin',
  );
  const positions = await sql<{ coin: string; usd: number }>(
    em,
    'select coin, sum(abs(usd))::float8 as usd from venue_position where usd is not null group by coin',
  );
  for (const { coin, usd } of positions) held.set({ coin }, usd);
}

async function addVenueAccounts({ em, now, gauge, secondsSince }: Metrics): Promise<void> {
  const balance = gauge(
    'venue_balance',
    'What the account at an exchange holds, in coins. Of at most 100 coins: first the coins with a difference.',
    'venue',
    'coin',
  );
  const difference = gauge(
    'venue_balance_difference',
    'How much more of a coin the exchange holds than the books say, at the newest comparison.',
    'venue',
    'coin',
  );
  const age = gauge(
    'venue_balance_age_seconds',
    'Seconds since the balances of a watched account were read, or since it is watched.',
    'venue',
  );
  for (const { venue, isWatched, watchedFrom, openedAt, balancesAt, balances } of await venueAccounts(em, now)) {
    if (!isWatched) continue;
    age.set({ venue }, secondsSince(balancesAt ?? watchedFrom));
    const shown = [...balances].sort((one, other) => Number(other.differing > 0) - Number(one.differing > 0));
    for (const { coin, total, difference: more } of shown.slice(0, mostCoins)) {
      balance.set({ venue, coin }, Number(total));
      if (openedAt !== null && more !== null) difference.set({ venue, coin }, Number(more));
    }
  }
}

async function addTransfers({ em, now, gauge }: Metrics): Promise<void> {
  const transfers = gauge('treasury_transfers', 'Transfers between exchanges and hot wallets under way.', 'state');
  const oldest = gauge('treasury_oldest_seconds', 'Age of the oldest of these transfers in a state.', 'state');
  const found = await sql<{ state: string; count: number; seconds: number }>(
    em,
    `select state, count(*)::int as count, extract(epoch from ?::timestamptz - min(created_at))::float8 as seconds
       from treasury_transfer where state not in ('done', 'returned') group by state`,
    [now],
  );
  for (const state of transferStates) {
    const row = found.find((one) => one.state === state);
    transfers.set({ state }, row?.count ?? 0);
    oldest.set({ state }, Math.max(0, row?.seconds ?? 0));
  }
  const foreign = gauge('venue_foreign', 'Movements at exchanges that are none of ours and not classified.', 'kind');
  const strange = await sql<{ kind: string; count: number }>(
    em,
    `select kind, count(*)::int as count from venue_movement
      where part = 'foreign' and not (kind = 'deposit' and state in ('pending', 'unknown')) group by kind`,
  );
  for (const kind of ['deposit', 'withdrawal']) {
    foreign.set({ kind }, strange.find((one) => one.kind === kind)?.count ?? 0);
  }
}

async function addFixedResults({ em, now, gauge }: Metrics): Promise<void> {
  const adverse = await worstFixedResult(em, now);
  gauge('fixed_adverse_partners', 'Partners whose fixed orders of 24 hours cost more than they brought.').set(
    adverse.partners,
  );
  gauge(
    'fixed_adverse_bps',
    'How much more users were owed than they sent by fixed orders of 24 hours: the highest figure of a partner.',
  ).set(adverse.adverseBps ?? 0);
}

async function addQuoteResults({ em, gauge }: Metrics): Promise<void> {
  const [row] = await sql<{ cut: number; worst: number | null }>(
    em,
    `select count(*) filter (where quote_cut_since is not null)::int as cut, max(quote_adverse_bps)::float8 as worst
       from partner where quote_adverse_bps is not null`,
  );
  gauge('quote_holds_cut', 'Partners whose fixed quotes hold for 15 seconds, as they are used as options.').set(
    row?.cut ?? 0,
  );
  gauge(
    'quote_adverse_worst_bps',
    'How much more than the market the used quotes of 24 hours gave: the highest figure of a partner.',
  ).set(row?.worst ?? 0);
}

function addChains({ gauge, secondsSince }: Metrics, { chains }: SystemStatus): void {
  const lag = gauge('chain_lag_blocks', 'Blocks of a chain that the scanner has not read yet.', 'chain');
  const scanned = gauge('chain_scan_age_seconds', 'Seconds since the scanner last read a chain.', 'chain');
  const failing = gauge('chain_failing_seconds', 'For how long a chain lacks the answer of a node.', 'chain');
  const stopped = gauge('chain_stopped', '1 where a chain is not read until an operator acts.', 'chain');
  for (const { chain, lag: blocks, scannedAt, failingSince, problem } of chains) {
    lag.set({ chain }, blocks);
    if (scannedAt) scanned.set({ chain }, secondsSince(scannedAt));
    failing.set({ chain }, failingSince ? secondsSince(failingSince) : 0);
    stopped.set({ chain }, problem === null ? 0 : 1);
  }
}

async function addLeftOut({ em, gauge }: Metrics): Promise<void> {
  const left = gauge('left_out_transfers', 'Transfers to our addresses that could not become deposits.', 'chain');
  const leftOut = await sql<{ chain: string; count: number }>(
    em,
    'select chain, count(*)::int as count from left_out_transfer group by chain',
  );
  for (const { chain, count } of leftOut) left.set({ chain }, count);
}

function addWallets({ gauge }: Metrics, { wallets }: SystemStatus): void {
  const balance = gauge('wallet_balance', 'Balance of a hot wallet, in coins.', 'chain', 'coin');
  const low = gauge('wallet_low', 'The level below which a hot wallet needs more, in coins.', 'chain', 'coin');
  for (const { chain, coin, ...wallet } of wallets) {
    balance.set({ chain, coin }, Number(wallet.balance));
    if (wallet.low !== null) low.set({ chain, coin }, Number(wallet.low));
  }
}

function addWorkers({ now, gauge }: Metrics, { workers, queues, statistics }: SystemStatus): void {
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
}

async function addReconciliation(
  { em, now, gauge, secondsSince }: Metrics,
  { reconciliation }: SystemStatus,
): Promise<void> {
  if (reconciliation) {
    const { byCheck, endedAt } = reconciliation;
    const differs = gauge('ledger_differences', 'Differences that the last reconciliation found, by check.', 'check');
    for (const check of reconcileChecks) differs.set({ check }, byCheck[check] ?? 0);
    gauge('ledger_reconciled_age_seconds', reconciledHelp).set(secondsSince(endedAt));
  } else {
    const [begun] = await sql<{ seconds: number | null }>(
      em,
      'select extract(epoch from ?::timestamptz - min(started_at))::float8 as seconds from reconciliation',
      [now],
    );
    if (begun?.seconds != null) gauge('ledger_reconciled_age_seconds', reconciledHelp).set(begun.seconds);
  }
}

async function addPayouts({ em, now, gauge, secondsSince }: Metrics, payoutRules: PayoutRules): Promise<void> {
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
}

/** The used fraction of a limit. A limit of zero is fully used. */
function usedOf(usd: string, limit: number): number {
  return limit === 0 ? 1 : Number(usd) / limit;
}
