import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import type { Log } from '../base/log.ts';
import type { ChainAdapter } from '../chains/port/chain-adapter.ts';
import { type ReconcileReport, type ReconcileRow, reconcile } from './reconcile.ts';

export interface ReconciliationsOptions {
  readonly orm: MikroORM;
  /** Opens a connection for statements that may take long. It is closed after each run. */
  readonly openReconcileOrm: () => Promise<MikroORM>;
  readonly clock: Clock;
  readonly log: Log;
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
  readonly everySec: number;
  /** Called before each comparison. */
  readonly onCompare?: (orm: MikroORM) => Promise<void>;
  /**
   * Called with the lasting differences, an empty list without any, in the transaction that stores
   * the result.
   */
  readonly onCompared?: (lasting: readonly ReconcileRow[], em: EntityManager) => Promise<void>;
}

/** Reconciles on a schedule, once for all workers, and stores the result. */
export class Reconciliations {
  readonly #options: ReconciliationsOptions;
  #isRunning = false;

  constructor(options: ReconciliationsOptions) {
    this.#options = options;
  }

  /**
   * Reconciles when a run is due and no other worker has begun it. A run that its worker could not
   * finish is not repeated; the next due run replaces it. Returns whether it ran.
   */
  async runIfDue(): Promise<boolean> {
    if (this.#isRunning) return false;
    this.#isRunning = true;
    try {
      return await this.#runIfDue();
    } finally {
      this.#isRunning = false;
    }
  }

  async #runIfDue(): Promise<boolean> {
    const { orm, openReconcileOrm, clock, log, everySec, onCompared } = this.#options;
    const em = orm.em.fork();
    const startedAt = clock.now();
    const dueAt = new Date(startedAt.getTime() - (startedAt.getTime() % (everySec * 1000)));
    const claimed = await sql(
      em,
      `insert into reconciliation (due_at, started_at) values (?, ?) on conflict do nothing returning due_at`,
      [dueAt, startedAt],
    );
    if (claimed.length === 0) return false;
    const ownOrm = await openReconcileOrm();
    const { checked, lasting } = await this.#compare(ownOrm).finally(() => ownOrm.close(true));
    const checks = Object.values(checked).reduce((sum, count) => sum + count, 0);
    const differences: Record<string, number> = {};
    for (const { check } of lasting) differences[check] = (differences[check] ?? 0) + 1;
    for (const [code, count] of Object.entries(differences)) {
      log.error({ event: 'ledger_differs', code, count }, 'the ledger differs from the chains, the venue or the rows');
    }
    await em.transactional(async (tx) => {
      await onCompared?.(lasting, tx);
      await sql(tx, `update reconciliation set ended_at = ?, checks = ?, differences = ?::jsonb where due_at = ?`, [
        clock.now(),
        checks,
        JSON.stringify(differences),
        dueAt,
      ]);
    });
    return true;
  }

  /**
   * Finds differences that a second run repeats with the same amount. A chain may move while it is
   * read.
   */
  async #compare(orm: MikroORM): Promise<Pick<ReconcileReport, 'checked'> & { lasting: readonly ReconcileRow[] }> {
    const { adapters, clock, onCompare } = this.#options;
    await onCompare?.(orm);
    const first = await reconcile({ orm, adapters, clock });
    if (first.differences === 0) return { checked: first.checked, lasting: [] };
    await onCompare?.(orm);
    const { rows, checked } = await reconcile({ orm, adapters, clock });
    const known = new Set(first.rows.map(nameOf));
    return { checked, lasting: rows.filter((row) => row.difference !== '0' && known.has(nameOf(row))) };
  }
}

function nameOf({ check, subject, difference }: ReconcileRow): string {
  return `${check} ${subject} ${difference}`;
}
