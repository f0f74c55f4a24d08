import { useQuery } from '@tanstack/react-query';
import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect, useRef } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { GatewayError } from '../ui/failure.ts';
import { Failed } from '../ui/page.tsx';
import { Empty, Notice, Skeleton } from '../ui/parts.tsx';
import { call, type Me, queries, type Schemas, sessionKey } from './api.ts';
import { noteSession, useLine, watchTabs } from './line.ts';

/** People with a session need no sign-in, so it is no part of the first load. */
const SignIn = lazy(() => import('./sign-in.tsx').then(({ SignIn }) => ({ default: SignIn })));
const SignInPage = lazy(() => import('./sign-in.tsx').then(({ SignInPage }) => ({ default: SignInPage })));

type Right = Schemas['Right'];

const SessionContext = createContext<Me | null>(null);

/** The query of who is signed in. */
const session = {
  queryKey: sessionKey,
  queryFn: ({ signal }: { signal: AbortSignal }) => call('getSession', { signal }),
};

/**
 * Shows the pages to people who are signed in, and the sign-in at the same address to others. When
 * the session ends under an open page, the sign-in comes over it, and what was typed stays.
 */
export function Session({ children }: { children: ReactNode }): ReactNode {
  const me = useQuery({ ...session, staleTime: 60_000 });
  const { isSignedOut } = useLine();
  const shown = useRef<string | null>(null);
  const { refetch } = me;
  useEffect(() => watchTabs(() => void refetch()), [refetch]);
  useEffect(() => {
    if (!me.data || me.isError) return;
    const { id } = me.data.member;
    // Nothing of one person stays on the screen of another.
    if (shown.current !== null && shown.current !== id) location.reload();
    shown.current = id;
  }, [me.data, me.isError]);
  useEffect(() => {
    if (me.dataUpdatedAt > 0 && !me.isError) noteSession();
  }, [me.dataUpdatedAt, me.isError]);
  const signedIn = (): void => {
    void queries.invalidateQueries();
  };
  if (me.data) {
    return (
      <SessionContext value={me.data}>
        {children}
        {isSignedOut ? <SignInAgain onDone={signedIn} /> : null}
      </SessionContext>
    );
  }
  if (me.error instanceof GatewayError && me.error.kind === 'unauthorized') {
    return (
      <Suspense fallback={<div className="door" />}>
        <SignInPage onDone={signedIn} />
      </Suspense>
    );
  }
  return (
    <div className="door">
      <main>
        {me.error ? (
          <Failed error={me.error} retry={refetch} />
        ) : (
          <Empty icon="refresh" title="Opening the cabinet">
            <p>Asking who is signed in.</p>
          </Empty>
        )}
      </main>
    </div>
  );
}

function SignInAgain({ onDone }: { onDone: () => void }): ReactNode {
  return (
    <Dialog title="You are signed out" onClose={() => undefined} isHeld>
      <p className="muted">
        The session has ended, or you signed out in another tab. Sign in again: the page stays as it is, with all that
        you typed.
      </p>
      <Notice>Only the same person can go on here.</Notice>
      <Suspense fallback={<Skeleton lines={2} />}>
        <SignIn onDone={onDone} />
      </Suspense>
    </Dialog>
  );
}

/** Who is signed in, of which partner. */
export function useMe(): Me {
  const me = useContext(SessionContext);
  if (!me) throw new Error('there is no session around this component');
  return me;
}

/** Whether the person has a right. The server decides again on each request. */
export function useMay(): (right: Right) => boolean {
  const { rights } = useMe();
  return (right) => rights.includes(right);
}

/** Shows a page to people who may see it, and says to others what is missing. */
export function Allowed({ to, children }: { to: Right; children: ReactNode }): ReactNode {
  const may = useMay();
  const { member } = useMe();
  if (may(to)) return children;
  return (
    <Empty icon="lock" title="Your role does not show this page">
      <p>
        The role {member.role} does not have the right <code>{to}</code>. An owner of your team can invite you with
        another role.
      </p>
    </Empty>
  );
}
