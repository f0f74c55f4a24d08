import type { NextFunction, Request, Response } from 'express';
import { isDatabaseAway } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { errorMembers, type Log } from '../log.ts';
import { jsonNumber } from '../money.ts';

/** How body-parser names what it refuses. https://github.com/expressjs/body-parser#errors */
const bodyFaults: Record<string, () => AppError> = {
  'entity.parse.failed': () => new AppError('invalid_json', 'the body is not valid JSON'),
  'entity.too.large': () => new AppError('body_too_large', 'the body is larger than 16 KiB'),
  'encoding.unsupported': () => new AppError('unsupported_media_type', 'the body must not be compressed'),
  'charset.unsupported': () => new AppError('unsupported_media_type', 'the body must be JSON in UTF-8'),
  'request.aborted': () => new AppError('invalid_request', 'the request ended before its body was complete'),
  'request.size.invalid': () => new AppError('invalid_request', 'Content-Length does not match the body'),
};

/** Any thrown value as the refusal that the caller gets. Unknown values become a constant text. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof URIError) return new AppError('not_found', 'there is nothing at this path');
  const type = thrown instanceof Error && 'type' in thrown ? String(thrown.type) : '';
  const bodyFault = Object.hasOwn(bodyFaults, type) ? bodyFaults[type] : undefined;
  if (bodyFault) return bodyFault();
  if (isDatabaseAway(thrown)) {
    const detail = 'the service is unavailable for a moment; retry in a few seconds';
    return new AppError('unavailable', detail, { retryAfterSec: 2, cause: thrown });
  }
  const detail = 'something went wrong on our side; retry, or contact support with the request_id';
  return new AppError('internal_error', detail, { cause: thrown });
}

/** The error body of the contract, as JSON text. */
function errorBody(error: AppError, requestId: string): string {
  const { faults, limits } = error.extras;
  return JSON.stringify({
    detail: error.detail,
    code: error.kind,
    request_id: requestId,
    ...(limits ? { min_amount: jsonNumber(limits.minAmount), max_amount: jsonNumber(limits.maxAmount) } : {}),
    ...(faults && faults.length > 0
      ? { errors: faults.map(({ field, kind, detail }) => ({ field, code: kind, detail })) }
      : {}),
  });
}

/** The one place where an error becomes an HTTP answer. */
export function errorHandler(log: Log) {
  return (thrown: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    const error = toAppError(thrown);
    const { state } = res.locals;
    state.errorCode = error.kind;
    if (error.status >= 500) {
      const members = errorMembers(error.extras.cause ?? error);
      log.error(
        { event: 'request_failed', request_id: state.requestId, route: state.route, ...members },
        'request failed',
      );
    }
    if (res.headersSent) {
      res.destroy();
      return;
    }
    if (error.extras.retryAfterSec !== undefined) res.set('Retry-After', String(error.extras.retryAfterSec));
    if (error.extras.allow) res.set('Allow', error.extras.allow.join(', '));
    if (error.status === 401) res.set('WWW-Authenticate', 'Bearer');
    res.set('Cache-Control', 'no-store');
    res.status(error.status).type('application/json').send(errorBody(error, state.requestId));
  };
}
