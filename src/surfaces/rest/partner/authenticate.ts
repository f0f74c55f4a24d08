import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Caller } from '../../../accounts/members/sessions.ts';
import type { KeyCaller } from '../../../accounts/partners/authenticator.ts';
import { type ParsedKey, parseKey } from '../../../accounts/partners/secret-key.ts';
import { AppError } from '../../../base/errors.ts';
import type { PartnerScope } from '../../../orders/order-scope.ts';
import type { Call } from '../api/call.ts';

/** The key that a request presents, before it is looked up. */
type PresentedKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly key: ParsedKey }
  | { readonly kind: 'refused'; readonly error: AppError };

const howTo = 'send the header Authorization: Bearer <KEY_ID>.<SECRET>';

/** The last key of each connection. Most clients send the same one with each of their requests. */
const lastKeys = new WeakMap<Socket, { readonly authorization: string; readonly presented: PresentedKey }>();

/**
 * Reads the key from `Authorization: Bearer` or `X-API-Key`. A request may send both when they
 * carry the same key.
 */
export function presentedKey(call: Call): PresentedKey {
  const { authorization } = call.req.headers;
  const header = call.header('x-api-key');
  if (authorization === undefined || header !== undefined) return readKey(authorization, header);
  const last = lastKeys.get(call.req.socket);
  if (last?.authorization === authorization) return last.presented;
  const presented = readKey(authorization, header);
  if (presented.kind === 'key') lastKeys.set(call.req.socket, { authorization, presented });
  return presented;
}

function readKey(authorization: string | undefined, header: string | undefined): PresentedKey {
  const bearer = bearerToken(authorization);
  const first = bearer ?? header;
  if (first === undefined) return { kind: 'none' };
  if (bearer !== undefined && header !== undefined && header !== bearer) {
    const detail = 'Authorization and X-API-Key carry different keys; send one of them';
    return { kind: 'refused', error: new AppError('conflicting_credentials', detail) };
  }
  const key = parseKey(first);
  return key && !key.keyId.startsWith('xs_') ? { kind: 'key', key } : { kind: 'refused', error: invalidKey() };
}

/** The one error for every failed key, so that a caller cannot learn which check failed. */
export function invalidKey(): AppError {
  return new AppError('unauthorized', `the API key is not valid; ${howTo}`);
}

/** The error for a request without the key that it needs. */
export function missingKey(): AppError {
  return new AppError('unauthorized', `an API key is needed; ${howTo}`);
}

/**
 * The caller of an operation that needs one.
 *
 * @throws AppError unauthorized without one.
 */
export function callerOf({ caller }: Call): Caller {
  if (!caller) throw missingKey();
  return caller;
}

/**
 * The caller of an operation that only keys may use.
 *
 * @throws AppError unauthorized without a key.
 */
export function keyOf(call: Call): KeyCaller {
  const caller = callerOf(call);
  if (caller.kind !== 'key') throw missingKey();
  return caller;
}

/**
 * The orders that the caller of an operation may read: those of its partner.
 *
 * @throws AppError unauthorized without a caller.
 */
export function scopeOf(call: Call): PartnerScope {
  return { kind: 'partner', partnerId: callerOf(call).partner.id };
}

/**
 * Checks `X-Signature`: the hexadecimal HMAC-SHA256 of the body's exact bytes, keyed with the
 * secret of the proven key.
 *
 * @throws AppError invalid_signature when the header is malformed or does not match, or is missing
 * although the partner requires it.
 */
export function verifySignature({ req, caller, secret, rawBody }: Call): void {
  const presented = req.headers['x-signature'];
  if (presented === undefined) {
    if (caller?.partner.requireSignature) {
      throw new AppError('invalid_signature', 'this partner account accepts signed requests only: send X-Signature');
    }
    return;
  }
  const text = typeof presented === 'string' ? presented : '';
  const computed = createHmac('sha256', secret ?? '')
    .update(rawBody)
    .digest();
  if (!/^[0-9A-Fa-f]{64}$/.test(text) || !timingSafeEqual(Buffer.from(text, 'hex'), computed)) {
    const detail =
      'X-Signature must be the hexadecimal HMAC-SHA256 of the exact body bytes, keyed with the part of the key after the dot';
    throw new AppError('invalid_signature', detail);
  }
}

/**
 * Returns the token of a bearer header (RFC 6750). A header of another scheme holds no partner key.
 */
function bearerToken(header: string | undefined): string | undefined {
  const match = header === undefined ? null : /^bearer(?: +(.*))?$/i.exec(header);
  return match ? (match[1] ?? '').trim() : undefined;
}
