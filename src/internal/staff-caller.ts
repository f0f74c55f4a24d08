import type { IncomingMessage } from 'node:http';
import type { StaffAuthenticator, StaffCaller } from '../staff/staff-authenticator.ts';

/** Browsers keep a cookie of such a name only when it is Secure, for this host alone and for all its paths. */
export const sessionCookie = '__Host-staff';

/**
 * The member of staff behind a request, or null. A bearer token speaks for the request alone, even when it is wrong;
 * else the session cookie does. Works on headers only, so on a WebSocket's upgrade too. Whoever acts for a caller
 * `via: 'session'` checks `isSameOrigin` first.
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

/** The value of a cookie; null when it is absent or given twice. */
export function cookieOf(req: IncomingMessage, name: string): string | null {
  const values = (req.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}

/**
 * True when a page of this gateway sent the request. What changes something, and every WebSocket, needs it when it is
 * proven by cookie, as browsers attach cookies to what other sites send as well. A browser's request without Origin and
 * Sec-Fetch-Site proves nothing and counts as foreign.
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
  // Without a setting the scheme is not known behind a proxy; a session cookie never leaves its scheme in any case.
  return host !== undefined && URL.canParse(`${from.protocol}//${host}`) && isHostOf(from, host);
}

function isHostOf(from: URL, host: string): boolean {
  return new URL(`${from.protocol}//${host}`).host === from.host;
}
