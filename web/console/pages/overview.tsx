import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { changeOf, compact, count, duration, percent, sumOf, usd, words } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Card, Empty, Meter, Segments } from '../../ui/parts.tsx';
import { Plot } from '../../ui/plot.tsx';
import { query } from '../api.ts';
import { AttentionDocument, HealthDocument, OverviewDocument, type OverviewQuery } from '../generated/graphql.ts';
import { AttentionQueue } from '../queue.tsx';
import { Allowed } from '../session.tsx';

const periods = { '1': '24 hours', '7': '7 days', '30': '30 days', '90': '90 days' } as const;
type Days = keyof typeof periods;
const measures = { volume: 'Volume', revenue: 'Revenue', orders: 'Orders', conversion: 'Conversion' } as const;
type Measure = keyof typeof measures;
type Bucket = OverviewQuery['stats']['series'][number];

/** Attention first, then the business against the period before, then the machinery. */
export function Overview(): ReactNode {
  return (
    <Allowed to="stats:read">
      <Content />
    </Allowed>
  );
}

function Content(): ReactNode {
  const search = useSearch({ strict: false }) as { days?: string; show?: string };
  const navigate = useNavigate();
  const days = search.days !== undefined && search.days in periods ? (search.days as Days) : '30';
  const measure = search.show !== undefined && search.show in measures ? (search.show as Measure) : 'volume';
  const set = (change: Record<string, string>): void => {
    void navigate({ to: '/', search: { ...search, ...change }, replace: true });
  };
  // The range begins with a whole bucket, so that it stays the same while the page is open.
  const range = useMemo(() => rangeOf(Number(days)), [days]);
  const overview = useQuery({ ...query('overview', OverviewDocument, range), placeholderData: keepPreviousData });
  const attention = useQuery(query('attention', AttentionDocument, {}));
  return (
    <div className="page">
      <PageHead title="Overview">
        <Segments
          label="Period"
          value={days}
          choices={Object.entries(periods) as [Days, string][]}
          onChange={(value) => set({ days: value })}
        />
      </PageHead>
      <Loaded of={attention} lines={3}>
        {(data) => <NeedsAttention items={data.attention} />}
      </Loaded>
      <Loaded of={overview} lines={8}>
        {({ stats, before }) => (
          <>
            <Tiles now={stats.series} before={before.series} period={periods[days]} />
            <Card
              title={`${measures[measure]} by ${days === '1' ? 'hour' : 'day'}`}
              tools={
                <Segments
                  label="Measure"
                  value={measure}
                  choices={Object.entries(measures) as [Measure, string][]}
                  onChange={(value) => set({ show: value })}
                />
              }
            >
              <Series series={stats.series} measure={measure} period={periods[days]} />
            </Card>
            <div className="halves">
              <TimeInStatus times={stats.timeInState} />
              <Failures failures={stats.failures} />
            </div>
          </>
        )}
      </Loaded>
      <Machinery />
    </div>
  );
}

function rangeOf(days: number): { from: string; to: string; earlier: string; interval: 'HOUR' | 'DAY' } {
  const bucket = days === 1 ? 3_600_000 : 86_400_000;
  const to = Math.ceil(Date.now() / bucket) * bucket;
  const [from, end, earlier] = [to - days * 86_400_000, to, to - 2 * days * 86_400_000].map((at) =>
    new Date(at).toISOString(),
  );
  return { from: from ?? '', to: end ?? '', earlier: earlier ?? '', interval: days === 1 ? 'HOUR' : 'DAY' };
}

function NeedsAttention({ items }: { items: Parameters<typeof AttentionQueue>[0]['items'] }): ReactNode {
  const shown = 6;
  if (items.length === 0) {
    return (
      <section className="card attention-card calm">
        <div className="body row">
          <span className="good-text strong">Nothing needs attention</span>
          <span className="muted">Every order, payment and chain is on its way.</span>
        </div>
      </section>
    );
  }
  return (
    <Card
      className="attention-card"
      flush
      title={
        <>
          Needs attention <span className="bad-text">{items.length}</span>
        </>
      }
      tools={<Link to="/attention">All items and proposals</Link>}
    >
      <AttentionQueue items={items.slice(0, shown)} />
    </Card>
  );
}

type Totals = Pick<Bucket, 'created' | 'completed' | 'volumeUsd' | 'revenueUsd'>;

function Tiles({
  now,
  before,
  period,
}: {
  now: readonly Totals[];
  before: readonly Totals[];
  period: string;
}): ReactNode {
  const [current, earlier] = [now, before].map((series) => ({
    volume: sumOf(series.map(({ volumeUsd }) => volumeUsd)),
    revenue: sumOf(series.map(({ revenueUsd }) => revenueUsd)),
    created: series.reduce((sum, { created }) => sum + created, 0),
    completed: series.reduce((sum, { completed }) => sum + completed, 0),
  }));
  if (!current || !earlier) return null;
  const share = (part: typeof current): number | null =>
    part.created === 0 ? null : (100 * part.completed) / part.created;
  const [conversion, conversionBefore] = [share(current), share(earlier)];
  const tiles = [
    ['Volume', usd(current.volume), changeOf(current.volume, earlier.volume), '%', usd(earlier.volume)],
    ['Revenue', usd(current.revenue), changeOf(current.revenue, earlier.revenue), '%', usd(earlier.revenue)],
    [
      'Orders',
      count(current.created),
      changeOf(String(current.created), String(earlier.created)),
      '%',
      count(earlier.created),
    ],
    [
      'Conversion',
      conversion === null ? '–' : `${conversion.toFixed(1)} %`,
      conversion === null || conversionBefore === null ? null : conversion - conversionBefore,
      'points',
      `${conversionBefore?.toFixed(1)} %`,
    ],
  ] as const;
  return (
    <div className="tiles">
      {tiles.map(([name, value, change, unit, before]) => (
        <div key={name} className="card tile">
          <span className="label">{name}</span>
          <span className="value">{value}</span>
          <span className="note">
            {change === null ? (
              `no orders in the ${period} before`
            ) : (
              <span title={`In the ${period} before: ${before}`}>
                <span className={change < 0 ? 'bad-text strong' : 'good-text strong'}>
                  {change < 0 ? '▼' : '▲'} {Math.abs(change).toFixed(1)} {unit}
                </span>{' '}
                from {before}
              </span>
            )}
          </span>
        </div>
      ))}
    </div>
  );
}

/** Every bucket of the range, so that hours and days without orders are seen as such. */
function Series({
  series,
  measure,
  period,
}: {
  series: readonly Bucket[];
  measure: Measure;
  period: string;
}): ReactNode {
  const points = useMemo(
    () =>
      series.map((bucket) => {
        const text = {
          volume: usd(bucket.volumeUsd),
          revenue: `$${bucket.revenueUsd}`,
          orders: count(bucket.created),
          conversion: bucket.conversion === null ? '–' : percentOf(bucket.conversion),
        }[measure];
        const value = {
          volume: Number(bucket.volumeUsd),
          revenue: Number(bucket.revenueUsd),
          orders: bucket.created,
          conversion: Number(bucket.conversion ?? 0) * 100,
        }[measure];
        return { at: bucket.at, value, text };
      }),
    [series, measure],
  );
  if (series.length === 0 || series.every(({ created }) => created === 0)) {
    return (
      <Empty title={`No orders in the last ${period}`}>
        <p>The plot of each hour or day would be here.</p>
      </Empty>
    );
  }
  const kind = measure === 'conversion' ? 'line' : 'bars';
  return (
    <Plot
      sentence={`${measures[measure]} of the last ${period}; the table below has the figures.`}
      points={points}
      axis={axes[measure]}
      unit={measures[measure]}
      kind={kind}
    />
  );
}

/** A share for people, cut after a tenth of a percent. */
function percentOf(fraction: string): string {
  return percent(/^\d+(?:\.\d{1,3})?/.exec(fraction)?.[0] ?? '0');
}

const axes: Record<Measure, (value: number) => string> = {
  volume: (value) => `$${compact(value)}`,
  revenue: (value) => `$${compact(value)}`,
  orders: (value) => (Number.isInteger(value) ? compact(value) : ''),
  conversion: (value) => `${value} %`,
};

function TimeInStatus({ times }: { times: OverviewQuery['stats']['timeInState'] }): ReactNode {
  const longest = Math.max(...times.map(({ meanSeconds }) => Number(meanSeconds)), 1);
  return (
    <Card title="Mean time in each status">
      {times.length === 0 ? (
        <Empty title="No order has left a status yet">
          <p>How long orders stay in each status would be here.</p>
        </Empty>
      ) : (
        <div className="bars">
          {times.map(({ status, meanSeconds, count: number }) => (
            <div key={status} title={`${count(number)} times`}>
              <span>{words(status)}</span>
              <Meter
                share={Number(meanSeconds) / longest}
                label={`${words(status)}: ${duration(Number(meanSeconds))}`}
              />
              <span>{duration(Number(meanSeconds))}</span>
            </div>
          ))}
        </div>
      )}
    </Card>
  );
}

function Failures({ failures }: { failures: OverviewQuery['stats']['failures'] }): ReactNode {
  const most = Math.max(...failures.map(({ count: number }) => number), 1);
  return (
    <Card title="Why orders failed or were refunded">
      {failures.length === 0 ? (
        <Empty icon="check" title="No order failed or was refunded">
          <p>The causes would be here, the most frequent first.</p>
        </Empty>
      ) : (
        <div className="bars">
          {failures.slice(0, 8).map(({ status, cause, count: number }) => (
            <div key={`${status} ${cause}`}>
              <span>{words(cause)}</span>
              <Meter
                share={number / most}
                tone={status === 'FAILED' ? 'bad' : 'warn'}
                label={`${words(cause)}: ${number}`}
              />
              <span>
                {count(number)} <span className="muted">{status === 'FAILED' ? 'failed' : 'refunds'}</span>
              </span>
            </div>
          ))}
        </div>
      )}
    </Card>
  );
}

/** Only what is ill, and one sentence for what is well. */
function Machinery(): ReactNode {
  const health = useQuery({ ...query('health', HealthDocument, {}), refetchInterval: 15_000 });
  return (
    <Card title="Machinery" tools={<Link to="/chains">Chains and workers</Link>}>
      <Loaded of={health} lines={2}>
        {({ system }) => {
          const ill = system.chains.filter(
            ({ problem, failure, lag }) => problem !== null || failure !== null || lag > 20,
          );
          const { reconciliation, overdueOrders, workers, chains } = system;
          return (
            <ul className="stack tight">
              <li className={ill.length === 0 ? 'good-text' : 'bad-text strong'}>
                {ill.length === 0
                  ? `All ${chains.length} chains are read up to their newest block.`
                  : ill
                      .map(
                        ({ chain, problem, failure, lag }) =>
                          `${chain}: ${problem ?? failure ?? `${lag} blocks behind`}`,
                      )
                      .join('; ')}
              </li>
              <li className={workers.length === 0 ? 'bad-text strong' : ''}>
                {workers.length === 1 ? 'One worker settles orders.' : `${workers.length} workers settle orders.`}
              </li>
              <li className={overdueOrders > 0 ? 'bad-text strong' : ''}>
                {overdueOrders === 0 ? 'No order is overdue.' : `${count(overdueOrders)} orders are overdue.`}
              </li>
              <li className={(reconciliation?.differences ?? 0) > 0 ? 'bad-text strong' : ''}>
                {reconciliation === null
                  ? 'The ledger was not compared yet.'
                  : `The ledger was compared in ${count(reconciliation.checks)} places, with ${reconciliation.differences} differences.`}
              </li>
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}
