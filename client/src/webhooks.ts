import { PartnerError } from './partner-error.ts';

/** Headers of a request: those of `fetch`, or those of Node's `http`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far `webhook-timestamp` may be from now, in seconds: 300 unless given. */
  readonly toleranceSec?: number;
  /** The present time in milliseconds, for tests. */
  readonly nowMs?: number;
}

/** A webhook whose signature and time are right. */
export interface VerifiedWebhook {
  /** The same for every delivery of an event: handle an id once. */
  readonly id: string;
  /** When this delivery was sent. */
  readonly sentAt: Date;
  /** What happened, such as `order.completed`. */
  readonly type: string;
  /** When it happened. */
  readonly timestamp: string;
  /** The facts of the event. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Its name differs between the types of Node and those of browsers. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A header has no more signatures than this: one for each secret, and room for other versions. */
const maxSignatures = 16;

/**
 * Verifies a webhook after Standard Webhooks 1.0, and reads it.
 *
 * @param body the bytes as they arrived, or their text. Parsed and rewritten JSON has another
 *   signature.
 * @param secret of the endpoint, `whsec_…`; during a rotation the old one and the new one.
 * @throws PartnerError `webhook_headers`, `webhook_time` or `webhook_signature` for a request that
 *   must not be believed, `invalid_answer` for a genuine one that is no event. TypeError for a
 *   secret or a body of a wrong form.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSec = 300, nowMs = Date.now() }: VerifyOptions = {},
): Promise<VerifiedWebhook> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('The body must be the bytes of the request, and not the parsed JSON.');
  }
  const keys = await Promise.all([secret].flat().map(keyOf));
  if (keys.length === 0) throw new TypeError('There must be a secret.');
  const id = headerOf(headers, 'webhook-id', /^[!-\-/-~]{1,256}$/);
  const seconds = headerOf(headers, 'webhook-timestamp', /^\d{1,12}$/);
  const signatures = headerOf(headers, 'webhook-signature', /^[ -~]{1,4096}$/);

  const text = new TextEncoder();
  const signed = joined(text.encode(`${id}.${seconds}.`), typeof body === 'string' ? text.encode(body) : body);
  if (!(await isSigned(signed, signatures, keys))) {
    throw new PartnerError('webhook_signature', 'No signature of the webhook matches.');
  }
  const sentAt = new Date(Number(seconds) * 1_000);
  if (!(Math.abs(nowMs - sentAt.getTime()) <= toleranceSec * 1_000)) {
    throw new PartnerError('webhook_time', `The webhook was sent at ${sentAt.toISOString()}, too far from now.`);
  }
  return { id, sentAt, ...eventOf(body) };
}

/** Reads a header. An id without a dot cannot be mistaken for an id and a time. */
function headerOf(headers: WebhookHeaders, name: string, form: RegExp): string {
  const value = isFetchHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && form.test(value)) return value;
  throw new PartnerError('webhook_headers', `The header ${name} is missing or has a wrong form.`);
}

function isFetchHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

async function keyOf(secret: string): Promise<HmacKey> {
  // The message must not show the secret.
  const wrong = new TypeError('A webhook secret must be whsec_ and 24 to 64 bytes in base64.');
  const bytes = secret.startsWith('whsec_') ? fromBase64(secret.slice('whsec_'.length)) : null;
  if (bytes === null || bytes.length < 24 || bytes.length > 64) throw wrong;
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Whether a signature `v1,<base64>` of the list fits a key. Other versions are passed over. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, list: string, keys: readonly HmacKey[]): Promise<boolean> {
  const signatures = list.split(' ', maxSignatures).filter((each) => each.startsWith('v1,'));
  for (const signature of signatures) {
    const bytes = fromBase64(signature.slice('v1,'.length));
    if (bytes === null) continue;
    // It compares in constant time.
    for (const key of keys) if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return true;
  }
  return false;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function eventOf(body: string | Uint8Array): Pick<VerifiedWebhook, 'type' | 'timestamp' | 'data'> {
  let event: Partial<VerifiedWebhook> | null = null;
  try {
    event = JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // Not JSON: refused below.
  }
  const { type, timestamp, data } = event ?? {};
  if (typeof type !== 'string' || typeof timestamp !== 'string' || typeof data !== 'object' || data === null) {
    throw new PartnerError('invalid_answer', 'The webhook is no event: it needs type, timestamp and data.');
  }
  return { type, timestamp, data };
}
