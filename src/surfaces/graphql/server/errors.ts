import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { isDatabaseAway, sqlState } from '../../../base/db/database.ts';
import { AppError, errorTable } from '../../../base/errors.ts';

/** PostgreSQL's query_canceled: a statement reached its timeout. */
const canceled = '57014';

/**
 * GraphQL's own errors about an operation that it cannot run. Their texts reveal only the schema.
 */
const ownCodes: ReadonlySet<unknown> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/**
 * Returns the refusal behind an error. Null for an internal error, whose details no caller may see.
 */
export function refusalBehind(error: unknown): AppError | null {
  let cause: unknown = error;
  for (let depth = 0; cause instanceof GraphQLError && cause.originalError && depth < 5; depth++) {
    cause = cause.originalError;
  }
  if (cause instanceof AppError) return cause;
  if (sqlState(cause) === canceled) {
    return new AppError('query_too_slow', 'this takes too long; narrow the range or the filter', { cause });
  }
  if (isDatabaseAway(cause)) {
    return new AppError('unavailable', 'the service is unavailable for a moment; retry in a few seconds', { cause });
  }
  return null;
}

/** An error as the caller gets it: a refusal of ours or of GraphQL, or one constant text. */
export function maskedError(
  formatted: GraphQLFormattedError,
  error: unknown,
  requestId: string,
): GraphQLFormattedError {
  const { path, locations } = formatted;
  const where = { ...(path ? { path } : {}), ...(locations ? { locations } : {}) };
  const refusal = refusalBehind(error);
  if (refusal) {
    const { kind, detail, extras } = refusal;
    return {
      message: detail,
      ...where,
      extensions: {
        code: errorTable[kind].graphql,
        kind,
        request_id: requestId,
        ...(extras.faults && extras.faults.length > 0
          ? { errors: extras.faults.map(({ field, kind: code, detail: text }) => ({ field, code, detail: text })) }
          : {}),
        ...(extras.limits ? { min_amount: extras.limits.minAmount, max_amount: extras.limits.maxAmount } : {}),
        ...(extras.retryAfterSec === undefined ? {} : { retry_after: extras.retryAfterSec }),
      },
    };
  }
  const code = formatted.extensions?.code;
  const isOwn =
    ownCodes.has(code) || (error instanceof GraphQLError && error.originalError === undefined && code === undefined);
  return {
    message: isOwn
      ? formatted.message
      : 'something went wrong on our side; retry, or look up the request_id in the log',
    ...where,
    extensions: {
      code: isOwn ? (code ?? 'GRAPHQL_VALIDATION_FAILED') : 'INTERNAL_SERVER_ERROR',
      request_id: requestId,
    },
  };
}
