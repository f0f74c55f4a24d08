import { QueryClient } from '@tanstack/react-query';
import type { TypedDocumentString } from './generated/graphql.ts';

/** A refusal or a failure of the staff API, or of the way to it. */
export class GatewayError extends Error {
  /** The machine-readable kind: 'not_found', 'rate_limited'; 'offline' when no answer came. */
  readonly kind: string;
  readonly requestId: string | null;
  readonly retryAfterSec: number | null;
  readonly faults: readonly { readonly field: string; readonly detail: string }[];

  constructor(
    kind: string,
    message: string,
    more: Partial<Pick<GatewayError, 'requestId' | 'retryAfterSec' | 'faults'>> = {},
  ) {
    super(message);
    this.kind = kind;
    this.requestId = more.requestId ?? null;
    this.retryAfterSec = more.retryAfterSec ?? null;
    this.faults = more.faults ?? [];
  }
}

interface Answer<Result> {
  readonly data?: Result | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: {
      readonly code?: string;
      readonly kind?: string;
      readonly request_id?: string;
      readonly retry_after?: number;
      readonly errors?: readonly { readonly field: string; readonly detail: string }[];
    };
  }[];
}

/** How long after the last key or click a request still counts as activity of the member. */
const activityMs = 60_000;
let lastInput = performance.now();
for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  addEventListener(
    kind,
    () => {
      lastInput = performance.now();
    },
    { passive: true, capture: true },
  );
}

/** Headers that keep a page in the background from extending the session. */
function activityHeader(): Record<string, string> {
  return performance.now() - lastInput > activityMs ? { 'X-Background': '1' } : {};
}

/** Leads to the sign-in, and from there back to this page. */
export function toSignIn(): void {
  location.assign(`/sign-in?return_to=${encodeURIComponent(location.pathname + location.search)}`);
}

/**
 * Asks the staff API. `isBackground` keeps the request from extending the session.
 *
 * @throws GatewayError
 */
export async function ask<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { signal, isBackground = false }: { signal?: AbortSignal; isBackground?: boolean } = {},
): Promise<Result> {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(isBackground ? { 'X-Background': '1' } : activityHeader()) },
    body: JSON.stringify({ query: document.toString(), variables }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new GatewayError('offline', 'the gateway does not answer; it may be restarting');
  });
  const answer = (await response.json().catch(() => ({}))) as Answer<Result>;
  const [error] = answer.errors ?? [];
  if (error === undefined && response.ok && answer.data) return answer.data;
  const { kind, code, request_id, retry_after, errors } = error?.extensions ?? {};
  const wait = retry_after ?? Number(response.headers.get('Retry-After') ?? Number.NaN);
  throw new GatewayError(
    kind ?? (response.status === 401 ? 'unauthorized' : (code ?? 'failed')),
    error?.message ?? `the gateway answered ${response.status}`,
    {
      requestId: request_id ?? response.headers.get('X-Request-Id'),
      retryAfterSec: Number.isFinite(wait) ? wait : null,
      faults: errors ?? [],
    },
  );
}

/** Failures that pass by themselves. */
const passing = new Set(['offline', 'unavailable', 'rate_limited']);

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // A refusal would be the same again.
      retry: (failures, error) => {
        if (!(error instanceof GatewayError)) return failures < 1;
        if (error.kind === 'unauthorized') toSignIn();
        return passing.has(error.kind) && failures < 6;
      },
      retryDelay: (failures, error) =>
        (error instanceof GatewayError ? error.retryAfterSec : null) !== null
          ? ((error as GatewayError).retryAfterSec ?? 1) * 1_000
          : Math.min(8_000, 500 * 2 ** failures),
    },
  },
});

/** The options of a query for useQuery. Variables make its key. */
export function query<Result, Variables>(
  name: string,
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
) {
  return {
    queryKey: [name, variables] as const,
    queryFn: ({ signal }: { signal: AbortSignal }) => ask(document, variables, { signal }),
  };
}
