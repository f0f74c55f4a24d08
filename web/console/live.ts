import { type Client, createClient } from 'graphql-ws';
import { useEffect, useSyncExternalStore } from 'react';
import { GatewayError } from '../ui/failure.ts';
import { ask, queries, toSignIn } from './api.ts';
import {
  AttentionMovesDocument,
  MeDocument,
  OrderMovesDocument,
  type OrderMovesSubscription,
} from './generated/graphql.ts';

/** How current the pages are: notified of each move, connecting, or polling. */
export type LiveState = 'live' | 'connecting' | 'polling';

type Move = OrderMovesSubscription['orderChanged'];

/** After this many failed attempts the pages ask from time to time as well. */
const attemptsBeforePolling = 2;
const pollEveryMs = 10_000;
/** Statistics change with every order; they are asked at most this often. */
const slowestMs = 5_000;

let state: LiveState = 'connecting';
let failures = 0;
const stateListeners = new Set<() => void>();
const moveListeners = new Set<(move: Move) => void>();
let polling: ReturnType<typeof setInterval> | null = null;
let client: Client | null = null;

function become(next: LiveState): void {
  if (polling !== null && next === 'live') {
    clearInterval(polling);
    polling = null;
  }
  if (polling === null && next === 'polling') polling = setInterval(() => queries.invalidateQueries(), pollEveryMs);
  if (state === next) return;
  state = next;
  for (const listener of stateListeners) listener();
}

/** How current the pages are at present. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (listener) => {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    () => state,
  );
}

/** Calls back with each move of an order while the component is shown. */
export function useMoves(onMove: (move: Move) => void): void {
  useEffect(() => {
    moveListeners.add(onMove);
    return () => {
      moveListeners.delete(onMove);
    };
  }, [onMove]);
}

let isStatsDue = false;
function refreshSoon(): void {
  if (isStatsDue) return;
  isStatsDue = true;
  setTimeout(() => {
    isStatsDue = false;
    void queries.invalidateQueries({ queryKey: ['overview'] });
    void queries.invalidateQueries({ queryKey: ['health'] });
  }, slowestMs);
}

function onMove(move: Move): void {
  void queries.invalidateQueries({ queryKey: ['order'] });
  refreshSoon();
  for (const listener of moveListeners) listener(move);
}

function onAttention(): void {
  for (const name of ['attention', 'proposals', 'order', 'money', 'treasury', 'staff']) {
    void queries.invalidateQueries({ queryKey: [name] });
  }
}

/**
 * Connects to the live changes for as long as the page is open. A connection that was lost begins
 * automatically. Moves during the gap are lost, so everything is asked again after each one.
 */
export function startLive(): void {
  const address = new URL('/graphql', location.href);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  client ??= createClient({
    // A refused upgrade looks like a broken line, so the session is asked first.
    url: async () => {
      await ask(MeDocument, {}, { isBackground: true }).catch((error: unknown) => {
        if (error instanceof GatewayError && error.kind === 'unauthorized') toSignIn();
        throw error;
      });
      return address.href;
    },
    lazy: false,
    keepAlive: 15_000,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: async (retries) => {
      await new Promise((resolve) =>
        setTimeout(resolve, Math.min(15_000, 400 * 2 ** retries) * (0.7 + Math.random() * 0.6)),
      );
    },
    onNonLazyError: () => undefined,
    on: {
      connected: (_socket, _payload, wasRetry) => {
        failures = 0;
        become('live');
        if (wasRetry) void queries.invalidateQueries();
      },
      closed: () => {
        failures += 1;
        become(failures > attemptsBeforePolling ? 'polling' : 'connecting');
      },
      error: () => {
        failures += 1;
        become(failures > attemptsBeforePolling ? 'polling' : 'connecting');
      },
    },
  });
  const ignore = { error: () => undefined, complete: () => undefined };
  client.subscribe<OrderMovesSubscription>(
    { query: OrderMovesDocument.toString() },
    { ...ignore, next: ({ data }) => data && onMove(data.orderChanged) },
  );
  client.subscribe({ query: AttentionMovesDocument.toString() }, { ...ignore, next: onAttention });
}
