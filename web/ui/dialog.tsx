import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Icon } from './icon.tsx';
import { Notice } from './parts.tsx';

/** A modal window. The browser keeps the keyboard inside, and Escape closes it. */
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode }): ReactNode {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog ref={element} className="dialog" aria-labelledby={id} onClose={props.onClose}>
      <div className="sheet">
        <header>
          <h2 id={id}>{props.title}</h2>
          <button
            type="button"
            className="button quiet square small"
            aria-label="Close"
            onClick={() => element.current?.close()}
          >
            <Icon name="close" />
          </button>
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
  readonly kind?: 'text' | 'long' | 'choice' | 'check';
  readonly choices?: readonly (readonly [string, string])[];
  readonly initial?: string;
  readonly isOptional?: boolean;
}

/** What a server said against a form: for its fields by their names, or for the whole. */
export interface FormFaults {
  readonly whole: string | null;
  readonly fields: Readonly<Record<string, string>>;
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
  const id = useId();
  const set = (name: string, value: string): void => setValues((before) => ({ ...before, [name]: value }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFaults(null);
    const found = await props.submit(values);
    setBusy(false);
    setFaults(found);
  };
  return (
    <form onSubmit={submit} className="stack">
      {props.fields.map((field) => {
        const { name, label, hint, kind = 'text', choices = [], isOptional = false } = field;
        const fault = faults?.fields[name];
        const described = `${id}-${name}-hint`;
        const common = {
          id: `${id}-${name}`,
          name,
          className: 'input',
          value: values[name] ?? '',
          required: !isOptional,
          ...(fault === undefined ? {} : { 'aria-invalid': true }),
          ...(fault === undefined && hint === undefined ? {} : { 'aria-describedby': described }),
        };
        if (kind === 'check') {
          return (
            <label key={name} className="check">
              <input
                type="checkbox"
                checked={values[name] === 'true'}
                onChange={({ target }) => set(name, String(target.checked))}
              />
              <span>{label}</span>
            </label>
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
                autoComplete="off"
                spellCheck={false}
                onChange={({ target }) => set(name, target.value)}
              />
            )}
            {fault !== undefined ? (
              <small className="fault" id={described}>
                {fault}
              </small>
            ) : hint !== undefined ? (
              <small id={described}>{hint}</small>
            ) : null}
          </label>
        );
      })}
      {faults?.whole ? <Notice tone="bad">{faults.whole}</Notice> : null}
      <footer>
        {props.onCancel ? (
          <button type="button" className="button" onClick={props.onCancel}>
            Cancel
          </button>
        ) : null}
        <button type="submit" className={`button ${props.isDangerous ? 'danger' : 'primary'}`} disabled={isBusy}>
          {isBusy ? 'Sending…' : props.action}
        </button>
      </footer>
    </form>
  );
}
