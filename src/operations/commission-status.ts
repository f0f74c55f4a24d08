import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import { formatDecimal } from '../base/money.ts';
import { CommissionEntry } from '../settlement/rows/commission-entry.entity.ts';
import {
  type CommissionFigures,
  type CommissionState,
  CommissionStatement,
} from '../settlement/rows/commission-statement.entity.ts';
import type { ListPart } from './venue-status.ts';

/** Names a month of a partner. */
export type MonthKey = Pick<CommissionStatement, 'partnerId' | 'month'>;

/** The id of a month in lists of it: the partner and the month, '<uuid>:2026-11'. */
export function monthId({ partnerId, month }: MonthKey): string {
  return `${partnerId}:${month.slice(0, 7)}`;
}

/**
 * Lists the partners of a month in the order in which they were created. The cursor is a partner.
 */
export function commissionOfMonth(
  em: EntityManager,
  month: string,
  states: readonly CommissionState[] | null,
  { backwards, cursor, limit }: ListPart,
): Promise<CommissionStatement[]> {
  return em.find(
    CommissionStatement,
    {
      month,
      ...(states === null ? {} : { state: { $in: [...states] } }),
      ...(cursor === null ? {} : { partnerId: backwards ? { $lt: cursor } : { $gt: cursor } }),
    },
    { orderBy: { partnerId: backwards ? 'desc' : 'asc' }, limit },
  );
}

/** Lists the newest months of a partner, the newest first. */
export function monthsOfPartner(em: EntityManager, partnerId: string, limit: number): Promise<CommissionStatement[]> {
  return em.find(CommissionStatement, { partnerId }, { orderBy: { month: 'desc' }, limit });
}

/** Lists the entries of a month, the newest first. The cursor is the number of an entry. */
export function entriesOfMonth(
  em: EntityManager,
  { partnerId, month }: MonthKey,
  { backwards, cursor, limit }: ListPart,
): Promise<CommissionEntry[]> {
  return em.find(
    CommissionEntry,
    { partnerId, month, ...(cursor === null ? {} : { number: backwards ? { $gt: cursor } : { $lt: cursor } }) },
    { orderBy: { number: backwards ? 'asc' : 'desc' }, limit },
  );
}

/** The figures of an open month at this moment. */
export interface PresentFigures extends MonthKey {
  readonly figures: readonly CommissionFigures[];
  /** Orders that earned something in it. */
  readonly orders: number;
}

type FigureRow = MonthKey & CommissionFigures & { readonly orders: number };

const unbooked = { opening: '0', accrued: '0', converted: '0', corrected: '0', paid: '0', closing: '0' };

/**
 * The figures of open months, from the newest closed month before and the entries since. The
 * settlement asset comes first, and may be the only one. One statement.
 *
 * @param ids Their ids (`monthId`).
 */
export async function presentFigures(em: EntityManager, ids: readonly string[]): Promise<PresentFigures[]> {
  const rows = await sql<FigureRow>(
    em,
    `with asked as (
       select s.partner_id, s.month, s.coin, s.network, c.month as closed, c.figures
         from jsonb_array_elements_text(?::jsonb) as id
         join commission_statement s on s.partner_id = split_part(id, ':', 1)::uuid
                                    and s.month = (split_part(id, ':', 2) || '-01')::date
         left join lateral (select month, figures from commission_statement
                             where partner_id = s.partner_id and month < s.month and state <> 'open'
                             order by month desc limit 1) as c on true
     ), change as (
       select partner_id, month, coin, network, '' as kind, false as is_own, 0::numeric as amount, 0 as orders
         from asked
       union all
       select a.partner_id, a.month, f.coin, f.network, 'closing', false, f.closing, 0 from asked a
        cross join jsonb_to_recordset(a.figures) as f (coin text, network text, closing numeric)
       union all
       select a.partner_id, a.month, e.coin, e.network, e.kind, e.month = a.month, sum(e.amount),
              (count(*) filter (where e.kind = 'accrual' and e.month = a.month))::int
         from asked a
         join commission_entry e on e.partner_id = a.partner_id and e.month <= a.month
                                and e.month > coalesce(a.closed, '-infinity')
        group by 1, 2, 3, 4, 5, 6
     )
     select c.partner_id as "partnerId", c.month::text as month, c.coin, c.network, sum(c.orders)::int as orders,
            coalesce(sum(c.amount) filter (where not c.is_own), 0)::text as opening,
            coalesce(sum(c.amount) filter (where c.is_own and kind = 'accrual'), 0)::text as accrued,
            coalesce(sum(c.amount) filter (where c.is_own and kind = 'conversion'), 0)::text as converted,
            coalesce(sum(c.amount) filter (where c.is_own and kind = 'correction'), 0)::text as corrected,
            coalesce(-sum(c.amount) filter (where c.is_own and kind = 'payment'), 0)::text as paid,
            sum(c.amount)::text as closing
       from change c join asked a using (partner_id, month)
      group by c.partner_id, c.month, c.coin, c.network, a.coin, a.network
      order by c.partner_id, c.month, (c.coin, c.network) <> (a.coin, a.network), c.coin, c.network`,
    [JSON.stringify(ids)],
  );
  const months = Map.groupBy(rows, monthId);
  return [...months.values()].map((assets) => {
    const { partnerId, month } = assets[0] as FigureRow;
    const figures = assets.map(({ coin, network, ...row }) => {
      const amounts = Object.keys(unbooked).map((name) => [name, formatDecimal(row[name as keyof typeof unbooked])]);
      return { coin, network, ...unbooked, ...Object.fromEntries(amounts) };
    });
    const isMoved = ({ closing, ...other }: CommissionFigures): boolean =>
      [closing, other.opening, other.accrued, other.converted, other.corrected, other.paid].some((one) => one !== '0');
    const shown = figures.filter((one, place) => place === 0 || isMoved(one));
    return { partnerId, month, figures: shown, orders: assets.reduce((sum, { orders }) => sum + orders, 0) };
  });
}

/** What all partners together earned and were paid in a month, in one asset, as decimal text. */
export interface MonthTotal {
  readonly month: string;
  readonly coin: string;
  readonly network: string;
  readonly accrued: string;
  readonly corrected: string;
  readonly paid: string;
}

/**
 * The sums over all partners by month and asset, of the newest months, the oldest first. One
 * statement.
 */
export async function commissionTotals(em: EntityManager, months: number): Promise<MonthTotal[]> {
  const rows = await sql<MonthTotal>(
    em,
    `with recent as (
       select distinct month from commission_statement order by month desc limit ?
     ), change as (
       select s.month, f.coin, f.network, f.accrued, f.corrected, f.paid from commission_statement s
        cross join jsonb_to_recordset(s.figures)
              as f (coin text, network text, accrued numeric, corrected numeric, paid numeric)
        where s.month in (select month from recent) and s.state <> 'open'
       union all
       select e.month, e.coin, e.network, case when e.kind = 'accrual' then e.amount else 0 end,
              case when e.kind = 'correction' then e.amount else 0 end,
              case when e.kind = 'payment' then -e.amount else 0 end
         from commission_statement s join commission_entry e using (partner_id, month)
        where s.month in (select month from recent) and s.state = 'open'
     )
     select to_char(month, 'YYYY-MM') as month, coin, network, sum(accrued)::text as accrued,
            sum(corrected)::text as corrected, sum(paid)::text as paid
       from change group by month, coin, network
     having sum(abs(accrued)) + sum(abs(corrected)) + sum(abs(paid)) > 0
      order by month, coin, network`,
    [months],
  );
  return rows.map(({ accrued, corrected, paid, ...row }) => {
    return { ...row, accrued: formatDecimal(accrued), corrected: formatDecimal(corrected), paid: formatDecimal(paid) };
  });
}
