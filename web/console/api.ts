import { isActive } from '../ui/activity.ts';
import { GatewayError, queryClient } from '../ui/failure.ts';
import type { TypedDocumentString } from './generated/graphql.ts';

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
    headers: { 'Content-Type': 'application/json', ...(isBackground || !isActive() ? { 'X-Background': '1' } : {}) },
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

export const queries = queryClient(toSignIn);

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
