import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type Clock, systemClock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { formatDecimal } from '../base/money.ts';
import type { ChainAdapter } from '../chains/port/chain-adapter.ts';
import { currenciesByChain } from './reconcile/assets.ts';
import { checkUnreadChains, reconcileChain } from './reconcile/chains.ts';
import { checkCommission, checkMarkups } from './reconcile/commission.ts';
import { checkAddresses, checkBook, checkHistories, checkPayments } from './reconcile/invariants.ts';
import { type ReconcileReport, Tally } from './reconcile/report.ts';
import { checkAccounts, checkClients, checkDebits, checkEndedOrders } from './reconcile/rows.ts';
import { inSnapshot } from './reconcile/snapshot.ts';
import { checkTransit, checkVenueBalances } from './reconcile/treasury.ts';
import { checkVenue, type VenueFill } from './reconcile/venue.ts';

export { type ReconcileReport, type ReconcileRow, renderReport } from './reconcile/report.ts';

export interface ReconcileOptions {
  readonly orm: MikroORM;
  /**
   * By chain. A ledger balance on a chain without an adapter counts as a difference, because it was
   * not checked.
   */
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
  /**
   * Replaces the sandbox venue's fills. Trades at exchanges are read from the journal of their
   * orders.
   */
  readonly venueFills?: readonly VenueFill[];
  /** Tells how long orders have been due. The clock of the machine unless given. */
  readonly clock?: Clock;
}

export interface LedgerBalance {
  readonly account: string;
  readonly coin: string;
  readonly network: string;
  readonly balance: string;
}

/**
 * Derives every balance again from the chains, the venue and the order rows, and compares it with
 * the ledger. It shares no code with the ledger's writers, so that an error of theirs shows here.
 * It changes nothing, and may run while gateways run.
 */
export async function reconcile(options: ReconcileOptions): Promise<ReconcileReport> {
  const { orm, adapters, venueFills, clock = systemClock } = options;
  const tally = new Tally();
  const currencies = await currenciesByChain(orm);
  for (const [chain, assets] of currencies) {
    const adapter = adapters.get(chain);
    if (adapter) await reconcileChain(orm, adapter, assets, clock, tally);
  }
  await inSnapshot(orm, async (em) => {
    await checkUnreadChains(em, adapters, currencies, tally);
    await checkClients(em, tally);
    await checkDebits(em, tally);
    await checkEndedOrders(em, tally);
    await checkAccounts(em, tally);
    await checkMarkups(em, tally);
    await checkCommission(em, tally);
    await checkVenue(em, venueFills, tally);
    await checkVenueBalances(em, tally);
    await checkTransit(em, tally);
    await checkBook(em, tally);
    await checkHistories(em, tally);
    await checkAddresses(em, tally);
    await checkPayments(em, tally);
  });
  return tally.report();
}

/**
 * Compares only what exchanges hold for us, and coins on their way to and from them, with the
 * ledger, as `reconcile` does. It asks no chain.
 */
export async function reconcileVenues(orm: MikroORM): Promise<ReconcileReport> {
  const tally = new Tally();
  await inSnapshot(orm, async (em) => {
    await checkVenueBalances(em, tally);
    await checkTransit(em, tally);
  });
  return tally.report();
}

/**
 * Reads every balance of the ledger, by account and asset.
 *
 * @param at null for the present balances. For an earlier time each later line is read as well.
 */
export async function ledgerBalances(em: EntityManager, at: Date | null = null): Promise<readonly LedgerBalance[]> {
  const until = `where not exists (select from ledger_transaction t where t.id = l.transaction_id and t.at > ?)`;
  const rows = await sql<LedgerBalance>(
    em,
    `select account, coin, network, sum(amount)::text as balance from ledger_line l ${at === null ? '' : until}
      group by account, coin, network having sum(amount) <> 0 order by account, coin, network`,
    at === null ? [] : [at],
  );
  return rows.map(({ balance, ...row }) => ({ ...row, balance: formatDecimal(balance) }));
}
