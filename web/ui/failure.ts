import { QueryClient } from '@tanstack/react-query';
import type { FormFaults } from './dialog.tsx';

/** A refusal or a failure of the API behind the pages, or of the way to it. */
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

/** Failures that pass by themselves. */
const passing: ReadonlySet<string> = new Set(['offline', 'unavailable', 'rate_limited']);

/** What a page says while it retries automatically; null for a failure that lasts. */
export function passingText(error: unknown): string | null {
  if (!(error instanceof GatewayError) || !passing.has(error.kind)) return null;
  const { kind, retryAfterSec } = error;
  if (kind === 'rate_limited')
    return `Too many requests. The page asks again ${retryAfterSec === null ? 'soon' : `in ${retryAfterSec} s`}.`;
  if (kind === 'unavailable') return 'The gateway is busy or restarting. The page asks again by itself.';
  return 'The gateway does not answer. It may be restarting; the page asks again by itself.';
}

/**
 * A store of answers that retries automatically after a failure that passes, and waits as long as
 * the server says. `onSessionEnd` is called for an answer that asks for a session.
 */
export function queryClient(onSessionEnd: () => void): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        // A refusal would be the same again.
        retry: (failures, error) => {
          if (!(error instanceof GatewayError)) return failures < 1;
          if (error.kind === 'unauthorized') onSessionEnd();
          return passing.has(error.kind) && failures < 6;
        },
        // A page that gave up asks again from time to time.
        refetchInterval: ({ state: { error } }) =>
          error instanceof GatewayError && passing.has(error.kind) ? 10_000 : false,
        retryDelay: (failures, error) => {
          const wait = error instanceof GatewayError ? error.retryAfterSec : null;
          return wait === null ? Math.min(8_000, 500 * 2 ** failures) : wait * 1_000;
        },
      },
    },
  });
}

/** The input for a member of a request. An item of a list belongs to the input of its list. */
function memberOf(field: string): string {
  return (
    field
      .split('.')
      .filter((part) => !/^\d+$/.test(part))
      .at(-1) ?? field
  );
}

/** What is wrong with a mutation, for a form. */
export function faultsOf(error: unknown): FormFaults {
  if (!(error instanceof GatewayError)) return { whole: 'this could not be sent; try again', fields: {} };
  if (error.kind === 'unauthorized') {
    return {
      whole: 'Your session has ended. Sign in on another tab, then send this again; what you typed stays here.',
      fields: {},
    };
  }
  const fields = Object.fromEntries(error.faults.map(({ field, detail }) => [memberOf(field), detail]));
  const request = error.requestId ? ` (request ${error.requestId})` : '';
  return { whole: `${error.message}${request}`, fields, waitSec: error.retryAfterSec };
}
