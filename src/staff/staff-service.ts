import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { brokenConstraint } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { generateKey, type KeyHasher } from '../partners/secret-key.ts';
import { StaffMember, type StaffRole } from './staff-member.entity.ts';
import { endSessions } from './staff-sessions.ts';

/** A token at the one moment when it is whole. It cannot be read again. */
export interface IssuedToken {
  readonly member: StaffMember;
  readonly token: string;
}

/** Members of staff and their tokens. Methods that take `em` join the caller's transaction. */
export class StaffService {
  readonly #orm: MikroORM;
  readonly #hasher: KeyHasher;
  readonly #clock: Clock;

  constructor(orm: MikroORM, hasher: KeyHasher, clock: Clock) {
    this.#orm = orm;
    this.#hasher = hasher;
    this.#clock = clock;
  }

  /** A new member with a token, in a transaction of its own. @throws AppError already_exists, invalid_value */
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

  /** A new member with a token. @throws AppError already_exists, invalid_value */
  async invite(em: EntityManager, email: string, role: StaffRole): Promise<IssuedToken> {
    const member = this.#newMember(email, role);
    const token = this.#giveToken(member);
    await persistNew(em, member);
    return { member, token };
  }

  /**
   * A new member who signs in at the identity provider and has no token; `rotateToken` gives one.
   *
   * @throws AppError already_exists, invalid_value
   */
  async inviteWithoutToken(em: EntityManager, email: string, role: StaffRole): Promise<StaffMember> {
    const member = this.#newMember(email, role);
    await persistNew(em, member);
    return member;
  }

  /**
   * Gives a member another role and ends the member's sessions, so that whoever sits there signs in anew.
   *
   * @throws AppError staff_not_found; action_not_possible for a revoked member and for the last admin
   */
  async changeRole(em: EntityManager, id: string, role: StaffRole): Promise<StaffMember> {
    const { member, isLastAdmin } = await this.#lock(em, id);
    requireUnrevoked(member);
    if (member.role === role) return member;
    if (isLastAdmin) throw lastAdmin(member);
    member.role = role;
    await em.flush();
    await endSessions(em, id, this.#clock.now());
    return member;
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
    await em.flush();
    await endSessions(em, id, this.#clock.now());
    return member;
  }

  /**
   * Gives a member a new token. The old one ends, and so do all sessions, as one of them may have begun with it.
   *
   * @throws AppError staff_not_found; action_not_possible for a revoked member
   */
  async rotateToken(em: EntityManager, id: string): Promise<IssuedToken> {
    const { member } = await this.#lock(em, id);
    requireUnrevoked(member);
    const token = this.#giveToken(member);
    await em.flush();
    await endSessions(em, id, this.#clock.now());
    return { member, token };
  }

  #newMember(email: string, role: StaffRole): StaffMember {
    const address = email.trim().toLowerCase();
    // Control characters would break logs and terminals.
    if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(address) || /\p{Cc}/u.test(address)) {
      throw new AppError('invalid_value', `'${email.slice(0, 80)}' is not an e-mail address`);
    }
    return Object.assign(new StaffMember(), {
      id: uuidv7(),
      email: address,
      role,
      tokenId: null,
      tokenMac: null,
      pepperVersion: null,
      createdAt: this.#clock.now(),
      revokedAt: null,
    });
  }

  #giveToken(member: StaffMember): string {
    const token = generateKey('xs_');
    const { mac, pepperVersion } = this.#hasher.hash(token);
    Object.assign(member, { tokenId: token.keyId, tokenMac: mac, pepperVersion });
    return token.whole;
  }

  /**
   * The member, who stays so until the transaction ends. All admins are locked with it, in one order: two who revoke each
   * other at once would otherwise both find another admin left. The lock lets pass what only refers to a member.
   */
  async #lock(em: EntityManager, id: string): Promise<{ member: StaffMember; isLastAdmin: boolean }> {
    const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
    if (!isId) throw noMember(id);
    const rows = await em.execute<{ id: string; is_admin: boolean }[]>(
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
