import { hash } from 'node:crypto';
import type { Call } from './call.ts';
import type { Json } from './json.ts';

/**
 * True when If-None-Match is `*` or names the entity tag, by weak comparison (RFC 9110 section
 * 13.1.2).
 */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}

/**
 * Answers JSON with a strong entity tag, or 304 to a request that names it. Amounts as strings are
 * other bytes, and have a separate tag.
 *
 * @param body with its amounts as numbers.
 */
export function taggedAnswer<Shape>(
  call: Call,
  body: Json<Shape>,
):
  | { readonly status: 200; readonly body: Json<Shape>; readonly headers: Record<string, string> }
  | { readonly status: 304; readonly headers: Record<string, string> } {
  const digest = hash('sha256', body).slice(0, 32);
  const headers = { ETag: call.wantsTextAmounts ? `"${digest}-text"` : `"${digest}"` };
  return matchesEtag(call.header('if-none-match'), headers.ETag)
    ? { status: 304, headers }
    : { status: 200, body, headers };
}
