import { randomBytes } from 'node:crypto';
import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { AuditLog } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { isActive, restMs } from './approvals.ts';
import { hashOfSecret, type StaffAuthenticator } from './staff-authenticator.ts';
import { StaffMember } from './staff-member.entity.ts';
import type { IssuedToken, StaffService } from './staff-service.ts';
import { StaffSession } from './staff-session.entity.ts';

/** A session ends after so long, whatever is done with it. */
export const absoluteMs = 10 * 3_600_000;
/** A member's browsers at one time; a further one ends the oldest. */
const openSessions = 10;
/** Sessions that are over are kept for looking into what happened. */
const keepMs = 90 * 24 * 3_600_000;
const signInMs = 10 * 60_000;

/** A session at the one moment when its secret is whole. */
export interface StartedSession {
  readonly member: StaffMember;
  readonly session: StaffSession;
  /** 43 characters, for the browser's cookie only. */
  readonly secret: string;
}

/** What an identity provider's answer is checked against. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
}

/** An account at an identity provider. */
export interface ProviderAccount {
  readonly issuer: string;
  readonly subject: string;
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

  /** Starts a session for whoever holds a token; null when the token is unknown, forged or ended. */
  async signIn(token: string): Promise<StartedSession | null> {
    return this.#orm.em.fork().transactional(async (em) => {
      const member = await this.#authenticator.memberOfToken(em, token, LockMode.PESSIMISTIC_READ);
      return member && this.#start(em, member, 'token');
    });
  }

  /**
   * Makes a member's token with an enrolment code, starts a session, and writes both down; null for a code that is unknown,
   * used or over.
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
   * Starts a session for an e-mail address that an identity provider has verified; null unless it is that of an active
   * member. Nobody becomes a member by signing in. The first sign-in binds the member to the account there: another account
   * with the member's address, and the same account with another member's, are refused.
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
        // The day of a member without a token begins with the first sign-in, as nothing could be done before.
        if (member.tokenId === null && member.approvesFrom !== null) {
          member.approvesFrom = new Date(this.#clock.now().getTime() + restMs);
        }
        member.oidcSubject = subject;
      }
      return this.#start(em, member, 'oidc');
    });
  }

  /** Ends one session. Ending one that is over changes nothing. */
  async end(sessionId: string): Promise<void> {
    const em = this.#orm.em.fork();
    await em.execute('update staff_session set ended_at = ? where id = ? and ended_at is null', [
      this.#clock.now(),
      sessionId,
    ]);
  }

  /** Remembers a sign-in that goes to the identity provider. Returns what the browser must bring back, in a cookie. */
  async begin(checks: SignInChecks): Promise<string> {
    const secret = randomBytes(32).toString('base64url');
    await this.#orm.em.fork().execute(
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

  /** Takes out the sign-in that this browser began with this state; null when there is none, or it took too long. */
  async takeUp(secret: string, state: string): Promise<SignInChecks | null> {
    const [row] = await this.#orm.em.fork().execute<{ nonce: string; code_verifier: string; return_to: string }[]>(
      `delete from staff_sign_in where browser_hash = ? and state = ? and expires_at > ?
         returning nonce, code_verifier, return_to`,
      [hashOfSecret(secret), state, this.#clock.now()],
    );
    return row ? { state, nonce: row.nonce, codeVerifier: row.code_verifier, returnTo: row.return_to } : null;
  }

  /** Deletes what is long over; called now and then. */
  async forgetOld(): Promise<void> {
    const now = this.#clock.now();
    const em = this.#orm.em.fork();
    await em.execute('delete from staff_session where expires_at < ?', [new Date(now.getTime() - keepMs)]);
    await em.execute('delete from staff_sign_in where expires_at < ?', [now]);
  }

  async #start(em: EntityManager, member: StaffMember, via: StaffSession['via']): Promise<StartedSession> {
    const now = this.#clock.now();
    const secret = randomBytes(32).toString('base64url');
    await em.execute(
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
      expiresAt: new Date(now.getTime() + absoluteMs),
      endedAt: null,
    });
    em.persist(session);
    return { member, session, secret };
  }
}

/** Ends all sessions of a member, within the caller's unit of work. */
export async function endSessions(em: EntityManager, staffId: string, now: Date): Promise<void> {
  await em.execute('update staff_session set ended_at = ? where staff_id = ? and ended_at is null', [now, staffId]);
}
