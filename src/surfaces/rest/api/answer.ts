import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { systemMs } from '../../../base/clock.ts';
import { isDatabaseAway } from '../../../base/db/database.ts';
import { AppError, type TwoSidedLimits } from '../../../base/errors.ts';
import { type Verdict, windowSec } from '../../../base/limits/limiter.ts';
import { errorMembers, type Log } from '../../../base/log.ts';
import { jsonNumber } from '../../../base/money.ts';
import { amountsAsText } from './amounts.ts';
import type { Call } from './call.ts';

export const jsonType = 'application/json; charset=utf-8';

const hstsSec = 63_072_000;

/** One answer of an operation. `sendAnswer` adds the headers that every answer carries. */
export interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body?: string | Buffer;
  /** Sends the body bit by bit after the head, and ends the answer. It never rejects. */
  readonly stream?: () => Promise<void>;
  /** A `Cache-Control` here replaces `no-store`. The other headers are added. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends an answer with the headers of every answer, the request id and the state of the caller's
 * rate limit. JSON text gets the form of amounts that the request asks for. Bytes are sent as they
 * are.
 */
export function sendAnswer(call: Call, { status, type, body: content, stream, headers }: Answer): void {
  const { res, id, client, verdict } = call;
  const hasForms = call.wantsTextAmounts && type === jsonType && typeof content === 'string';
  const body = hasForms ? amountsAsText(content) : content;
  res.writeHead(status, {
    'X-Request-Id': id,
    'X-Content-Type-Options': 'nosniff',
    ...(client.isSecure && { 'Strict-Transport-Security': `max-age=${hstsSec}; includeSubDomains` }),
    ...(verdict && rateLimitHeaders(verdict)),
    ...(!headers?.['Cache-Control'] && { 'Cache-Control': 'no-store' }),
    ...headers,
    ...(type !== undefined && { 'Content-Type': type }),
    ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }),
  });
  if (stream) void stream();
  else if (body === undefined) res.end();
  else endWith(res, body);
}

/** https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ and the older X- family. */
function rateLimitHeaders({ bucket, limit, remaining, resetMs }: Verdict): OutgoingHttpHeaders {
  return {
    'RateLimit-Policy': `"${bucket}";q=${limit};w=${windowSec}`,
    RateLimit: `"${bucket}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': remaining,
    'X-RateLimit-Reset': Math.ceil((systemMs() + resetMs) / 1000),
  };
}

/**
 * Sends the head and the body as one write, and ends the answer. `res.end(body)` would cost a
 * vectored write, because Node adds an empty chunk for the end while the first is held back.
 */
function endWith(res: ServerResponse, body: string | Buffer): void {
  const { socket } = res;
  socket?.cork();
  res.write(body);
  socket?.uncork();
  res.end();
}

/** Sends an error as an HTTP answer. REST errors become answers here only. */
export function sendError(call: Call, thrown: unknown, log: Log): void {
  const error = toAppError(thrown);
  call.errorCode = error.kind;
  if (error.status >= 500) {
    const members = errorMembers(error.extras.cause ?? error);
    log.error({ event: 'request_failed', request_id: call.id, route: call.route, ...members }, 'request failed');
  }
  if (call.res.headersSent) {
    call.res.destroy();
    return;
  }
  const { retryAfterSec, allow } = error.extras;
  const headers: Record<string, string> = {};
  if (retryAfterSec !== undefined) headers['Retry-After'] = String(retryAfterSec);
  if (allow) headers.Allow = allow.join(', ');
  if (error.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  sendAnswer(call, { status: error.status, type: jsonType, body: errorBody(error, call.id), headers });
}

/**
 * Turns a thrown value into the refusal that the caller gets. An unknown value becomes a constant
 * text.
 */
function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseAway(thrown)) {
    const detail = 'the service is unavailable for a moment; retry in a few seconds';
    return new AppError('unavailable', detail, { retryAfterSec: 2, cause: thrown });
  }
  const detail = 'something went wrong on our side; retry, or contact support with the request_id';
  return new AppError('internal_error', detail, { cause: thrown });
}

/** The error body of the contract, as JSON text. */
function errorBody(error: AppError, requestId: string): string {
  const { faults, limits, pairLimits, orderId, restartFrom } = error.extras;
  return JSON.stringify({
    detail: error.detail,
    code: error.kind,
    request_id: requestId,
    ...(limits ? { min_amount: jsonNumber(limits.minAmount), max_amount: jsonNumber(limits.maxAmount) } : {}),
    ...(pairLimits ? { limits: jsonLimits(pairLimits) } : {}),
    ...(orderId === undefined ? {} : { order_id: orderId }),
    ...(restartFrom === undefined ? {} : { restart_from: restartFrom }),
    ...(faults && faults.length > 0
      ? { errors: faults.map(({ field, kind, detail }) => ({ field, code: kind, detail })) }
      : {}),
  });
}

function jsonLimits({ from, to }: TwoSidedLimits): object {
  return {
    from: { min: jsonNumber(from.min), max: jsonNumber(from.max) },
    to: { min: jsonNumber(to.min), max: jsonNumber(to.max) },
  };
}
