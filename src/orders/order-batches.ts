import type { EntityManager } from '@mikro-orm/postgresql';
import { type BatchBounds, Batcher, runAlone } from '../base/db/batcher.ts';
import type { Prepared } from '../base/db/prepared.ts';
import { sqlRows } from '../base/db/sql.ts';
import { sqlSpan } from '../base/db/traced-queries.ts';
import { span } from '../base/telemetry/tracing.ts';
import type { CreateOutcome } from './order-statements.ts';

/** Called for each batch: its statement, its requests, and how long the first one has waited. */
export type OnBatch = (statement: string, requests: number, waitedMs: number) => void;

/** The values of one create for its statement. */
export type CreateRow = Readonly<Record<string, string | number | Buffer | null>>;

/**
 * A full statement costs PostgreSQL and Node least for each order. So a second statement runs
 * concurrently with the first only when it is full, or when its first order has waited long.
 */
export const createBounds: BatchBounds = {
  items: 32,
  bytes: 262_144,
  undivided: 8,
  flights: 2,
  beside: { items: 32, ms: 50 },
  waiting: 1_024,
  waitMs: 5_000,
};
/**
 * Runs the creates that wait at the same moment as one statement for each kind.
 *
 * A statement that creates orders runs only with others of its own kind. A create with an
 * idempotency key may wait for another process, and one from a pool for its addresses. Neither
 * delays the others.
 */
export class OrderBatches {
  readonly #em: EntityManager;
  readonly #onBatch: OnBatch;
  readonly #creates = new Map<Prepared, Batcher<CreateRow, CreateOutcome | null>>();

  constructor(em: EntityManager, onBatch: OnBatch = () => {}) {
    this.#em = em;
    this.#onBatch = onBatch;
  }

  /**
   * Creates an order by one row of a statement. Null when its key does not exist.
   *
   * @throws the driver's error for this row, or AppError 503 when too many creates wait.
   */
  create(statement: Prepared, row: CreateRow): Promise<CreateOutcome | null> {
    let batcher = this.#creates.get(statement);
    if (!batcher) {
      batcher = this.#batcherOf(statement);
      this.#creates.set(statement, batcher);
    }
    return traced(statement, batcher.add(row));
  }

  #batcherOf(statement: Prepared): Batcher<CreateRow, CreateOutcome | null> {
    return new Batcher({
      bounds: createBounds,
      sizeOf: ({ body, metadata }) => String(body).length + String(metadata ?? '').length,
      keyOf: ownKey,
      run: async (rows) => {
        const outcomes = inOrder(rows, await sqlRows<CreateOutcome>(this.#em, statement, rows));
        if (rows.length === 1) return outcomes;
        return outcomes.map((outcome) => (outcome && lacksOnlyRoom(outcome) ? runAlone : outcome));
      },
      onBatch: (items, waitedMs) => this.#onBatch(statement.name, items, waitedMs),
    });
  }
}

/** The span of one request's share in a batch. */
export function traced<T>({ name }: Prepared, work: Promise<T>): Promise<T> {
  return span(`postgresql ${name}`, sqlSpan, () => work);
}

export type Numbered<Row> = Row & { readonly n: number };

/** Puts the rows of a batch in the order of its items. Null for an item without a row. */
export function inOrder<Row>(items: readonly unknown[], rows: readonly Numbered<Row>[]): (Row | null)[] {
  const ordered: (Row | null)[] = items.map(() => null);
  for (const row of rows) ordered[row.n - 1] = row;
  return ordered;
}

/**
 * What a create shares with no other. Of two such creates in one batch the second would undo the
 * first.
 */
function ownKey({ partner, repeatKey, quoteNonce, externalId }: CreateRow): string | null {
  const own = repeatKey ?? (quoteNonce instanceof Buffer ? quoteNonce.toString('hex') : externalId);
  return own === null || own === undefined ? null : `${partner} ${own}`;
}

/**
 * Whether a create met nothing but the fixed caps. Alone it may fit, as the orders of one partner
 * in one batch are admitted together or not at all.
 */
function lacksOnlyRoom(outcome: CreateOutcome): boolean {
  const { live, active, ownRecipient, ownRefund, isShortIdTaken, hasRoom } = outcome;
  const { earlierFingerprint, quoteOrder, externalOrder } = outcome;
  const isRefused = ownRecipient || ownRefund || isShortIdTaken || earlierFingerprint || quoteOrder || externalOrder;
  return live && active && !isRefused && !hasRoom;
}
