/**
 * True when If-None-Match is `*` or names the entity tag, by weak comparison (RFC 9110 section
 * 13.1.2).
 */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
