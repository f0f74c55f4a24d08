import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

/** The codings that bytes are kept in, the smallest first. */
const codings = ['br', 'gzip'] as const;
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

/** Brotli's best quality takes seconds for a large file, and saves a few percent. */
const brotliQuality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

/** Compresses bytes without blocking the event loop. */
export const compressors: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, brotliQuality),
  gzip: promisify<Buffer, Buffer>(gzip),
};

/** Bytes below this size fit one packet anyway. */
export const leastBytes = 1_024;
