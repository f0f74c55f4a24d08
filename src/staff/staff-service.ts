import type { MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { brokenConstraint } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { generateKey, type KeyHasher } from '../partners/secret-key.ts';
import { StaffMember, type StaffRole } from './staff-member.entity.ts';

/** A token at the one moment when it is whole. It cannot be read again. */
export interface IssuedToken {
  readonly member: StaffMember;
  readonly token: string;
}

/** Members of staff and their tokens for the internal API. */
export class StaffService {
  readonly #orm: MikroORM;
  readonly #hasher: KeyHasher;
  readonly #clock: Clock;

  constructor(orm: MikroORM, hasher: KeyHasher, clock: Clock) {
    this.#orm = orm;
    this.#hasher = hasher;
    this.#clock = clock;
  }

  /** @throws AppError already_exists, invalid_value */
  async create(email: string, role: StaffRole): Promise<IssuedToken> {
    const address = email.trim().toLowerCase();
    if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(address)) {
      throw new AppError('invalid_value', `'${email.slice(0, 80)}' is not an e-mail address`);
    }
    const token = generateKey('xs_');
    const { mac, pepperVersion } = this.#hasher.hash(token);
    const em = this.#orm.em.fork();
    const member = em.create(StaffMember, {
      id: uuidv7(),
      email: address,
      role,
      tokenId: token.keyId,
      tokenMac: mac,
      pepperVersion,
      createdAt: this.#clock.now(),
      revokedAt: null,
    });
    try {
      await em.flush();
    } catch (error) {
      if (brokenConstraint(error) === 'staff_member_email_key') {
        throw new AppError('already_exists', `there is a member of staff with the address ${address} already`);
      }
      throw error;
    }
    return { member, token: token.whole };
  }

  async list(): Promise<StaffMember[]> {
    return this.#orm.em.fork().find(StaffMember, {}, { orderBy: { createdAt: 'asc' }, limit: 1000 });
  }

  /** Ends a member's token at once. @throws AppError staff_not_found */
  async revoke(email: string): Promise<StaffMember> {
    return this.#orm.em.fork().transactional(async (em) => {
      const member = await em.findOne(StaffMember, { email: email.trim().toLowerCase() });
      if (!member) throw new AppError('staff_not_found', `there is no member of staff with the address '${email}'`);
      member.revokedAt ??= this.#clock.now();
      return member;
    });
  }
}
