import type { ErrorBody, Fault } from './generated/contract.ts';

/** Codes of failures that the client itself finds. All other codes are those of the contract. */
export type ClientCode =
  /** There was no whole answer: no connection, or it broke. */
  | 'connection_failed'
  /** There was no whole answer in `timeoutMs`. */
  | 'timeout'
  /** The caller's signal ended the call. */
  | 'aborted'
  /** The answer is not one of the contract. */
  | 'invalid_answer'
  /** `waitFor` reached its own `timeoutMs`. */
  | 'wait_timeout'
  /** A webhook without one of its three headers, or with an unreadable one. */
  | 'webhook_headers'
  /** A webhook that was sent too long ago, or in the future. */
  | 'webhook_time'
  /** A webhook whose signature does not match. */
  | 'webhook_signature';

export interface PartnerErrorOptions {
  readonly status?: number | null;
  readonly body?: ErrorBody | null;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly idempotencyKey?: string | null;
  readonly cause?: unknown;
}

/** Statuses that say that the same request may succeed later. */
const temporary = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Why a call failed: the gateway refused it, there was no answer, or a webhook is not genuine.
 * Wrong use of the client itself is a TypeError or a RangeError.
 */
export class PartnerError extends Error {
  /** A stable word for programs: a code of the contract, or a `ClientCode`. */
  readonly code: string;
  /** Status of the answer; null without one. */
  readonly status: number | null;
  /** Quote it to support. Null without an answer. */
  readonly requestId: string | null;
  /** Every fault of the request, when the gateway named several. */
  readonly errors: readonly Fault[];
  /** The order that already has the quote or the external id (409). */
  readonly orderId: string | null;
  /** How long the gateway asked to wait, in milliseconds. */
  readonly retryAfterMs: number | null;
  /**
   * The idempotency key of a call that writes. After a failure without an answer the effect may
   * exist: repeat the call with this key.
   */
  readonly idempotencyKey: string | null;
  /** The whole error of the contract, with limits and the like. Null without one. */
  readonly body: ErrorBody | null;

  constructor(code: string, message: string, options: PartnerErrorOptions = {}) {
    const { status = null, body = null, requestId = null, retryAfterMs = null, idempotencyKey = null } = options;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PartnerError';
    this.code = code;
    this.status = status;
    this.requestId = body?.request_id ?? requestId;
    this.errors = body?.errors ?? [];
    this.orderId = body?.order_id ?? null;
    this.retryAfterMs = retryAfterMs;
    this.idempotencyKey = idempotencyKey;
    this.body = body;
  }

  /** Whether the same call may succeed later. */
  get isTemporary(): boolean {
    if (this.status === null) return this.code === 'connection_failed' || this.code === 'timeout';
    return temporary.has(this.status) || this.code === 'idempotency_in_flight';
  }
}
