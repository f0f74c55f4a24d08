import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Icon } from './icon.tsx';
import { Copy, Notice } from './parts.tsx';

/**
 * A modal window. The browser keeps the keyboard inside, and Escape closes it. A held one stays
 * open until its content calls `onClose`.
 */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  isHeld?: boolean;
  children: ReactNode;
}): ReactNode {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { isHeld = false } = props;
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={id}
      {...(isHeld ? { closedby: 'none' } : {})}
      onClose={({ target, currentTarget }) => {
        if (target !== currentTarget) return;
        // Some browsers close at a second Escape all the same.
        if (isHeld) element.current?.showModal();
        else props.onClose();
      }}
      onCancel={(event) => {
        if (isHeld) event.preventDefault();
      }}
    >
      <div className="sheet">
        <header>
          <h2 id={id}>{props.title}</h2>
          {isHeld ? null : (
            <button
              type="button"
              className="button quiet square small"
              aria-label="Close"
              onClick={() => element.current?.close()}
            >
              <Icon name="close" />
            </button>
          )}
        </header>
        {props.children}
      </div>
    </dialog>
  );
}

/** An input of a form. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** The value of a 'set' is its chosen members, joined by commas. */
  readonly kind?: 'text' | 'long' | 'choice' | 'check' | 'set';
  /** Of a choice or a set: value, name, and what it means. */
  readonly choices?: readonly (readonly [string, string, string?])[];
  readonly placeholder?: string;
  readonly autoComplete?: string;
  readonly initial?: string;
  readonly isOptional?: boolean;
}

/** What a server said against a form: for its fields by their names, or for the whole. */
export interface FormFaults {
  readonly whole: string | null;
  readonly fields: Readonly<Record<string, string>>;
  /** How long the server asks to wait before the next attempt. */
  readonly waitSec?: number | null;
}

/** Counts down to 0, once a second. */
export function useCountdown(): [number, (seconds: number) => void] {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [left]);
  return [left, setLeft];
}

/**
 * A form. It keeps what was typed when it is refused, and shows each fault at its field. `submit`
 * returns null after a success.
 */
export function Form(props: {
  fields: readonly FormField[];
  action: string;
  isDangerous?: boolean;
  submit: (values: Record<string, string>) => Promise<FormFaults | null>;
  onCancel?: () => void;
}): ReactNode {
  const [values, setValues] = useState(() =>
    Object.fromEntries(props.fields.map(({ name, initial }) => [name, initial ?? ''])),
  );
  const [faults, setFaults] = useState<FormFaults | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [wait, setWait] = useCountdown();
  const element = useRef<HTMLFormElement>(null);
  const id = useId();
  useEffect(() => {
    if (faults) element.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [faults]);
  const set = (name: string, value: string): void => setValues((before) => ({ ...before, [name]: value }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFaults(null);
    const found = await props.submit(values);
    setBusy(false);
    setFaults(found);
    setWait(Math.ceil(found?.waitSec ?? 0));
  };
  const atFault = Object.keys(faults?.fields ?? {});
  // What is said at each field needs no second word below.
  const isAtFields = atFault.length > 0 && atFault.every((name) => props.fields.some((field) => field.name === name));
  return (
    <form ref={element} onSubmit={submit} className="stack">
      {props.fields.map((field) => {
        const { name, label, hint, kind = 'text', choices = [], isOptional = false } = field;
        const fault = faults?.fields[name];
        const hintId = `${id}-${name}-hint`;
        const faultId = `${id}-${name}-fault`;
        const described = [fault === undefined ? null : faultId, hint === undefined ? null : hintId]
          .filter((part) => part !== null)
          .join(' ');
        const common = {
          id: `${id}-${name}`,
          name,
          className: 'input',
          value: values[name] ?? '',
          required: !isOptional,
          ...(fault === undefined ? {} : { 'aria-invalid': true }),
          ...(described === '' ? {} : { 'aria-describedby': described }),
        };
        if (kind === 'check') {
          return (
            <label key={name} className="check">
              <input
                type="checkbox"
                checked={values[name] === 'true'}
                {...(fault === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': faultId })}
                onChange={({ target }) => set(name, String(target.checked))}
              />
              <span>
                {label}
                {hint === undefined ? null : <small className="muted block">{hint}</small>}
                <Fault id={faultId}>{fault}</Fault>
              </span>
            </label>
          );
        }
        if (kind === 'set') {
          const chosen = (values[name] ?? '').split(',').filter(Boolean);
          return (
            <fieldset key={name} className="field set" {...(described === '' ? {} : { 'aria-describedby': described })}>
              <legend className="label">{label}</legend>
              {hint === undefined ? null : <small id={hintId}>{hint}</small>}
              <Fault id={faultId}>{fault}</Fault>
              {choices.map(([value, text, meaning]) => (
                <label key={value} className="check">
                  <input
                    type="checkbox"
                    checked={chosen.includes(value)}
                    {...(fault === undefined ? {} : { 'aria-invalid': true })}
                    onChange={({ target }) =>
                      set(
                        name,
                        choices
                          .map(([known]) => known)
                          .filter((known) => (known === value ? target.checked : chosen.includes(known)))
                          .join(','),
                      )
                    }
                  />
                  <span>
                    {text}
                    {meaning === undefined ? null : <small className="muted block">{meaning}</small>}
                  </span>
                </label>
              ))}
            </fieldset>
          );
        }
        return (
          <label key={name} className="field" htmlFor={`${id}-${name}`}>
            <span>
              {label}
              {isOptional ? <span className="muted"> (optional)</span> : null}
            </span>
            {kind === 'long' ? (
              <textarea {...common} maxLength={4_000} onChange={({ target }) => set(name, target.value)} />
            ) : kind === 'choice' ? (
              <select {...common} onChange={({ target }) => set(name, target.value)}>
                {choices.map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            ) : (
              <input
                {...common}
                autoComplete={field.autoComplete ?? 'off'}
                placeholder={field.placeholder}
                spellCheck={false}
                onChange={({ target }) => set(name, target.value)}
              />
            )}
            {hint === undefined ? null : <small id={hintId}>{hint}</small>}
            <Fault id={faultId}>{fault}</Fault>
          </label>
        );
      })}
      {faults?.whole && !isAtFields ? <Notice tone="bad">{faults.whole}</Notice> : null}
      <footer>
        {props.onCancel ? (
          <button type="button" className="button" onClick={props.onCancel}>
            Cancel
          </button>
        ) : null}
        <button
          type="submit"
          className={`button ${props.isDangerous ? 'danger' : 'primary'}`}
          disabled={isBusy || wait > 0}
        >
          {isBusy ? 'Sending…' : wait > 0 ? `Wait ${wait} s` : props.action}
        </button>
      </footer>
    </form>
  );
}

function Fault({ id, children }: { id: string; children: string | undefined }): ReactNode {
  if (children === undefined) return null;
  return (
    <small className="fault" id={id}>
      {children}
    </small>
  );
}

/**
 * A secret that is shown once. The dialog closes only after 'I have stored it'. The secret is in no
 * address, no cache and no storage: the page drops it with the dialog.
 */
export function SecretDialog(props: {
  title: string;
  about: ReactNode;
  label: string;
  secret: string;
  onStored: () => void;
  /** The secret is for another person: it is sent, not stored. */
  isForOther?: boolean;
  children?: ReactNode;
}): ReactNode {
  return (
    <Dialog title={props.title} onClose={props.onStored} isHeld>
      <div className="muted">{props.about}</div>
      <div className="secret">
        <Copy text={props.secret} label={props.label} />
      </div>
      {props.children}
      <Notice tone="warn">
        It is shown this once. {props.isForOther ? 'Send it' : 'Store it in a vault of secrets'} before you close this
        window.
      </Notice>
      <footer>
        <button type="button" className="button primary" onClick={props.onStored}>
          <Icon name="check" /> {props.isForOther ? 'I have sent it' : 'I have stored it'}
        </button>
      </footer>
    </Dialog>
  );
}
