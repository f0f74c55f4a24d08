import { createHash, randomBytes } from 'node:crypto';
import type { EntityManager, FilterQuery, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { KeyCaller } from '../partners/authenticator.ts';
import type { Partner } from '../partners/partner.entity.ts';
import { PartnerSession } from './partner-session.entity.ts';
import type { MemberRole } from './rights.ts';

/** The longest life of a session, even while it is used. */
export const maxSessionMs = 12 * 3_600_000;
/** A session ends when it was not used for this long. */
const idleMs = 30 * 60_000;
/** The last use is written at most this often. */
const seenEveryMs = 60_000;
/** Limit of a member's sessions at one time; a further one ends the oldest. */
const openSessions = 10;
/** Ended sessions of a member that are kept: the newest ones. */
const keptSessions = 50;
const keepMs = 90 * 24 * 3_600_000;
const confirmationMs = 2 * 60_000;

/** A member who is signed in, with the present role. */
export interface MemberCaller {
  readonly kind: 'member';
  readonly sessionId: string;
  readonly signedInAt: Date;
  readonly expiresAt: Date;
  readonly memberId: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly partner: Partner;
}

/** Who calls: a program of a partner by its key, or a person of its team by a session. */
export type Caller = KeyCaller | MemberCaller;

/** Where a session begins. */
export interface SessionOrigin {
  /** Without the host part of the address. */
  readonly network: string;
  readonly browser: string;
}

interface SessionView extends SessionOrigin {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

/**
 * Sessions of members in their browsers, and what members confirm with their passkeys. It caches
 * nothing: an ended session, a removed member or a changed role counts at the next request.
 */
export class MemberSessions {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /** Starts a session and returns its secret of 43 characters, for the cookie only. */
  async start(memberId: string, { network, browser }: SessionOrigin, em: EntityManager): Promise<string> {
    const now = this.#clock.now();
    const secret = randomBytes(32).toString('base64url');
    await sql(
      em,
      `update partner_session set ended_at = ? where member_id = ? and ended_at is null and id not in
         (select id from partner_session where member_id = ? and ended_at is null
           order by created_at desc, id desc limit ?)`,
      [now, memberId, memberId, openSessions - 1],
    );
    await sql(
      em,
      `delete from partner_session s where member_id = ? and ended_at is not null
          and id in (select id from partner_session where member_id = ? and ended_at is not null
                      order by created_at desc, id desc offset ?)
          and not exists (select from partner_confirmation c where c.session_id = s.id)`,
      [memberId, memberId, keptSessions],
    );
    await em.insert(PartnerSession, {
      id: uuidv7(),
      member: memberId,
      secretHash: hashOf(secret),
      network,
      browser: browser.slice(0, 200),
      createdAt: now,
      lastSeenAt: now,
      expiresAt: new Date(now.getTime() + maxSessionMs),
    });
    return secret;
  }

  /**
   * Finds the member of a session by its secret; null when the session is unknown or has ended.
   *
   * @param isActivity Whether the request keeps the session alive.
   */
  async find(secret: string, isActivity: boolean): Promise<MemberCaller | null> {
    if (!/^[\w-]{43}$/.test(secret)) return null;
    const now = this.#clock.now();
    const em = this.#orm.em.fork();
    const session = await em.findOne(
      PartnerSession,
      { secretHash: hashOf(secret), ...isOpen(now), member: { removedAt: null } },
      { populate: ['member.partner'] },
    );
    if (!session) return null;
    const { id, createdAt, expiresAt, member } = session;
    if (isActivity) {
      const seenBefore = new Date(now.getTime() - seenEveryMs);
      if (session.lastSeenAt <= seenBefore) {
        await em.nativeUpdate(PartnerSession, { id, lastSeenAt: { $lte: seenBefore } }, { lastSeenAt: now });
      }
    }
    return {
      kind: 'member',
      sessionId: id,
      signedInAt: createdAt,
      expiresAt,
      memberId: member.id,
      name: member.name,
      role: member.role,
      partner: member.partner,
    };
  }

  /** The open sessions of a member, newest first. */
  list(memberId: string): Promise<SessionView[]> {
    return this.#orm.em
      .fork()
      .find(
        PartnerSession,
        { member: memberId, ...isOpen(this.#clock.now()) },
        { orderBy: { createdAt: 'desc', id: 'desc' } },
      );
  }

  /** Ends a session of a member. Ending an ended one changes nothing. */
  async end(memberId: string, sessionId: string): Promise<void> {
    await this.#endWhere({ id: sessionId, member: memberId }, this.#orm.em.fork());
  }

  async endAll(memberId: string, em: EntityManager): Promise<void> {
    await this.#endWhere({ member: memberId }, em);
  }

  /** Ends the sessions of a member except one. */
  async endOthers(memberId: string, sessionId: string, em: EntityManager): Promise<void> {
    await this.#endWhere({ member: memberId, id: { $ne: sessionId } }, em);
  }

  async #endWhere(which: FilterQuery<PartnerSession>, em: EntityManager): Promise<void> {
    await em.nativeUpdate(PartnerSession, { $and: [which, { endedAt: null }] }, { endedAt: this.#clock.now() });
  }

  /**
   * Lets the request of an approval pass once, for this session and two minutes.
   *
   * @param approval what `approvalOf` says of the request.
   */
  async confirm(sessionId: string, approval: string): Promise<{ confirmation: string; expiresAt: Date }> {
    const confirmation = randomBytes(32).toString('base64url');
    const expiresAt = new Date(this.#clock.now().getTime() + confirmationMs);
    await sql(
      this.#orm.em.fork(),
      'insert into partner_confirmation (token_hash, session_id, operation, expires_at) values (?, ?, ?, ?)',
      [hashOf(confirmation), sessionId, approval, expiresAt],
    );
    return { confirmation, expiresAt };
  }

  /** @throws AppError passkey_required unless this very request was confirmed; it counts once. */
  async requireConfirmation(sessionId: string, approval: string, confirmation: string | undefined): Promise<void> {
    const taken =
      confirmation === undefined
        ? []
        : await sql(
            this.#orm.em.fork(),
            `delete from partner_confirmation
                where token_hash = ? and session_id = ? and operation = ? and expires_at > ? returning operation`,
            [hashOf(confirmation), sessionId, approval, this.#clock.now()],
          );
    if (taken.length === 0) throw new AppError('passkey_required', 'confirm this with your passkey');
  }

  /** Deletes what ended long ago. It runs from time to time. */
  async forgetOld(): Promise<void> {
    const now = this.#clock.now();
    const em = this.#orm.em.fork();
    await sql(em, 'delete from partner_confirmation where expires_at < ?', [now]);
    await em.nativeDelete(PartnerSession, { expiresAt: { $lt: new Date(now.getTime() - keepMs) } });
  }
}

/** A filter for sessions that have not ended. */
function isOpen(now: Date) {
  return { endedAt: null, expiresAt: { $gt: now }, lastSeenAt: { $gt: new Date(now.getTime() - idleMs) } };
}

/**
 * What a passkey approves: one operation, with one target and one body. An answer to one approval
 * is refused for every other.
 *
 * @param digest SHA-256 of the request, as the contract describes it.
 */
export function approvalOf(operation: string, digest: string): string {
  return `${operation} ${digest}`;
}

/** The stored hash of a secret of 256 random bits. That much randomness needs no slow hash. */
export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
