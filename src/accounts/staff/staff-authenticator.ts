import { createHash } from 'node:crypto';
import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { type KeyHasher, parseKey } from '../partners/secret-key.ts';
import { isActive } from './approvals.ts';
import { StaffMember, type StaffRole } from './staff-member.entity.ts';
import { StaffSession } from './staff-session.entity.ts';

/** A session ends when it was not used for this long. */
export const idleMs = 30 * 60_000;
/**
 * The last use of a session is written at most this often, so that reading requests seldom write.
 */
const seenEveryMs = 60_000;

/** An authenticated member of staff, with the member's present role. */
export interface StaffCaller {
  readonly id: string;
  readonly email: string;
  readonly role: StaffRole;
  /**
   * A browser sends a session automatically. Only a session needs a check of the request's origin
   * (CSRF).
   */
  readonly via: 'token' | 'session';
  readonly sessionId: string | null;
  /** When the session began; null for a token. */
  readonly signedInAt: Date | null;
}

/**
 * Authenticates members of staff. It caches nothing: a revoked member, a changed role or an ended
 * session takes effect at the next request.
 */
export class StaffAuthenticator {
  readonly #orm: MikroORM;
  readonly #hasher: KeyHasher;
  readonly #clock: Clock;

  constructor(orm: MikroORM, hasher: KeyHasher, clock: Clock) {
    this.#orm = orm;
    this.#hasher = hasher;
    this.#clock = clock;
  }

  /**
   * Finds the member of a token; null when the token is unknown, forged or ended. An unknown id
   * costs the same as a known one.
   */
  async byToken(text: string): Promise<StaffCaller | null> {
    const member = await this.memberOfToken(this.#orm.em.fork(), text);
    if (!member) return null;
    return { id: member.id, email: member.email, role: member.role, via: 'token', sessionId: null, signedInAt: null };
  }

  /** Finds the member of a session by its secret; null when the session is unknown or has ended. */
  async bySession(secret: string, isActivity = true): Promise<StaffCaller | null> {
    if (!/^[\w-]{43}$/.test(secret)) return null;
    const now = this.#clock.now();
    const em = this.#orm.em.fork();
    const session = await em.findOne(
      StaffSession,
      {
        secretHash: hashOfSecret(secret),
        endedAt: null,
        expiresAt: { $gt: now },
        lastSeenAt: { $gt: new Date(now.getTime() - idleMs) },
        staff: { revokedAt: null, suspendedAt: null },
      },
      { populate: ['staff'], strategy: 'joined' },
    );
    if (!session) return null;
    const seenBefore = new Date(now.getTime() - seenEveryMs);
    if (isActivity && session.lastSeenAt <= seenBefore) {
      const notSeen = { id: session.id, lastSeenAt: { $lte: seenBefore } };
      await em.nativeUpdate(StaffSession, notSeen, { lastSeenAt: now });
    }
    const { id, email, role } = session.staff;
    return { id, email, role, via: 'session', sessionId: session.id, signedInAt: session.createdAt };
  }

  /**
   * Like `byToken`, but returns the entity. With a lock, neither token nor member can end before
   * the transaction does.
   */
  async memberOfToken(em: EntityManager, text: string, lockMode = LockMode.NONE): Promise<StaffMember | null> {
    const key = parseKey(text);
    if (!key?.keyId.startsWith('xs_')) return null;
    const member = await em.findOne(StaffMember, { tokenId: key.keyId }, { lockMode });
    const stored =
      member?.tokenMac && member.pepperVersion !== null
        ? { mac: member.tokenMac, pepperVersion: member.pepperVersion }
        : null;
    const isKnown = this.#hasher.matches(key, stored);
    return isKnown && member && isActive(member) ? member : null;
  }
}

/** The stored hash of a secret of 256 random bits. That much randomness needs no slow hash. */
export function hashOfSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
