import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

/** The codings that bytes are kept in, the smallest first. */
export const codings = ['br', 'gzip'] as const;
export type Coding = (typeof codings)[number];

/** The coding for each `Accept-Encoding` that clients have sent. There are few. */
const chosen = new LRUCache<string, Coding | 'identity'>({ max: 1_000 });

/** The smallest coding that a client accepts. RFC 9110, section 12.5.3 */
export function codingFor(accepted: string | undefined): Coding | 'identity' {
  if (accepted === undefined) return 'identity';
  const known = chosen.get(accepted);
  if (known !== undefined) return known;
  const accepts = new Negotiator({ headers: { 'accept-encoding': accepted } }).encodings([...codings]);
  const coding = codings.find((each) => accepts.includes(each)) ?? 'identity';
  // A client that makes up headers must not fill the memory.
  if (accepted.length <= 100) chosen.set(accepted, coding);
  return coding;
}
