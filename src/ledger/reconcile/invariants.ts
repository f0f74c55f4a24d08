import type { EntityManager } from '@mikro-orm/postgresql';
import { assetName } from './assets.ts';
import type { ReconcileCheck, Tally } from './report.ts';
import { countRows } from './snapshot.ts';

/** Checks that every journal entry, and so the whole ledger, sums to zero in each asset. */
export async function checkBook(em: EntityManager, tally: Tally): Promise<void> {
  const totals = await em.execute<{ coin: string; network: string; amount: string }[]>(
    `select coin, network, sum(amount)::text as amount from ledger_line group by coin, network order by coin, network`,
  );
  const uneven = await em.execute<{ coin: string; network: string; amount: string; name: string }[]>(
    `select x.kind || ' ' || x.reference as name, u.coin, u.network, u.amount::text as amount
       from (select transaction_id, coin, network, sum(amount) as amount from ledger_line
              group by transaction_id, coin, network having sum(amount) <> 0) u
       join ledger_transaction x on x.id = u.transaction_id order by name`,
  );
  tally.count('book', totals.length);
  for (const { amount, ...asset } of totals) tally.amounts('book', assetName(asset), '0', amount);
  for (const { amount, name, ...asset } of uneven) {
    tally.amounts('book', `${name}, ${assetName(asset)}`, '0', amount);
  }
}

interface FaultRow {
  readonly subject: string;
  readonly expected: string;
  readonly actual: string;
}

function addFaults(tally: Tally, check: ReconcileCheck, rows: readonly FaultRow[]): void {
  for (const { subject, expected, actual } of rows) tally.fault(check, subject, expected, actual);
}

/**
 * Checks that each order's events follow one another without a gap, and that its status is that of
 * the last event.
 */
export async function checkHistories(em: EntityManager, tally: Tally): Promise<void> {
  tally.count('histories', await countRows(em, 'exchange_order'));
  const rows = await em.execute<FaultRow[]>(
    `with numbered as (
       select order_id, seq, from_status, to_status, row_number() over story as number,
              lag(to_status) over story as before
         from order_event window story as (partition by order_id order by seq)
     ), history as materialized (
       select n.order_id, count(*) as events, max(n.seq) as last,
              count(*) filter (where n.seq <> n.number or n.from_status is distinct from n.before
                                  or (n.number = 1 and n.to_status <> 'waiting_deposit')
                                  or (n.number > 1 and n.from_status <> n.to_status and e.to_status is null)) as breaks
         from numbered n
         left join order_status_edge e on e.from_status = n.from_status and e.to_status = n.to_status
        group by n.order_id
     )
     select o.short_id || ', events' as subject, o.event_seq || ' in a row' as expected,
            coalesce(h.events, 0) || ', ' || coalesce(h.breaks, 0) || ' out of place' as actual
       from exchange_order o left join history h on h.order_id = o.id
      where h.order_id is null or h.breaks > 0 or h.last <> o.event_seq or h.events <> o.event_seq
     union all
     select o.short_id || ', status', coalesce(e.to_status, 'none'), o.status
       from exchange_order o
       left join history h on h.order_id = o.id
       left join order_event e on e.order_id = o.id and e.seq = h.last
      where e.to_status is distinct from o.status
     order by subject`,
  );
  addFaults(tally, 'histories', rows);
}

/** Checks that each order has a deposit address, and shares it with no other order. */
export async function checkAddresses(em: EntityManager, tally: Tally): Promise<void> {
  tally.count('addresses', await countRows(em, 'exchange_order'));
  const rows = await em.execute<FaultRow[]>(
    `select short_id || ', deposit address' as subject, '1 order' as expected,
            case when address is null then 'no address' when leased_at is null then 'not given out'
                 else orders || ' orders' end as actual
       from (select o.short_id, a.address, a.leased_at, count(*) over (partition by a.address, a.tag) as orders
               from exchange_order o left join deposit_address a on a.id = o.deposit_address_id) as used
      where address is null or leased_at is null or orders > 1 order by short_id`,
  );
  addFaults(tally, 'addresses', rows);
}

/** Checks that a payment succeeds once, and that a leg of a deposit is paid once. */
export async function checkPayments(em: EntityManager, tally: Tally): Promise<void> {
  tally.count('payments', await countRows(em, 'payment'));
  const rows = await em.execute<FaultRow[]>(
    `select 'payment ' || p.id || ', ' || p.state as subject,
            case p.state when 'confirmed' then '1 success' when 'dead' then '0 successes' else '0 or 1 successes' end
              as expected,
            count(a.attempt)::text as actual
       from payment p
       left join payment_attempt a on a.payment_id = p.id and a.mined_height is not null and a.dead_at is null
      group by p.id, p.state
     having count(a.attempt) > 1 or (p.state = 'confirmed' and count(a.attempt) <> 1)
         or (p.state = 'dead' and count(a.attempt) > 0)
     union all
     select 'deposit ' || deposit_id || ', ' || leg, '1 payment', count(*)::text
       from payment where state = 'confirmed' and deposit_id is not null
      group by deposit_id, leg having count(*) > 1
     order by subject`,
  );
  addFaults(tally, 'payments', rows);
}
