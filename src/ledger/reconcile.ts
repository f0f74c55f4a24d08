import type { MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter } from '../chains/chain-adapter.ts';
import { formatDecimal } from '../money.ts';
import { currenciesByChain } from './reconcile/assets.ts';
import { checkUnseen, reconcileChain } from './reconcile/chains.ts';
import { checkAddresses, checkBook, checkHistories, checkPayments } from './reconcile/invariants.ts';
import { type ReconcileReport, Tally } from './reconcile/report.ts';
import { checkAccounts, checkClients, checkDebits, checkRest } from './reconcile/rows.ts';
import { inSnapshot } from './reconcile/snapshot.ts';
import { checkVenue, type VenueFill } from './reconcile/venue.ts';

export { type ReconcileReport, type ReconcileRow, renderReport } from './reconcile/report.ts';

export interface ReconcileOptions {
  readonly orm: MikroORM;
  /** By chain. What the book holds on a chain without an adapter is a difference: nobody has seen it. */
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
  /** Every fill of the venue in place of the sandbox venue. Trades at exchanges are in the journal of their orders. */
  readonly venueFills?: readonly VenueFill[];
}

/** A balance of the book. */
export interface LedgerBalance {
  readonly account: string;
  readonly coin: string;
  readonly network: string;
  readonly balance: string;
}

/**
 * Derives every balance anew, from the chains, the venue and the rows of orders, and compares it with the book. Shares
 * no code with what writes the book, so that a mistake there shows here. Changes nothing, and may run beside gateways.
 */
export async function reconcile({ orm, adapters, venueFills }: ReconcileOptions): Promise<ReconcileReport> {
  const tally = new Tally();
  const currencies = await currenciesByChain(orm);
  for (const [chain, assets] of currencies) {
    const adapter = adapters.get(chain);
    if (adapter) await reconcileChain(orm, adapter, assets, tally);
  }
  await inSnapshot(orm, async (em) => {
    await checkUnseen(em, adapters, currencies, tally);
    await checkClients(em, tally);
    await checkDebits(em, tally);
    await checkRest(em, tally);
    await checkAccounts(em, tally);
    await checkVenue(em, venueFills, tally);
    await checkBook(em, tally);
    await checkHistories(em, tally);
    await checkAddresses(em, tally);
    await checkPayments(em, tally);
  });
  return tally.report();
}

/** Every balance of the book, by account and asset. */
export async function ledgerBalances(orm: MikroORM): Promise<readonly LedgerBalance[]> {
  const rows = await orm.em.fork().execute<LedgerBalance[]>(
    `select account, coin, network, sum(amount)::text as balance from ledger_line
      group by account, coin, network having sum(amount) <> 0 order by account, coin, network`,
  );
  return rows.map(({ balance, ...row }) => ({ ...row, balance: formatDecimal(balance) }));
}
