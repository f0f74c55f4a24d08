import type { MikroORM } from '@mikro-orm/postgresql';

/**
 * Books the markups of completed orders that have no entry, and returns how many. Settlement books
 * each with the completion. Workers of the version before this one do not.
 */
export async function bookLateMarkups(orm: MikroORM): Promise<number> {
  const rows = await orm.em.fork().execute<object[]>(
    `with due as (
       select gen_random_uuid() as id, o.id as order_id, o.partner_id, t.coin_to, t.network_to, o.updated_at as at,
              trunc(t.service_fee * (m.markup_bps / 10000::numeric) / o.fee_rate, 18) as markup
         from order_terms m
         join exchange_order o on o.id = m.order_id and o.status = 'completed' and o.fee_rate > 0
         join trade t on t.order_id = o.id and t.state = 'filled'
         left join ledger_transaction x on x.kind = 'markup' and x.reference = o.id::text
        where m.markup_bps > 0 and x.id is null
     ), booked as (
       insert into ledger_transaction (id, kind, reference, order_id, at)
       select id, 'markup', order_id::text, order_id, at from due where markup > 0
       on conflict (kind, reference) do nothing returning id
     ), written as (
       insert into ledger_line (transaction_id, line, account, coin, network, amount)
       select d.id, l.line, l.account, d.coin_to, d.network_to, l.amount
         from booked join due d using (id)
        cross join lateral (values (1, 'markup', d.markup), (2, 'partner:' || d.partner_id, -d.markup))
                            as l (line, account, amount)
     )
     select id from booked`,
  );
  return rows.length;
}
