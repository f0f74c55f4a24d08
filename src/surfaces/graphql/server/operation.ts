import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';
import type { StaffCaller } from '../../../accounts/staff/staff-authenticator.ts';
import { AppError } from '../../../base/errors.ts';
import { addressBuckets, type Limiter } from '../../../base/limits/limiter.ts';
import { errorMembers, type Log } from '../../../base/log.ts';
import type { StaffSources } from './context.ts';
import { maskedError, refusalBehind } from './errors.ts';

/** The common options of both transports of the staff API, HTTP and WebSocket. */
export interface StaffApiOptions {
  readonly schema: GraphQLSchema;
  readonly sources: StaffSources;
  readonly limiter: Limiter;
  readonly log: Log;
  readonly operationsPerMin: number;
  /** WebSocket connections of a client address at a time. */
  readonly socketsPerAddress: number;
}

/** Counts an operation of a member. @throws AppError rate_limited */
export async function countOperation(
  { limiter, operationsPerMin }: StaffApiOptions,
  caller: StaffCaller,
): Promise<void> {
  const { allowed, resetMs } = await limiter.consume({ bucket: 'staff', key: caller.id, limit: operationsPerMin });
  if (allowed) return;
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  throw new AppError('rate_limited', `more than ${operationsPerMin} operations a minute; retry in ${seconds} seconds`, {
    retryAfterSec: seconds,
  });
}

/** Counts a failed authentication of an address. @throws AppError rate_limited */
export async function countFailure({ limiter }: StaffApiOptions, address: string, perMin: number): Promise<void> {
  const { allowed } = await limiter.consume(...addressBuckets('signin', address, perMin));
  if (allowed) return;
  throw new AppError('rate_limited', 'too many failed sign-ins; retry in a minute', { retryAfterSec: 60 });
}

/** Formats an error for the caller. Logs it unless it is a refusal. */
export function publicError(
  log: Log,
  requestId: string,
  formatted: GraphQLFormattedError,
  error: unknown,
): GraphQLFormattedError {
  const told = maskedError(formatted, error, requestId);
  if (told.extensions?.code === 'INTERNAL_SERVER_ERROR' || told.extensions?.kind === 'query_too_slow') {
    const cause = refusalBehind(error)?.extras.cause ?? (error instanceof GraphQLError && error.originalError) ?? error;
    log.error({ event: 'graphql_failed', request_id: requestId, ...errorMembers(cause || error) }, 'a field failed');
  }
  return told;
}
