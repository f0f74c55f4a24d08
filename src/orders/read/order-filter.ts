import { validate as isUuid } from 'uuid';
import type { StatementValues } from '../../base/db/prepared.ts';
import { AppError } from '../../base/errors.ts';
import { anyOrders, changedOrders, freshOrders, type OrderPart } from '../fresh-orders.ts';
import type { OrderStatus } from '../order-status.ts';
import { orderNamed } from '../short-id.ts';
import { ordersThatNeedAttention } from './attention.ts';
import { searchCondition } from './search-text.ts';

/**
 * Which orders a list has. All given conditions must hold; an absent one, or null, admits all. Each
 * surface fills what it offers.
 */
export interface OrderFilter {
  readonly statuses?: readonly OrderStatus[] | null;
  /** UUIDs and short ids. Text that is neither matches no order. */
  readonly names?: readonly string[] | null;
  /** The partner's own id of an order. No index serves it across partners. */
  readonly externalId?: string | null;
  readonly partnerId?: string | null;
  readonly coinFrom?: string | null;
  readonly networkFrom?: string | null;
  readonly coinTo?: string | null;
  readonly networkTo?: string | null;
  /** A coin on either side of the pair. */
  readonly coin?: string | null;
  /** From this moment, inclusive, to that moment, exclusive. */
  readonly createdFrom?: Date | null;
  readonly createdTo?: Date | null;
  readonly updatedFrom?: Date | null;
  readonly updatedTo?: Date | null;
  /**
   * Bounds of amount_from_expected, both inclusive, as decimal strings in units of coin_from. They
   * need `coinFrom`.
   */
  readonly minAmount?: string | null;
  readonly maxAmount?: string | null;
  /** Only orders with an `attention` item. */
  readonly needsAttention?: boolean | null;
  readonly heldOnly?: boolean | null;
  /**
   * A text of at least 4 characters, in either case. It matches the beginning or all of:
   *
   * - an order id, or a short id with or without its prefix
   * - the transaction of a deposit or payment
   * - a deposit, recipient, refund or payment address
   *
   * It also matches all of the deposit tag of an order.
   *
   * Each of these places contributes at most 1,000 hits.
   */
  readonly search?: string | null;
}

/** The conditions of a filter on `o`, an exchange_order, as SQL with named parameters. */
export interface FilterSql {
  /** On the time of creation. The index of a list by creation serves them. */
  readonly created: readonly string[];
  /** All others but the names. */
  readonly others: readonly string[];
  /** Null when the filter names no orders. */
  readonly named: string | null;
  readonly values: StatementValues;
}

/**
 * Turns a filter into SQL. Only constants become SQL; the filter's values are bound. `externalId`
 * must have been replaced by names.
 *
 * @param now decides what is overdue.
 * @throws AppError invalid_value for a partner id that is none, a search of less than 4 characters,
 * amounts without their coin, or a NUL character.
 */
export function filterSql(filter: OrderFilter, now: Date): FilterSql {
  const conditions = new Conditions();
  const { statuses, partnerId, coin, createdFrom, createdTo, updatedFrom, updatedTo, search } = filter;
  if (createdFrom) conditions.add('o.created_at >= ?::timestamptz', createdFrom);
  if (createdTo) conditions.add('o.created_at < ?::timestamptz', createdTo);
  const created = conditions.taken();
  if (statuses) conditions.add('o.status = any (?::text[])', statuses);
  if (partnerId != null) {
    if (!isUuid(partnerId)) throw new AppError('invalid_value', 'a partner id is a UUID');
    conditions.add('o.partner_id = ?::uuid', partnerId);
  }
  for (const [column, text] of columnsOf(filter)) conditions.add(`${column} = ?`, text);
  if (coin != null) conditions.add('(o.coin_from = ? or o.coin_to = ?)', coin, coin);
  if (updatedFrom) conditions.add('o.updated_at >= ?::timestamptz', updatedFrom);
  if (updatedTo) conditions.add('o.updated_at < ?::timestamptz', updatedTo);
  addAmounts(conditions, filter);
  if (filter.needsAttention) {
    const { sql, values } = ordersThatNeedAttention(now);
    conditions.add(`o.id in (${sql})`, ...values);
  }
  if (filter.heldOnly) conditions.add('o.held_at is not null');
  if (search != null) {
    const { sql, bound } = searchCondition(search);
    conditions.add(sql, ...bound);
  }
  const names = namesOf(filter);
  const named = names && '(o.id = any (:ids::uuid[]) or o.short_id = any (:shortIds::text[]))';
  return { created, others: conditions.taken(), named, values: { ...conditions.values(), ...names } };
}

/** The columns that must have a given text. */
function columnsOf({ coinFrom, networkFrom, coinTo, networkTo }: OrderFilter): [column: string, text: string][] {
  const texts = {
    'o.coin_from': coinFrom,
    'o.network_from': networkFrom,
    'o.coin_to': coinTo,
    'o.network_to': networkTo,
  };
  return Object.entries(texts).flatMap(([column, text]): [string, string][] => (text == null ? [] : [[column, text]]));
}

function addAmounts(conditions: Conditions, { coinFrom, minAmount, maxAmount }: OrderFilter): void {
  if ((minAmount != null || maxAmount != null) && coinFrom == null) {
    throw new AppError('invalid_value', 'amounts are in units of coin_from, so the filter must name that coin as well');
  }
  if (minAmount != null) conditions.add('o.amount_from_expected >= ?::numeric', amount(minAmount));
  if (maxAmount != null) conditions.add('o.amount_from_expected <= ?::numeric', amount(maxAmount));
}

function amount(text: string): string {
  if (!/^\d{1,20}(\.\d{1,18})?$/.test(text)) {
    throw new AppError('invalid_value', 'an amount is a decimal with at most 20 digits before and 18 after the point');
  }
  return text;
}

function namesOf({ names }: OrderFilter): { readonly ids: string[]; readonly shortIds: string[] } | null {
  if (!names) return null;
  const named = names.map(orderNamed);
  return {
    ids: named.flatMap((name) => (name && 'id' in name ? [name.id] : [])),
    shortIds: named.flatMap((name) => (name && 'shortId' in name ? [name.shortId] : [])),
  };
}

/** Collects conditions, and names the values that they bind. */
class Conditions {
  #conditions: string[] = [];
  readonly #values: Record<string, string | number | readonly string[]> = {};
  #count = 0;

  /** @param condition has a `?` for each of the values. */
  add(condition: string, ...values: readonly unknown[]): void {
    const rest = [...values];
    const named = condition.replaceAll('?', () => {
      const name = `f${++this.#count}`;
      this.#values[name] = boundValue(rest.shift());
      return `:${name}`;
    });
    this.#conditions.push(named);
  }

  /** The conditions since the last call. */
  taken(): readonly string[] {
    const taken = this.#conditions;
    this.#conditions = [];
    return taken;
  }

  values(): StatementValues {
    return this.#values;
  }
}

/** @throws AppError invalid_value for text with a NUL character. */
function boundValue(value: unknown): string | number | readonly string[] {
  if (value instanceof Date) return value.toISOString();
  if ([value].flat().some((text) => typeof text === 'string' && text.includes('\0'))) {
    throw new AppError('invalid_value', 'a filter must not contain NUL characters');
  }
  return value as string | number | readonly string[];
}

/**
 * The parts of all orders that a filter can match, each with its own indexes. A filter that
 * names its orders needs none of those indexes.
 */
export function filterParts({ statuses, search, needsAttention, names }: OrderFilter): readonly OrderPart[] {
  if (search != null || needsAttention || names) return [anyOrders];
  if (statuses && !statuses.includes('waiting_deposit')) return [changedOrders];
  return [changedOrders, freshOrders];
}

/**
 * The text of a filter that is the same for the same filter. Cursors are bound to it. The members
 * that were always there come first, so that old cursors of partners stay good.
 */
export function filterText(filter: OrderFilter): string {
  const sorted = (texts: readonly string[] | null | undefined): readonly string[] | null =>
    texts ? [...new Set(texts)].sort() : null;
  const { statuses, createdFrom, createdTo, coinFrom, coinTo, externalId, ...others } = filter;
  const { names: _, updatedFrom, updatedTo, ...rest } = others;
  const names = namesOf(filter);
  const given = Object.entries({ ...rest, updatedFrom: iso(updatedFrom), updatedTo: iso(updatedTo) })
    .filter(([, value]) => value != null && value !== false)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({
    statuses: sorted(statuses),
    ids: sorted(names?.ids),
    shortIds: sorted(names?.shortIds),
    createdFrom: iso(createdFrom),
    createdTo: iso(createdTo),
    coinFrom: coinFrom ?? null,
    coinTo: coinTo ?? null,
    externalId: externalId ?? null,
    ...Object.fromEntries(given),
  });
}

const iso = (at: Date | null | undefined): string | null => at?.toISOString() ?? null;
