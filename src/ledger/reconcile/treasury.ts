import type { EntityManager } from '@mikro-orm/postgresql';
import { assetName } from './assets.ts';
import type { Tally } from './report.ts';

/**
 * Compares what exchanges hold for us with the books, coin by coin, at the newest reading during
 * which nothing moved. An account counts once two members have opened it. A difference that only
 * one reading found is in flight: something may have moved between the lists and the balances.
 */
export async function checkVenueBalances(em: EntityManager, tally: Tally): Promise<void> {
  const rows = await em.execute<{ venue: string; coin: string; total: string; booked: string; in_flight: string }[]>(
    `select b.venue, b.coin, b.compared_total::text as total, b.booked::text as booked,
            (case when b.differing = 1 then b.compared_total - b.booked else b.in_flight end)::text as in_flight
       from venue_account v join venue_balance b on b.venue = v.venue and b.compared_at is not null
      where v.opened_at is not null order by b.venue, b.coin`,
  );
  tally.count('venue_balance', rows.length);
  for (const { venue, coin, total, booked, in_flight: inFlight } of rows) {
    tally.amounts('venue_balance', assetName({ coin, network: venue }), total, booked, inFlight);
  }
}

/**
 * Compares the account `transit` with the transfers, one by one, and what each received with its
 * arrivals at the hot wallet.
 */
export async function checkTransit(em: EntityManager, tally: Tally): Promise<void> {
  const [count] = await em.execute<{ count: number }[]>('select count(*)::int as count from treasury_transfer');
  tally.count('transit', count?.count ?? 0);
  const rows = await em.execute<{ subject: string; coin: string; network: string; expected: string; actual: string }[]>(
    `with change as (
       select t.id::text as transfer, t.coin, t.network, t.booked_amount - t.booked_fee - t.arrived - t.written_off as expected,
              0::numeric as actual
         from treasury_transfer t
       union all
       select split_part(x.reference, ':', 1), l.coin, l.network, 0, l.amount
         from ledger_line l join ledger_transaction x on x.id = l.transaction_id where l.account = 'transit'
     )
     select coalesce(t.movement_kind || ' ' || t.reference || ' at ' || t.venue, 'transfer ' || c.transfer) as subject,
            c.coin, c.network, sum(c.expected)::text as expected, sum(c.actual)::text as actual
       from change c left join treasury_transfer t on t.id::text = c.transfer
      group by t.movement_kind, t.reference, t.venue, c.transfer, c.coin, c.network
     having sum(c.expected) <> sum(c.actual)
      order by subject, c.coin, c.network`,
  );
  for (const { subject, expected, actual, ...asset } of rows) {
    tally.amounts('transit', `${subject}, ${assetName(asset)}`, expected, actual);
  }
  const arrivals = await em.execute<
    { subject: string; coin: string; network: string; expected: string; actual: string }[]
  >(
    `select t.movement_kind || ' ' || t.reference || ' at ' || t.venue as subject, t.coin, t.network,
            coalesce(sum(d.amount), 0)::text as expected, t.arrived::text as actual
       from treasury_transfer t
       left join deposit d on d.transfer_id = t.id and d.state = 'credited'
      where t.movement_kind = 'withdrawal'
      group by t.id having coalesce(sum(d.amount), 0) <> t.arrived order by subject`,
  );
  for (const { subject, expected, actual, ...asset } of arrivals) {
    tally.amounts('transit', `${subject}, ${assetName(asset)}, arrived`, expected, actual);
  }
}
