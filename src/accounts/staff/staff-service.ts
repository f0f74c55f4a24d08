import { randomBytes } from 'node:crypto';
import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { brokenConstraint } from '../../base/db/database.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { generateKey, type KeyHasher } from '../partners/secret-key.ts';
import { approvalDelayMs, isActive } from './approvals.ts';
import { endSessions } from './end-sessions.ts';
import { personOf } from './person.ts';
import { hashOfSecret } from './staff-authenticator.ts';
import { StaffMember, type StaffRole, staffRoles } from './staff-member.entity.ts';

/** A token with its secret, which cannot be read again. */
export interface IssuedToken {
  readonly member: StaffMember;
  readonly token: string;
}

/** A member with an enrolment code; null where members sign in at the identity provider. */
interface Enrolment {
  readonly member: StaffMember;
  readonly enrolmentCode: string | null;
}

/** How long an enrolment code can be used. */
const enrolmentMs = 72 * 3_600_000;

/** Members of staff and their tokens. Methods that take `em` join the caller's transaction. */
export class StaffService {
  readonly #orm: MikroORM;
  readonly #hasher: KeyHasher;
  readonly #clock: Clock;
  readonly #hasProvider: boolean;

  /**
   * @param hasProvider Whether members sign in at an identity provider, so that new members get no
   *   code.
   */
  constructor(orm: MikroORM, hasher: KeyHasher, clock: Clock, hasProvider = false) {
    this.#hasProvider = hasProvider;
    this.#orm = orm;
    this.#hasher = hasher;
    this.#clock = clock;
  }

  /**
   * Creates a member with a token, in a separate transaction. @throws AppError already_exists,
   * invalid_value
   */
  async create(email: string, role: StaffRole): Promise<IssuedToken> {
    return this.#orm.em.fork().transactional((em) => this.invite(em, email, role));
  }

  async list(em: EntityManager = this.#orm.em.fork()): Promise<StaffMember[]> {
    return em.find(StaffMember, {}, { orderBy: { createdAt: 'asc' }, limit: 1000 });
  }

  /** @throws AppError staff_not_found */
  async byEmail(em: EntityManager, email: string): Promise<StaffMember> {
    const member = await em.findOne(StaffMember, { email: email.trim().toLowerCase() });
    if (!member) throw new AppError('staff_not_found', `there is no member of staff with the address '${email}'`);
    return member;
  }

  /** @throws AppError staff_not_found */
  async byId(em: EntityManager, id: string): Promise<StaffMember> {
    return (await this.#lock(em, id)).member;
  }

  /**
   * Creates a member with a token, for operators with a shell. The first admin may approve at once,
   * every other member after a day.
   *
   * @throws AppError already_exists, invalid_value
   */
  async invite(em: EntityManager, email: string, role: StaffRole): Promise<IssuedToken> {
    const member = await this.#newMember(em, email, role);
    if ((await em.count(StaffMember, { role: 'admin', revokedAt: null })) === 0) member.approvesFrom = null;
    const token = this.#giveToken(member);
    await persistNew(em, member);
    return { member, token };
  }

  /** Creates a member with an enrolment code. @throws AppError already_exists, invalid_value */
  async inviteByCode(em: EntityManager, email: string, role: StaffRole): Promise<Enrolment> {
    const member = await this.#newMember(em, email, role);
    const enrolmentCode = this.#giveCode(member);
    await persistNew(em, member);
    return { member, enrolmentCode };
  }

  /**
   * Gives a member another role and ends the member's sessions. A lower role ends the token too.
   * The member approves nothing for a day.
   *
   * @throws AppError staff_not_found; action_not_possible for a revoked member and for the last
   *   admin
   */
  async changeRole(em: EntityManager, id: string, role: StaffRole): Promise<StaffMember> {
    const { member, isLastAdmin } = await this.#lock(em, id);
    requireUnrevoked(member);
    if (member.role === role) return member;
    if (isLastAdmin) throw lastAdmin(member);
    if (staffRoles.indexOf(role) < staffRoles.indexOf(member.role)) takeToken(member);
    member.role = role;
    member.approvesFrom = this.#rested();
    await em.flush();
    await endSessions(em, member.id, this.#clock.now());
    return member;
  }

  /** Changes the role as `changeRole` does. A member whose token ended gets an enrolment code. */
  async changeRoleByCode(em: EntityManager, id: string, role: StaffRole): Promise<Enrolment> {
    const hadToken = (await this.#lock(em, id)).member.tokenId !== null;
    const member = await this.changeRole(em, id, role);
    const enrolmentCode = hadToken && member.tokenId === null ? this.#giveCode(member) : null;
    await em.flush();
    return { member, enrolmentCode };
  }

  /**
   * Locks a member out until `resume` or `revoke`. Suspending a suspended member changes nothing.
   *
   * @throws AppError staff_not_found
   */
  async suspend(em: EntityManager, id: string): Promise<void> {
    const { member } = await this.#lock(em, id);
    member.suspendedAt ??= this.#clock.now();
    await em.flush();
    await endSessions(em, member.id, this.#clock.now());
  }

  /**
   * Lets a suspended member act again, and withdraws the proposal to revoke the member.
   *
   * @throws AppError staff_not_found
   */
  async resume(em: EntityManager, id: string): Promise<StaffMember> {
    const { member } = await this.#lock(em, id);
    member.suspendedAt = null;
    await em.flush();
    await sql(
      em,
      `update staff_change set state = 'rejected', decided_at = ?
        where member_id = ? and change = 'revoke' and state = 'proposed'`,
      [this.#clock.now(), member.id],
    );
    return member;
  }

  /** Ends a member's token, enrolment code and sessions. @throws AppError staff_not_found */
  async endAccess(em: EntityManager, id: string): Promise<void> {
    const { member } = await this.#lock(em, id);
    takeToken(member);
    await em.flush();
    await endSessions(em, member.id, this.#clock.now());
  }

  /**
   * Gives a member an enrolment code in place of the token. The token and all sessions end.
   *
   * @throws AppError staff_not_found; action_not_possible for a revoked member
   */
  async renewByCode(em: EntityManager, id: string): Promise<Enrolment> {
    const { member } = await this.#lock(em, id);
    requireUnrevoked(member);
    takeToken(member);
    member.oidcSubject = null;
    // An explicit request for a code gets one, even with an identity provider.
    const enrolmentCode = this.#newCode(member);
    member.approvesFrom = this.#rested();
    await em.flush();
    await endSessions(em, member.id, this.#clock.now());
    return { member, enrolmentCode };
  }

  /**
   * Makes the token of the member who owns an enrolment code. A code works once and for three days.
   * The member's day without approvals starts again, so that a stored code cannot be used to
   * approve at once.
   *
   * @returns null for a code that is unknown, used or expired.
   */
  async enrol(em: EntityManager, code: string): Promise<IssuedToken | null> {
    if (!isEnrolmentCode(code)) return null;
    const member = await em.findOne(
      StaffMember,
      { enrolmentHash: hashOfSecret(code), enrolmentEndsAt: { $gt: this.#clock.now() } },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!member || !isActive(member)) return null;
    const token = this.#giveToken(member);
    member.approvesFrom = this.#rested();
    await em.flush();
    return { member, token };
  }

  /**
   * Ends a member's token and sessions at once. Revoking a revoked member changes nothing.
   *
   * @throws AppError staff_not_found; action_not_possible for the last admin
   */
  async revoke(em: EntityManager, id: string): Promise<StaffMember> {
    const { member, isLastAdmin } = await this.#lock(em, id);
    if (isLastAdmin) throw lastAdmin(member);
    member.revokedAt ??= this.#clock.now();
    takeCode(member);
    await em.flush();
    await endSessions(em, member.id, this.#clock.now());
    return member;
  }

  /**
   * Gives a member a new token. The old token ends. All sessions end too, because one of them may
   * have begun with it.
   *
   * @throws AppError staff_not_found; action_not_possible for a revoked member
   */
  async rotateToken(em: EntityManager, id: string): Promise<IssuedToken> {
    const { member } = await this.#lock(em, id);
    requireUnrevoked(member);
    member.oidcSubject = null;
    const token = this.#giveToken(member);
    // Without another admin who could approve, a lost token would block all approvals for a day.
    const others = await em.count(StaffMember, { role: 'admin', revokedAt: null, id: { $ne: member.id } });
    member.approvesFrom = others === 0 && member.role === 'admin' ? null : this.#rested();
    await em.flush();
    await endSessions(em, member.id, this.#clock.now());
    return { member, token };
  }

  /** Checks an address and returns it as it is stored. @throws AppError invalid_value */
  checkedEmail(email: string): string {
    const address = email.trim().toLowerCase();
    // Control characters would break logs and terminals.
    if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(address) || /\p{Cc}/u.test(address)) {
      throw new AppError('invalid_value', `'${email.slice(0, 80)}' is not an e-mail address`);
    }
    return address;
  }

  /**
   * Creates a member.
   *
   * @throws AppError already_exists also for another spelling of a member's address.
   */
  async #newMember(em: EntityManager, email: string, role: StaffRole): Promise<StaffMember> {
    const address = this.checkedEmail(email);
    const members = await em.find(StaffMember, { revokedAt: null }, { fields: ['email'] });
    const same = members.find((member) => personOf(member.email) === personOf(address));
    if (same) {
      throw new AppError('already_exists', `there is a member of staff with the address ${same.email} already`);
    }
    return Object.assign(new StaffMember(), {
      id: uuidv7(),
      email: address,
      role,
      tokenId: null,
      tokenMac: null,
      pepperVersion: null,
      createdAt: this.#clock.now(),
      approvesFrom: this.#rested(),
      suspendedAt: null,
      oidcSubject: null,
      enrolmentHash: null,
      enrolmentEndsAt: null,
      revokedAt: null,
    });
  }

  #giveToken(member: StaffMember): string {
    const token = generateKey('xs_');
    const { mac, pepperVersion } = this.#hasher.hash(token);
    Object.assign(member, { tokenId: token.keyId, tokenMac: mac, pepperVersion });
    takeCode(member);
    return token.whole;
  }

  #giveCode(member: StaffMember): string | null {
    return this.#hasProvider ? null : this.#newCode(member);
  }

  #newCode(member: StaffMember): string {
    const code = `xe_${randomBytes(32).toString('base64url')}`;
    member.enrolmentHash = hashOfSecret(code);
    member.enrolmentEndsAt = new Date(this.#clock.now().getTime() + enrolmentMs);
    return code;
  }

  /** The moment from which a member who was invited or changed now may approve. */
  #rested(): Date {
    return new Date(this.#clock.now().getTime() + approvalDelayMs);
  }

  /**
   * Locks the member, and all admins with it, in one order, until the transaction ends. Otherwise
   * two admins who revoke each other at once would each find another admin left. The lock does not
   * block rows that only refer to a member.
   */
  async #lock(em: EntityManager, id: string): Promise<{ member: StaffMember; isLastAdmin: boolean }> {
    const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
    if (!isId) throw noMember(id);
    const rows = await sql<{ id: string; is_admin: boolean }>(
      em,
      `select id, role = 'admin' and revoked_at is null as is_admin from staff_member
        where (role = 'admin' and revoked_at is null) or id = ? order by id for no key update`,
      [id],
    );
    const member = await em.findOne(StaffMember, { id }, { refresh: true });
    if (!member) throw noMember(id);
    const admins = rows.filter((row) => row.is_admin);
    return { member, isLastAdmin: admins.length === 1 && admins[0]?.id === member.id };
  }
}

/** Whether text has the form of an enrolment code. */
export function isEnrolmentCode(text: string): boolean {
  return /^xe_[\w-]{43}$/.test(text);
}

function takeToken(member: StaffMember): void {
  Object.assign(member, { tokenId: null, tokenMac: null, pepperVersion: null });
  takeCode(member);
}

function takeCode(member: StaffMember): void {
  Object.assign(member, { enrolmentHash: null, enrolmentEndsAt: null });
}

function noMember(id: string): AppError {
  return new AppError('staff_not_found', `there is no member of staff with the id '${id.slice(0, 80)}'`);
}

async function persistNew(em: EntityManager, member: StaffMember): Promise<void> {
  try {
    await em.persist(member).flush();
  } catch (error) {
    if (brokenConstraint(error) === 'staff_member_email_key') {
      throw new AppError('already_exists', `there is a member of staff with the address ${member.email} already`);
    }
    throw error;
  }
}

function requireUnrevoked(member: StaffMember): void {
  if (member.revokedAt === null) return;
  throw new AppError('action_not_possible', `${member.email} is revoked; invite the person under another address`);
}

function lastAdmin(member: StaffMember): AppError {
  const detail = `${member.email} is the last admin; make another member an admin first`;
  return new AppError('action_not_possible', detail);
}
