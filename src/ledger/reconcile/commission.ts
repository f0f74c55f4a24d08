import type { EntityManager } from '@mikro-orm/postgresql';
import { assetName } from './assets.ts';
import type { Tally } from './report.ts';
import { countRows } from './snapshot.ts';

/**
 * The markup of each completed order, from the rows: the part `markup_bps` of its fee rate. The
 * quotient of decimals has more than 30 places, so that cutting it to 18 is exact.
 */
export const markupSql = `
  select o.id as order_id, o.partner_id, t.coin_to as coin, t.network_to as network,
         trunc(t.service_fee * (m.markup_bps / 10000::numeric) / o.fee_rate, 18) as amount
    from order_terms m
    join exchange_order o on o.id = m.order_id and o.status = 'completed' and o.fee_rate > 0
    join trade t on t.order_id = o.id and t.state = 'filled'
   where m.markup_bps > 0`;

/** Completed orders that a process of an older version ended. They have no entry yet. */
const withoutEntry = `
  select m.* from (${markupSql}) as m
   where not exists (select from commission_entry e where e.order_id = m.order_id and e.kind = 'accrual')`;

/** What the entries of partners say about the accounts of the ledger. */
export const commissionSql = `
  select 'partner:' || partner_id as account, coin, network, -amount as amount from commission_entry
  union all
  select 'partner:' || partner_id, coin, network, -amount from (${withoutEntry}) as without_entry
  union all
  select 'trading', coin, network, amount from commission_entry
   where kind in ('conversion', 'correction') or from_coin is not null and kind = 'accrual'
  union all
  select 'trading', from_coin, from_network, -from_amount from commission_entry
   where from_coin is not null and kind = 'accrual'`;

interface DifferenceRow {
  readonly subject: string;
  readonly coin: string;
  readonly network: string;
  readonly expected: string;
  readonly actual: string;
}

/**
 * Compares what each order earned its partner with its entry, and the entry with the ledger. The
 * totals of the accounts would hide that one accrual is missing and another one is doubled.
 */
export async function checkMarkups(em: EntityManager, tally: Tally): Promise<void> {
  tally.count('markups', await countRows(em, `(${markupSql}) as markup`));
  const rows = await em.execute<DifferenceRow[]>(
    `with change as (
       select order_id, 'earned' as account, coin, network, amount as expected, 0::numeric as actual
         from (${markupSql}) as markup
       union all
       select order_id, 'earned', coalesce(from_coin, coin), coalesce(from_network, network), 0,
              coalesce(from_amount, amount) from commission_entry where kind = 'accrual'
       union all
       select order_id, 'earned', coin, network, 0, amount from (${withoutEntry}) as without_entry
       union all
       select order_id, 'partner:' || partner_id, coin, network, -amount, 0 from commission_entry
       union all
       select order_id, 'partner:' || partner_id, coin, network, -amount, 0 from (${withoutEntry}) as without_entry
       union all
       select x.order_id, l.account, l.coin, l.network, 0, l.amount
         from ledger_line l join ledger_transaction x on x.id = l.transaction_id where l.account like 'partner:%'
     )
     select coalesce(o.short_id, c.order_id::text, 'no order') || ', ' || c.account as subject, c.coin, c.network,
            sum(c.expected)::text as expected, sum(c.actual)::text as actual
       from change c left join exchange_order o on o.id = c.order_id
      group by o.short_id, c.order_id, c.account, c.coin, c.network having sum(c.expected) <> sum(c.actual)
      order by subject, c.coin, c.network`,
  );
  for (const { subject, expected, actual, ...asset } of rows) {
    tally.amounts('markups', `${subject}, ${assetName(asset)}`, expected, actual);
  }
}

/** Compares closed months with their entries, and payments with what they pay. */
export async function checkCommission(em: EntityManager, tally: Tally): Promise<void> {
  tally.count('commission', await countRows(em, `commission_statement where state <> 'open'`));
  await checkFigures(em, tally);
  const faults = await em.execute<{ subject: string; expected: string; actual: string }[]>(
    `with named as (
       select s.*, 'month ' || to_char(s.month, 'YYYY-MM') || ' of ' || s.partner_id as name
         from commission_statement s
     )
     select name as subject, s.orders || ' orders' as expected, e.orders || ' orders' as actual
       from named s cross join lateral (
         select count(*) as orders from commission_entry e
          where e.partner_id = s.partner_id and e.month = s.month and e.kind = 'accrual') as e
      where s.state <> 'open' and s.orders <> e.orders
     union all
     select s.name, 'one payment of ' || s.due,
            coalesce(string_agg(p.id::text, ', '), 'none')
       from named s
       left join commission_entry e on e.payment_id = s.payment_id and e.kind = 'payment'
       left join payment p on p.id = s.payment_id and p.kind = 'commission' and p.state = 'confirmed'
                          and p.amount + p.fee_charged = s.due and p.coin = s.coin and p.network = s.network
                          and e.amount = -s.due and e.partner_id = s.partner_id
      where s.state = 'paid' group by s.name, s.due having count(p.id) <> 1
     union all
     select 'payment ' || p.id, 'a month that is paid', coalesce(min(s.state), 'none')
       from payment p left join commission_statement s on s.payment_id = p.id
      where p.kind = 'commission' and p.state = 'confirmed'
      group by p.id having count(*) filter (where s.state = 'paid') <> 1
     union all
     select 'entry ' || id, 'at most ' || from_amount || ' ' || from_coin || ' at ' || from_price,
            amount || ' ' || coin || ' at ' || price
       from commission_entry
      where from_coin is not null
        and (abs(amount) * price > from_amount * from_price
             or (abs(amount) + 0.000000000000000001) * price <= from_amount * from_price)
     union all
     select 'entry ' || e.id, 'the prices of the trade', e.from_price || ' and ' || e.price
       from commission_entry e join trade t on t.order_id = e.order_id
      where e.kind = 'accrual' and e.from_coin is not null
        and (e.from_price <> t.price_to
             or e.price <> case e.coin when t.coin_to then t.price_to when t.coin_from then t.price_from else e.price end)
      order by subject`,
  );
  for (const { subject, expected, actual } of faults) tally.fault('commission', subject, expected, actual);
  await checkCauses(em, tally);
}

/**
 * Compares what was decided with its cause. Payments go to addresses of their partner, and what is
 * due is owed. Two members of staff decided each correction. Both entries of a conversion fit. What
 * was taken from a partner after a month may leave less than is due for it.
 */
async function checkCauses(em: EntityManager, tally: Tally): Promise<void> {
  const faults = await em.execute<{ subject: string; expected: string; actual: string }[]>(
    `select 'payment ' || p.id as subject, 'an address of its partner' as expected, p.address as actual
       from payment p left join commission_statement s on s.payment_id = p.id
      where p.kind = 'commission' and p.state <> 'dead'
        and not exists (select from commission_address a
                         where a.partner_id = s.partner_id and a.coin = p.coin and a.network = p.network
                           and a.address = p.address and a.tag is not distinct from p.tag
                           and a.took_effect_at is not null)
     union all
     select 'due ' || d.coin || ' on ' || d.network || ' of ' || d.partner_id, 'at most ' || (owed.amount + owed.taken),
            d.due::text
       from (select partner_id, coin, network, min(month) as month, sum(due) as due
               from commission_statement where state = 'payable' group by 1, 2, 3) as d
      cross join lateral (
        select coalesce(sum(e.amount), 0) as amount,
               coalesce(-sum(e.amount) filter (where e.amount < 0 and e.month > d.month and (
                 e.kind = 'correction' or e.kind = 'conversion' and e.from_coin is not null)), 0) as taken
          from commission_entry e
         where e.partner_id = d.partner_id and e.coin = d.coin and e.network = d.network) as owed
      where d.due > owed.amount + owed.taken
     union all
     select 'correction ' || e.id, 'what two members decided', e.amount || ' ' || e.coin
       from commission_entry e
      where e.kind = 'correction'
        and not exists (select from staff_action a
                         where a.id = e.action_id and a.action = 'commission_correct' and a.state = 'done'
                           and a.decided_by <> a.proposed_by and a.partner_id = e.partner_id and a.coin = e.coin
                           and a.network = e.network and a.amount = e.amount)
     union all
     select 'conversion ' || e.id, 'out of ' || e.from_amount || ' ' || e.from_coin, coalesce(o.amount::text, 'nothing')
       from commission_entry e
       left join lateral (
         select o.amount from commission_entry o
          where o.partner_id = e.partner_id and o.month = e.month and o.at = e.at and o.kind = 'conversion'
            and o.from_coin is null and o.coin = e.from_coin and o.network = e.from_network and o.number < e.number
          order by o.number desc limit 1) as o on true
      where e.kind = 'conversion' and e.from_coin is not null
        and o.amount is distinct from -sign(e.amount) * e.from_amount
      order by subject`,
  );
  for (const { subject, expected, actual } of faults) tally.fault('commission', subject, expected, actual);
}

/**
 * Compares the figures of each closed month with all entries up to its end. It reads no earlier
 * month.
 */
async function checkFigures(em: EntityManager, tally: Tally): Promise<void> {
  const rows = await em.execute<DifferenceRow[]>(
    `with figure as (
       select s.partner_id, s.month, f.* from commission_statement s
        cross join jsonb_to_recordset(s.figures)
              as f (coin text, network text, opening numeric, accrued numeric, converted numeric,
                    corrected numeric, paid numeric, closing numeric)
        where s.state <> 'open'
     ), told as (
       select partner_id, month, coin, network, t.name, t.amount from figure
        cross join lateral (values ('opening', opening), ('accrual', accrued), ('conversion', converted),
                                   ('correction', corrected), ('payment', -paid), ('closing', closing)) as t (name, amount)
     ), booked as (
       select s.partner_id, s.month, e.coin, e.network, t.name, sum(e.amount) as amount
         from commission_statement s
         join (select partner_id, month, kind, coin, network, sum(amount) as amount
                 from commission_entry group by 1, 2, 3, 4, 5) as e
           on e.partner_id = s.partner_id and e.month <= s.month
        cross join lateral (values ('opening', e.month < s.month), (e.kind, e.month = s.month), ('closing', true))
              as t (name, counts)
        where s.state <> 'open' and t.counts group by 1, 2, 3, 4, 5
     )
     select 'month ' || to_char(month, 'YYYY-MM') || ' of ' || partner_id || ', ' || name as subject, coin, network,
            coalesce(b.amount, 0)::text as expected, coalesce(t.amount, 0)::text as actual
       from told t full join booked b using (partner_id, month, coin, network, name)
      where coalesce(b.amount, 0) <> coalesce(t.amount, 0) order by subject, coin, network`,
  );
  for (const { subject, expected, actual, ...asset } of rows) {
    tally.amounts('commission', `${subject}, ${assetName(asset)}`, expected, actual);
  }
}
