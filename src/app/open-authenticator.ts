import type { MikroORM } from '@mikro-orm/postgresql';
import { Authenticator } from '../accounts/partners/authenticator.ts';
import type { KeyHasher } from '../accounts/partners/secret-key.ts';
import { type Foundation, inBackground } from './foundation.ts';

const lastUsedFlushMs = 60_000;

/**
 * Proves the keys of partners, and writes now and then, and at the end, when each was last used.
 */
export function openAuthenticator(
  foundation: Foundation,
  { orm, hasher }: { readonly orm: MikroORM; readonly hasher: KeyHasher },
): Authenticator {
  const authenticator = new Authenticator(orm, hasher, foundation.clock, foundation.outside.keyRowMs);
  foundation.closing.add(() => authenticator.flushUsed());
  inBackground(foundation, lastUsedFlushMs, 'last_used_failed', () => authenticator.flushUsed());
  return authenticator;
}
