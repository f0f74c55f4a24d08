import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { isPermitted, type Permission } from './permissions.ts';
import { personOf } from './person.ts';
import { StaffMember } from './staff-member.entity.ts';

/**
 * How long after an invitation, an enrolment, a new token or another role a member approves
 * nothing. The member's proposals cannot be approved either. The delay gives the other members time
 * to notice, in the audit log and in what needs attention. It applies to both members, because an
 * admin can invite a puppet that proposes as well as one that approves.
 */
export const approvalDelayMs = 24 * 3_600_000;

/**
 * Checks who may approve what another member proposed; there is no other such rule. Both members
 * are locked until the caller's transaction ends, so that neither a role nor a suspension changes
 * in between.
 *
 * @throws AppError
 * - second_member_needed for the proposer, also under another address;
 * - insufficient_role for a member without the permission at present;
 * - approval_too_early while either member is new (`approvalDelayMs`).
 */
export async function requireApprover(
  em: EntityManager,
  { approver, proposer, permission, now }: { approver: string; proposer: string; permission: Permission; now: Date },
): Promise<void> {
  await sql(em, 'select 1 from staff_member where id in (?, ?) order by id for share', [approver, proposer]);
  const [one, other] = await Promise.all([reread(em, approver), reread(em, proposer)]);
  if (one.id === other.id || isSamePerson(one, other)) {
    throw new AppError('second_member_needed', 'the member who proposed this cannot approve it; ask another member');
  }
  if (!isActive(one) || !isPermitted(one.role, permission)) {
    throw new AppError('insufficient_role', 'your role does not include this');
  }
  if (isNew(one, now)) {
    const from = one.approvesFrom?.toISOString();
    throw new AppError(
      'approval_too_early',
      `members approve nothing for 24 hours after they were invited, enrolled, or got a new token or role; you may from ${from} on`,
    );
  }
  if (isNew(other, now)) {
    const from = other.approvesFrom?.toISOString();
    throw new AppError(
      'approval_too_early',
      `the member who proposed this was invited, enrolled, or got a new token or role within 24 hours; it can be approved from ${from} on`,
    );
  }
}

/**
 * From when one member may approve what the other proposed. Null where neither has a delay. The
 * moment may be over.
 */
export function approvableFrom(approver: StaffMember, proposer: StaffMember): Date | null {
  const delays = [approver, proposer].map(({ approvesFrom }) => approvesFrom).filter((from) => from !== null);
  return delays.toSorted((one, other) => one.getTime() - other.getTime()).at(-1) ?? null;
}

function isNew({ approvesFrom }: StaffMember, now: Date): boolean {
  return approvesFrom !== null && approvesFrom > now;
}

/** Whether a member is neither revoked nor suspended. */
export function isActive({ revokedAt, suspendedAt }: StaffMember): boolean {
  return revokedAt === null && suspendedAt === null;
}

/**
 * Whether two rows are one person: the same mailbox, or the same account at the identity provider.
 */
export function isSamePerson(one: StaffMember, other: StaffMember): boolean {
  if (one.oidcSubject !== null && one.oidcSubject === other.oidcSubject) return true;
  return personOf(one.email) === personOf(other.email);
}

async function reread(em: EntityManager, id: string): Promise<StaffMember> {
  const member = await em.findOne(StaffMember, { id }, { refresh: true });
  if (!member) throw new AppError('staff_not_found', 'there is no such member of staff');
  return member;
}
