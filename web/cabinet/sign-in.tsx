import { type ReactNode, useState } from 'react';
import { useCountdown } from '../ui/dialog.tsx';
import { faultsOf } from '../ui/failure.ts';
import { Icon } from '../ui/icon.tsx';
import { ThemeButton } from '../ui/page.tsx';
import { Notice } from '../ui/parts.tsx';
import { call } from './api.ts';
import icon from './icon.svg';
import { noteSignIn } from './line.ts';
import { askPasskey, hasPasskeys, PasskeyError } from './webauthn.ts';

/** What is wrong with an attempt to use a passkey, in words, and how long to wait. */
export function passkeyFault(error: unknown): { text: string; waitSec: number } {
  if (error instanceof PasskeyError) return { text: error.message, waitSec: 0 };
  const { whole, waitSec } = faultsOf(error);
  return { text: whole ?? 'This did not succeed; try again.', waitSec: waitSec ?? 0 };
}

/** A button that runs a ceremony with a passkey, and says what went wrong. */
export function PasskeyButton(props: { name: string; run: () => Promise<void>; isQuiet?: boolean }): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(hasPasskeys() ? null : new PasskeyError('unsupported').message);
  const [wait, setWait] = useCountdown();
  const run = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      await props.run();
    } catch (error) {
      const { text, waitSec } = passkeyFault(error);
      setFault(text);
      setWait(Math.ceil(waitSec));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="stack">
      {fault === null ? null : <Notice tone="bad">{fault}</Notice>}
      <button
        type="button"
        className={`button ${props.isQuiet ? '' : 'primary'}`}
        disabled={isBusy || wait > 0 || !hasPasskeys()}
        onClick={run}
      >
        <Icon name="passkey" />
        {isBusy ? 'Waiting for the passkey…' : wait > 0 ? `Wait ${wait} s` : props.name}
      </button>
    </div>
  );
}

/** Signs in with a passkey. */
export function SignIn({ onDone }: { onDone: () => void }): ReactNode {
  const run = async (): Promise<void> => {
    const { options } = await call('beginSignIn', {});
    const credential = await askPasskey(options);
    await call('signIn', { body: { credential } });
    noteSignIn();
    onDone();
  };
  return <PasskeyButton name="Sign in with a passkey" run={run} />;
}

/** A page before the sign-in: a card in the middle. */
export function Door({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className="door">
      <main id="content">
        <div className="panel">
          <div className="crest">
            <img src={icon} alt="" width="34" height="34" />
            <span>Partner cabinet</span>
            <span className="spread">
              <ThemeButton />
            </span>
          </div>
          {children}
        </div>
      </main>
    </div>
  );
}

/** The sign-in, at the address of the page that is shown after it. */
export function SignInPage({ onDone }: { onDone: () => void }): ReactNode {
  document.title = 'Sign in · Partner cabinet';
  return (
    <Door>
      <div className="lead">
        <h1>Sign in</h1>
        <p className="muted">Your passkey opens the cabinet: the lock of this device, or your security key.</p>
      </div>
      <SignIn onDone={onDone} />
      <p className="fine muted small">
        No passkey yet? Open the link of your invitation. Lost all passkeys? Ask an owner of your team for a new
        invitation.
      </p>
    </Door>
  );
}
