import type { EntityManager } from '@mikro-orm/postgresql';
import { orderMoves } from './order-moves.ts';
import type { Tally } from './report.ts';
import { countRows } from './snapshot.ts';

/** A trade as the venue itself reports it. Amounts are decimal text. */
export interface VenueFill {
  readonly clientId: string;
  readonly sellCoin: string;
  readonly sellAmount: string;
  readonly buyCoin: string;
  readonly bought: string;
}

/**
 * SQL: trades at exchanges, from the journal of their orders.
 *
 * - `exchange_moved`: what the account moved, by coin.
 * - `exchange_said`: the trade's stated outcome.
 * - `exchange_cash`: the remainder between the two once a trade is squared. A coin that the order
 *   does not name is booked with the venue's name.
 */
export const exchangeTrades = `
  exchange_moved as materialized (
    select o.client_id, o.leg = 'sale' as is_sale, c.coin, sum(c.amount) as amount
      from venue_order o
      cross join lateral ${orderMoves('o')} as c
     where o.state = 'closed' group by 1, 2, 3
  ), exchange_said as (
    select client_id, sell_coin as coin, -sell_amount as amount from venue_trade where outcome = 'filled'
    union all
    select client_id, buy_coin, bought from venue_trade where outcome = 'filled'
  ), exchange_cash as (
    select v.client_id, c.coin, case c.coin when t.coin_from then t.network_from when t.coin_to then t.network_to
                                            else v.venue end as network, sum(c.amount) as amount
      from venue_trade v
      join (select client_id, coin, amount from exchange_moved
            union all
            select client_id, coin, -amount from exchange_said) as c on c.client_id = v.client_id
      left join trade t on t.order_id = v.client_id
     where v.squared_at is not null
     group by 1, 2, 3
  )`;

/** SQL: the kinds of entries about a venue that no trade made. `treasury` checks those. */
const otherKinds = `'transfer_out', 'transfer_fee', 'transfer_reversal', 'transfer_in', 'transfer_in_reversal',
                    'venue_opening', 'venue_other'`;

interface VenueRow {
  readonly subject: string;
  readonly expected: string;
  readonly actual: string;
  readonly in_flight: string;
}

/** SQL: the tables `venue` and those of `exchangeTrades`, and their bound values. */
interface VenueTables {
  readonly ctes: string;
  readonly values: string[];
}

/**
 * Compares what trades moved at the venue, and each trade with its fill. A fill whose trade still
 * waits for the answer is in flight: the venue repeats the same answer to the next request. At an
 * exchange two more amounts are in flight. One is what a trade's orders moved before the trade is
 * decided. The other is what they moved beyond a fill that is not squared yet.
 */
export async function checkVenue(
  em: EntityManager,
  venueFills: readonly VenueFill[] | undefined,
  tally: Tally,
): Promise<void> {
  const tables = tablesOf(venueFills);
  const coins = await balances(em, tables);
  tally.count('venue', coins.length);
  tally.count('trades', await countRows(em, `trade where state in ('filled', 'unwound')`));
  tally.count('trades', await countRows(em, `venue_trade where squared_at is not null`));
  const trades = await differingTrades(em, tables);
  for (const [check, rows] of [['venue', coins] as const, ['trades', trades] as const]) {
    for (const { subject, expected, actual, in_flight: inFlight } of rows) {
      tally.amounts(check, subject, expected, actual, inFlight);
    }
  }
}

function tablesOf(venueFills: readonly VenueFill[] | undefined): VenueTables {
  const fills = venueFills
    ? `select "clientId" as client_id, "sellCoin" as sell_coin, "sellAmount" as sell_amount, "buyCoin" as buy_coin, bought
         from jsonb_to_recordset(?::jsonb)
              as f ("clientId" text, "sellCoin" text, "sellAmount" numeric, "buyCoin" text, bought numeric)`
    : 'select client_id, sell_coin, sell_amount, buy_coin, bought from sandbox_fill';
  const values = venueFills ? [JSON.stringify(venueFills)] : [];
  const ctes = `with ${exchangeTrades}, fill as (${fills}), fill_line as (
       select client_id, buy_coin as coin, bought as amount from fill
       union all
       select client_id, sell_coin, -sell_amount from fill
     ), venue as (
       select f.client_id, f.coin, f.amount, case when t.state = 'intended' then f.amount else 0 end as in_flight
         from fill_line f left join trade t on t.order_id::text = f.client_id
     )`;
  return { ctes, values };
}

/** Reads our balance of each coin, by the venue and by the ledger. */
function balances(em: EntityManager, { ctes, values }: VenueTables): Promise<VenueRow[]> {
  return em.execute<VenueRow[]>(
    `${ctes}, change as (
       select coin, amount as expected, 0::numeric as actual, in_flight from venue
       union all
       select m.coin, m.amount, 0,
              case when v.outcome is not null and v.squared_at is null then m.amount
                   when v.outcome is null and t.state = 'intended' then m.amount else 0 end
         from exchange_moved m
         join venue_trade v on v.client_id = m.client_id
         left join trade t on t.order_id = m.client_id
       union all
       select s.coin, 0, 0, case when v.squared_at is null and t.state is distinct from 'intended' then -s.amount
                                 when v.squared_at is not null and t.state = 'intended' then s.amount else 0 end
         from exchange_said s
         join venue_trade v on v.client_id = s.client_id
         left join trade t on t.order_id = s.client_id
       union all
       select coin, 0, amount, 0 from ledger_line where account = 'venue' or account like 'venue:%'
       union all
       select l.coin, 0, -l.amount, 0
         from ledger_transaction x join ledger_line l on l.transaction_id = x.id and (l.account = 'venue' or l.account like 'venue:%')
        where x.kind in (${otherKinds})
     )
     select coin as subject, sum(expected)::text as expected, sum(actual)::text as actual,
            sum(in_flight)::text as in_flight
       from change group by coin order by coin`,
    values,
  );
}

/**
 * Reads the trades whose venue movements differ from the ledger. At an exchange, the bought amount
 * is computed from the orders before the sale, not from the trade's own figure.
 */
function differingTrades(em: EntityManager, { ctes, values }: VenueTables): Promise<VenueRow[]> {
  return em.execute<VenueRow[]>(
    `${ctes}, exchange_fill as (
       select client_id, sell_coin as coin, -sell_amount as amount from venue_trade where outcome = 'filled'
       union all
       select client_id, buy_coin, sell_amount from venue_trade where outcome = 'filled' and sell_coin = buy_coin
       union all
       select v.client_id, v.buy_coin, m.amount
         from venue_trade v
         join exchange_moved m on m.client_id = v.client_id and m.coin = v.buy_coin and not m.is_sale
        where v.outcome = 'filled' and v.sell_coin <> v.buy_coin
     ), change as (
       select client_id, coin, null as network, amount as expected, 0::numeric as actual, in_flight from venue
       union all
       select f.client_id::text, f.coin, null, f.amount, 0, case when t.state = 'intended' then f.amount else 0 end
         from exchange_fill f left join trade t on t.order_id = f.client_id
       union all
       select order_id::text, coin_to, null, 0, bought, 0 from trade where state in ('filled', 'unwound')
       union all
       select order_id::text, coin_from, null, 0, -amount_from, 0 from trade where state in ('filled', 'unwound')
       union all
       select client_id::text, coin, network, amount, 0, 0 from exchange_cash
       union all
       select x.reference, l.coin, l.network, 0, l.amount, 0
         from ledger_line l join ledger_transaction x on x.id = l.transaction_id
        where (l.account = 'venue' or l.account like 'venue:%') and x.kind = 'venue_cash'
     ), differing as (
       select client_id, coin, network, sum(expected) as expected, sum(actual) as actual, sum(in_flight) as in_flight
         from change group by client_id, coin, network having sum(expected) - sum(in_flight) <> sum(actual)
     )
     select coalesce(o.short_id, d.client_id) || ', ' || d.coin || coalesce(' on ' || d.network || ', left', '') as subject,
            d.expected::text as expected, d.actual::text as actual, d.in_flight::text as in_flight
       from differing d left join exchange_order o on o.id::text = d.client_id order by subject`,
    values,
  );
}
