import type { EntityManager } from '@mikro-orm/postgresql';
import { validate as isUuid } from 'uuid';
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { anyOrders, changedOrders, freshOrders, type OrderPart, ofParts } from '../fresh-orders.ts';
import { Order } from '../order.entity.ts';
import type { OrderStatus } from '../order-status.ts';
import { ordersThatNeedAttention } from './attention.ts';
import { searchCondition } from './search-text.ts';

/** Filters orders. All given conditions must hold. */
export interface OrderFilter {
  readonly statuses?: readonly OrderStatus[];
  readonly partnerId?: string;
  readonly coinFrom?: string;
  readonly networkFrom?: string;
  readonly coinTo?: string;
  readonly networkTo?: string;
  /** A coin on either side of the pair. */
  readonly coin?: string;
  /** From this moment, inclusive, to that moment, exclusive. */
  readonly createdFrom?: Date;
  readonly createdTo?: Date;
  readonly updatedFrom?: Date;
  readonly updatedTo?: Date;
  /**
   * Bounds of amount_from_expected, both inclusive, as decimal strings in units of coin_from. They
   * need `coinFrom`.
   */
  readonly minAmount?: string;
  readonly maxAmount?: string;
  /** Only orders with an `attention` item. */
  readonly needsAttention?: boolean;
  readonly heldOnly?: boolean;
  /**
   * A text of at least 4 characters, in either case. It matches the beginning or all of:
   *
   * - an order id, or a short id with or without its prefix
   * - the transaction of a deposit or payment
   * - a deposit, recipient, refund or payment address
   *
   * Each of these places contributes at most 1,000 hits.
   */
  readonly search?: string;
}

export interface OrderSorting {
  readonly field: 'created' | 'updated';
  readonly direction: 'asc' | 'desc';
}

/**
 * Forward with `first` and `after`, or backward with `last` and `before`. Cursors come from an
 * earlier page.
 */
export type OrderPaging =
  | { readonly first: number; readonly after?: string | null }
  | { readonly last: number; readonly before?: string | null };

export interface OrderSearch {
  readonly filter: OrderFilter;
  readonly orderBy: OrderSorting;
  readonly page: OrderPaging;
  /** The moment that decides what is overdue. Default: now. */
  readonly now?: Date;
}

export interface OrderPage {
  /** In the requested order, with their deposit addresses. */
  readonly orders: Order[];
  /** The cursor of each order. */
  readonly cursors: string[];
  /** Whether orders lie outside the page. Always true on the side of a given cursor. */
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

/** Most orders of one page. */
const mostOrders = 200;

/**
 * Reads a page of orders, in two statements however many orders there are. A cursor is a time and
 * an id, not a count. Thus each order is seen once, even if others are created meanwhile.
 *
 * @throws AppError invalid_value for a broken cursor, a page size outside 1 to 200, a search for
 * less than 4 characters, or amounts without their coin.
 */
export async function searchOrders(em: EntityManager, search: OrderSearch): Promise<OrderPage> {
  const { field, direction } = search.orderBy;
  const isForward = 'first' in search.page;
  const size = 'first' in search.page ? search.page.first : search.page.last;
  if (!Number.isInteger(size) || size < 1 || size > mostOrders) {
    throw new AppError('invalid_value', `a page has from 1 to ${mostOrders} orders`);
  }
  const cursor = ('first' in search.page ? search.page.after : search.page.before) ?? null;
  const place = cursor === null ? null : readCursor(cursor, field);
  // A page before a cursor is read backward from it, and then reversed.
  const isAscending = (direction === 'asc') === isForward;
  const { where, values } = filterConditions(search.filter, search.now ?? systemClock.now());
  const parts = partsOf(search.filter);
  const way = isAscending ? 'asc' : 'desc';
  const selects = ofParts(parts, (part) => {
    const column = field === 'created' ? 'o.created_at' : part.updatedAt;
    const behind = place ? [`(${column}, o.id) ${isAscending ? '>' : '<'} (?::timestamptz, ?::uuid)`] : [];
    return `select o.id, ${column} as at from exchange_order o where ${all([part.condition, ...where, ...behind])}
             order by ${column} ${way}, o.id ${way} limit ?`;
  });
  const bound = [...values, ...(place ? [place.at, place.id] : []), size + 1];
  const rows = await em.execute<{ id: string; us: string }[]>(
    `select id, (extract(epoch from at) * 1000000)::bigint::text as us
       from (${selects}) as part order by at ${way}, id ${way} limit ?`,
    [...parts.flatMap(() => bound), size + 1],
  );
  const hasMore = rows.length > size;
  const found = rows.slice(0, size);
  if (!isForward) found.reverse();
  const entities =
    found.length === 0
      ? []
      : await em.find(
          Order,
          { id: { $in: found.map(({ id }) => id) } },
          { populate: ['depositAddress'], strategy: 'joined' },
        );
  const byId = new Map(entities.map((order) => [order.id, order]));
  const orders = found.flatMap(({ id }) => byId.get(id) ?? []);
  return {
    orders,
    cursors: found.map(({ id, us }) => writeCursor(field, us, id)),
    hasPrevious: isForward ? place !== null : hasMore,
    hasNext: isForward ? hasMore : place !== null,
  };
}

/**
 * Counts the orders that match a filter, up to the cap (10,000 at most).
 *
 * @throws AppError invalid_value as `searchOrders`.
 */
export async function countOrders(
  em: EntityManager,
  filter: OrderFilter,
  cap = 10_000,
  now = systemClock.now(),
): Promise<number> {
  const { where, values } = filterConditions(filter, now);
  const parts = partsOf(filter);
  const most = Math.min(cap, 10_000);
  // Reads in the order of an index, so that a capped count does not read the whole table.
  const selects = ofParts(
    parts,
    ({ condition }) => `select from exchange_order o where ${all([condition, ...where])}
      order by o.created_at desc limit ?`,
  );
  const [row] = await em.execute<{ count: number }[]>(
    `select least(count(*), ?)::int as count from (${selects}) as part`,
    [most, ...parts.flatMap(() => [...values, most])],
  );
  return row?.count ?? 0;
}

/**
 * Reads the ids of the newest orders that match a filter, newest first.
 *
 * @throws AppError invalid_value as `searchOrders`.
 */
export async function newestOrderIds(
  em: EntityManager,
  filter: OrderFilter,
  most: number,
  now: Date,
): Promise<string[]> {
  const { where, values } = filterConditions(filter, now);
  const parts = partsOf(filter);
  const selects = ofParts(
    parts,
    ({ condition }) => `select o.id, o.created_at from exchange_order o where ${all([condition, ...where])}
      order by o.created_at desc, o.id desc limit ?`,
  );
  const rows = await em.execute<{ id: string }[]>(
    `select id from (${selects}) as part order by created_at desc, id desc limit ?`,
    [...parts.flatMap(() => [...values, most]), most],
  );
  return rows.map(({ id }) => id);
}

function all(conditions: readonly string[]): string {
  return conditions.join('\n   and ');
}

/**
 * The parts of all orders that a filter can match, each with indexes of its own. A filter that
 * names its orders needs none of those indexes.
 */
function partsOf({ statuses, search, needsAttention }: OrderFilter): readonly OrderPart[] {
  if (search !== undefined || needsAttention) return [anyOrders];
  if (statuses && !statuses.includes('waiting_deposit')) return [changedOrders];
  return [changedOrders, freshOrders];
}

/**
 * Builds the conditions of a filter on `o`, an exchange_order. Only constants become SQL; the
 * filter's values are bound.
 */
function filterConditions(filter: OrderFilter, now: Date): { where: string[]; values: unknown[] } {
  const where: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, ...bound: unknown[]): void => {
    where.push(condition);
    values.push(...bound);
  };
  const { statuses, partnerId, coin, minAmount, maxAmount } = filter;
  if (statuses !== undefined) {
    if (statuses.length === 0) add('false');
    else add(`o.status in (${statuses.map(() => '?').join(', ')})`, ...statuses);
  }
  if (partnerId !== undefined) {
    if (!isUuid(partnerId)) throw new AppError('invalid_value', 'a partner id is a UUID');
    add('o.partner_id = ?', partnerId);
  }
  if (filter.coinFrom !== undefined) add('o.coin_from = ?', filter.coinFrom);
  if (filter.networkFrom !== undefined) add('o.network_from = ?', filter.networkFrom);
  if (filter.coinTo !== undefined) add('o.coin_to = ?', filter.coinTo);
  if (filter.networkTo !== undefined) add('o.network_to = ?', filter.networkTo);
  if (coin !== undefined) add('(o.coin_from = ? or o.coin_to = ?)', coin, coin);
  if (filter.createdFrom) add('o.created_at >= ?', filter.createdFrom);
  if (filter.createdTo) add('o.created_at < ?', filter.createdTo);
  if (filter.updatedFrom) add('o.updated_at >= ?', filter.updatedFrom);
  if (filter.updatedTo) add('o.updated_at < ?', filter.updatedTo);
  if ((minAmount !== undefined || maxAmount !== undefined) && filter.coinFrom === undefined) {
    throw new AppError('invalid_value', 'amounts are in units of coin_from, so the filter must name that coin as well');
  }
  if (minAmount !== undefined) add('o.amount_from_expected >= ?::numeric', amount(minAmount));
  if (maxAmount !== undefined) add('o.amount_from_expected <= ?::numeric', amount(maxAmount));
  if (filter.needsAttention) {
    const { sql, values: moments } = ordersThatNeedAttention(now);
    add(`o.id in (${sql})`, ...moments);
  }
  if (filter.heldOnly) add('o.held_at is not null');
  if (filter.search !== undefined) {
    const { sql, bound } = searchCondition(filter.search);
    add(sql, ...bound);
  }
  if (values.some((value) => typeof value === 'string' && value.includes('\0'))) {
    throw new AppError('invalid_value', 'a filter must not contain NUL characters');
  }
  return { where, values };
}

function amount(text: string): string {
  if (!/^\d{1,20}(\.\d{1,18})?$/.test(text)) {
    throw new AppError('invalid_value', 'an amount is a decimal with at most 20 digits before and 18 after the point');
  }
  return text;
}

const cursorForm = /^([cu])(\d{1,16})\.([0-9a-f-]{36})$/;

/**
 * Encodes a cursor: the sort field, its time in microseconds since 1970, and the order's id. Opaque
 * to clients.
 */
function writeCursor(field: OrderSorting['field'], us: string, id: string): string {
  return Buffer.from(`${field.charAt(0)}${us}.${id}`).toString('base64url');
}

function readCursor(cursor: string, field: OrderSorting['field']): { at: string; id: string } {
  const [, sort, us = '', id] = cursorForm.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (sort !== field.charAt(0) || !isUuid(id)) {
    throw new AppError('invalid_value', 'this is not a cursor of a page of orders in this sorting');
  }
  const seconds = Number.parseInt(us.slice(0, -6) || '0', 10);
  const at = `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${us.slice(-6).padStart(6, '0')}Z`;
  return { at, id: id ?? '' };
}
