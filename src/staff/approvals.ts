import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../errors.ts';
import { isPermitted, type Permission } from './permissions.ts';
import { personOf } from './person.ts';
import { StaffMember } from './staff-member.entity.ts';

/**
 * How long a member approves nothing after an invitation, an enrolment, a new token or another role: time for the other
 * members to see who came, in the audit log and in what needs attention.
 */
export const restMs = 24 * 3_600_000;

/**
 * The one rule of who may approve what another member proposed. Both members are locked until the caller's transaction
 * ends, so that neither a role nor a suspension changes in between.
 *
 * @throws AppError second_member_needed for the proposer, under whatever address; insufficient_role for a member who may
 *   not approve this, or not any more; approval_too_early within a day of an invitation, a new token or another role.
 */
export async function requireApprover(
  em: EntityManager,
  { approver, proposer, permission, now }: { approver: string; proposer: string; permission: Permission; now: Date },
): Promise<void> {
  await em.execute('select 1 from staff_member where id in (?, ?) order by id for share', [approver, proposer]);
  const [one, other] = await Promise.all([reread(em, approver), reread(em, proposer)]);
  if (one.id === other.id || isSamePerson(one, other)) {
    throw new AppError('second_member_needed', 'whoever proposed this cannot approve it; ask another member');
  }
  if (!isActive(one) || !isPermitted(one.role, permission)) {
    throw new AppError('insufficient_role', 'your role does not include this');
  }
  if (one.approvesFrom !== null && one.approvesFrom > now) {
    const from = one.approvesFrom.toISOString();
    throw new AppError(
      'approval_too_early',
      `members approve nothing for 24 hours after they were invited, enrolled, or got a new token or role; you may from ${from} on`,
    );
  }
}

/** Whether a member may act at all. */
export function isActive({ revokedAt, suspendedAt }: StaffMember): boolean {
  return revokedAt === null && suspendedAt === null;
}

/** Whether two rows are one person: the same mailbox, or the same account at the identity provider. */
export function isSamePerson(one: StaffMember, other: StaffMember): boolean {
  if (one.oidcSubject !== null && one.oidcSubject === other.oidcSubject) return true;
  return personOf(one.email) === personOf(other.email);
}

async function reread(em: EntityManager, id: string): Promise<StaffMember> {
  const member = await em.findOne(StaffMember, { id }, { refresh: true });
  if (!member) throw new AppError('staff_not_found', 'there is no such member of staff');
  return member;
}
