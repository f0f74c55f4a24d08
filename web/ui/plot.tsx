import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface PlotPoint {
  readonly at: string;
  /** Null in a gap: nothing is known of that time. */
  readonly value: number | null;
  readonly text: string;
  /** What it was at least and at most meanwhile, where that differs from the value. */
  readonly range?: readonly [lowest: number, highest: number] | null;
  /** Values of dashed lines in addition to the series. */
  readonly bounds?: readonly (number | null)[];
  /** Further cells of the table. */
  readonly more?: readonly string[];
}

interface PlotProps {
  /** What the plot shows, as a sentence for people who do not see it. */
  readonly sentence: string;
  readonly points: readonly PlotPoint[];
  /** Heads of the further cells of the table. */
  readonly more?: readonly string[];
  /** Writes a value on the axis. */
  readonly axis: (value: number) => string;
  readonly unit: string;
  readonly kind?: 'bars' | 'line';
  readonly height?: number;
}

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Changes whenever the theme does, so that canvases are drawn again. */
function useTheme(): string {
  return useSyncExternalStore(
    (listener) => {
      const observer = new MutationObserver(listener);
      observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
      dark.addEventListener('change', listener);
      return () => {
        observer.disconnect();
        dark.removeEventListener('change', listener);
      };
    },
    () => `${document.documentElement.dataset.theme ?? 'auto'} ${dark.matches}`,
  );
}

/** The colour that a custom property has at present: a canvas knows no light-dark(). */
function colourOf(host: HTMLElement, name: string): string {
  host.style.color = `var(${name})`;
  const { color } = getComputedStyle(host);
  host.style.color = '';
  return color;
}

/** The ends of a range: only what is between them is drawn. */
const unseen = { stroke: 'transparent', points: { show: false } };

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A moment on the axis, in UTC: '23 Nov', or '14:00' among hours. */
function moment(seconds: number, isHourly: boolean): string {
  const at = new Date(seconds * 1_000);
  if (isHourly && at.getUTCHours() > 0) return at.toISOString().slice(11, 16);
  return `${at.getUTCDate()} ${months[at.getUTCMonth()]}`;
}

/** Every number that the plot must have room for. */
function extent(points: readonly PlotPoint[]): { least: number; most: number } {
  let [least, most] = [0, 0];
  for (const { value, range, bounds } of points) {
    for (const number of [value, ...(range ?? []), ...(bounds ?? [])]) {
      if (number === null) continue;
      least = Math.min(least, number);
      most = Math.max(most, number);
    }
  }
  return { least, most };
}

/** Places between two gaps, where a line alone would show nothing. */
function alone(points: readonly PlotPoint[]): number[] {
  const isKnown = (index: number): boolean => (points[index]?.value ?? null) !== null;
  return points.flatMap((_, index) => (isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1) ? [index] : []));
}

/** A series over time, with the same figures as a table below it. A gap breaks its line. */
export function Plot({ sentence, points, more, axis, unit, kind = 'bars', height = 220 }: PlotProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<number | null>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = host.current;
    if (!element || points.length === 0) return;
    const [accent, muted, line, bound] = ['--accent', '--muted', '--line', '--warn'].map((name) =>
      colourOf(element, name),
    );
    const ink = accent ?? 'blue';
    const wash = ink.replace(/^rgb\((.*)\)$/, kind === 'bars' ? 'rgba($1, 0.85)' : 'rgba($1, 0.14)');
    const between = ink.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.35)');
    const { least, most } = extent(points);
    const hasRange = points.some(({ range }) => range);
    const bounds = Math.max(...points.map((point) => point.bounds?.length ?? 0));
    const lonely = alone(points);
    const font = '12px system-ui, sans-serif';
    const seconds = points.map(({ at }) => Date.parse(at) / 1_000);
    const [first = 0, second = first + 86_400] = seconds;
    const half = kind === 'bars' || seconds.length === 1 ? (second - first) / 2 : 0;
    const isHourly = second - first < 86_400;
    const bars = uPlot.paths.bars?.({ size: [0.72, 34], radius: 0.18 });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        tzDate: (at) => uPlot.tzDate(new Date(at * 1_000), 'Etc/UTC'),
        legend: { show: false },
        cursor: {
          y: false,
          points: { show: kind === 'line' && !hasRange && bounds === 0 },
          drag: { x: false, y: false },
        },
        scales: {
          x: { range: [first - half, (seconds.at(-1) ?? first) + half] },
          y: { range: [least * 1.08, most === 0 && least === 0 ? 1 : most * 1.08] },
        },
        axes: [
          {
            stroke: muted ?? '',
            font,
            grid: { show: false },
            ticks: { show: false },
            gap: 6,
            size: 30,
            space: 64,
            // Between the days of a plot of few days lie hours, which would bear the same name.
            values: (_plot, values) =>
              values.map((value) => (isHourly || value % 86_400 === 0 ? moment(value, isHourly) : '')),
          },
          {
            stroke: muted ?? '',
            font,
            size: 64,
            gap: 8,
            grid: { stroke: line ?? '', width: 1 },
            ticks: { show: false },
            values: (_plot, values) => values.map(axis),
          },
        ],
        series: [
          {},
          {
            stroke: kind === 'bars' ? 'transparent' : ink,
            width: 2,
            ...(hasRange ? {} : { fill: wash }),
            points: kind === 'bars' ? { show: false } : { show: true, size: 5, fill: ink, filter: () => lonely },
            ...(kind === 'bars' && bars ? { paths: bars } : {}),
          },
          ...(hasRange ? [unseen, unseen] : []),
          ...Array.from({ length: bounds }, () => ({
            stroke: bound ?? '',
            width: 1,
            dash: [6, 4],
            points: { show: false },
          })),
        ],
        bands: hasRange ? [{ series: [3, 2], fill: between }] : [],
        hooks: { setCursor: [({ cursor }) => setShown(cursor.idx ?? null)] },
      },
      [
        seconds,
        points.map(({ value }) => value),
        ...(hasRange ? [0, 1].map((end) => points.map(({ range, value }) => range?.[end] ?? value)) : []),
        ...Array.from({ length: bounds }, (_, index) => points.map((point) => point.bounds?.[index] ?? null)),
      ],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [points, axis, kind, height, theme]);
  const point = shown === null ? null : (points[shown] ?? null);
  const day = (at: string): string =>
    at.slice(11, 16) === '00:00' ? at.slice(0, 10) : at.slice(0, 16).replace('T', ' ');
  return (
    <figure className="plot">
      <p className="tip" aria-hidden="true">
        {point ? (
          <>
            {day(point.at)} · <b>{point.text}</b>
          </>
        ) : null}
      </p>
      <div ref={host} role="img" aria-label={sentence} />
      <details>
        <summary>As a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls needs the keyboard */}
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for the controls of a form */}
        <div className="table" role="group" aria-label={`${unit}, as a table`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>From, UTC</th>
                <th className="number">{unit}</th>
                {more?.map((name) => (
                  <th key={name} className="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {points.map(({ at, text, more: cells }) => (
                <tr key={at}>
                  <td>{day(at)}</td>
                  <td className="number">{text}</td>
                  {more?.map((name, index) => (
                    <td key={name} className="number">
                      {cells?.[index]}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
