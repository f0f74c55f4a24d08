import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { dayMs } from './fixed-results.ts';

/** Used quotes of a day below which a partner's figure decides nothing. */
const fewestOrders = 5;
/** Orders of these last hours may still get their deposit. */
const openMs = 6 * 3_600_000;
const keptMs = 2 * dayMs;

/** A partner whose quotes began, or ceased, to hold for the shortest time. */
interface HoldChange {
  readonly partnerId: string;
  readonly adverseBps: string;
  readonly isCut: boolean;
}

interface QuoteResultsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  /** The gateway's fee on fixed orders as a fraction, for partners without their own. */
  readonly feeRateFixed: string;
  readonly onChange?: (change: HoldChange) => void;
}

/**
 * Measures how much more than the market the used fixed quotes of each partner gave at the creates.
 * Cuts the hold of a partner that uses its quotes as options.
 *
 * The figure is weighted by value, over the last 24 hours. It is the higher one of two: over all
 * orders, and over the orders with a deposit. So unpaid orders cannot lower it.
 */
export class QuoteResults {
  readonly #options: QuoteResultsOptions;
  #summedUntilMs: number | null = null;

  constructor(options: QuoteResultsOptions) {
    this.#options = options;
  }

  /** Sums the quotes of the last hours, and writes each partner's figure and cut. */
  async rollUp(): Promise<void> {
    const { orm, clock, feeRateFixed, onChange } = this.#options;
    const now = clock.now();
    const sinceMs = Math.max(now.getTime() - keptMs, (this.#summedUntilMs ?? 0) - openMs);
    const em = orm.em.fork();
    // Ids of orders begin with their time, so that the primary keys are read from that time on.
    await sql(
      em,
      `insert into quote_result (partner_id, hour, orders, usd, adverse_usd, paid_usd, paid_adverse_usd)
       select partner_id, hour, count(*), sum(usd), sum(adverse), coalesce(sum(usd) filter (where is_paid), 0),
              coalesce(sum(adverse) filter (where is_paid), 0)
         from (select t.partner_id, date_trunc('hour', o.created_at, 'UTC') as hour, t.quote_usd as usd,
                      t.quote_usd * t.quote_adverse_bps / 10000 as adverse, o.deposit_id is not null as is_paid
                 from order_terms t join exchange_order o on o.id = t.order_id
                where t.order_id >= ?::uuid and t.quote_adverse_bps is not null
                  and o.created_at >= date_trunc('hour', ?::timestamptz, 'UTC')) as used
        group by 1, 2 order by 1, 2
       on conflict (partner_id, hour) do update
          set orders = excluded.orders, usd = excluded.usd, adverse_usd = excluded.adverse_usd,
              paid_usd = excluded.paid_usd, paid_adverse_usd = excluded.paid_adverse_usd`,
      [firstIdOfHour(sinceMs), new Date(sinceMs)],
    );
    const changes = await sql<HoldChange>(
      em,
      `with figure as (
         select partner_id, sum(orders) as orders,
                round(10000 * greatest(sum(adverse_usd) / sum(usd), sum(paid_adverse_usd) / nullif(sum(paid_usd), 0)), 1)
                  as bps
           from quote_result where hour > ? group by partner_id
       ), decided as (
         select p.id, p.quote_cut_since, f.bps,
                case when f.orders >= ${fewestOrders} and f.bps > coalesce(p.fee_rate_fixed, ?::numeric) * 10000
                     then coalesce(p.quote_cut_since, ?::timestamptz) end as cut_since
           from partner p left join figure f on f.partner_id = p.id
          where f.partner_id is not null or p.quote_adverse_bps is not null
       ), written as (
         update partner p set quote_adverse_bps = d.bps, quote_cut_since = d.cut_since
           from decided d
          where p.id = d.id and (p.quote_adverse_bps, p.quote_cut_since) is distinct from (d.bps, d.cut_since)
         returning p.id
       )
       select d.id as "partnerId", coalesce(d.bps, 0)::text as "adverseBps", d.cut_since is not null as "isCut"
         from written join decided d using (id)
        where (d.quote_cut_since is null) <> (d.cut_since is null)`,
      [new Date(now.getTime() - dayMs), feeRateFixed, now],
    );
    await sql(em, 'delete from quote_result where hour < ?', [new Date(now.getTime() - 2 * keptMs)]);
    this.#summedUntilMs = now.getTime();
    for (const change of changes) onChange?.(change);
  }
}

/** The lowest id that an order created in this hour or later can have. */
function firstIdOfHour(ms: number): string {
  const digits = (ms - (ms % 3_600_000)).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
