import { createHash } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import type { Repeatable } from '../../../orders/idempotency.ts';
import { type Call, sessionOf } from './call.ts';

/**
 * Returns the Idempotency-Key, bare or in double quotes, with a hash of the request. Null without a
 * key. The hash has the member, so that two members, or a member and a program, never share an
 * answer.
 *
 * @param target the method and the path. They tell apart requests of other operations.
 */
export function repeatable(call: Call, target: string): Repeatable | null {
  const header = call.header('idempotency-key');
  if (header === undefined) return null;
  const key = header.length > 2 && header.startsWith('"') && header.endsWith('"') ? header.slice(1, -1) : header;
  if (!/^[\x21-\x7e]{1,255}$/.test(key) || key === '""') {
    throw new AppError('invalid_idempotency_key', 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  const member = sessionOf(call);
  const by = member ? ` ${member.memberId}` : '';
  return { key, fingerprint: createHash('sha256').update(`${target}${by}\n`).update(call.rawBody).digest() };
}

/** The header that tells the stored answer of an earlier request. */
export function replayedHeader(isReplayed: boolean): Record<string, string> {
  return isReplayed ? { 'Idempotent-Replayed': 'true' } : {};
}
