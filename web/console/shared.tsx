import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { Dialog, Form, type FormFaults, type FormField } from '../ui/dialog.tsx';
import { faultsOf, GatewayError } from '../ui/failure.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { PageButtons, statuses } from '../ui/page.tsx';
import { Copy, Notice, Time, useNow } from '../ui/parts.tsx';
import { ask } from './api.ts';
import type { OrderStatus, TypedDocumentString } from './generated/graphql.ts';
import { periodUntil } from './period.ts';

export const orderStatuses = statuses.map((status) => status.toUpperCase() as OrderStatus);

export function OrderLink({ order }: { order: { readonly shortId: string } }): ReactNode {
  return (
    <Link to="/orders/$id" params={{ id: order.shortId }} className="mono strong order-link">
      {order.shortId}
    </Link>
  );
}

/** A pair, with its networks where they say more than the coin. */
export function Pair(props: {
  of: { coinFrom: string; networkFrom: string; coinTo: string; networkTo: string };
}): ReactNode {
  const { coinFrom, networkFrom, coinTo, networkTo } = props.of;
  const side = (coin: string, network: string): ReactNode => (
    <span>
      {coin}
      {network === coin ? null : <span className="muted small"> {network}</span>}
    </span>
  );
  return (
    <span className="pair-of-coins">
      {side(coinFrom, networkFrom)} <span className="muted">→</span> {side(coinTo, networkTo)}
    </span>
  );
}

/** A mutation with the reason that the audit log keeps. */
export interface Action<Result = unknown> {
  readonly name: string;
  readonly icon?: IconName;
  readonly title: string;
  readonly about: ReactNode;
  readonly fields?: readonly FormField[];
  /** The moment until which the server refuses it. Until then its button is disabled. */
  readonly notBefore?: string | null;
  /** Whether another member must approve it before it happens. */
  readonly needsSecond?: boolean;
  readonly isDangerous?: boolean;
  /** Whether the typed text is its own reason. */
  readonly hasNoReason?: boolean;
  readonly run: (values: Record<string, string>) => Promise<Result>;
  /** What the dialog shows after a success; without it the dialog closes. */
  readonly shown?: (result: Result) => ReactNode;
}

/** Sends a mutation. */
export function send<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  return ask(document, variables);
}

/** The largest whole number that the staff API takes. */
const mostWhole = 2_147_483_647;

/**
 * The whole numbers of a form, by their fields. An empty field is null.
 *
 * @throws GatewayError that names the fields which hold no whole number.
 */
export function wholeNumbers<Name extends string>(
  values: Readonly<Record<string, string>>,
  names: readonly Name[],
): Record<Name, number | null> {
  const faults: { field: string; detail: string }[] = [];
  const entries = names.map((name) => {
    const text = (values[name] ?? '').trim();
    if (text === '') return [name, null];
    if (!/^\d+$/.test(text)) faults.push({ field: name, detail: `'${text}' is no whole number like 600` });
    else if (Number(text) > mostWhole)
      faults.push({ field: name, detail: `'${text}' is too large: at most ${mostWhole}` });
    return [name, Number(text)];
  });
  if (faults.length > 0) throw new GatewayError('invalid_value', 'write whole numbers in digits', { faults });
  return Object.fromEntries(entries);
}

/** A secret that an action made. It is shown once: the console keeps it nowhere. */
export function secretShown(what: string, secret: string): ReactNode {
  return (
    <div className="stack">
      <Notice tone="warn">
        This is the only time that the {what} is shown. Give it to the partner over a safe channel.
      </Notice>
      <p className="secret">
        <Copy text={secret} label={what} />
      </p>
    </div>
  );
}

const reasonField: FormField = {
  name: 'reason',
  label: 'Reason',
  kind: 'long',
  hint: 'Kept in the audit log with your name.',
};

/** The dialog of an action: what it does, its fields, the reason, and who must agree. */
function ActionDialog(props: { action: Action; isChanged: boolean; onClose: () => void }): ReactNode {
  const { action, isChanged, onClose } = props;
  const client = useQueryClient();
  const [done, setDone] = useState<ReactNode>(null);
  const { mutateAsync } = useMutation({ mutationFn: action.run });
  const close = (): void => {
    // What is shown once must not leave with a row that the page lists no more. So the page waits.
    if (done !== null) void client.invalidateQueries();
    onClose();
  };
  const submit = async (values: Record<string, string>): Promise<FormFaults | null> => {
    try {
      const result = await mutateAsync(values);
      if (action.shown) setDone(action.shown(result));
      else {
        await client.invalidateQueries();
        onClose();
      }
      return null;
    } catch (error) {
      return faultsOf(error);
    }
  };
  return (
    <Dialog title={action.title} onClose={close}>
      {done === null ? (
        <>
          <div className="muted">{action.about}</div>
          {isChanged ? (
            <Notice tone="warn">This changed while the dialog was open. Close it and look again before you act.</Notice>
          ) : null}
          {action.needsSecond ? (
            <Notice>This is a proposal: nothing happens until a second member approves it.</Notice>
          ) : null}
          <Form
            fields={[...(action.fields ?? []), ...(action.hasNoReason ? [] : [reasonField])]}
            action={action.needsSecond ? 'Propose' : action.name}
            isDangerous={action.isDangerous ?? false}
            submit={submit}
            onCancel={onClose}
          />
        </>
      ) : (
        done
      )}
    </Dialog>
  );
}

/** A dialog that is open, and whether what it is about changed meanwhile. */
interface Opened {
  readonly action: Action;
  readonly isChanged: boolean;
}

type SetOpened = (change: (now: Opened | null) => Opened | null) => void;
const OpenedContext = createContext<SetOpened>(() => undefined);

/**
 * Holds the open dialog of the actions below it. So a dialog stays, with what was typed, when the
 * page drops its button: another member may have acted first. Another address closes it.
 */
export function ActionHost({ path, children }: { path: string; children: ReactNode }): ReactNode {
  // A closed dialog leaves the page a moment later. Its button opens a new one meanwhile.
  const [opened, setOpened] = useState<Opened | null>(null);
  // Each other address closes the dialog.
  useEffect(() => setOpened(null), [path]);
  const key = useKey(opened?.action);
  return (
    <OpenedContext value={setOpened}>
      {children}
      {opened ? (
        <ActionDialog
          key={key}
          action={opened.action}
          isChanged={opened.isChanged}
          onClose={() => setOpened((now) => (now?.action === opened.action ? null : now))}
        />
      ) : null}
    </OpenedContext>
  );
}

/** A number that each other value raises. */
function useKey(value: unknown): number {
  const known = useRef({ value, number: 0 });
  if (known.current.value !== value) known.current = { value, number: known.current.number + 1 };
  return known.current.number;
}

/** A button for each action, with its dialog. */
export function Actions(props: {
  of: readonly (Action | null | false)[];
  version?: string;
  small?: boolean;
}): ReactNode {
  const setOpened = useContext(OpenedContext);
  const mine = useRef<Action | null>(null);
  const { version } = props;
  // An open dialog hears of another version, and of the end of its button.
  useEffect(
    () => () => setOpened((now) => (now && now.action === mine.current ? { ...now, isChanged: true } : now)),
    [setOpened, version],
  );
  const now = useNow();
  return props.of.map((action) =>
    action && now < Date.parse(action.notBefore ?? '') ? (
      <span key={action.name} className="row tight">
        <button type="button" className={`button ${props.small ? 'small' : ''}`} disabled>
          {action.icon ? <Icon name={action.icon} /> : null}
          {action.name}
        </button>
        <span className="muted small">
          possible from <Time at={action.notBefore ?? ''} />
        </span>
      </span>
    ) : action ? (
      <button
        key={action.name}
        type="button"
        className={`button ${props.small ? 'small' : ''}`}
        onClick={() => {
          // A copy, so that each opening is a new dialog.
          const opened = { ...action };
          mine.current = opened;
          setOpened(() => ({ action: opened, isChanged: false }));
        }}
      >
        {action.icon ? <Icon name={action.icon} /> : null}
        {action.name}
      </button>
    ) : null,
  );
}

const presets = [
  ['day', 'Today'],
  ['week', 'This week'],
  ['month', 'This month'],
] as const;

/** A filter by days in UTC, with the periods that are asked for most. */
export function DayRange(props: {
  from: string;
  to: string;
  set: (change: { readonly from?: string; readonly to?: string }) => void;
}): ReactNode {
  const { from, to, set } = props;
  const now = useNow();
  return (
    <div className="days">
      <fieldset className="chips" aria-label="Days, in UTC">
        {presets.map(([period, name]) => {
          const days = periodUntil(period, now);
          const isChosen = days.from === from && days.to === to;
          return (
            <button
              key={period}
              type="button"
              className="chip"
              aria-pressed={isChosen}
              onClick={() => set(isChosen ? { from: '', to: '' } : days)}
            >
              {name}
            </button>
          );
        })}
      </fieldset>
      <DayFilter label="From day (UTC)" word="from" value={from} onChange={(day) => set({ from: day })} />
      <DayFilter label="To day (UTC)" word="to" value={to} onChange={(day) => set({ to: day })} />
    </div>
  );
}

function DayFilter(props: { label: string; word: string; value: string; onChange: (day: string) => void }): ReactNode {
  return (
    <label>
      <span className="muted">{props.word}</span>
      <input
        className="input small"
        type="date"
        aria-label={props.label}
        value={props.value}
        onChange={({ target }) => props.onChange(target.value)}
      />
    </label>
  );
}

/** The ends of a list of which one page is shown. */
export interface PageEnds {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** Buttons to the pages before and after. Cursors are in the address, so that Back works. */
export function Pager(props: { info: PageEnds; go: (cursor: { after?: string; before?: string }) => void }): ReactNode {
  const { info, go } = props;
  return (
    <PageButtons
      before={info.hasPreviousPage ? () => go({ before: info.startCursor ?? '' }) : null}
      after={info.hasNextPage ? () => go({ after: info.endCursor ?? '' }) : null}
    />
  );
}
