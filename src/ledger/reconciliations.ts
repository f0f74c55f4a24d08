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
  /** Called with what was found, in the transaction that stores the result. */
  readonly onCompared?: (found: LastingDifferences, em: EntityManager) => Promise<void>;
}

/** Differences that did not end while they were looked at. */
interface LastingDifferences {
  readonly lasting: readonly ReconcileRow[];
  /** Differences that an exchange may still explain. They are compared again in ten minutes. */
  readonly young: readonly ReconcileRow[];
}

/**
 * How long a shortage of a hot wallet may wait until an exchange lists it as a deposit, where an
 * account is watched. Exchanges list a deposit with its first block, and lists are read each
 * minute.
 */
const listedWithinMs = 600_000;

/** Reconciles on a schedule, once for all workers, and stores the result. */
export class Reconciliations {
  readonly #options: ReconciliationsOptions;
  #isRunning = false;
  /** When each shortage of a hot wallet was found first, by its subject. */
  #shortSince: ReadonlyMap<string, Date> = new Map();
  /** When young differences are compared again. */
  #againAt: Date | null = null;

  constructor(options: ReconciliationsOptions) {
    this.#options = options;
  }

  /**
   * Reconciles when a run is due and no other worker has begun it. A run that its worker could not
   * finish is not repeated; the next due run replaces it. A run that left young differences is
   * repeated by its own worker in ten minutes. Returns whether it ran.
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
    const dueAt = this.#againAt !== null && this.#againAt <= startedAt ? startedAt : periodOf(startedAt, everySec);
    const claimed = await sql(
      em,
      `insert into reconciliation (due_at, started_at) values (?, ?) on conflict do nothing returning due_at`,
      [dueAt, startedAt],
    );
    if (claimed.length === 0) return false;
    const ownOrm = await openReconcileOrm();
    const { checked, lasting: all } = await this.#compare(ownOrm).finally(() => ownOrm.close(true));
    const { lasting, young } = await this.#byAge(em, all, startedAt);
    const checks = Object.values(checked).reduce((sum, count) => sum + count, 0);
    const differences: Record<string, number> = {};
    for (const { check } of lasting) differences[check] = (differences[check] ?? 0) + 1;
    for (const [code, count] of Object.entries(differences)) {
      log.error({ event: 'ledger_differs', code, count }, 'the ledger differs from the chains, the venue or the rows');
    }
    await em.transactional(async (tx) => {
      await onCompared?.({ lasting, young }, tx);
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
   * Takes apart what an exchange may still explain: less at a hot wallet than in the books, which
   * was found for the first time less than ten minutes ago. The amount may change meanwhile.
   */
  async #byAge(em: EntityManager, found: readonly ReconcileRow[], now: Date): Promise<LastingDifferences> {
    const short = found.filter(({ check, difference }) => check === 'hot' && difference.startsWith('-'));
    this.#shortSince = new Map(short.map(({ subject }) => [subject, this.#shortSince.get(subject) ?? now]));
    const watched = short.length === 0 ? [] : await sql(em, 'select from venue_account where is_watched limit 1');
    const youngest = new Date(now.getTime() - listedWithinMs);
    const young = short.filter(
      ({ subject }) => watched.length > 0 && (this.#shortSince.get(subject) ?? now) > youngest,
    );
    const first = young.map(({ subject }) => this.#shortSince.get(subject)?.getTime() ?? now.getTime());
    this.#againAt = young.length === 0 ? null : new Date(Math.min(...first) + listedWithinMs);
    return { lasting: found.filter((row) => !young.includes(row)), young };
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

/** The beginning of the period that a time is in. */
function periodOf(time: Date, everySec: number): Date {
  return new Date(time.getTime() - (time.getTime() % (everySec * 1000)));
}

function nameOf({ check, subject, difference }: ReconcileRow): string {
  return `${check} ${subject} ${difference}`;
}
