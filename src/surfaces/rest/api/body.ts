import getRawBody from 'raw-body';
import { AppError, errorFromFaults } from '../../../base/errors.ts';
import { isDecimal } from '../../../base/money.ts';
import type { Call } from './call.ts';

/** Maximum size of a body in bytes. An order takes less than 2 KiB. */
const bodyLimit = 16 * 1024;

const cutOff = () => new AppError('invalid_request', 'the request ended before its body was complete');

/** The error for each fault type of raw-body: https://github.com/stream-utils/raw-body#errors */
const bodyFaults: Record<string, () => AppError> = {
  'entity.too.large': () => new AppError('body_too_large', 'the body is larger than 16 KiB'),
  'request.aborted': cutOff,
  // The client disconnected while its key was proven and its request was counted.
  'stream.not.readable': cutOff,
  'request.size.invalid': () => new AppError('invalid_request', 'Content-Length does not match the body'),
};

/**
 * Reads the exact bytes of a JSON body.
 *
 * @throws AppError when the body has another type, is compressed, is too large or is incomplete.
 */
export async function readBody(call: Call): Promise<Buffer> {
  const { req } = call;
  if (!isUtf8Json(req.headers['content-type'])) {
    throw new AppError('unsupported_media_type', 'the body must be JSON in UTF-8: send Content-Type: application/json');
  }
  const encoding = req.headers['content-encoding'] || 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported_media_type', 'the body must not be compressed');
  }
  try {
    return await getRawBody(req, { limit: bodyLimit, length: req.headers['content-length'] ?? null });
  } catch (error) {
    // The rest of the body is discarded, so that the connection can be used again.
    req.resume();
    const type = error instanceof Error && 'type' in error ? String(error.type) : '';
    const fault = Object.hasOwn(bodyFaults, type) ? bodyFaults[type] : undefined;
    throw fault ? fault() : error;
  }
}

/**
 * Parses the body as JSON. Returns undefined for an empty body. The digits of its numbers stay
 * known to `numberSource`. A number that is no `isDecimal` becomes NaN, which no schema accepts.
 *
 * @throws AppError invalid_encoding, invalid_json or duplicate_field.
 */
export function parseBody(raw: Buffer): unknown {
  if (raw.length === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(raw);
  } catch {
    // Without `fatal`, invalid bytes would silently become replacement characters.
    throw new AppError('invalid_encoding', 'the body is not valid UTF-8');
  }
  const hasLongNumber = mayHaveLongNumber.test(text);
  let body: unknown;
  try {
    body = hasLongNumber ? JSON.parse(text, keepNumberSource) : JSON.parse(text);
  } catch {
    throw new AppError('invalid_json', 'the body is not valid JSON');
  }
  refuseRepeatedMember(text);
  if (!hasLongNumber && typeof body === 'object' && body !== null) shortNumbers.add(body);
  return body;
}

/** A string of JSON, with the colon after it where it is the name of a member, or a brace. */
const tokens = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}]/g;

/**
 * Refuses a text of JSON with an object that has a member twice. Readers differ in which of the two
 * counts, so that a proxy could have judged another value than the one that is used.
 *
 * @param text valid JSON.
 * @throws AppError duplicate_field naming the member.
 */
function refuseRepeatedMember(text: string): void {
  const open: { readonly names: Set<string>; last: string }[] = [];
  for (const [token, raw = '', colon] of text.matchAll(tokens)) {
    if (token === '{') open.push({ names: new Set(), last: '' });
    else if (token === '}') open.pop();
    const object = open.at(-1);
    if (colon === undefined || object === undefined) continue;
    object.last = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
    if (!object.names.has(object.last)) {
      object.names.add(object.last);
      continue;
    }
    const field = open
      .map(({ last }) => last)
      .join('.')
      .slice(0, 60);
    throw errorFromFaults([{ field, kind: 'duplicate_field', detail: `${field} is sent twice` }]);
  }
}

/**
 * Whether a text of JSON may have a number with an exponent, or with 16 characters and more. A
 * double holds any other number exactly to its 15 digits. Text that only looks like such a number
 * costs the reading of all sources, and nothing else.
 */
const mayHaveLongNumber = /(?:^|[:,[])\s*-?(?:[\d.]*[eE]|[\d.]{16})/;

/** Bodies whose numbers are all shorter. */
const shortNumbers = new WeakSet<object>();

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The source text of each number in a parsed body, by the object that holds it. */
const numberSources = new WeakMap<object, Map<string, string>>();

function keepNumberSource(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  if (!isDecimal(context.source)) return Number.NaN;
  if (typeof this === 'object' && this !== null) keepSource(this, key, context.source);
  return value;
}

function keepSource(holder: object, member: string, text: string): void {
  let sources = numberSources.get(holder);
  if (!sources) {
    sources = new Map();
    numberSources.set(holder, sources);
  }
  sources.set(member, text);
}

/**
 * Turns amounts that were sent as strings into numbers, as if they had been sent so. Their digits
 * are kept for `numberSource`. A string that is no exact number becomes NaN.
 *
 * @param members names of the members of the body that are amounts.
 */
export function readTextAmounts(body: unknown, members: readonly string[]): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
  const values = body as Record<string, unknown>;
  for (const member of members) {
    const text = Object.hasOwn(values, member) ? values[member] : undefined;
    if (typeof text !== 'string') continue;
    const isExact = isDecimal(text);
    if (isExact) keepSource(body, member, text);
    values[member] = isExact ? JSON.parse(text) : Number.NaN;
  }
}

/**
 * Returns the exact value of a number of the body, as decimal text: all digits that were sent.
 *
 * @param body the parsed object itself, not a copy.
 */
export function numberSource(body: object, member: string): string {
  const value = (body as Record<string, unknown>)[member];
  const isShort = shortNumbers.has(body) && typeof value === 'number';
  const source = numberSources.get(body)?.get(member) ?? (isShort ? String(value) : undefined);
  if (source === undefined) throw new Error(`the body holds no number '${member}', or is a copy`);
  return source;
}

function isUtf8Json(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i.test(contentType ?? '');
}
