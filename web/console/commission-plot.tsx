import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { compact, usd } from '../ui/format.ts';
import { Loaded } from '../ui/page.tsx';
import { Empty, Segments } from '../ui/parts.tsx';
import { Plot } from '../ui/plot.tsx';
import { query } from './api.ts';
import { CommissionMonthsDocument, type CommissionMonthsQuery } from './generated/graphql.ts';

type Total = CommissionMonthsQuery['commissionMonths'][number];

const measures = [
  ['accrued', 'Accrued'],
  ['paid', 'Paid'],
] as const;
type Measure = (typeof measures)[number][0];

/** What all partners earned and were paid, in US dollars by the prices of now. */
export function Earned(): ReactNode {
  const [measure, setMeasure] = useState<Measure>('accrued');
  const months = useQuery({ ...query('commissionMonths', CommissionMonthsDocument, {}), refetchInterval: 60_000 });
  return (
    <Loaded of={months}>
      {({ commissionMonths }) =>
        commissionMonths.length === 0 ? (
          <Empty icon="statements" title="Nothing was earned yet">
            <p>Months with completed orders that had a markup would be here.</p>
          </Empty>
        ) : (
          <div className="stack">
            <Segments label="Shown by month" value={measure} choices={measures} onChange={setMeasure} />
            <Months totals={commissionMonths} measure={measure} />
          </div>
        )
      }
    </Loaded>
  );
}

function Months({ totals, measure }: { totals: readonly Total[]; measure: Measure }): ReactNode {
  const other: Measure = measure === 'accrued' ? 'paid' : 'accrued';
  const points = useMemo(() => {
    const byMonth = Map.groupBy(totals, ({ month }) => month);
    return monthsBetween(totals[0]?.month ?? '', totals.at(-1)?.month ?? '').map((month) => {
      const all = byMonth.get(month) ?? [];
      const value = dollars(all, measure);
      const beside = dollars(all, other);
      return {
        at: `${month}-01T00:00:00.000Z`,
        value,
        text: usd(String(value)),
        bounds: [beside],
        more: [usd(String(beside)), all.map((total) => amounts(total, measure)).join(', ') || '–'],
      };
    });
  }, [totals, measure, other]);
  const isPriced = totals.every(({ priceUsd }) => priceUsd !== null);
  const [name, otherName] = measure === 'accrued' ? ['Accrued', 'Paid'] : ['Paid', 'Accrued'];
  return (
    <>
      <Plot
        sentence={`${name} by all partners in each month, in US dollars: ${points.at(-1)?.text} in the newest one. The table below has the figures.`}
        points={points}
        axis={compact}
        unit={`${name}, US dollars`}
        more={[otherName, 'By asset']}
      />
      <p className="muted small">
        The dashed line is what was {otherName.toLowerCase()}. Dollars are by the prices of now, to compare months: they
        are not those of the month.{isPriced ? '' : ' Assets without a price are left out.'}
      </p>
    </>
  );
}

/** A drawing may cut digits; the amounts are in the table. */
function dollars(totals: readonly Total[], measure: Measure): number {
  return totals.reduce((sum, total) => sum + Number(total[measure]) * Number(total.priceUsd ?? 0), 0);
}

function amounts({ coin, network, ...total }: Total, measure: Measure): string {
  return `${total[measure]} ${coin === network ? coin : `${coin} on ${network}`}`;
}

/** The months from one to another: '2026-11'. */
function monthsBetween(first: string, last: string): string[] {
  const months: string[] = [];
  for (let month = first; month <= last; month = next(month)) months.push(month);
  return months;
}

function next(month: string): string {
  const at = new Date(`${month}-01T00:00:00.000Z`);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)).toISOString().slice(0, 7);
}
