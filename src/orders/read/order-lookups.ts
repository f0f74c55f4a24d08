import type { EntityManager } from '@mikro-orm/postgresql';
import { type BatchBounds, Batcher } from '../../base/db/batcher.ts';
import type { RowValues } from '../../base/db/prepared.ts';
import { sqlRows } from '../../base/db/sql.ts';
import { createBounds, inOrder, type Numbered, type OnBatch, traced } from '../order-batches.ts';
import { type PartnerScope, scopeValues } from '../order-scope.ts';
import { type OrderLookup, type OrderView, orderLookup } from '../order-statements.ts';

/** A look-up is an order's two names. Its bytes need no bound, and small statements cost little. */
const lookupBounds: BatchBounds = {
  ...createBounds,
  items: 64,
  bytes: 0,
  undivided: 64,
  concurrent: { items: 1, ms: 0 },
  waiting: 4_096,
};

/** A batch has look-ups of many partners, each with its own scope. */
const partnerLookup = orderLookup.of('partner');

/** Runs the look-ups that wait at the same moment as one statement. */
export class OrderLookups {
  readonly #batcher: Batcher<RowValues, OrderView | null>;

  constructor(em: EntityManager, onBatch: OnBatch = () => {}) {
    this.#batcher = new Batcher({
      bounds: lookupBounds,
      run: async (lookups) => inOrder(lookups, await sqlRows<Numbered<OrderView>>(em, partnerLookup, lookups)),
      onBatch: (items, waitedMs) => onBatch(partnerLookup.name, items, waitedMs),
    });
  }

  /**
   * Finds an order. Null when the partner has none of that name.
   *
   * @throws the driver's error for this row, or AppError 503 when too many look-ups wait.
   */
  find(scope: PartnerScope, lookup: OrderLookup): Promise<OrderView | null> {
    return traced(partnerLookup, this.#batcher.add({ ...lookup, ...scopeValues(scope) }));
  }
}
