import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { compact, count, words } from '../ui/format.ts';
import type { IconName } from '../ui/icon.tsx';
import { Loaded } from '../ui/page.tsx';
import { Card, Empty, Segments } from '../ui/parts.tsx';
import { Plot, type PlotPoint } from '../ui/plot.tsx';
import { query } from './api.ts';
import {
  ChainLagDocument,
  type ChainLagQuery,
  HeldCoinsDocument,
  VenueFiguresDocument,
  type VenueFiguresQuery,
  type VenueMeasure,
  WalletLevelsDocument,
  type WalletLevelsQuery,
} from './generated/graphql.ts';

/** Each period with the width of its buckets in minutes. */
const periods = { '1': ['24 hours', 10], '7': ['7 days', 60], '90': ['90 days', 720] } as const;
type Days = keyof typeof periods;
const gap = 'no reading';

/** The choice of one line of a card, in the address of the page. */
interface Choice {
  readonly days: Days;
  readonly period: string;
  /** The parts of the chosen line; none while none is chosen. */
  readonly parts: readonly (string | undefined)[];
  readonly range: { readonly from: string; readonly to: string; readonly limit: number };
  /** Often enough for the width of a bucket, and at most once a minute. */
  readonly refreshMs: number;
  readonly set: (change: Record<string, string>) => void;
}

function useChoice(name: string): Choice {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const days = search.days !== undefined && search.days in periods ? (search.days as Days) : '7';
  const [period, minutes] = periods[days];
  const widthMs = minutes * 60_000;
  const [end, setEnd] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setEnd(Date.now()), 60_000);
    return () => clearInterval(timer);
  }, []);
  // The range ends with a whole bucket, so that it stays the same until the next one begins.
  const toMs = Math.ceil(end / widthMs) * widthMs;
  const range = useMemo(() => {
    const fromMs = toMs - Number(days) * 86_400_000;
    const limit = (toMs - fromMs) / widthMs;
    return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), limit };
  }, [toMs, days, widthMs]);
  return {
    days,
    period,
    parts: search[name]?.split(' ') ?? [],
    range,
    refreshMs: Math.max(60_000, widthMs / 10),
    set: (change) => void navigate({ to: '.', search: { ...search, ...change }, replace: true }),
  };
}

/** A card with one line of a history: which one, and over which period, is chosen in its head. */
function HistoryCard(props: {
  title: string;
  /** Names the choice of a line, here and in the address. */
  name: string;
  choice: Choice;
  /** The lines by what the address says of them, with their texts. */
  lines: readonly (readonly [string, string])[];
  chosen: string;
  children: ReactNode;
}): ReactNode {
  const { title, name, choice, chosen, children } = props;
  const isListed = chosen === '' || props.lines.some(([value]) => value === chosen);
  const lines = isListed ? props.lines : [...props.lines, [chosen, chosen] as const];
  return (
    <Card
      title={title}
      tools={
        <>
          {lines.length > 0 ? (
            <select
              className="input small finder"
              aria-label={words(name)}
              value={chosen}
              onChange={({ target }) => choice.set({ [name]: target.value })}
            >
              {lines.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          ) : null}
          <Segments
            label={`Period of ${title.toLowerCase()}`}
            value={choice.days}
            choices={Object.entries(periods).map(([days, [text]]) => [days as Days, text] as const)}
            onChange={(days) => choice.set({ days })}
          />
        </>
      }
    >
      {children}
    </Card>
  );
}

/** What would be here, while there is no reading in the period. */
function NoReadings({
  icon,
  of,
  period,
  children,
}: {
  icon: IconName;
  of: string;
  period: string;
  children: ReactNode;
}) {
  return (
    <Empty icon={icon} title={`No reading of ${of} in the last ${period}`}>
      <p>{children}</p>
    </Empty>
  );
}

interface Reading {
  readonly at: string;
  readonly lowest: string | null;
  readonly highest: string | null;
  readonly last: string | null;
}

const place = (amount: string | null): number | null => (amount === null ? null : Number(amount));

/** Amounts as a plot: the place is a number, and the text stays exact. */
function amountPoint({ at, lowest, highest, last }: Reading, bounds?: readonly (string | null)[]): PlotPoint {
  const known = lowest !== null && highest !== null && last !== null;
  return {
    at,
    value: place(last),
    text: last ?? gap,
    range: known ? [Number(lowest), Number(highest)] : null,
    ...(bounds ? { bounds: bounds.map(place) } : {}),
    more: [lowest ?? '', highest ?? '', ...(bounds ?? []).map((bound) => bound ?? '')],
  };
}

/** The lowest and the last amount, and how many buckets have none: '0.5 at least, 2 at last'. */
function summary(points: readonly Reading[]): string {
  const known = points.filter(({ last }) => last !== null);
  const least = known.reduce<Reading | null>(
    (found, point) => (found === null || Number(point.lowest) < Number(found.lowest) ? point : found),
    null,
  );
  const gaps = points.length - known.length;
  const missing = gaps === 0 ? 'no gap' : `${count(gaps)} of ${count(points.length)} times without a reading`;
  return `${least?.lowest} at least, ${known.at(-1)?.last} at last, ${missing}`;
}

type WalletLine = WalletLevelsQuery['chosen'][number];

/**
 * The balance of a hot wallet against its bounds.
 *
 * @param props.first The wallet that is shown until another is chosen; null for the first by name.
 */
export function WalletLevels(props: { first: { chain: string; coin: string; network: string } | null }): ReactNode {
  const choice = useChoice('wallet');
  const { period, range, parts } = choice;
  // Stays while the page is open, so that the plot does not change under its reader.
  const [first] = useState(props.first);
  const [chain, coin, network] = parts.length === 3 ? parts : [first?.chain, first?.coin, first?.network];
  const asked = { ...range, chain: chain ?? null, coin: coin ?? null, network: network ?? null };
  const levels = useQuery({
    ...query('walletLevels', WalletLevelsDocument, asked),
    placeholderData: keepPreviousData,
    refetchInterval: choice.refreshMs,
  });
  const lines = (levels.data?.all ?? []).map((line) => {
    const asset = line.coin === line.network ? line.coin : `${line.coin} ${line.network}`;
    return [`${line.chain} ${line.coin} ${line.network}`, `${asset}, ${line.chain}`] as const;
  });
  const [line] = levels.data?.chosen ?? [];
  return (
    <HistoryCard
      title="Wallet levels"
      name="wallet"
      choice={choice}
      lines={lines}
      chosen={line ? `${line.chain} ${line.coin} ${line.network}` : [chain, coin, network].filter(Boolean).join(' ')}
    >
      <Loaded of={levels}>
        {() =>
          line ? (
            <WalletPlot line={line} period={period} />
          ) : (
            <NoReadings icon="money" of="a hot wallet" period={period}>
              Workers note the balance of each hot wallet of a live chain once a minute. Its plot would be here, with
              the bounds of staff.
            </NoReadings>
          )
        }
      </Loaded>
    </HistoryCard>
  );
}

function WalletPlot({ line, period }: { line: WalletLine; period: string }): ReactNode {
  const points = useMemo(() => line.points.map((point) => amountPoint(point, [point.low, point.high])), [line]);
  return (
    <>
      <Plot
        sentence={`Balance of the hot wallet of ${line.coin} on ${line.chain} in the last ${period}: ${summary(line.points)}. The table below has the figures.`}
        points={points}
        axis={compact}
        unit={line.coin}
        more={['Lowest', 'Highest', 'Low bound', 'High bound']}
        kind="line"
      />
      <p className="muted small">
        The wash reaches from the lowest to the highest balance. Dashed lines are the bounds. A break is a time without
        a reading.
      </p>
    </>
  );
}

type VenueLine = VenueFiguresQuery['chosen'][number];

const figures: Record<VenueMeasure, string> = {
  BALANCE: 'Balance by the ledger',
  STOCK: 'Stock of our inventory',
  BUY_DEPTH: 'Depth to buy',
  SELL_DEPTH: 'Depth to sell',
  OPEN_USD: 'Open positions',
  HELD: 'Held by the exchange',
  HELD_FREE: 'Free at the exchange',
};
const inDollars: ReadonlySet<VenueMeasure> = new Set(['BUY_DEPTH', 'SELL_DEPTH', 'OPEN_USD']);

function figureOf({ measure, coin }: { measure: VenueMeasure; coin: string | null }): string {
  return coin === null ? figures[measure] : `${figures[measure]}, ${coin}`;
}

/** Balances, depth and open positions at the venue. */
export function VenueFigures(): ReactNode {
  const choice = useChoice('figure');
  const { period, range, parts } = choice;
  const [name, coin] = parts;
  const measure = name !== undefined && name in figures ? (name as VenueMeasure) : null;
  const venue = useQuery({
    ...query('venueFigures', VenueFiguresDocument, { ...range, measure, coin: coin || null }),
    placeholderData: keepPreviousData,
    refetchInterval: choice.refreshMs,
  });
  const { balances = [], stocks = [], buyDepths = [], sellDepths = [], positions = [], chosen = [] } = venue.data ?? {};
  const [line] = chosen;
  const listed = [...balances, ...stocks, ...buyDepths, ...sellDepths, ...positions];
  // A figure of our account at the exchange is shown here when there is no other one.
  const isListed = !line || listed.some((one) => one.measure === line.measure && one.coin === line.coin);
  const lines = [...listed, ...(isListed ? [] : [line])].map(
    (one) => [`${one.measure} ${one.coin ?? ''}`, figureOf(one)] as const,
  );
  return (
    <HistoryCard
      title="Venue"
      name="figure"
      choice={choice}
      lines={lines}
      chosen={line ? `${line.measure} ${line.coin ?? ''}` : parts.join(' ')}
    >
      <Loaded of={venue}>
        {() =>
          line ? (
            <VenuePlot line={line} period={period} />
          ) : (
            <NoReadings icon="money" of="the venue" period={period}>
              Workers note our balance with the venue after each comparison of the ledger, and the depth of its order
              books once a minute. Their plots would be here.
            </NoReadings>
          )
        }
      </Loaded>
    </HistoryCard>
  );
}

function VenuePlot({ line, period }: { line: VenueLine; period: string }): ReactNode {
  const points = useMemo(() => line.points.map((point) => amountPoint(point)), [line]);
  const unit = inDollars.has(line.measure) ? 'US dollars' : (line.coin ?? '');
  return (
    <Plot
      sentence={`${figureOf(line)}, in ${unit}, in the last ${period}: ${summary(line.points)}. The table below has the figures.`}
      points={points}
      axis={compact}
      unit={unit}
      more={['Lowest', 'Highest']}
      kind="line"
    />
  );
}

/** What the account at the exchange holds of a coin, by the word of the exchange. */
export function HeldCoins(): ReactNode {
  const choice = useChoice('held');
  const { period, range, parts } = choice;
  const [coin = null] = parts;
  const held = useQuery({
    ...query('heldCoins', HeldCoinsDocument, { ...range, coin }),
    placeholderData: keepPreviousData,
    refetchInterval: choice.refreshMs,
  });
  const lines = (held.data?.all ?? []).flatMap((line) => (line.coin === null ? [] : [[line.coin, line.coin] as const]));
  const [line] = held.data?.chosen ?? [];
  const free = held.data?.free.find((one) => one.coin === line?.coin);
  return (
    <HistoryCard
      title="Coins at the exchange"
      name="held"
      choice={choice}
      lines={lines}
      chosen={line?.coin ?? coin ?? ''}
    >
      <Loaded of={held}>
        {() =>
          line ? (
            <HeldPlot coin={line.coin ?? ''} points={line.points} free={free?.points ?? []} period={period} />
          ) : (
            <NoReadings icon="money" of="the account at the exchange" period={period}>
              Workers note what the exchange holds for us of each coin once a minute. Its plot would be here.
            </NoReadings>
          )
        }
      </Loaded>
    </HistoryCard>
  );
}

function HeldPlot(props: {
  coin: string;
  points: readonly Reading[];
  /** The free part at the same times. */
  free: readonly Pick<Reading, 'at' | 'last'>[];
  period: string;
}): ReactNode {
  const { coin, points, free, period } = props;
  const drawn = useMemo(() => {
    const freeAt = new Map(free.map(({ at, last }) => [at, last]));
    return points.map((point) => amountPoint(point, [freeAt.get(point.at) ?? null]));
  }, [points, free]);
  return (
    <>
      <Plot
        sentence={`${coin} that the exchange holds in the last ${period}: ${summary(points)}. The table below has the figures.`}
        points={drawn}
        axis={compact}
        unit={coin}
        more={['Lowest', 'Highest', 'Free']}
        kind="line"
      />
      <p className="muted small">
        The wash reaches from the lowest to the highest amount. The dashed line is the part that no order and no
        withdrawal locks. A break is a time without a reading.
      </p>
    </>
  );
}

type ChainLine = ChainLagQuery['chosen'][number];

/**
 * How far a chain was behind its node, and when it could not be read.
 *
 * @param props.first The chain that is shown until another is chosen; null for the first by name.
 */
export function ChainLag(props: { first: string | null }): ReactNode {
  const choice = useChoice('chain');
  const { period, range, parts } = choice;
  const [first] = useState(props.first);
  const chain = parts[0] ?? first;
  const lag = useQuery({
    ...query('chainLag', ChainLagDocument, { ...range, chain }),
    placeholderData: keepPreviousData,
    refetchInterval: choice.refreshMs,
  });
  const lines = (lag.data?.all ?? []).map(({ chain }) => [chain, chain] as const);
  const [line] = lag.data?.chosen ?? [];
  return (
    <HistoryCard
      title="Lag and failures"
      name="chain"
      choice={choice}
      lines={lines}
      chosen={line?.chain ?? chain ?? ''}
    >
      <Loaded of={lag}>
        {() =>
          line ? (
            <ChainPlots line={line} period={period} />
          ) : (
            <NoReadings icon="chains" of="a chain" period={period}>
              Workers note once a minute how far each chain is behind its node, and whether it could be read. Both plots
              would be here.
            </NoReadings>
          )
        }
      </Loaded>
    </HistoryCard>
  );
}

function ChainPlots({ line: { chain, points }, period }: { line: ChainLine; period: string }): ReactNode {
  const lags = useMemo(
    () =>
      points.map(({ at, lagLowest, lagHighest, lagLast, height, head }): PlotPoint => {
        const known = lagLowest !== null && lagHighest !== null;
        return {
          at,
          value: lagLast,
          text: lagLast === null ? gap : count(lagLast),
          range: known ? [lagLowest, lagHighest] : null,
          more: [lagHighest, height, head].map((blocks) => (blocks === null ? '' : count(blocks))),
        };
      }),
    [points],
  );
  const failures = useMemo(
    () =>
      points.map(({ at, failures: minutes, failure, readings }): PlotPoint => {
        const isKnown = readings > 0;
        return { at, value: isKnown ? minutes : null, text: isKnown ? count(minutes) : gap, more: [failure ?? ''] };
      }),
    [points],
  );
  const most = Math.max(0, ...points.map(({ lagHighest }) => lagHighest ?? 0));
  const failed = points.reduce((sum, point) => sum + point.failures, 0);
  const gaps = points.filter(({ lagLast }) => lagLast === null).length;
  const missing = gaps === 0 ? 'no gap' : `${count(gaps)} of ${count(points.length)} times without a reading`;
  return (
    <div className="stack">
      <div>
        <h3>Blocks behind the node</h3>
        <Plot
          sentence={`Blocks that ${chain} was behind its node in the last ${period}: ${count(most)} at most, ${missing}. The table below has the figures.`}
          points={lags}
          axis={whole}
          unit="Blocks behind"
          more={['At most', 'Read up to', 'Node has']}
          kind="line"
          height={180}
        />
      </div>
      <div>
        <h3>Minutes in which it could not be read</h3>
        <Plot
          sentence={`Minutes in which ${chain} could not be read in the last ${period}: ${count(failed)} in all. The table below has the figures.`}
          points={failures}
          axis={whole}
          unit="Minutes"
          more={['Cause']}
          height={120}
        />
      </div>
    </div>
  );
}

const whole = (value: number): string => (Number.isInteger(value) ? compact(value) : '');
