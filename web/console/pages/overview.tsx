import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { changeOf, compact, count, duration, percent, sumOf, usd, words } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Card, Empty, Meter, Segments, Table } from '../../ui/parts.tsx';
import { Plot } from '../../ui/plot.tsx';
import { query } from '../api.ts';
import {
  ApiTrafficDocument,
  AttentionDocument,
  DurationsDocument,
  HealthDocument,
  type OrderStatus,
  OverviewDocument,
  type OverviewQuery,
} from '../generated/graphql.ts';
import { AttentionQueue } from '../queue.tsx';
import { Allowed, useMay } from '../session.tsx';
import { orderStatuses } from '../shared.tsx';

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
  const may = useMay();
  const attention = useQuery(query('attention', AttentionDocument, { mayActions: may('actions:read') }));
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
              <TimeInStatus range={{ from: range.from, to: range.to, interval: range.interval }} />
              <Failures failures={stats.failures} />
            </div>
          </>
        )}
      </Loaded>
      <Traffic />
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

/** Percentiles, which tell more than a mean: one order that waits for days moves no percentile. */
function TimeInStatus({ range }: { range: Omit<ReturnType<typeof rangeOf>, 'earlier'> }): ReactNode {
  // They read thousands of histories, so they are not asked again with each move.
  const durations = useQuery({
    ...query('durations', DurationsDocument, range),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return (
    <Card title="Time in each status" flush>
      <Loaded of={durations} lines={6}>
        {({
          stats: {
            timePercentiles: { orders, isWhole, statuses },
          },
        }) => {
          if (statuses.length === 0) {
            return (
              <Empty title="No order has left a status yet">
                <p>How long orders stay in each status would be here.</p>
              </Empty>
            );
          }
          const longest = Math.max(...statuses.map(({ p95Seconds }) => Number(p95Seconds)), 1);
          const place = ({ status }: { status: OrderStatus }): number => orderStatuses.indexOf(status);
          return (
            <>
              <Table
                label="Time in each status"
                head={
                  <>
                    <th>Status</th>
                    <th className="number">Half within</th>
                    <th className="number">95 % within</th>
                    <th className="bar-cell">Compared</th>
                    <th className="number">Times</th>
                  </>
                }
              >
                {statuses
                  .toSorted((a, b) => place(a) - place(b))
                  .map(({ status, p50Seconds, p95Seconds, count: number }) => (
                    <tr key={status}>
                      <td>{words(status)}</td>
                      <td className="number">{duration(Number(p50Seconds))}</td>
                      <td className="number">{duration(Number(p95Seconds))}</td>
                      <td className="bar-cell">
                        <Meter
                          share={Number(p95Seconds) / longest}
                          label={`${words(status)}: 95 % within ${duration(Number(p95Seconds))}`}
                        />
                      </td>
                      <td className="number muted">{count(number)}</td>
                    </tr>
                  ))}
              </Table>
              <p className="muted small body">
                {isWhole
                  ? `Of ${orders === 1 ? 'the one order' : `all ${count(orders)} orders`} created in this period.`
                  : `Of the newest ${count(orders)} orders created in this period.`}
              </p>
            </>
          );
        }}
      </Loaded>
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

/** Requests of partners in the last minutes, busiest endpoint first. */
function Traffic(): ReactNode {
  const traffic = useQuery({ ...query('traffic', ApiTrafficDocument, {}), refetchInterval: 15_000 });
  const [isWhole, setWhole] = useState(false);
  return (
    <Card title="REST API, last 15 minutes" flush>
      <Loaded of={traffic} lines={4}>
        {({ apiTraffic: { from, to, endpoints } }) => {
          if (endpoints.length === 0) {
            return (
              <Empty title="No request in the last 15 minutes">
                <p>Requests a minute, latency and errors of each endpoint would be here.</p>
              </Empty>
            );
          }
          const minutes = (Date.parse(to) - Date.parse(from)) / 60_000;
          const shown = isWhole ? endpoints : endpoints.slice(0, usualEndpoints);
          return (
            <>
              <Table
                label="Requests by endpoint"
                head={
                  <>
                    <th>Endpoint</th>
                    <th className="number">A minute</th>
                    <th className="number">p50</th>
                    <th className="number">p99</th>
                    <th className="number">Refused (4xx)</th>
                    <th className="number">Failed (5xx)</th>
                  </>
                }
              >
                {shown.map(({ endpoint, requests, clientErrors, serverErrors, p50Ms, p99Ms }) => (
                  <tr key={endpoint}>
                    <td>
                      <code>{endpoint}</code>
                    </td>
                    <td className="number" title={`${count(requests)} requests`}>
                      {rate(requests / minutes)}
                    </td>
                    <td className="number">{milliseconds(p50Ms)}</td>
                    <td className="number">{milliseconds(p99Ms)}</td>
                    <td className="number" title={`${count(clientErrors)} requests`}>
                      {shareOf(clientErrors, requests)}
                    </td>
                    <td
                      className={`number ${serverErrors > 0 ? 'bad-text strong' : ''}`}
                      title={`${count(serverErrors)} requests`}
                    >
                      {shareOf(serverErrors, requests)}
                    </td>
                  </tr>
                ))}
              </Table>
              <div className="body row">
                {endpoints.length > usualEndpoints ? (
                  <button
                    type="button"
                    className="button small"
                    aria-expanded={isWhole}
                    onClick={() => setWhole(!isWhole)}
                  >
                    {isWhole ? 'Only the busiest' : `All ${endpoints.length} endpoints`}
                  </button>
                ) : null}
                <p className="muted small">
                  Of all processes on this database, at most 10 seconds behind. Latencies are estimates within a
                  histogram. A request that waits for events lasts as long as its wait.
                </p>
              </div>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

const usualEndpoints = 8;

function rate(perMinute: number): string {
  if (perMinute >= 100) return count(Math.round(perMinute));
  return perMinute < 0.1 ? '< 0.1' : perMinute.toFixed(1);
}

function milliseconds(ms: number): string {
  if (ms >= 10_000) return '10 s or more';
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** A share that is small and not zero does not look like zero. */
function shareOf(part: number, whole: number): string {
  if (part === 0) return '0 %';
  const share = (100 * part) / whole;
  return share < 0.1 ? '< 0.1 %' : `${share.toFixed(1)} %`;
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
