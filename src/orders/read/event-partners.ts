import type { MikroORM } from '@mikro-orm/postgresql';

/** Events that one transaction fills in. Each is also checked by the database. */
const batch = 1_000;

/**
 * Gives events that are older than the column their order's partner, in the order of the feed. Each
 * batch is a transaction of its own. Any process may run it at any time: one works, others return.
 *
 * @returns How many events it filled in.
 */
export async function fillEventPartners(orm: MikroORM): Promise<number> {
  const em = orm.em.fork();
  let filled = 0;
  for (;;) {
    const [done] = await em.execute<{ count: number; isOver: boolean }[]>(
      `with place as materialized (
         select * from order_event_filling where until_xid is not null for update skip locked
       ), batch as materialized (
         select e.* from place p cross join lateral (
           select e.xid, e.order_id, e.seq from order_event e
            where (e.xid, e.order_id, e.seq) > (p.xid, p.order_id, p.seq) and e.xid < p.until_xid
            order by e.xid, e.order_id, e.seq limit ${batch}) e
       ), filled as (
         update order_event e set partner_id = o.partner_id
           from batch b join exchange_order o on o.id = b.order_id
          where e.order_id = b.order_id and e.seq = b.seq and e.partner_id is null
         returning 1
       ), moved as (
         update order_event_filling f
            set xid = coalesce(l.xid, f.xid), order_id = coalesce(l.order_id, f.order_id), seq = coalesce(l.seq, f.seq),
                until_xid = case when (select count(*) from batch) = ${batch} then f.until_xid end
           from place p left join (select * from batch order by xid desc, order_id desc, seq desc limit 1) l on true
         returning f.until_xid
       )
       select (select count(*) from filled)::integer as count, coalesce((select until_xid from moved) is null, true) as "isOver"`,
    );
    filled += done?.count ?? 0;
    if (!done || done.isOver) return filled;
  }
}
