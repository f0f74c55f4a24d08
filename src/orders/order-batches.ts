import type { EntityManager } from '@mikro-orm/postgresql';
import { type BatchBounds, Batcher, runAlone } from '../base/db/batcher.ts';
import type { Prepared } from '../base/db/prepared.ts';
import { sqlRows } from '../base/db/sql.ts';
import { sqlSpan } from '../base/db/traced-queries.ts';
import { span } from '../base/telemetry/tracing.ts';
import { type CreateOutcome, orderCreate } from './order-statements.ts';

/** Called for each batch: its statement, its requests, and how long the first one has waited. */
export type OnBatch = (statement: string, requests: number, waitedMs: number) => void;

/** The values of one create for its statement. Values that it does not have are left out. */
type CreateRow = Readonly<Record<string, string | number | Buffer | null>>;

/**
 * A full statement costs PostgreSQL and Node least for each order. So a second statement runs
 * concurrently with the first only when it is full, or when its first order has waited long.
 */
export const createBounds: BatchBounds = {
  items: 32,
  bytes: 262_144,
  undivided: 8,
  flights: 2,
  concurrent: { items: 32, ms: 50 },
  waiting: 1_024,
  waitMs: 5_000,
};
/**
 * Creates orders in batches. It has two modes:
 *
 * - Together: the creates that wait at the same moment are the rows of one statement, and so of one
 *   transaction. Say that 40 requests arrive while a batch of 20 runs. The next statement takes 30:
 *   half of the 40, and of the 20 clients that may send again. A lone create waits for no other.
 * - Alone: a create that failed with others is a separate statement. Say that two of 30 creates
 *   have the same external id. The unique index refuses the statement and undoes all 30. Each is
 *   then run alone, and only the second of the two gets the error. So are fixed-rate orders
 *   that exceed a cap together, as fewer of them may fit.
 *
 * A batch may wait for another process that uses one of its idempotency keys. The next one then
 * runs concurrently, after 50 ms.
 */
export class OrderBatches {
  readonly #creates: Batcher<CreateRow, CreateOutcome | null>;

  constructor(em: EntityManager, onBatch: OnBatch = () => {}) {
    this.#creates = new Batcher({
      bounds: createBounds,
      sizeOf: ({ body, metadata }) => String(body).length + String(metadata ?? '').length,
      keyOf: ownKey,
      run: async (rows) => {
        const outcomes = inOrder(rows, await sqlRows<CreateOutcome>(em, orderCreate, rows));
        if (rows.length === 1) return outcomes;
        return outcomes.map((outcome) => (outcome && lacksOnlyRoom(outcome) ? runAlone : outcome));
      },
      onBatch: (items, waitedMs) => onBatch(orderCreate.name, items, waitedMs),
    });
  }

  /**
   * Creates an order. Null when its key does not exist.
   *
   * @throws the driver's error for this row, or AppError 503 when too many creates wait.
   */
  create(row: CreateRow): Promise<CreateOutcome | null> {
    return traced(orderCreate, this.#creates.add(row));
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
