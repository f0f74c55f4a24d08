import type { NextFunction, Request, Response } from 'express';
import { isDatabaseAway } from '../../base/db/database.ts';
import { AppError } from '../../base/errors.ts';
import { errorMembers, type Log } from '../../base/log.ts';

/**
 * Turns a thrown value into the refusal that a person or script gets. An unknown value becomes a
 * constant text.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  // Express and body-parser mark client errors with a status.
  if (thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' && thrown.status < 500) {
    if (thrown.status === 413) return new AppError('body_too_large', 'the body is too large');
    return new AppError('invalid_request', 'the request cannot be read; check its path, its body and its Content-Type');
  }
  if (isDatabaseAway(thrown)) {
    const detail = 'the service is unavailable for a moment; retry in a few seconds';
    return new AppError('unavailable', detail, { retryAfterSec: 2, cause: thrown });
  }
  const detail = 'something went wrong on our side; look for the request id in the log of the gateway';
  return new AppError('internal_error', detail, { cause: thrown });
}

/** Logs an internal error. */
export function logFailure(log: Log, error: AppError, requestId: string): void {
  if (error.status < 500) return;
  log.error(
    { event: 'request_failed', request_id: requestId, ...errorMembers(error.extras.cause ?? error) },
    'request failed',
  );
}

/** Answers errors of the internal listener as JSON. Pages for people answer their own errors. */
export function errorHandler(log: Log) {
  return (thrown: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    const error = toAppError(thrown);
    const { requestId } = res.locals;
    logFailure(log, error, requestId);
    if (res.headersSent) {
      res.destroy();
      return;
    }
    if (error.extras.retryAfterSec !== undefined) res.set('Retry-After', String(error.extras.retryAfterSec));
    if (error.status === 401) res.set('WWW-Authenticate', 'Bearer');
    res.status(error.status).json({ detail: error.detail, code: error.kind, request_id: requestId });
  };
}
