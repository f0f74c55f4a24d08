/**
 * Every kind of refusal, one row each: the HTTP status for partners and the code of the staff API.
 * The name of the row is the stable `code` of the error body. To add a kind, add a row; tests walk
 * the table.
 */
export const errorTable = {
  invalid_json: { status: 400, graphql: 'BAD_USER_INPUT' },
  invalid_request: { status: 400, graphql: 'BAD_USER_INPUT' },
  invalid_encoding: { status: 400, graphql: 'BAD_USER_INPUT' },
  missing_field: { status: 400, graphql: 'BAD_USER_INPUT' },
  invalid_type: { status: 400, graphql: 'BAD_USER_INPUT' },
  duplicate_field: { status: 400, graphql: 'BAD_USER_INPUT' },
  unknown_field: { status: 400, graphql: 'BAD_USER_INPUT' },
  unknown_value: { status: 400, graphql: 'BAD_USER_INPUT' },
  invalid_number: { status: 400, graphql: 'BAD_USER_INPUT' },
  invalid_idempotency_key: { status: 400, graphql: 'BAD_USER_INPUT' },
  invalid_cursor: { status: 400, graphql: 'BAD_USER_INPUT' },
  invalid_amounts_header: { status: 400, graphql: 'BAD_USER_INPUT' },

  unauthorized: { status: 401, graphql: 'UNAUTHENTICATED' },
  conflicting_credentials: { status: 401, graphql: 'UNAUTHENTICATED' },
  invalid_signature: { status: 401, graphql: 'UNAUTHENTICATED' },

  partner_inactive: { status: 403, graphql: 'FORBIDDEN' },
  insufficient_scope: { status: 403, graphql: 'FORBIDDEN' },
  address_not_allowed: { status: 403, graphql: 'FORBIDDEN' },
  foreign_origin: { status: 403, graphql: 'FORBIDDEN' },
  insufficient_role: { status: 403, graphql: 'FORBIDDEN' },
  second_member_needed: { status: 403, graphql: 'FORBIDDEN' },
  approval_too_early: { status: 403, graphql: 'FORBIDDEN' },
  passkey_refused: { status: 403, graphql: 'FORBIDDEN' },
  passkey_required: { status: 403, graphql: 'FORBIDDEN' },
  https_required: { status: 403, graphql: 'FORBIDDEN' },

  not_found: { status: 404, graphql: 'NOT_FOUND' },
  order_not_found: { status: 404, graphql: 'NOT_FOUND' },
  partner_not_found: { status: 404, graphql: 'NOT_FOUND' },
  currency_not_found: { status: 404, graphql: 'NOT_FOUND' },
  key_not_found: { status: 404, graphql: 'NOT_FOUND' },
  staff_not_found: { status: 404, graphql: 'NOT_FOUND' },
  deposit_not_found: { status: 404, graphql: 'NOT_FOUND' },
  action_not_found: { status: 404, graphql: 'NOT_FOUND' },
  endpoint_not_found: { status: 404, graphql: 'NOT_FOUND' },
  member_not_found: { status: 404, graphql: 'NOT_FOUND' },
  invitation_not_found: { status: 404, graphql: 'NOT_FOUND' },
  passkey_not_found: { status: 404, graphql: 'NOT_FOUND' },
  hold_not_found: { status: 404, graphql: 'NOT_FOUND' },

  method_not_allowed: { status: 405, graphql: 'BAD_USER_INPUT' },
  request_timeout: { status: 408, graphql: 'BAD_USER_INPUT' },
  idempotency_in_flight: { status: 409, graphql: 'CONFLICT' },
  already_exists: { status: 409, graphql: 'CONFLICT' },
  action_not_possible: { status: 409, graphql: 'CONFLICT' },
  too_many_keys: { status: 409, graphql: 'CONFLICT' },
  network_locked_out: { status: 409, graphql: 'CONFLICT' },
  endpoint_disabled: { status: 409, graphql: 'CONFLICT' },
  quote_used: { status: 409, graphql: 'CONFLICT' },
  external_id_taken: { status: 409, graphql: 'CONFLICT' },
  refund_address_set: { status: 409, graphql: 'CONFLICT' },
  order_not_cancellable: { status: 409, graphql: 'CONFLICT' },
  action_not_available: { status: 409, graphql: 'CONFLICT' },
  order_page_off: { status: 409, graphql: 'CONFLICT' },
  action_stale: { status: 409, graphql: 'CONFLICT' },
  cursor_expired: { status: 410, graphql: 'BAD_USER_INPUT' },
  body_too_large: { status: 413, graphql: 'BAD_USER_INPUT' },
  unsupported_media_type: { status: 415, graphql: 'BAD_USER_INPUT' },
  expectation_failed: { status: 417, graphql: 'BAD_USER_INPUT' },

  validation_failed: { status: 422, graphql: 'BAD_USER_INPUT' },
  invalid_value: { status: 422, graphql: 'BAD_USER_INPUT' },
  invalid_amount: { status: 422, graphql: 'BAD_USER_INPUT' },
  too_many_decimals: { status: 422, graphql: 'BAD_USER_INPUT' },
  amount_below_min: { status: 422, graphql: 'BAD_USER_INPUT' },
  amount_above_max: { status: 422, graphql: 'BAD_USER_INPUT' },
  unknown_coin: { status: 422, graphql: 'BAD_USER_INPUT' },
  unknown_network: { status: 422, graphql: 'BAD_USER_INPUT' },
  network_required: { status: 422, graphql: 'BAD_USER_INPUT' },
  currency_inactive: { status: 422, graphql: 'BAD_USER_INPUT' },
  deposit_disabled: { status: 422, graphql: 'BAD_USER_INPUT' },
  withdraw_disabled: { status: 422, graphql: 'BAD_USER_INPUT' },
  same_currency: { status: 422, graphql: 'BAD_USER_INPUT' },
  pair_unavailable: { status: 422, graphql: 'BAD_USER_INPUT' },
  invalid_address: { status: 422, graphql: 'BAD_USER_INPUT' },
  wrong_network_address: { status: 422, graphql: 'BAD_USER_INPUT' },
  own_address: { status: 422, graphql: 'BAD_USER_INPUT' },
  tag_required: { status: 422, graphql: 'BAD_USER_INPUT' },
  tag_not_supported: { status: 422, graphql: 'BAD_USER_INPUT' },
  invalid_tag: { status: 422, graphql: 'BAD_USER_INPUT' },
  conflicting_tag: { status: 422, graphql: 'BAD_USER_INPUT' },
  open_orders_limit: { status: 422, graphql: 'BAD_USER_INPUT' },
  fixed_exposure_limit: { status: 422, graphql: 'BAD_USER_INPUT' },
  float_exposure_limit: { status: 422, graphql: 'BAD_USER_INPUT' },
  quote_expired: { status: 422, graphql: 'BAD_USER_INPUT' },
  quote_invalid: { status: 422, graphql: 'BAD_USER_INPUT' },
  quote_mismatch: { status: 422, graphql: 'BAD_USER_INPUT' },
  amount_to_below_min: { status: 422, graphql: 'BAD_USER_INPUT' },
  amount_to_above_max: { status: 422, graphql: 'BAD_USER_INPUT' },
  markup_too_high: { status: 422, graphql: 'BAD_USER_INPUT' },
  region_restricted: { status: 422, graphql: 'BAD_USER_INPUT' },
  metadata_too_large: { status: 422, graphql: 'BAD_USER_INPUT' },
  url_not_allowed: { status: 422, graphql: 'BAD_USER_INPUT' },
  too_many_endpoints: { status: 422, graphql: 'BAD_USER_INPUT' },
  idempotency_key_reused: { status: 422, graphql: 'BAD_USER_INPUT' },

  query_too_complex: { status: 422, graphql: 'BAD_USER_INPUT' },
  query_too_slow: { status: 422, graphql: 'BAD_USER_INPUT' },

  rate_limited: { status: 429, graphql: 'RATE_LIMITED' },
  headers_too_large: { status: 431, graphql: 'BAD_USER_INPUT' },
  internal_error: { status: 500, graphql: 'INTERNAL_SERVER_ERROR' },
  unavailable: { status: 503, graphql: 'UNAVAILABLE' },
} as const satisfies Record<string, { status: number; graphql: string }>;

export type ErrorKind = keyof typeof errorTable;

/** One fault in one member of a request. */
export interface FieldFault {
  readonly field: string;
  readonly kind: ErrorKind;
  readonly detail: string;
}

/** Smallest and largest amounts of both coins of a pair, as decimal strings. */
export interface TwoSidedLimits {
  readonly from: { readonly min: string; readonly max: string };
  readonly to: { readonly min: string; readonly max: string };
}

export interface AppErrorExtras {
  /** All faults, when there is more than one. */
  readonly faults?: readonly FieldFault[];
  /** The limits of the pair, as decimal strings, when an amount lies outside them. */
  readonly limits?: { readonly minAmount: string; readonly maxAmount: string };
  /** The limits of both sides, when an amount of a binding quote lies outside them. */
  readonly pairLimits?: TwoSidedLimits;
  /** The order that has what the request asked for. */
  readonly orderId?: string;
  /** Whole seconds after which a retry makes sense. */
  readonly retryAfterSec?: number;
  /** ISO 8601. From when a list is read again, for status 410. */
  readonly restartFrom?: string;
  /** The methods that the path accepts, for status 405. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/**
 * A refusal that the caller may read. `detail` is one sentence in our own words that says what to
 * change. Any other thrown value is answered as `internal_error` with a constant text.
 */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly extras: AppErrorExtras;

  constructor(kind: ErrorKind, detail: string, extras: AppErrorExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.extras = extras;
  }

  get detail(): string {
    return this.message;
  }

  get status(): number {
    return errorTable[this.kind].status;
  }
}

/** Whether the fault is in the shape of the request and not in a value. */
export function isShapeFault({ kind }: FieldFault): boolean {
  return errorTable[kind].status === 400;
}

/** The refusal of an action that the present state does not allow. */
export function notPossible(detail: string): AppError {
  return new AppError('action_not_possible', detail);
}

/** The refusal of a value, with the member of the request that holds it. */
export function fieldError(kind: ErrorKind, field: string, detail: string): AppError {
  return errorFromFaults([{ field, kind, detail }]);
}

/**
 * Builds one error from all faults of a request, keeping the first fault of each member. A single
 * fault keeps its own code. Several faults become `validation_failed`, with every fault listed. If
 * one of them is a fault of shape, the code is `invalid_request` and the status 400.
 */
export function errorFromFaults(found: readonly FieldFault[], extras: AppErrorExtras = {}): AppError {
  const faults = found.filter(({ field }, i) => found.findIndex((other) => other.field === field) === i);
  const [first] = faults;
  if (!first) throw new Error('errorFromFaults needs at least one fault');
  if (faults.length === 1) return new AppError(first.kind, first.detail, { ...extras, faults });
  const shape = faults.some(isShapeFault);
  const detail = faults.map((fault) => fault.detail).join('; ');
  return new AppError(shape ? 'invalid_request' : 'validation_failed', detail, { ...extras, faults });
}
