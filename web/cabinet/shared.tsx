import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { Dialog, Form, type FormFaults, type FormField } from '../ui/dialog.tsx';
import { GatewayError } from '../ui/failure.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Copy, Notice } from '../ui/parts.tsx';
import { actionFaults } from './faults.ts';
import { type Secret, useShowSecret } from './secret.tsx';

/** Something that a person may do, with the form that it needs. */
export interface Action {
  readonly name: string;
  readonly icon?: IconName;
  readonly title: string;
  readonly about: ReactNode;
  /** Named as the members of the request, so that each refusal finds its field. */
  readonly fields?: readonly FormField[];
  readonly isDangerous?: boolean;
  readonly isPrimary?: boolean;
  /** Whether the server asks for the passkey again. */
  readonly needsPasskey?: boolean;
  /**
   * Returns a secret when there is one to show. It goes nowhere else.
   *
   * @param idempotencyKey the same while a dialog sends the same values. So a repetition after a
   *   lost answer counts once.
   */
  readonly run: (values: Record<string, string>, idempotencyKey: string) => Promise<Secret | null>;
}

/**
 * The dialog of an action, and the function that opens it. It stays open while the page below
 * changes. A secret goes to the SecretHost alone, so that no cache gets it.
 */
export function useAction(): readonly [dialog: ReactNode, start: (action: Action) => void] {
  const [open, setOpen] = useState<Action | null>(null);
  const show = useShowSecret();
  const client = useQueryClient();
  /** The keys of what the open dialog has sent. */
  const keys = useRef(new Map<string, string>());
  const start = (action: Action): void => {
    keys.current.clear();
    setOpen(action);
  };
  const close = (): void => setOpen(null);
  const submit = async (action: Action, values: Record<string, string>): Promise<FormFaults | null> => {
    try {
      const made = await action.run(values, keyOf(keys.current, values));
      if (made) show(made);
      close();
      void client.invalidateQueries();
      return null;
    } catch (error) {
      // What the page shows may be what was refused.
      if (error instanceof GatewayError) void client.invalidateQueries();
      return actionFaults(error, values);
    }
  };
  const dialog = open ? (
    <Dialog title={open.title} onClose={close}>
      <div className="muted">{open.about}</div>
      {open.needsPasskey ? <Notice>Your passkey is asked for again.</Notice> : null}
      <Form
        fields={open.fields ?? []}
        action={open.name}
        isDangerous={open.isDangerous ?? false}
        submit={(values) => submit(open, values)}
        onCancel={close}
      />
    </Dialog>
  ) : null;
  return [dialog, start];
}

/** The idempotency key of values: a new one unless they were sent before. */
function keyOf(keys: Map<string, string>, values: Readonly<Record<string, string>>): string {
  const sent = JSON.stringify(values);
  const key = keys.get(sent) ?? crypto.randomUUID();
  keys.set(sent, key);
  return key;
}

export function ActionButtons(props: {
  of: readonly (Action | null | false)[];
  start: (action: Action) => void;
  small?: boolean;
}): ReactNode {
  return props.of.map((action) =>
    action ? (
      <button
        key={action.name}
        type="button"
        className={`button ${props.small ? 'small' : ''} ${action.isPrimary ? 'primary' : ''}`}
        onClick={() => props.start(action)}
      >
        {action.icon ? <Icon name={action.icon} /> : null}
        {action.name}
      </button>
    ) : null,
  );
}

/** A button for each action, with its dialog. */
export function Actions({ of, small = false }: { of: readonly (Action | null | false)[]; small?: boolean }): ReactNode {
  const [dialog, start] = useAction();
  return (
    <>
      <ActionButtons of={of} start={start} small={small} />
      {dialog}
    </>
  );
}

/** An order by its short id, as a way to it. */
export function OrderLink({ id, shortId }: { id: string; shortId: string }): ReactNode {
  return (
    <Link to="/orders/$id" params={{ id }} className="mono strong order-link">
      {shortId}
    </Link>
  );
}

/** A transaction, with the way to an explorer where coins have value. */
export function Transaction({ txid, url }: { txid: string; url: string | null | undefined }): ReactNode {
  return (
    <>
      <Copy text={txid} label="transaction" short />
      {!url ? null : (
        <>
          {' '}
          <a href={url} target="_blank" rel="noopener noreferrer">
            Explorer
          </a>
        </>
      )}
    </>
  );
}

/** A choice of how long an old key or secret stays valid next to the new one. */
export const overlapField = (name: 'old_key_hours' | 'old_secret_hours'): FormField => ({
  name,
  label: 'The old one ends',
  kind: 'choice',
  initial: '24',
  choices: [
    ['0', 'Now'],
    ['1', 'In one hour'],
    ['24', 'In one day'],
    ['72', 'In three days'],
    ['168', 'In seven days'],
  ],
  hint: 'Until then both work, so that you can change over without a gap.',
});

/**
 * Returns the secret of what was made now.
 *
 * @throws GatewayError when an earlier request made it, whose answer was lost.
 */
export function madeNow(secret: string | null, what: string): string {
  if (secret !== null) return secret;
  const text = `${what} was made by the first try, and what it answered is shown once. End it, and make another one`;
  throw new GatewayError('conflict', text);
}
