import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { Holdings } from '../../exchanges/exchange.ts';
import { orderMoves } from '../../ledger/reconcile/order-moves.ts';

/** The orders of open trades at an exchange at one moment, by id. */
export type MarketStamp = ReadonlyMap<string, MarketOrder>;

interface MarketOrder {
  /** `sent`: its fate is not known. */
  readonly state: 'sent' | 'closed' | 'void';
  /** The coins that it is known to move. */
  readonly coins: readonly string[];
}

/**
 * SQL: the trades at an exchange that have entries to come: `client_id`. Binds the exchange twice.
 */
const openTradesSql = `
  select client_id from venue_trade where venue = ? and squared_at is null
  union
  select order_id from trade where venue = ? and state = 'intended'`;

/** Reads the orders of open trades at an exchange. */
export async function marketStamp(em: EntityManager, venue: string): Promise<MarketStamp> {
  const rows = await sql<MarketOrder & { readonly id: string }>(
    em,
    `select o.id, o.state,
            array[o.base, o.quote]
              || array(select fee ->> 'coin' from jsonb_array_elements(coalesce(o.fees, '[]')) as fee) as coins
       from (${openTradesSql}) as v join venue_order o on o.client_id = v.client_id`,
    [venue, venue],
  );
  return new Map(rows.map(({ id, ...order }) => [id, order]));
}

/** The coins of orders whose fate is not known, or that changed between two stamps. */
export function movingCoins(before: MarketStamp, after: MarketStamp): ReadonlySet<string> {
  const moving = new Set<string>();
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [one, other] = [before.get(id), after.get(id)];
    if (one?.state === other?.state && one?.state !== 'sent') continue;
    for (const coin of [...(one?.coins ?? []), ...(other?.coins ?? [])]) moving.add(coin);
  }
  return moving;
}

/** Ended trades whose fees tell in which coins an exchange takes fees. */
const tradesForFees = 200;

/** The coins in which an exchange took fees lately. An order may move them as well. */
async function feeCoins(em: EntityManager, venue: string): Promise<string[]> {
  const rows = await sql<{ coin: string }>(
    em,
    `with trades as (
       (select client_id from venue_trade where venue = ? and squared_at is not null
         order by squared_at desc limit ${tradesForFees})
       union all
       select client_id from venue_trade where venue = ? and squared_at is null
     )
     select distinct fee ->> 'coin' as coin
       from trades t join venue_order o on o.client_id = t.client_id and o.state = 'closed'
       cross join lateral jsonb_array_elements(o.fees) as fee`,
    [venue, venue],
  );
  return rows.map(({ coin }) => coin);
}

/**
 * SQL: what happened at an exchange by coin, and is rightly not booked yet. It binds the exchange
 * five times.
 *
 * - What the orders of open trades moved, less their entries.
 * - Credited deposits of transfers whose coins have not finally left the hot wallet.
 * - Movements that are not decided yet.
 */
const inFlightSql = `
  select c.coin, sum(c.amount) as amount from (
    select m.coin, m.amount
      from (${openTradesSql}) as v
      cross join lateral (
        select c.coin, c.amount
          from venue_order o cross join lateral ${orderMoves('o')} as c
         where o.client_id = v.client_id and o.state = 'closed'
        union all
        select l.coin, -l.amount
          from ledger_transaction x join ledger_line l on l.transaction_id = x.id
         where x.kind in ('trade', 'venue_cash') and x.reference = v.client_id::text
           and (l.account = 'venue' or l.account = 'venue:' || ?)
      ) as m
    union all
    select m.coin, case when m.part = 'open' then m.amount
                        else m.amount - t.arrived
                             + coalesce((select sum(d.amount) from deposit d
                                          where d.transfer_id = t.id and d.state = 'credited'), 0) end
      from venue_movement m
      left join treasury_transfer t on t.venue = m.venue and t.movement_kind = m.kind and t.reference = m.reference
     where m.venue = ? and m.kind = 'deposit' and m.state in ('locked', 'done')
       and (m.part = 'open' or m.part = 'transfer' and t.state not in ('done', 'returned'))
    union all
    select coin, -amount from venue_movement
     where venue = ? and kind = 'withdrawal' and part = 'open' and state in ('pending', 'done')
  ) as c group by c.coin`;

interface Comparison {
  readonly venue: string;
  readonly holdings: readonly Holdings[];
  readonly readAt: Date;
  /** The orders before the balances were asked for. */
  readonly before: MarketStamp;
  readonly now: Date;
}

/**
 * Stores balances, and compares them with the books in one snapshot. A coin that an order may have
 * moved meanwhile is not compared. A coin that the exchange does not show is held no more.
 */
export async function compareBalances(orm: MikroORM, comparison: Comparison): Promise<void> {
  const { venue, readAt, before } = comparison;
  await orm.em.fork().transactional(async (em) => {
    await sql(em, 'select from venue_account where venue = ? for update', [venue]);
    const after = await marketStamp(em, venue);
    const moving = movingCoins(before, after);
    const left = moving.size === 0 ? [] : [...moving, ...(await feeCoins(em, venue))];
    await storeBalances(em, comparison);
    await compareCoins(em, comparison, left);
    if (left.length > 0) return;
    await sql(em, 'update venue_account set balances_at = ? where venue = ?', [readAt, venue]);
  });
}

async function storeBalances(em: EntityManager, { venue, holdings, readAt }: Comparison): Promise<void> {
  await sql(
    em,
    `with given as (
       select * from jsonb_to_recordset(?::jsonb) as g (coin text, total numeric, free numeric)
     ), held as (
       select coin, total, free from given
       union all
       select coin, 0, 0 from venue_balance where venue = ? and coin not in (select coin from given)
     )
     insert into venue_balance as b (venue, coin, total, free, read_at)
     select ?, coin, total, free, ? from held
     on conflict (venue, coin) do update
        set total = excluded.total, free = excluded.free, read_at = excluded.read_at
      where b.read_at <= excluded.read_at`,
    [JSON.stringify(holdings), venue, venue, readAt],
  );
}

/** Compares the stored balances with the books, but for the coins that are left out. */
async function compareCoins(
  em: EntityManager,
  { venue, readAt, now }: Comparison,
  left: readonly string[],
): Promise<void> {
  await sql(
    em,
    `with booked as (
       select coin, sum(amount) as amount from ledger_line where account = ? group by coin
     ), moving as (
       ${inFlightSql}
     ), coins as (
       select coin from venue_balance where venue = ? union select coin from booked union select coin from moving
     ), found as (
       select c.coin, coalesce(b.total, 0) as total, coalesce(b.free, 0) as free,
              coalesce(k.amount, 0) as booked, coalesce(m.amount, 0) as in_flight
         from coins c
         left join venue_balance b on b.venue = ? and b.coin = c.coin
         left join booked k on k.coin = c.coin
         left join moving m on m.coin = c.coin
        where c.coin not in (select jsonb_array_elements_text(?::jsonb))
     )
     insert into venue_balance as b
            (venue, coin, total, free, read_at, compared_total, booked, in_flight, compared_at, differing,
            differing_since, same_amount)
     select ?, coin, total, free, ?, total, booked, in_flight, ?,
            (total - in_flight <> booked)::int, case when total - in_flight <> booked then ?::timestamptz end,
            (total - in_flight <> booked)::int
       from found
     on conflict (venue, coin) do update
        set compared_total = excluded.compared_total, booked = excluded.booked, in_flight = excluded.in_flight,
            compared_at = excluded.compared_at,
            differing = case when excluded.differing = 0 then 0
                             when sign(b.compared_total - b.in_flight - b.booked)
                                  = sign(excluded.compared_total - excluded.in_flight - excluded.booked)
                             then b.differing + 1 else 1 end,
            differing_since = case when excluded.differing = 0 then null
                                   when sign(b.compared_total - b.in_flight - b.booked)
                                        = sign(excluded.compared_total - excluded.in_flight - excluded.booked)
                                   then b.differing_since else excluded.differing_since end,
            same_amount = case when excluded.differing = 0 then 0
                               when b.compared_total - b.in_flight - b.booked
                                    = excluded.compared_total - excluded.in_flight - excluded.booked
                               then b.same_amount + 1 else 1 end`,
    [`venue:${venue}`, ...Array<string>(7).fill(venue), JSON.stringify(left), venue, readAt, now, now],
  );
}
