import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { GatewayError, passingText } from './failure.ts';
import { words } from './format.ts';
import { Icon } from './icon.tsx';
import { Badge, Empty, Notice, Skeleton, type Tone } from './parts.tsx';
import { useThemeChoice } from './theme.ts';

/** What index.html calls the pages, which each page's own title precedes. */
const surface = document.title;

/** Each status of an order with its tone, in the order of their happening. */
const statusTones = {
  waiting_deposit: 'idle',
  confirming: 'info',
  exchanging: 'info',
  sending: 'accent',
  completed: 'good',
  expired: 'idle',
  refunding: 'warn',
  refunded: 'warn',
  failed: 'bad',
} as const satisfies Record<string, Tone>;

export const statuses = Object.keys(statusTones) as readonly (keyof typeof statusTones)[];

/** A status of an order, as REST or as GraphQL writes it. */
export function StatusBadge({ status }: { status: string }): ReactNode {
  const tone = statusTones[status.toLowerCase() as keyof typeof statusTones] ?? 'plain';
  return <Badge tone={tone}>{words(status)}</Badge>;
}

/** The title of a page, with its tools next to it. Names the window too. */
export function PageHead(props: {
  title: string;
  lead?: ReactNode;
  above?: ReactNode;
  children?: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${props.title} · ${surface}`;
  }, [props.title]);
  return (
    <header className="page-head">
      <div>
        {props.above}
        <h1>{props.title}</h1>
        {props.lead ? <p className="muted">{props.lead}</p> : null}
      </div>
      {props.children ? <div className="row">{props.children}</div> : null}
    </header>
  );
}

/** A failure in place of content, with its request id and a way to try again. */
export function Failed({ error, retry }: { error: Error; retry: () => unknown }): ReactNode {
  const known = error instanceof GatewayError ? error : null;
  const isMissing = known?.kind.endsWith('not_found') ?? false;
  return (
    <Empty
      icon={isMissing ? 'search' : 'attention'}
      title={isMissing ? 'There is no such thing' : 'This could not be loaded'}
    >
      <p>{error.message}</p>
      {known?.requestId ? (
        <p className="small">
          Request <code>{known.requestId}</code>
        </p>
      ) : null}
      {isMissing ? null : (
        <button type="button" className="button" onClick={() => retry()}>
          <Icon name="refresh" /> Try again
        </button>
      )}
    </Empty>
  );
}

/** The result of a query: its content, lines while it is on its way, or its failure. */
export function Loaded<Result>(props: {
  of: UseQueryResult<Result, Error>;
  lines?: number;
  children: (data: Result) => ReactNode;
}): ReactNode {
  const { data, error, refetch, failureReason } = props.of;
  if (data !== undefined) {
    return (
      <>
        {error ? <Notice tone="warn">This is not current: {error.message}. The page tries again.</Notice> : null}
        {props.children(data)}
      </>
    );
  }
  if (error) return <Failed error={error} retry={refetch} />;
  const waiting = passingText(failureReason);
  return (
    <>
      {waiting ? <Notice tone="warn">{waiting}</Notice> : null}
      <Skeleton lines={props.lines ?? 6} />
    </>
  );
}

/** Buttons to the pages before and after; null where there is none. */
export function PageButtons(props: {
  before: (() => void) | null;
  after: (() => void) | null;
  /** Names the list, where a page has several. */
  of?: string;
}): ReactNode {
  const { before, after } = props;
  if (!before && !after) return null;
  return (
    <nav className="pager" aria-label={`Pages of ${props.of ?? 'the list'}`}>
      <button type="button" className="button small" disabled={!before} onClick={() => before?.()}>
        <Icon name="left" /> Before
      </button>
      <button type="button" className="button small" disabled={!after} onClick={() => after?.()}>
        After <Icon name="right" />
      </button>
    </nav>
  );
}

/** A text that filters once it is left or confirmed. */
export function TextFilter(props: {
  label: string;
  value: string;
  onChange: (text: string) => void;
  width: number;
}): ReactNode {
  const [text, setText] = useState(props.value);
  useEffect(() => setText(props.value), [props.value]);
  const apply = (): void => {
    if (text.trim() !== props.value) props.onChange(text.trim());
  };
  return (
    <input
      className="input small"
      aria-label={props.label}
      placeholder={props.label}
      size={props.width}
      value={text}
      spellCheck={false}
      onChange={({ target }) => setText(target.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  );
}

/** Says whether coins here have value. The page's own mark counts unless one is given. */
export function EnvironmentMark({
  environment = document.documentElement.dataset.environment,
}: {
  environment?: string | undefined;
}): ReactNode {
  const isLive = environment === 'live';
  return (
    <aside className={`environment ${isLive ? 'live' : 'sandbox'}`} aria-label="Environment">
      {isLive ? (
        <>
          <strong>Live</strong> Real coins move here
        </>
      ) : (
        <>
          <strong>Sandbox</strong> Coins here have no value
        </>
      )}
    </aside>
  );
}

/** Moves on to the next theme. */
export function ThemeButton(): ReactNode {
  const [theme, next] = useThemeChoice();
  const icons = { auto: 'auto', light: 'sun', dark: 'moon' } as const;
  return (
    <button
      type="button"
      className="button quiet square theme-button"
      aria-label={`Theme: ${theme}`}
      title={`Theme: ${theme}`}
      onClick={next}
    >
      <Icon name={icons[theme]} />
    </button>
  );
}
