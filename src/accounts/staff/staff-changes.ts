import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { brokenConstraint } from '../../base/db/database.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { isActive, isSamePerson, requireApprover } from './approvals.ts';
import { isPermitted } from './permissions.ts';
import { StaffChange, type StaffChangeName } from './staff-change.entity.ts';
import { StaffMember, type StaffRole } from './staff-member.entity.ts';
import type { StaffService } from './staff-service.ts';

/** The change that an admin proposes. */
export interface StaffChangeProposal {
  readonly change: StaffChangeName;
  /** For an invitation. */
  readonly email?: string;
  /** For an invitation, and for another role. */
  readonly role?: StaffRole;
  /** For every change but an invitation. */
  readonly memberId?: string;
  readonly reason: string;
}

/** The present state of a change. */
export interface StaffChangeOutcome {
  readonly change: StaffChange;
  readonly member: StaffMember | null;
  /**
   * The code with which the member makes a token, once. It is shown to the admin who carried the
   * change out, and never again.
   */
  readonly enrolmentCode: string | null;
}

/**
 * Changes of staff by admins. Where there is another admin, a change waits for that admin's
 * approval. So one admin alone cannot invite a puppet, promote one, or take a colleague's place. A
 * change that takes access away holds from its proposal on; one that gives access waits. Methods
 * join the caller's transaction.
 */
export class StaffChanges {
  readonly #staff: StaffService;
  readonly #clock: Clock;

  constructor(staff: StaffService, clock: Clock) {
    this.#staff = staff;
    this.#clock = clock;
  }

  /**
   * Carries a change out when there is no other admin, and stores it for another admin's approval
   * otherwise. A change that could not be carried out is refused now.
   *
   * @throws AppError insufficient_role, staff_not_found, already_exists, invalid_value,
   *   action_not_possible
   */
  async propose(em: EntityManager, proposal: StaffChangeProposal, proposedBy: string): Promise<StaffChangeOutcome> {
    const now = this.#clock.now();
    const { isAlone } = await this.#lockAdmins(em, proposedBy);
    const change = em.create(StaffChange, {
      id: uuidv7(),
      change: proposal.change,
      memberId: proposal.memberId === undefined ? null : (await this.#staff.byId(em, proposal.memberId)).id,
      email: proposal.email === undefined ? null : this.#staff.checkedEmail(proposal.email),
      role: proposal.role ?? null,
      reason: proposal.reason.trim(),
      state: 'proposed',
      alone: isAlone,
      proposedBy,
      proposedAt: now,
      decidedBy: null,
      decidedAt: null,
    });
    em.persist(change);
    await writeOnce(em);
    if (isAlone) return this.#carryOut(em, change, proposedBy);
    await this.#rehearse(em, change);
    if (change.change === 'revoke') await this.#staff.suspend(em, change.memberId ?? '');
    if (change.change === 'token') await this.#staff.endAccess(em, change.memberId ?? '');
    return { change, member: await this.#memberOf(em, change), enrolmentCode: null };
  }

  /**
   * Carries out a change that another admin proposed.
   *
   * @throws AppError as `requireApprover` does; action_not_found; action_not_possible when it was
   *   decided before, or cannot be carried out any more.
   */
  async approve(em: EntityManager, id: string, staffId: string): Promise<StaffChangeOutcome> {
    await this.#lockAdmins(em, staffId);
    const change = await this.#open(em, id);
    await requireApprover(em, {
      approver: staffId,
      proposer: change.proposedBy,
      permission: 'staff:write',
      now: this.#clock.now(),
    });
    return this.#carryOut(em, change, staffId);
  }

  /** Rejects a change, or withdraws it. A member whom it suspended may act again. */
  async reject(em: EntityManager, id: string, staffId: string): Promise<StaffChangeOutcome> {
    await this.#lockAdmins(em, staffId);
    const change = await this.#open(em, id);
    change.state = 'rejected';
    change.decidedBy = staffId;
    change.decidedAt = this.#clock.now();
    await em.flush();
    if (change.change === 'revoke') await this.#staff.resume(em, change.memberId ?? '');
    return { change, member: await this.#memberOf(em, change), enrolmentCode: null };
  }

  /**
   * Locks all admins until the transaction ends, and tells whether this admin is alone. An admin is
   * alone when no other person is an admin. A suspended admin, or one who may not approve yet,
   * counts as another. Otherwise an admin could become alone by suspending the others.
   *
   * @throws AppError insufficient_role for a member who is no active admin any more.
   */
  async #lockAdmins(em: EntityManager, staffId: string): Promise<{ isAlone: boolean }> {
    await sql(
      em,
      `select 1 from staff_member where revoked_at is null and (role = 'admin' or id = ?) order by id for no key update`,
      [staffId],
    );
    const admins = await em.find(StaffMember, { role: 'admin', revokedAt: null }, { refresh: true });
    const self = admins.find(({ id }) => id === staffId);
    if (!self || !isActive(self) || !isPermitted(self.role, 'staff:write')) {
      throw new AppError('insufficient_role', 'your role does not include this');
    }
    return { isAlone: admins.every((admin) => isSamePerson(admin, self)) };
  }

  async #open(em: EntityManager, id: string): Promise<StaffChange> {
    const change = await em.findOne(StaffChange, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!change) throw new AppError('action_not_found', 'there is no such change');
    if (change.state === 'proposed') return change;
    throw new AppError('action_not_possible', `this was decided before: it is ${change.state}`);
  }

  async #carryOut(em: EntityManager, change: StaffChange, staffId: string): Promise<StaffChangeOutcome> {
    const { member, enrolmentCode } = await this.#effect(em, change);
    change.memberId = member.id;
    change.state = 'done';
    change.decidedBy = staffId;
    change.decidedAt = this.#clock.now();
    await em.flush();
    return { change, member, enrolmentCode };
  }

  async #effect(
    em: EntityManager,
    { change, memberId, email, role }: StaffChange,
  ): Promise<{ member: StaffMember; enrolmentCode: string | null }> {
    const id = memberId ?? '';
    switch (change) {
      case 'invite':
        return this.#staff.inviteByCode(em, email ?? '', role ?? 'viewer');
      case 'role':
        return this.#staff.changeRoleByCode(em, id, role ?? 'viewer');
      case 'token':
        return this.#staff.renewByCode(em, id);
      case 'revoke':
        return { member: await this.#staff.revoke(em, id), enrolmentCode: null };
    }
  }

  /**
   * Finds out what would block an approval: it carries the change out on the caller's connection
   * and rolls it back.
   */
  async #rehearse(outer: EntityManager, change: StaffChange): Promise<void> {
    const undo = new Error('the rehearsal is over');
    const rehearsal = outer.fork({ clear: true, keepTransactionContext: true }).transactional(async (em) => {
      await this.#effect(em, change);
      await em.flush();
      throw undo;
    });
    await rehearsal.catch((error) => {
      if (error !== undo) throw error;
    });
  }

  async #memberOf(em: EntityManager, { memberId }: StaffChange): Promise<StaffMember | null> {
    return memberId === null ? null : em.findOne(StaffMember, { id: memberId }, { refresh: true });
  }
}

/** Writes a proposal. A second open proposal of the same change is refused. */
async function writeOnce(em: EntityManager): Promise<void> {
  try {
    await em.flush();
  } catch (error) {
    if (brokenConstraint(error) !== 'staff_change_open_once') throw error;
    throw new AppError('already_exists', 'the same is proposed already; approve or reject that first', {
      cause: error,
    });
  }
}
