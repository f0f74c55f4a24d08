import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter } from '../chains/chain-adapter.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { type ReconcileReport, type ReconcileRow, reconcile } from './reconcile.ts';

export interface ReconciliationsOptions {
  readonly orm: MikroORM;
  /** Opens what may take long over a statement; it is closed after each time. */
  readonly openPatient: () => Promise<MikroORM>;
  readonly clock: Clock;
  readonly log: Log;
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
  readonly everySec: number;
  /** Told what differs, empty when nothing does, in the transaction that stores the result. */
  readonly onCompared?: (lasting: readonly ReconcileRow[], em: EntityManager) => Promise<void>;
}

/** Reconciles by the clock, once for all workers, and keeps what was found. */
export class Reconciliations {
  readonly #options: ReconciliationsOptions;
  #isRunning = false;

  constructor(options: ReconciliationsOptions) {
    this.#options = options;
  }

  /**
   * Reconciles when it is due and no other worker has begun. One that a worker began and could not end is made up for
   * when the next one is due. Returns whether it did.
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
    const { orm, openPatient, clock, log, everySec, onCompared } = this.#options;
    const em = orm.em.fork();
    const startedAt = clock.now();
    const dueAt = new Date(startedAt.getTime() - (startedAt.getTime() % (everySec * 1000)));
    const claimed = await em.execute<object[]>(
      `insert into reconciliation (due_at, started_at) values (?, ?) on conflict do nothing returning due_at`,
      [dueAt, startedAt],
    );
    if (claimed.length === 0) return false;
    const patient = await openPatient();
    const { checked, lasting } = await this.#compare(patient).finally(() => patient.close(true));
    const checks = Object.values(checked).reduce((sum, count) => sum + count, 0);
    const differences: Record<string, number> = {};
    for (const { check } of lasting) differences[check] = (differences[check] ?? 0) + 1;
    for (const [code, count] of Object.entries(differences)) {
      log.error({ event: 'ledger_differs', code, count }, 'the book differs from what it stands for');
    }
    await em.transactional(async (tx) => {
      await onCompared?.(lasting, tx);
      await tx.execute(`update reconciliation set ended_at = ?, checks = ?, differences = ?::jsonb where due_at = ?`, [
        clock.now(),
        checks,
        JSON.stringify(differences),
        dueAt,
      ]);
    });
    return true;
  }

  /** What differs, and differs by the same when it is looked at again: a chain may move while it is read. */
  async #compare(orm: MikroORM): Promise<Pick<ReconcileReport, 'checked'> & { lasting: readonly ReconcileRow[] }> {
    const { adapters } = this.#options;
    const first = await reconcile({ orm, adapters });
    if (first.differences === 0) return { checked: first.checked, lasting: [] };
    const { rows, checked } = await reconcile({ orm, adapters });
    const known = new Set(first.rows.map(nameOf));
    return { checked, lasting: rows.filter((row) => row.difference !== '0' && known.has(nameOf(row))) };
  }
}

function nameOf({ check, subject, difference }: ReconcileRow): string {
  return `${check} ${subject} ${difference}`;
}
