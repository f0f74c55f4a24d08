/**
 * A fresh order waits for its deposit, and nothing has changed it since its create. The indexes by
 * which staff list and search orders leave fresh orders out, so that a create writes fewer entries.
 * An order enters them with its first change, which writes an entry to every index anyway.
 *
 * Fresh orders are few, because each one ends with its deposit window. The index
 * `exchange_order_open` has them by time.
 */
export interface OrderPart {
  /** The condition of the part on `o`, an exchange_order. */
  readonly condition: string;
  /** The time of the last change, as the column by which an index has the part in order. */
  readonly updatedAt: string;
}

export const freshOrders: OrderPart = {
  condition: `o.status = 'waiting_deposit' and o.updated_at = o.created_at`,
  updatedAt: 'o.created_at',
};

/** All other orders. The condition is that of the indexes, word for word. */
export const changedOrders: OrderPart = {
  condition: `(o.status <> 'waiting_deposit' or o.updated_at <> o.created_at)`,
  updatedAt: 'o.updated_at',
};

/** Every order, for a query that finds its orders by other means than those indexes. */
export const anyOrders: OrderPart = { ...changedOrders, condition: 'true' };

/** Joins the same select over each part into one. The values of `select` are bound once a part. */
export function ofParts(parts: readonly OrderPart[], select: (part: OrderPart) => string): string {
  return parts.map((part) => `(${select(part)})`).join('\n union all ');
}
