import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { GatewayError } from '../../ui/failure.ts';
import { phrase } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Ago, Notice, Skeleton } from '../../ui/parts.tsx';
import { type Answer, call, queries } from '../api.ts';
import { dropInvitation, invitationToken } from '../invitation.ts';
import { noteSignIn } from '../line.ts';
import { deviceName } from '../passkey-names.ts';
import { addPasskey } from '../passkeys.ts';
import { Door, PasskeyButton, passkeyFault } from '../sign-in.tsx';
import { makePasskey } from '../webauthn.ts';

type Opened = Answer<'openInvitation'>;

/** Opens a one-time link: registers a passkey, then asks for a second one. */
export function Invitation(): ReactNode {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [fault, setFault] = useState<{ text: string; isGone: boolean } | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [isIn, setIn] = useState(false);
  const token = invitationToken();
  useEffect(() => {
    document.title = 'Invitation · Partner cabinet';
  }, []);
  useEffect(() => {
    if (token === null) return;
    let isShown = true;
    call('openInvitation', { body: { token } }).then(
      (answer) => isShown && setOpened(answer),
      (error: unknown) => {
        const isGone = error instanceof GatewayError && error.retryAfterSec === null && error.kind !== 'offline';
        if (isShown) setFault({ text: passkeyFault(error).text, isGone });
      },
    );
    return () => {
      isShown = false;
    };
  }, [token, attempt]);

  if (isIn) return <SecondPasskey />;
  if (token === null) {
    return (
      <Door>
        <div className="lead">
          <h1>Open the link again</h1>
          <p className="muted">
            This page needs the whole link of your invitation. For your safety its secret part is not kept in the
            address, so a reload forgets it.
          </p>
        </div>
        <a className="button" href="/cabinet/">
          Sign in instead
        </a>
      </Door>
    );
  }
  if (fault) {
    return (
      <Door>
        <div className="lead">
          <h1>{fault.isGone ? 'This invitation does not work' : 'The invitation could not be opened'}</h1>
          <Notice tone="bad">{fault.text}</Notice>
          {fault.isGone ? (
            <p className="muted">A link works once, for 72 hours. Ask the person who invited you for a new one.</p>
          ) : null}
        </div>
        {fault.isGone ? (
          <a className="button" href="/cabinet/">
            Sign in instead
          </a>
        ) : (
          <button
            type="button"
            className="button"
            onClick={() => {
              setFault(null);
              setAttempt(attempt + 1);
            }}
          >
            <Icon name="refresh" /> Try again
          </button>
        )}
      </Door>
    );
  }
  if (!opened) {
    return (
      <Door>
        <h1>Opening the invitation</h1>
        <Skeleton lines={3} />
      </Door>
    );
  }
  const accept = async (): Promise<void> => {
    // The options are used up by an attempt, so each attempt asks for new ones.
    const { options } = await call('openInvitation', { body: { token } });
    const credential = await makePasskey(options);
    await call('acceptInvitation', { body: { token, credential, passkey_name: deviceName() } });
    dropInvitation();
    queries.clear();
    noteSignIn();
    setIn(true);
  };
  return (
    <Door>
      <div className="lead">
        <h1>{opened.is_recovery ? `Welcome back, ${opened.name}` : `Welcome, ${opened.name}`}</h1>
        <p className="muted">
          {opened.is_recovery
            ? `Register a new passkey for ${opened.partner_name}. Your old passkeys and sessions end with it.`
            : `${opened.partner_name} invites you as ${phrase(opened.role)}.`}{' '}
          The link ends <Ago at={opened.expires_at} />.
        </p>
      </div>
      <Steps at={1} />
      <PasskeyButton name="Make a passkey" run={accept} />
      <p className="fine muted small">
        A passkey replaces a password. It stays on your device or security key, and opens with its lock: finger, face or
        PIN.
      </p>
    </Door>
  );
}

function Steps({ at }: { at: 1 | 2 }): ReactNode {
  const texts = ['Make a passkey on this device', 'Make a second one, in case the first is lost'];
  return (
    <ol className="steps">
      {texts.map((text, index) => (
        <li
          key={text}
          className={index + 1 < at ? 'done' : ''}
          {...(index + 1 === at ? { 'aria-current': 'step' } : {})}
        >
          <span>{text}</span>
        </li>
      ))}
    </ol>
  );
}

function SecondPasskey(): ReactNode {
  const navigate = useNavigate();
  const open = (): void => void navigate({ to: '/' });
  const add = async (): Promise<void> => {
    await addPasskey();
    open();
  };
  return (
    <Door>
      <div className="lead">
        <h1>One more passkey</h1>
        <p className="muted">
          You are signed in. Use another device, or a security key: then a lost device does not lock you out.
        </p>
      </div>
      <Steps at={2} />
      <PasskeyButton name="Make a second passkey" run={add} />
      <button type="button" className="button quiet" onClick={open}>
        Later
      </button>
    </Door>
  );
}
