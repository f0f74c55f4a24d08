import type { Search } from '../ui/search.ts';
import type { Asked } from './api.ts';

type OrderQuery = NonNullable<Asked<'listOrders'>['query']>;
type Status = NonNullable<OrderQuery['status']>[number];

/** Statuses that the list filters by. */
export const filterStatuses: readonly string[] = [
  'waiting_deposit',
  'confirming',
  'exchanging',
  'sending',
  'completed',
  'expired',
  'refunding',
  'refunded',
  'failed',
];

/** The form of a short id or a UUID. All other text is the partner's own id of an order. */
const orderName =
  /^([a-z][a-z0-9]{0,7}-[a-z0-9]{6}|[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/i;

const day = /^\d{4}-\d{2}-\d{2}$/;
const isDay = (text: string | undefined): text is string =>
  day.test(text ?? '') && !Number.isNaN(Date.parse(text ?? ''));

/** What an address asks of the list. Members that no filter knows are left out. */
export function askedOrders({ q, status, coin, from, to, cursor }: Search): OrderQuery {
  const statuses = (status ?? '').split(',').filter((name) => filterStatuses.includes(name));
  return {
    limit: 25,
    include: ['details'],
    ...(q ? (orderName.test(q) ? { ids: [q] } : { external_id: q.slice(0, 128) }) : {}),
    ...(statuses.length > 0 ? { status: statuses as Status[] } : {}),
    ...(coin ? { coin: coin.toUpperCase().slice(0, 20) } : {}),
    ...(isDay(from) ? { created_from: `${from}T00:00:00.000Z` } : {}),
    // The whole last day.
    ...(isDay(to) ? { created_to: new Date(Date.parse(to) + 86_400_000).toISOString() } : {}),
    ...(cursor ? { cursor } : {}),
  };
}

/**
 * The same for a text with the form of a short id or a UUID that names no order: it may be the
 * partner's own id of one. Null for other texts.
 */
export function askedByOwnId(search: Search): OrderQuery | null {
  const { ids, ...others } = askedOrders(search);
  return ids === undefined ? null : { ...others, external_id: ids.join() };
}
