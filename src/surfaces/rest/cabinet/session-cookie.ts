import type { IncomingMessage } from 'node:http';
import { maxSessionMs } from '../../../accounts/members/sessions.ts';
import { cookieOf } from '../../../accounts/staff/cookie.ts';

/**
 * Browsers keep a `__Host-` cookie only when it is Secure, for this host only and for all its
 * paths. They count http://localhost as secure.
 */
const name = '__Host-partner';
const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** The secret of a request's session, or null. */
export function sessionSecret(req: IncomingMessage): string | null {
  return cookieOf(req, name);
}

export function sessionCookie(secret: string): string {
  return `${name}=${secret}; Max-Age=${maxSessionMs / 1000}; ${attributes}`;
}

/** Makes the browser forget the session. */
export const endedCookie = `${name}=; Max-Age=0; ${attributes}`;
