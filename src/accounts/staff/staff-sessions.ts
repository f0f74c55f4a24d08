import { randomBytes } from 'node:crypto';
import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { approvalDelayMs, isActive } from './approvals.ts';
import { AuditLog } from './audit/audit-log.ts';
import { hashOfSecret, idleMs, type StaffAuthenticator } from './staff-authenticator.ts';
import { StaffMember } from './staff-member.entity.ts';
import type { IssuedToken, StaffService } from './staff-service.ts';
import { StaffSession } from './staff-session.entity.ts';

/** The longest life of a session, even while it is used. */
export const maxSessionMs = 10 * 3_600_000;
/** Limit of a member's sessions at one time; a further one ends the oldest. */
const openSessions = 10;
/** How long ended sessions are kept, for investigations. */
const keepMs = 90 * 24 * 3_600_000;
const signInMs = 10 * 60_000;

/** A session with its secret, which is shown only now. */
export interface StartedSession {
  readonly member: StaffMember;
  readonly session: StaffSession;
  /** 43 characters, for the browser's cookie only. */
  readonly secret: string;
}

/** The values that an identity provider's answer is checked against. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
}

/** An account at an identity provider. */
interface ProviderAccount {
  readonly issuer: string;
  readonly subject: string;
}

/** The open sessions of a member, the newest first. */
export function openSessionsOf(em: EntityManager, staffId: string, now: Date): Promise<StaffSession[]> {
  return em.find(
    StaffSession,
    {
      staff: staffId,
      endedAt: null,
      expiresAt: { $gt: now },
      lastSeenAt: { $gt: new Date(now.getTime() - idleMs) },
    },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit: openSessions },
  );
}

/** Sessions of staff in their browsers. */
export class StaffSessions {
  readonly #orm: MikroORM;
  readonly #authenticator: StaffAuthenticator;
  readonly #clock: Clock;

  constructor(orm: MikroORM, authenticator: StaffAuthenticator, clock: Clock) {
    this.#orm = orm;
    this.#authenticator = authenticator;
    this.#clock = clock;
  }

  /**
   * Starts a session for the holder of a token; null when the token is unknown, forged or ended.
   */
  async signIn(token: string): Promise<StartedSession | null> {
    return this.#orm.em.fork().transactional(async (em) => {
      const member = await this.#authenticator.memberOfToken(em, token, LockMode.PESSIMISTIC_READ);
      return member && this.#start(em, member, 'token');
    });
  }

  /**
   * Makes a member's token with an enrolment code, starts a session, and writes both to the audit
   * log. Null for a code that is unknown, used or expired.
   */
  async enrol(
    code: string,
    staff: StaffService,
    request: { readonly requestId: string; readonly ip: string },
  ): Promise<(StartedSession & IssuedToken) | null> {
    return this.#orm.em.fork().transactional(async (em) => {
      const issued = await staff.enrol(em, code);
      if (!issued) return null;
      const started = await this.#start(em, issued.member, 'token');
      const { id } = issued.member;
      const audit = new AuditLog(this.#orm, this.#clock);
      await audit.write(em, { staffId: id, ...request }, 'staffEnrol', 'used an enrolment code', {
        target: `staff:${id}`,
      });
      return { ...started, ...issued };
    });
  }

  /**
   * Starts a session for an e-mail address that an identity provider has verified; null unless it
   * is the address of an active member. A sign-in never creates a member. The first sign-in binds
   * the member to the account at the provider. Another account with the member's address is refused
   * from then on, and so is the same account with another member's address.
   *
   * @param account names the account at the provider, for good.
   */
  async signInVerified(email: string, account: ProviderAccount): Promise<StartedSession | null> {
    return this.#orm.em.fork().transactional(async (em) => {
      const where = { email: email.trim().toLowerCase(), revokedAt: null };
      const member = await em.findOne(StaffMember, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (!member || !isActive(member)) return null;
      const subject = `${account.issuer} ${account.subject}`;
      if (member.oidcSubject !== subject) {
        if (member.oidcSubject?.startsWith(`${account.issuer} `)) return null;
        if ((await em.count(StaffMember, { oidcSubject: subject })) > 0) return null;
        // The day without approvals begins with the first sign-in of a member without a token.
        // Before it, the member could not do anything.
        if (member.tokenId === null && member.approvesFrom !== null) {
          member.approvesFrom = new Date(this.#clock.now().getTime() + approvalDelayMs);
        }
        member.oidcSubject = subject;
      }
      return this.#start(em, member, 'oidc');
    });
  }

  /** Ends one session. Ending an ended session changes nothing. */
  async end(sessionId: string): Promise<void> {
    const em = this.#orm.em.fork();
    await em.nativeUpdate(StaffSession, { id: sessionId, endedAt: null }, { endedAt: this.#clock.now() });
  }

  /**
   * Stores a sign-in that goes to the identity provider. Returns the secret that the browser must
   * bring back, in a cookie.
   */
  async begin(checks: SignInChecks): Promise<string> {
    const secret = randomBytes(32).toString('base64url');
    await sql(
      this.#orm.em.fork(),
      `insert into staff_sign_in (browser_hash, state, nonce, code_verifier, return_to, expires_at)
       values (?, ?, ?, ?, ?, ?)`,
      [
        hashOfSecret(secret),
        checks.state,
        checks.nonce,
        checks.codeVerifier,
        checks.returnTo,
        new Date(this.#clock.now().getTime() + signInMs),
      ],
    );
    return secret;
  }

  /**
   * Takes out the sign-in that this browser began with this state; null when there is none, or it
   * expired.
   */
  async takeUp(secret: string, state: string): Promise<SignInChecks | null> {
    const [row] = await sql<{ nonce: string; code_verifier: string; return_to: string }>(
      this.#orm.em.fork(),
      `delete from staff_sign_in where browser_hash = ? and state = ? and expires_at > ?
         returning nonce, code_verifier, return_to`,
      [hashOfSecret(secret), state, this.#clock.now()],
    );
    return row ? { state, nonce: row.nonce, codeVerifier: row.code_verifier, returnTo: row.return_to } : null;
  }

  /** Deletes sessions and sign-ins that ended long ago. It runs from time to time. */
  async forgetOld(): Promise<void> {
    const now = this.#clock.now();
    const em = this.#orm.em.fork();
    await em.nativeDelete(StaffSession, { expiresAt: { $lt: new Date(now.getTime() - keepMs) } });
    await sql(em, 'delete from staff_sign_in where expires_at < ?', [now]);
  }

  async #start(em: EntityManager, member: StaffMember, via: StaffSession['via']): Promise<StartedSession> {
    const now = this.#clock.now();
    const secret = randomBytes(32).toString('base64url');
    await sql(
      em,
      `update staff_session set ended_at = ? where staff_id = ? and ended_at is null and id not in
         (select id from staff_session where staff_id = ? and ended_at is null order by created_at desc, id desc limit ?)`,
      [now, member.id, member.id, openSessions - 1],
    );
    const session = em.create(StaffSession, {
      id: uuidv7(),
      secretHash: hashOfSecret(secret),
      staff: member,
      via,
      createdAt: now,
      lastSeenAt: now,
      expiresAt: new Date(now.getTime() + maxSessionMs),
      endedAt: null,
    });
    em.persist(session);
    return { member, session, secret };
  }
}
