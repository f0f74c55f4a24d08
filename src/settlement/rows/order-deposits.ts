import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Deposit } from './deposit.entity.ts';

// Any stranger can send any number of deposits to an order. So no transaction reads them all: it
// takes a bounded number of each kind, and one statement decides about the small ones beyond them.

/** Deposits that a transaction reads of its orders as they are. More are read by kinds. */
const mostUnsorted = 500;
/** Most deposits of one kind and state that a transaction reads to settle an order. */
const mostOfKind = 100;
/** As many of each decide whether an order waits or confirms. */
const mostMatched = 3;
/** Most deposits that one statement sets aside. */
const mostSetAside = 1_000;

/** Deposits of one kind that a turn takes. All that may be refunded are among them. */
export function keptOfKind(maxRefunds: number): number {
  return Math.max(mostOfKind, maxRefunds + 1);
}

/**
 * SQL: the kind of a deposit `d` of an order `o`. `enough` can be exchanged, `short` is below the
 * minimum, and `other` is in another currency. Strangers multiply the last two at no cost.
 */
const kindSql = `case when d.coin <> o.coin_from or d.network <> o.network_from then 'other'
                      when d.amount < o.min_amount then 'short' else 'enough' end`;

/**
 * SQL: the order in which deposits of a kind are taken. Of those below the minimum the largest
 * comes first, because an order without a better deposit refunds it.
 */
const takenFirst = `case when r.kind = 'short' then r.amount end desc nulls last, r.arrived_by, r.seen_at, r.id`;

/** SQL: whether any payment settles a deposit `d`. */
const isPaidSql = 'exists (select from payment p where p.deposit_id = d.id)';

/** A group of orders has more deposits than one transaction takes. Nothing was written. */
class TooManyDeposits extends Error {
  override readonly name = 'TooManyDeposits';
}

/** Deposits of orders, as one transaction takes them. */
interface OrderDeposits {
  /** In the order of their sightings. */
  readonly deposits: readonly Deposit[];
  /** Ids of the orders that have more small deposits than one statement sets aside. */
  readonly unfinished: ReadonlySet<string>;
}

/**
 * Reads the deposits of orders that decide their next moves. Of orders with many deposits these are
 * the main one, those with payments, and the first of each kind and state. The caller holds the
 * locks of the orders.
 *
 * @param also Further deposits, by id.
 */
export async function readOrderDeposits(
  em: EntityManager,
  orderIds: readonly string[],
  also: readonly string[],
): Promise<Deposit[]> {
  return (await readSome(em, orderIds, also)) ?? readFirst(em, orderIds, mostMatched, also);
}

/** What decides how deposits are taken. */
interface TakeRules {
  readonly maxRefunds: number;
  readonly also?: readonly string[];
  readonly now: Date;
  /** The account that holds the deposits of a chain. */
  readonly accountOf: (chain: string) => 'deposits' | 'hot';
}

/**
 * Does the same for orders that are settled. Where there are many deposits, it first credits the
 * small ones beyond the ones that it reads, and sets them aside for staff.
 *
 * @throws TooManyDeposits when several orders have more deposits together than one transaction
 *   takes. Each alone has not.
 */
export async function takeOrderDeposits(
  em: EntityManager,
  orderIds: readonly string[],
  { maxRefunds, also = [], now, accountOf }: TakeRules,
): Promise<OrderDeposits> {
  const some = await readSome(em, orderIds, also);
  if (some !== null) return { deposits: some, unfinished: new Set() };
  if (orderIds.length > 1) throw new TooManyDeposits();
  const kept = keptOfKind(maxRefunds);
  const unfinished = await setSurplusAside(em, orderIds, { kept, now, hot: await hotChains(em, orderIds, accountOf) });
  return { deposits: await readFirst(em, orderIds, kept, also), unfinished };
}

/** The chains of deposits of orders that are booked in the hot wallet. */
async function hotChains(
  em: EntityManager,
  orderIds: readonly string[],
  accountOf: TakeRules['accountOf'],
): Promise<string[]> {
  const rows = await sql<{ chain: string }>(em, 'select distinct chain from deposit where order_id = any (?::uuid[])', [
    `{${orderIds.join(',')}}`,
  ]);
  return rows.map(({ chain }) => chain).filter((chain) => accountOf(chain) === 'hot');
}

/** Most deposits of an order that staff see. */
const mostShown = 200;

/**
 * Reads the deposits of orders for people: at most `mostShown` of each, the main one first among
 * them, in the order of their sightings.
 */
export async function shownDeposits(em: EntityManager, orderIds: readonly string[]): Promise<Deposit[]> {
  const rows = await sql<{ id: string }>(
    em,
    `select d.id from exchange_order o
      cross join lateral (select id from deposit d where d.order_id = o.id
                           order by d.id = o.deposit_id desc nulls last, d.seen_at, d.id limit ${mostShown}) as d
      where o.id = any (?::uuid[])`,
    [`{${orderIds.join(',')}}`],
  );
  return em.find(Deposit, { id: { $in: rows.map(({ id }) => id) } }, { orderBy: { seenAt: 'asc', id: 'asc' } });
}

/** Reads all deposits of orders, or null when these are too many. */
async function readSome(
  em: EntityManager,
  orderIds: readonly string[],
  also: readonly string[],
): Promise<Deposit[] | null> {
  if (orderIds.length === 0 && also.length === 0) return [];
  const deposits: Deposit[] = await em.find(
    Deposit,
    also.length === 0
      ? { orderId: { $in: [...orderIds] } }
      : { $or: [{ orderId: { $in: [...orderIds] } }, { id: { $in: [...also] } }] },
    { orderBy: { seenAt: 'asc', id: 'asc' }, limit: mostUnsorted + also.length + 1 },
  );
  return deposits.length <= mostUnsorted + also.length ? deposits : null;
}

/** Reads the deposits of crowded orders by kinds. Rows that were read before are read again. */
async function readFirst(
  em: EntityManager,
  orderIds: readonly string[],
  kept: number,
  also: readonly string[],
): Promise<Deposit[]> {
  const rows = await sql<{ id: string }>(
    em,
    `with asked as (
       select id, deposit_id, coin_from, network_from, min_amount from exchange_order where id = any (?::uuid[])
     ), ranked as (
       select r.id, row_number() over (
                partition by r.order_id, r.kind, r.state, r.is_set_aside order by ${takenFirst}) as place
         from (select d.id, d.order_id, d.amount, d.state, d.arrived_by, d.seen_at, ${kindSql} as kind,
                      coalesce(d.problem <> 'netted', false) as is_set_aside
                 from asked o join deposit d on d.order_id = o.id and d.state <> 'orphaned') as r
     )
     select id from ranked where place <= ?
     union
     select deposit_id from asked where deposit_id is not null
     union
     select p.deposit_id from payment p where p.order_id = any (?::uuid[]) and p.deposit_id is not null
     union
     select unnest(?::uuid[])`,
    [`{${orderIds.join(',')}}`, kept, `{${orderIds.join(',')}}`, `{${also.join(',')}}`],
  );
  return em.find(
    Deposit,
    { id: { $in: rows.map(({ id }) => id) } },
    { orderBy: { seenAt: 'asc', id: 'asc' }, refresh: true },
  );
}

/**
 * Credits the ripe small deposits of orders beyond the first `kept` of each kind, and sets them
 * aside for staff (`too_many_refunds`), with their journal entries, in one statement. It takes at
 * most `mostSetAside`.
 *
 * @returns the ids of the orders that may have more.
 */
async function setSurplusAside(
  em: EntityManager,
  orderIds: readonly string[],
  { kept, now, hot }: { readonly kept: number; readonly now: Date; readonly hot: readonly string[] },
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string; count: number }>(
    em,
    `with asked as (
       select id, deposit_id, coin_from, network_from, min_amount from exchange_order where id = any (?::uuid[])
     ), small as (
       select d.id, d.order_id, d.amount, d.arrived_by, d.seen_at, ${kindSql} as kind
         from asked o join deposit d on d.order_id = o.id and d.id is distinct from o.deposit_id
         join chain_state c on c.chain = d.chain
        where (d.coin <> o.coin_from or d.network <> o.network_from or d.amount < o.min_amount)
          and (d.state = 'credited' and (d.problem is null or d.problem = 'netted')
               or d.state = 'mined' and d.height <= least(c.height - d.confirmations_required + 1,
                                                          coalesce(c.final_height, c.height)))
          and not ${isPaidSql}
     ), ranked as (
       select r.id, row_number() over (partition by r.order_id, r.kind order by ${takenFirst}) as place from small r
     ), surplus as (
       select d.id, d.state from ranked r join deposit d on d.id = r.id where r.place > ? order by d.id limit ?
     ), taken as (
       update deposit d
          set state = 'credited', credits = d.credits + case when s.state = 'mined' then 1 else 0 end,
              credited_at = case when s.state = 'mined' then ? else d.credited_at end, problem = 'too_many_refunds'
         from surplus s where d.id = s.id
       returning d.chain, d.key, d.credits, d.order_id, d.coin, d.network, d.amount, s.state as state_before
     ), entry as (
       select gen_random_uuid() as id, chain || ':' || key || ':' || credits as reference, order_id, coin, network, amount,
              case when chain = any (?::text[]) then 'hot' else 'deposits' end as account
         from taken where state_before = 'mined'
     ), booked as (
       insert into ledger_transaction (id, kind, reference, order_id, at)
       select id, 'deposit', reference, order_id, ? from entry
       on conflict (kind, reference) do nothing returning id
     ), written as (
       insert into ledger_line (transaction_id, line, account, coin, network, amount)
       select e.id, l.line, l.account, e.coin, e.network, l.sign * e.amount
         from booked join entry e on e.id = booked.id
        cross join lateral (values (1, e.account, 1), (2, 'client', -1)) as l (line, account, sign)
     )
     select order_id as id, count(*)::int as count from taken group by order_id`,
    [`{${orderIds.join(',')}}`, kept, mostSetAside, now, `{${hot.join(',')}}`, now],
  );
  const taken = rows.reduce((sum, { count }) => sum + count, 0);
  return new Set(taken < mostSetAside ? [] : rows.map(({ id }) => id));
}
