import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { cut, duration, ends, local, utc } from './format.ts';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'plain' | 'idle' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

/** A short state in a colour. The text says it too, for people who do not see the colour. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }): ReactNode {
  return <span className={`badge ${tone}`}>{children}</span>;
}

/** A titled part of a page. */
export function Card(props: {
  title: ReactNode;
  tools?: ReactNode;
  children: ReactNode;
  /** Whether the content brings its own padding, as tables do. */
  flush?: boolean;
  className?: string;
}): ReactNode {
  const id = useId();
  return (
    <section className={`card ${props.className ?? ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{props.title}</h2>
        {props.tools}
      </header>
      {props.flush ? props.children : <div className="body">{props.children}</div>}
    </section>
  );
}

/** A table of more columns folds on a telephone: each row becomes a list of names and values. */
const columnsOfATelephone = 3;

/**
 * Writes the name of its column on each cell, which a folded row shows. The roles stay those of a
 * table when styles change how it is drawn.
 */
function nameCells(table: HTMLTableElement): void {
  const names = [...table.querySelectorAll('thead th')].map((cell) => cell.textContent ?? '');
  table.classList.toggle('folds', names.length > columnsOfATelephone);
  table.role = 'table';
  for (const group of [table.tHead, ...table.tBodies]) if (group) group.role = 'rowgroup';
  for (const row of table.rows) {
    row.role = 'row';
    for (const [column, cell] of [...row.cells].entries()) {
      cell.role = cell.tagName === 'TH' ? 'columnheader' : 'cell';
      cell.dataset.label = cell.colSpan > 1 ? '' : (names[column] ?? '');
    }
  }
}

/**
 * A table that scrolls inside its frame, or folds on a telephone. Its label names it for screen
 * readers.
 */
export function Table({ label, head, children }: { label: string; head: ReactNode; children: ReactNode }): ReactNode {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    if (table.current) nameCells(table.current);
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls needs the keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the controls of a form
    <div className="table" role="group" aria-label={label} tabIndex={0}>
      <table ref={table}>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A text of others that scrolls inside its frame. It is shown as text only. */
export function TextBlock({ label, text }: { label: string; text: string }): ReactNode {
  return (
    <figure className="text-block">
      <figcaption className="muted small">{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls needs the keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for the controls of a form */}
      <div className="scroller" role="group" aria-label={label} tabIndex={0}>
        <pre dir="ltr">{text}</pre>
      </div>
    </figure>
  );
}

/** Pairs of a name and a value. Pairs without a value are left out. */
export function Facts({ of }: { of: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name} className="pair">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** An exact amount. In lists its decimals are cut, and the whole amount is in the title. */
export function Amount(props: { value: string; coin?: string; decimals?: number }): ReactNode {
  const shown = props.decimals === undefined ? props.value : cut(props.value, props.decimals);
  return (
    <span className="amount" {...(shown === props.value ? {} : { title: props.value })}>
      {shown}
      {props.coin ? <span className="muted"> {props.coin}</span> : null}
    </span>
  );
}

/** A coin, with its network where that says more. */
export function Asset({ coin, network }: { coin: string; network: string }): ReactNode {
  return (
    <span className="asset">
      {coin}
      {network === coin ? null : <span className="muted small"> {network}</span>}
    </span>
  );
}

/** A text with a button that copies it whole. */
export function Copy({ text, short = false, label }: { text: string; short?: boolean; label: string }): ReactNode {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 1_500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = (): void => {
    navigator.clipboard?.writeText(text).then(
      () => setDone(true),
      () => undefined,
    );
  };
  return (
    <span className="copy">
      <code title={text}>{short ? ends(text) : text}</code>
      <button type="button" aria-label={isDone ? `${label} copied` : `Copy ${label}`} onClick={copy}>
        <Icon name={isDone ? 'check' : 'copy'} />
      </button>
    </span>
  );
}

/** The present moment, moved on every five seconds for all ages of a page together. */
const clock = {
  now: Date.now(),
  listeners: new Set<() => void>(),
  subscribe(listener: () => void): () => void {
    clock.listeners.add(listener);
    return () => clock.listeners.delete(listener);
  },
};
setInterval(() => {
  clock.now = Date.now();
  for (const listener of clock.listeners) listener();
}, 5_000);

/** The present moment in milliseconds; the component renders again as it moves. */
export function useNow(): number {
  return useSyncExternalStore(clock.subscribe, () => clock.now);
}

/** A moment in UTC, with the local time on hover. */
export function Time({ at }: { at: string }): ReactNode {
  return (
    <time dateTime={at} title={`${local(at)} here`} className="time">
      {utc(at)} <span className="muted">UTC</span>
    </time>
  );
}

/** A past or future time in its largest unit. The clock is up to five seconds behind. */
function age(seconds: number): string {
  if (seconds <= -6) return `in ${duration(-seconds)}`;
  return seconds < 5 ? 'just now' : `${duration(seconds, 1)} ago`;
}

/** How long ago a moment was, with the moment on hover. */
export function Ago({ at }: { at: string }): ReactNode {
  const now = useNow();
  const seconds = (now - Date.parse(at)) / 1_000;
  const text = age(seconds);
  return (
    <time dateTime={at} title={`${utc(at)} UTC\n${local(at)} here`}>
      {text}
    </time>
  );
}

/** A share of a whole as a bar. The text next to it has the figures. */
export function Meter({ share, tone = 'accent', label }: { share: number; tone?: Tone; label: string }): ReactNode {
  const width = Math.min(100, Math.max(0, share * 100));
  return (
    <span className={`meter ${tone}`} role="img" aria-label={label}>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect width={width} height="10" />
      </svg>
    </span>
  );
}

/** A notice next to the page's content. */
export function Notice({
  tone = 'info',
  children,
}: {
  tone?: 'info' | 'warn' | 'bad' | 'good';
  children: ReactNode;
}): ReactNode {
  const icon = tone === 'good' ? 'check' : tone === 'info' ? 'info' : 'attention';
  return (
    <div className={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  );
}

/** What a part shows instead of its content: nothing there, forbidden, or failed. */
export function Empty(props: { icon?: IconName; title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="state">
      <Icon name={props.icon ?? 'empty'} />
      <strong>{props.title}</strong>
      {props.children}
    </div>
  );
}

/** Lines in place of content that is on its way. */
export function Skeleton({ lines = 5 }: { lines?: number }): ReactNode {
  return (
    <div className="stack skeletons" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className="skeleton" />
      ))}
    </div>
  );
}

/** One of a few choices, all in sight. */
export function Segments<Value extends string>(props: {
  label: string;
  value: Value;
  choices: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
}): ReactNode {
  return (
    <fieldset className="segments" aria-label={props.label}>
      {props.choices.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
