import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../base/errors.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';

/** Makes a request repeatable: the partner's idempotency key, and a hash of the whole request. */
export interface Repeatable {
  readonly key: string;
  /** SHA-256, 32 bytes. */
  readonly fingerprint: Buffer;
}

/** What is stored under an idempotency key. */
export type StoredAnswer = Readonly<Pick<IdempotencyKey, 'fingerprint' | 'orderId' | 'body'>>;

/** PostgreSQL's lock timeout. */
export const lockNotAvailable = '55P03';

/**
 * Reads the stored answer to an earlier request with the same idempotency key. Null without one.
 *
 * @throws AppError idempotency_key_reused when the key belongs to another request.
 */
export async function earlierAnswer(
  em: EntityManager,
  partnerId: string,
  repeatable: Repeatable,
): Promise<StoredAnswer | null> {
  const stored = await em.findOne(IdempotencyKey, { partnerId, key: repeatable.key });
  return stored && sameRequest(repeatable, stored);
}

/**
 * Returns the stored answer to the same request.
 *
 * @throws AppError idempotency_key_reused when the key belongs to another request.
 */
export function sameRequest({ fingerprint }: Repeatable, stored: StoredAnswer): StoredAnswer {
  if (stored.fingerprint.equals(fingerprint)) return stored;
  throw keyReused();
}

/** The refusal of an idempotency key that belongs to another request. */
export function keyReused(): AppError {
  const detail = 'this Idempotency-Key was used with another request; choose a new key for a new one';
  return new AppError('idempotency_key_reused', detail);
}

/** The refusal while another request with the same idempotency key is in progress. */
export function inFlight(cause: unknown): AppError {
  const detail = 'a request with this Idempotency-Key is still under way; try again in a second';
  return new AppError('idempotency_in_flight', detail, { retryAfterSec: 1, cause });
}
