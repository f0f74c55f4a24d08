import type { EntityManager } from '@mikro-orm/postgresql';
import { assetName } from './assets.ts';
import { commissionSql, markupSql } from './commission.ts';
import type { Tally } from './report.ts';
import { countRows } from './snapshot.ts';
import { exchangeTrades } from './venue.ts';

/**
 * Remainders of deposits that were not exchanged and were too small to refund. The ledger alone
 * records that a remainder was given up; the rows give its amount.
 */
const unclaimedSql = `
  select d.order_id, d.id as deposit_id, d.coin, d.network,
         case when o.deposit_id = d.id then 'excess' else 'main' end as leg,
         d.amount - coalesce(case when o.deposit_id = d.id and t.state = 'filled' then t.amount_from end, 0) as amount
    from ledger_transaction x
    join deposit d on d.id::text = x.reference
    left join exchange_order o on o.id = d.order_id
    left join trade t on t.order_id = d.order_id
   where x.kind = 'unclaimed'`;

/** The ledger's lines on the accounts of users. */
const clientSql = `
  select x.order_id, l.coin, l.network, l.amount
    from ledger_line l join ledger_transaction x on x.id = l.transaction_id where l.account = 'client'`;

const endedSql = `status in ('completed', 'refunded')`;

interface TotalRow {
  readonly coin: string;
  readonly network: string;
  readonly expected: string;
  readonly actual: string;
}

/** Compares what each user is owed. */
export async function checkClients(em: EntityManager, tally: Tally): Promise<void> {
  const rows = await em.execute<(TotalRow & { order_name: string | null; balances: number })[]>(
    `with change as (
       select order_id, coin, network, -amount as expected, 0::numeric as actual
         from deposit where state = 'credited' and order_id is not null
       union all
       select order_id, coin_from, network_from, amount_from, 0 from trade where state = 'filled'
       union all
       select order_id, coin_to, network_to, -amount_to, 0 from trade where state = 'filled'
       union all
       select order_id, coin, network, amount + case when kind = 'refund' then fee_charged else 0 end, 0
         from payment where state = 'confirmed' and order_id is not null
       union all
       select order_id, coin, network, amount, 0 from (${unclaimedSql}) as unclaimed
       union all
       select order_id, coin, network, 0, amount from (${clientSql}) as booked
     ), owed as materialized (
       select order_id, coin, network, sum(expected) as expected, sum(actual) as actual
         from change group by order_id, coin, network
     )
     select null as order_name, coin, network, sum(expected)::text as expected, sum(actual)::text as actual,
            count(*)::int as balances
       from owed group by coin, network
     union all
     select coalesce(o.short_id, owed.order_id::text, 'no order'), owed.coin, owed.network, owed.expected::text,
            owed.actual::text, 0
       from owed left join exchange_order o on o.id = owed.order_id where owed.expected <> owed.actual
     order by order_name nulls first, coin, network`,
  );
  for (const { order_name: order, balances, expected, actual, ...asset } of rows) {
    tally.count('clients', balances);
    const subject = order === null ? assetName(asset) : `${order}, ${assetName(asset)}`;
    tally.amounts('clients', subject, expected, actual);
  }
}

/**
 * Checks that no order received more than its deposits cover. An order that did lost a deposit to a
 * reorg after its use, or was paid twice. The difference is our loss until the deposit returns. A
 * deposit that a partner of a sandbox took out of the chain is no loss.
 */
export async function checkDebits(em: EntityManager, tally: Tally): Promise<void> {
  const [accounts] = await em.execute<{ count: number }[]>(
    `select count(distinct (x.order_id, l.coin, l.network))::int as count
       from ledger_line l join ledger_transaction x on x.id = l.transaction_id where l.account = 'client'`,
  );
  tally.count('debits', accounts?.count ?? 0);
  const rows = await em.execute<{ order_name: string; coin: string; network: string; amount: string }[]>(
    `select coalesce(o.short_id, c.order_id::text, 'no order') as order_name, c.coin, c.network, sum(c.amount)::text as amount
       from (${clientSql}) as c left join exchange_order o on o.id = c.order_id
      where c.order_id is null or not exists (
            select from deposit d join sandbox_tx t on t.chain = d.chain and t.txid = d.txid and t.forced
             where d.order_id = c.order_id)
      group by o.short_id, c.order_id, c.coin, c.network having sum(c.amount) > 0
      order by order_name, c.coin, c.network`,
  );
  for (const { order_name: order, amount, ...asset } of rows) {
    tally.amounts('debits', `${order}, ${assetName(asset)}`, '0', amount);
  }
}

/**
 * Checks what ended orders are owed: only deposits and remainders that are still to be refunded.
 * These are extra deposits, and remainders whose refund is in progress or waits for a staff
 * decision. Where a used deposit was lost, the order's other deposits take its place.
 */
export async function checkEndedOrders(em: EntityManager, tally: Tally): Promise<void> {
  tally.count('rest', await countRows(em, `exchange_order where ${endedSql}`));
  const rows = await em.execute<(TotalRow & { order_name: string })[]>(
    `with ended as materialized (
       select id, short_id, deposit_id from exchange_order where ${endedSql}
     ), used as materialized (
       select deposit_id, sum(amount) as amount
         from (select deposit_id, amount + fee_charged as amount
                 from payment where state = 'confirmed' and kind = 'refund' and deposit_id is not null
               union all
               select o.deposit_id, t.amount_from from ended o join trade t on t.order_id = o.id and t.state = 'filled'
               union all
               select deposit_id, amount from (${unclaimedSql}) as unclaimed) as each_use
        group by deposit_id
     ), excess as materialized (
       select distinct deposit_id from payment where leg = 'excess'
     ), change as (
       select order_id, coin, network, 0::numeric as expected, amount as actual from (${clientSql}) as booked
       union all
       select d.order_id, d.coin, d.network, coalesce(u.amount, 0) - d.amount, 0
         from ended o
         join deposit d on d.order_id = o.id and d.state = 'credited'
         left join used u on u.deposit_id = d.id
         left join excess e on e.deposit_id = d.id
        where o.deposit_id is distinct from d.id or d.problem is not null or e.deposit_id is not null
       union all
       select d.order_id, d.coin, d.network, u.amount, 0
         from ended o
         join deposit d on d.order_id = o.id and d.state <> 'credited' and d.credited_at is not null
         join used u on u.deposit_id = d.id
     )
     select o.short_id as order_name, c.coin, c.network, sum(c.expected)::text as expected,
            sum(c.actual)::text as actual
       from change c join ended o on o.id = c.order_id
      group by o.short_id, c.coin, c.network having sum(c.expected) <> sum(c.actual)
      order by o.short_id, c.coin, c.network`,
  );
  for (const { order_name: order, expected, actual, ...asset } of rows) {
    tally.amounts('rest', `${order}, ${assetName(asset)}`, expected, actual);
  }
}

/**
 * SQL: what two members classified at an exchange, with the amounts of the account that stands
 * against it.
 */
const classifiedSql = `
  select a.venue, a.class, coalesce(m.coin, a.coin) as coin,
         -case when m.reference is null then a.amount when m.kind = 'deposit' then m.amount else -m.amount end as amount
    from staff_action a
    left join venue_movement m on m.venue = a.venue and m.kind = a.movement_kind and m.reference = a.reference
   where a.action = 'venue_classify' and a.state = 'done' and (a.reference is null or m.part = 'classified')`;

/** Compares the accounts that follow from rows alone. */
export async function checkAccounts(em: EntityManager, tally: Tally): Promise<void> {
  const rows = await em.execute<(TotalRow & { account: string })[]>(
    `with ${exchangeTrades}, change as (
       select 'suspense' as account, coin, network, -amount as expected, 0::numeric as actual
         from deposit where state = 'credited' and order_id is null and purpose = 'order'
       union all
       select 'suspense', coin, network, amount + fee_charged, 0
         from payment where state = 'confirmed' and order_id is null and kind = 'refund'
       union all
       select 'service_fee', coin_to, network_to, -service_fee, 0 from trade where state = 'filled'
       union all
       select 'markup', coin, network, amount, 0 from (${markupSql}) as markup
       union all
       select account, coin, network, amount, 0 from (${commissionSql}) as commission
       union all
       select 'network_fee', coin_to, network_to, -network_fee, 0 from trade where state = 'filled'
       union all
       select 'network_fee', coin, network, -fee_charged, 0
         from payment where state = 'confirmed' and kind in ('refund', 'commission')
       union all
       select 'trading', coin_to, network_to, amount_to + service_fee + network_fee - bought, 0
         from trade where state = 'filled'
       union all
       select 'trading', coin_to, network_to, -bought, 0 from trade where state = 'unwound'
       union all
       select 'trading', coin_from, network_from, amount_from, 0 from trade where state = 'unwound'
       union all
       select 'trading', coin, network, -amount, 0 from exchange_cash
       union all
       select 'unclaimed', coin, network, -amount, 0 from (${unclaimedSql}) as unclaimed
       union all
       select case class when 'cost' then 'treasury_cost' else class end, coin, venue, amount, 0
         from (${classifiedSql}) as classified where class in ('trading', 'cost')
       union all
       select 'treasury_cost', coin, network, booked_fee + written_off, 0 from treasury_transfer
       union all
       select account, coin, network, 0, amount from ledger_line
        where account in ('suspense', 'service_fee', 'network_fee', 'trading', 'unclaimed', 'markup', 'treasury_cost')
           or account like 'partner:%'
     )
     select account, coin, network, sum(expected)::text as expected, sum(actual)::text as actual
       from change group by account, coin, network order by account, coin, network`,
  );
  tally.count('accounts', rows.length);
  for (const { account, expected, actual, ...asset } of rows) {
    tally.amounts('accounts', `${account}, ${assetName(asset)}`, expected, actual);
  }
}
