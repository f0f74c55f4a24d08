import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface PlotProps {
  /** What the plot shows, as a sentence for people who do not see it. */
  readonly sentence: string;
  readonly points: readonly { readonly at: string; readonly value: number; readonly text: string }[];
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

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A moment on the axis, in UTC: '23 Nov', or '14:00' among hours. */
function moment(seconds: number, isHourly: boolean): string {
  const at = new Date(seconds * 1_000);
  if (isHourly && at.getUTCHours() > 0) return at.toISOString().slice(11, 16);
  return `${at.getUTCDate()} ${months[at.getUTCMonth()]}`;
}

/** A series over time, with the same figures as a table below it. */
export function Plot({ sentence, points, axis, unit, kind = 'bars', height = 220 }: PlotProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<number | null>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = host.current;
    if (!element || points.length === 0) return;
    const [accent, muted, line] = ['--accent', '--muted', '--line'].map((name) => colourOf(element, name));
    const ink = accent ?? 'blue';
    const wash = ink.replace(/^rgb\((.*)\)$/, kind === 'bars' ? 'rgba($1, 0.85)' : 'rgba($1, 0.14)');
    const most = Math.max(...points.map(({ value }) => value), 0);
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
        cursor: { y: false, points: { show: kind === 'line' }, drag: { x: false, y: false } },
        scales: {
          x: { range: [first - half, (seconds.at(-1) ?? first) + half] },
          y: { range: [0, most === 0 ? 1 : most * 1.08] },
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
            values: (_plot, values) => values.map((value) => moment(value, isHourly)),
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
            fill: wash,
            points: { show: false },
            ...(kind === 'bars' && bars ? { paths: bars } : {}),
          },
        ],
        hooks: { setCursor: [({ cursor }) => setShown(cursor.idx ?? null)] },
      },
      [seconds, points.map(({ value }) => value)],
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
  const day = (at: string): string => (at.slice(11, 13) === '00' ? at.slice(0, 10) : at.slice(0, 16).replace('T', ' '));
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
              </tr>
            </thead>
            <tbody>
              {points.map(({ at, text }) => (
                <tr key={at}>
                  <td>{day(at)}</td>
                  <td className="number">{text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
