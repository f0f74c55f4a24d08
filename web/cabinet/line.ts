import { useSyncExternalStore } from 'react';
import { GatewayError } from '../ui/failure.ts';

/** What keeps the pages from the gateway at present. */
export interface LineState {
  /** Whether the session has ended under an open page. */
  readonly isSignedOut: boolean;
  /** Whether the last request had no answer, or a 503. */
  readonly isDown: boolean;
}

let state: LineState = { isSignedOut: false, isDown: false };
const listeners = new Set<() => void>();

function become(next: Partial<LineState>): void {
  state = { ...state, ...next };
  for (const listener of listeners) listener();
}

/** What keeps the pages from the gateway; renders again as it changes. */
export function useLine(): LineState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Notes what a request met: an answer, or a failure of the way to the gateway. */
export function noteAnswer(error: unknown): void {
  const kind = error instanceof GatewayError ? error.kind : null;
  if (kind === 'unauthorized') become({ isSignedOut: true });
  const isDown = kind === 'offline' || kind === 'unavailable';
  if (isDown !== state.isDown) become({ isDown });
}

/** Tells the tabs of this browser of a sign-in or sign-out in one of them. */
const tabs = new BroadcastChannel('cabinet-session');

/** Notes that this tab signed in, and tells the others. */
export function noteSignIn(): void {
  become({ isSignedOut: false });
  tabs.postMessage('in');
}

/** Notes that this tab signed out, and tells the others. */
export function noteSignOut(): void {
  become({ isSignedOut: true });
  tabs.postMessage('out');
}

/** Calls back when another tab signed in. A sign-out there is noted at once. */
export function watchTabs(onSignIn: () => void): void {
  tabs.onmessage = ({ data }) => {
    if (data === 'out') become({ isSignedOut: true });
    else onSignIn();
  };
}

/** Notes that the session is there again. */
export function noteSession(): void {
  if (state.isSignedOut) become({ isSignedOut: false });
}
