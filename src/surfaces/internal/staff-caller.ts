import type { IncomingMessage } from 'node:http';
import { cookieOf } from '../../accounts/staff/cookie.ts';
import type { StaffAuthenticator, StaffCaller } from '../../accounts/staff/staff-authenticator.ts';

/**
 * Browsers keep a `__Host-` cookie only when it is Secure, for this host only and for all its
 * paths.
 */
export const sessionCookie = '__Host-staff';

/**
 * Returns the member of staff behind a request, or null. A bearer token decides alone, even when it
 * is wrong. Without one the session cookie decides. Only headers are read, so it also works for a
 * WebSocket upgrade. A request `via: 'session'` must also pass `isSameOrigin`.
 */
export async function staffCaller(
  req: IncomingMessage,
  authenticator: StaffAuthenticator,
  isActivity = true,
): Promise<StaffCaller | null> {
  const { authorization } = req.headers;
  if (authorization !== undefined) {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return token === undefined ? null : authenticator.byToken(token);
  }
  const secret = cookieOf(req, sessionCookie);
  return secret === null ? null : authenticator.bySession(secret, isActivity);
}

/**
 * True when a page of this gateway sent the request. Browsers also attach cookies to requests of
 * other sites. So each WebSocket, and each request that changes something, needs this check when a
 * cookie authenticates it. A browser's request without Origin and Sec-Fetch-Site counts as foreign.
 *
 * @param publicUrl INTERNAL_PUBLIC_URL; without it the request's own Host is the origin.
 */
export function isSameOrigin(req: IncomingMessage, publicUrl: string | null): boolean {
  const { origin, host } = req.headers;
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  if (publicUrl !== null && from.origin === publicUrl) return true;
  // Without INTERNAL_PUBLIC_URL the scheme behind a proxy is unknown. A session cookie never leaves
  // its scheme.
  return host !== undefined && URL.canParse(`${from.protocol}//${host}`) && isHostOf(from, host);
}

function isHostOf(from: URL, host: string): boolean {
  return new URL(`${from.protocol}//${host}`).host === from.host;
}
