import { randomBytes } from 'node:crypto';
import { type EntityManager, type FilterQuery, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError, fieldError } from '../../base/errors.ts';
import { partnerInactive } from '../partners/authenticator.ts';
import { PartnerInvitation } from './partner-invitation.entity.ts';
import { PartnerMember } from './partner-member.entity.ts';
import { PartnerPasskey } from './partner-passkey.entity.ts';
import { PartnerSession } from './partner-session.entity.ts';
import type { Passkeys, PasskeyUser } from './passkeys.ts';
import { type MemberRole, type OperationRow, requireActive, requireRight, signedOut } from './rights.ts';
import { hashOf, type MemberCaller, type MemberSessions, type SessionOrigin } from './sessions.ts';

/** How long an invitation can be accepted. */
const invitationMs = 72 * 3_600_000;
/** Most members of a partner. */
export const mostMembers = 100;
/** Most open invitations of a partner. */
export const mostInvitations = 20;

export interface MemberView {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly passkeys: number;
  readonly createdAt: Date;
  readonly lastSeenAt: Date | null;
}

export interface InvitationView {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly isRecovery: boolean;
  /** A member's name. Null for staff, as a member may have any name. */
  readonly invitedBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** An invitation with its link, which is shown only now. */
export interface IssuedInvitation {
  readonly invitation: InvitationView;
  readonly link: string;
}

/** What the person who opens an invitation sees. */
interface OpenedInvitation {
  readonly partnerName: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly isRecovery: boolean;
  readonly expiresAt: Date;
  readonly options: object;
}

interface MembersOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly passkeys: Passkeys;
  readonly sessions: MemberSessions;
  /** CABINET_URL. */
  readonly origin: string;
}

/** People of partners. A person comes by an invitation, and signs in with passkeys only. */
export class Members {
  readonly #options: MembersOptions;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /**
   * Makes the changes by a partner's members take turns, until the caller's transaction ends. A
   * member who was removed, or lost the role, while the change waited may no longer make it. Nor
   * may a partner that became inactive.
   *
   * @throws AppError unauthorized, insufficient_role, partner_inactive
   */
  async takeTurn(em: EntityManager, caller: MemberCaller, row: OperationRow): Promise<void> {
    await lockPartner(em, caller.partner.id);
    const present = await em.findOne(
      PartnerSession,
      { id: caller.sessionId, endedAt: null, member: { removedAt: null } },
      { populate: ['member.partner'], refresh: true },
    );
    if (!present) throw signedOut();
    requireRight(present.member.role, row.needs);
    requireActive(present.member.partner.status, row, false);
  }

  /**
   * Invites a person. The link works once, for 72 hours.
   *
   * @param invitedBy the member who invites; null for staff and operators.
   * @throws AppError partner_not_found, invalid_value, action_not_possible with too many people.
   */
  async invite(
    partnerId: string,
    { name, role }: { readonly name: string; readonly role: MemberRole },
    invitedBy: { readonly id: string; readonly name: string } | null,
    em: EntityManager = this.#options.orm.em.fork(),
  ): Promise<IssuedInvitation> {
    const checked = checkedName(name);
    return em.transactional(async (tx) => {
      await lockPartner(tx, partnerId);
      if ((await tx.count(PartnerMember, { partner: partnerId, removedAt: null })) >= mostMembers) {
        throw new AppError('action_not_possible', `there are ${mostMembers} members already; remove one first`);
      }
      const open = { partner: partnerId, endedAt: null, expiresAt: { $gt: this.#options.clock.now() } };
      if ((await tx.count(PartnerInvitation, open)) >= mostInvitations) {
        throw new AppError('action_not_possible', `${mostInvitations} invitations are open; withdraw one first`);
      }
      return this.#issue(tx, { partnerId, memberId: null, name: checked, role }, invitedBy);
    });
  }

  /**
   * Invites a member to make a new passkey. Invitations to the same member from before end.
   *
   * @param partnerId null finds the member of any partner, for staff.
   * @throws AppError member_not_found
   */
  async recover(
    partnerId: string | null,
    memberId: string,
    invitedBy: { readonly id: string; readonly name: string } | null,
    em: EntityManager = this.#options.orm.em.fork(),
  ): Promise<IssuedInvitation> {
    return em.transactional(async (tx) => {
      await lockPartner(tx, (await findMember(tx, partnerId, memberId)).partner.id);
      const { partner, name, role } = await findMember(tx, partnerId, memberId);
      await this.#endInvitations(tx, { member: memberId });
      return this.#issue(tx, { partnerId: partner.id, memberId, name, role }, invitedBy);
    });
  }

  /**
   * Ends an open invitation.
   *
   * @param partnerId null finds the invitation of any partner, for staff.
   * @throws AppError invitation_not_found
   */
  async withdraw(
    partnerId: string | null,
    id: string,
    em: EntityManager = this.#options.orm.em.fork(),
  ): Promise<{ readonly partnerId: string; readonly name: string; readonly role: MemberRole }> {
    const row = isUuid(id) ? await em.findOne(PartnerInvitation, { id, ...ofPartner(partnerId) }) : null;
    const isEnded = row !== null && (await this.#endInvitations(em, { id })) === 1;
    if (!isEnded) throw new AppError('invitation_not_found', 'there is no such open invitation');
    return { partnerId: row.partner.id, name: row.name, role: row.role };
  }

  /**
   * @throws AppError invitation_not_found when the link is unknown, used, withdrawn or too old;
   *   partner_inactive, unless it recovers a member.
   */
  async open(token: string): Promise<OpenedInvitation> {
    const row = await this.#invitation(this.#options.orm.em.fork(), token, false);
    const options = await this.#options.passkeys.beginRegistration(
      { purpose: 'invitation', subject: row.id },
      userOf(row),
    );
    return {
      partnerName: row.partner.name,
      name: row.name,
      role: row.role,
      isRecovery: row.member !== null,
      expiresAt: row.expiresAt,
      options,
    };
  }

  /**
   * Makes the member with the passkey of the answer, and starts a session. A recovery replaces the
   * member's passkeys and ends the member's sessions. Of two at once, one wins.
   *
   * @returns the member's id, and the secret of the session.
   * @throws AppError invitation_not_found, partner_inactive, passkey_refused
   */
  async accept(
    token: string,
    { answer, passkeyName, origin }: { answer: unknown; passkeyName: string; origin: SessionOrigin },
    onAccepted: (
      em: EntityManager,
      accepted: { memberId: string; partnerId: string; name: string; isRecovery: boolean },
    ) => Promise<void>,
  ): Promise<{ readonly memberId: string; readonly secret: string }> {
    const { orm, clock, passkeys, sessions } = this.#options;
    const { id: subject, partner } = await this.#invitation(orm.em.fork(), token, false);
    const passkey = await passkeys.proveNew({ purpose: 'invitation', subject }, answer, passkeyName);
    return orm.em.fork().transactional(async (em) => {
      // A recovery waits for what its member does at this moment, and then undoes it.
      await lockPartner(em, partner.id);
      const row = await this.#invitation(em, token, true);
      const now = clock.now();
      const { id: memberId } = userOf(row);
      const isRecovery = row.member !== null;
      const linkedByStaffAt = row.invitedBy === null ? now : row.invitedBy.linkedByStaffAt;
      if (isRecovery) {
        await em.nativeDelete(PartnerPasskey, { member: memberId });
        await em.nativeUpdate(PartnerMember, { id: memberId }, { linkedByStaffAt });
        await sessions.endAll(memberId, em);
      } else {
        const { name, role } = row;
        const made = { id: memberId, partner: partner.id, name, role, createdAt: now, linkedByStaffAt };
        await em.insert(PartnerMember, made);
      }
      await passkeys.store(em, memberId, passkey);
      await this.#endInvitations(em, { id: row.id });
      const secret = await sessions.start(memberId, origin, em);
      await onAccepted(em, { memberId, partnerId: partner.id, name: row.name, isRecovery });
      return { memberId, secret };
    });
  }

  /** The members and the open invitations of a partner, oldest first. */
  async team(partnerId: string): Promise<{ members: MemberView[]; invitations: InvitationView[] }> {
    const em = this.#options.orm.em.fork();
    return {
      members: await membersOf(em, [partnerId]),
      invitations: await openInvitations(em, this.#options.clock.now(), [partnerId]),
    };
  }

  /** @throws AppError member_not_found */
  async get(partnerId: string, memberId: string): Promise<MemberView> {
    const [row] = isUuid(memberId)
      ? await sql<MemberRow>(
          this.#options.orm.em.fork(),
          `select ${memberColumns} from partner_member m where m.id = ? and m.partner_id = ? and m.removed_at is null`,
          [memberId, partnerId],
        )
      : [];
    if (!row) throw memberNotFound();
    return memberView(row);
  }

  /**
   * Changes the role of a member. Open invitations by an owner who becomes something else end, so
   * that no kept link makes an owner again. A member whom an owner with a link of staff makes an
   * owner counts as one with such a link.
   *
   * @returns the role before.
   * @throws AppError member_not_found; action_not_possible for the last owner.
   */
  async changeRole(
    em: EntityManager,
    partnerId: string,
    memberId: string,
    role: MemberRole,
    changedBy: string,
  ): Promise<MemberRole> {
    await lockPartner(em, partnerId);
    const member = await findMember(em, partnerId, memberId);
    if (role === 'owner') {
      await sql(
        em,
        `update partner_member m set linked_by_staff_at = greatest(m.linked_by_staff_at, by.linked_by_staff_at)
           from partner_member by where m.id = ? and by.id = ?`,
        [memberId, changedBy],
      );
    }
    if (member.role === 'owner' && role !== 'owner') {
      await this.#keepOwner(em, partnerId, memberId);
      await this.#endInvitations(em, { invitedBy: memberId });
    }
    await em.nativeUpdate(PartnerMember, { id: memberId }, { role });
    return member.role;
  }

  /**
   * Removes a member with all passkeys, sessions and open recoveries.
   *
   * @throws AppError member_not_found; action_not_possible for the last owner.
   */
  async remove(em: EntityManager, partnerId: string, memberId: string): Promise<{ name: string; role: MemberRole }> {
    await lockPartner(em, partnerId);
    const { name, role } = await findMember(em, partnerId, memberId);
    if (role === 'owner') await this.#keepOwner(em, partnerId, memberId);
    await em.nativeUpdate(PartnerMember, { id: memberId }, { removedAt: this.#options.clock.now() });
    // Invitations before passkeys, in the order of an acceptance, so that the two never deadlock.
    await this.#endInvitations(em, { $or: [{ member: memberId }, { invitedBy: memberId }] });
    await em.nativeDelete(PartnerPasskey, { member: memberId });
    await this.#options.sessions.endAll(memberId, em);
    return { name, role };
  }

  async #keepOwner(em: EntityManager, partnerId: string, memberId: string): Promise<void> {
    const others = await em.count(PartnerMember, {
      partner: partnerId,
      role: 'owner',
      removedAt: null,
      id: { $ne: memberId },
    });
    if (others === 0)
      throw new AppError('action_not_possible', 'this is the last owner; make another member an owner first');
  }

  async #issue(
    em: EntityManager,
    invited: { partnerId: string; memberId: string | null; name: string; role: MemberRole },
    invitedBy: { readonly id: string; readonly name: string } | null,
  ): Promise<IssuedInvitation> {
    const now = this.#options.clock.now();
    const token = randomBytes(32).toString('base64url');
    const invitation = {
      id: uuidv7(),
      name: invited.name,
      role: invited.role,
      isRecovery: invited.memberId !== null,
      invitedBy: invitedBy?.name ?? null,
      createdAt: now,
      expiresAt: new Date(now.getTime() + invitationMs),
    };
    await em.insert(PartnerInvitation, {
      id: invitation.id,
      partner: invited.partnerId,
      member: invited.memberId,
      name: invited.name,
      role: invited.role,
      tokenHash: hashOf(token),
      invitedBy: invitedBy?.id ?? null,
      createdAt: now,
      expiresAt: invitation.expiresAt,
    });
    // Behind the sign of the fragment, so that no server and no log sees the token.
    return { invitation, link: `${this.#options.origin}/cabinet/invitation#${token}` };
  }

  /** @returns how many of the invitations were open. */
  #endInvitations(em: EntityManager, which: FilterQuery<PartnerInvitation>): Promise<number> {
    const endedAt = this.#options.clock.now();
    return em.nativeUpdate(PartnerInvitation, { $and: [which, { endedAt: null }] }, { endedAt });
  }

  async #invitation(em: EntityManager, token: string, isLocked: boolean): Promise<PartnerInvitation> {
    const row = await em.findOne(
      PartnerInvitation,
      { tokenHash: hashOf(token), endedAt: null, expiresAt: { $gt: this.#options.clock.now() } },
      { lockMode: isLocked ? LockMode.PESSIMISTIC_WRITE : LockMode.NONE, refresh: true },
    );
    if (row) await em.populate(row, ['partner', 'member', 'invitedBy'], { refresh: true });
    if (!row || row.member?.removedAt) {
      throw new AppError(
        'invitation_not_found',
        'this invitation is unknown, used, withdrawn or older than 72 hours; ask for a new one',
      );
    }
    // A recovery makes no new member, and ends what a thief of the passkey has.
    if (row.partner.status !== 'active' && row.member === null) throw partnerInactive();
    return row;
  }
}

/** The members of partners, oldest first. One statement. */
export async function membersOf(
  em: EntityManager,
  partnerIds: readonly string[],
): Promise<(MemberView & { readonly partnerId: string })[]> {
  const rows = await sql<MemberRow & { partner_id: string }>(
    em,
    `select m.partner_id, ${memberColumns} from partner_member m
      where m.partner_id in (${placesFor(partnerIds)}) and m.removed_at is null order by m.created_at, m.id`,
    [...partnerIds],
  );
  return rows.map((row) => ({ ...memberView(row), partnerId: row.partner_id }));
}

/** The open invitations of partners, oldest first. One statement. */
export async function openInvitations(
  em: EntityManager,
  now: Date,
  partnerIds: readonly string[],
): Promise<(InvitationView & { readonly partnerId: string })[]> {
  const rows = await em.find(
    PartnerInvitation,
    { partner: { $in: [...partnerIds] }, endedAt: null, expiresAt: { $gt: now } },
    { populate: ['invitedBy'], orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return rows.map(({ id, partner, name, role, member, invitedBy, createdAt, expiresAt }) => ({
    id,
    partnerId: partner.id,
    name,
    role,
    isRecovery: member !== null,
    invitedBy: invitedBy?.name ?? null,
    createdAt,
    expiresAt,
  }));
}

function placesFor(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

interface MemberRow {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly passkeys: number;
  readonly created_at: string;
  readonly last_seen_at: string | null;
}

const memberColumns = `m.id, m.name, m.role, m.created_at,
  (select count(*)::int from partner_passkey k where k.member_id = m.id) as passkeys,
  (select max(s.last_seen_at) from partner_session s where s.member_id = m.id) as last_seen_at`;

function memberView({ id, name, role, passkeys, created_at, last_seen_at }: MemberRow): MemberView {
  return {
    id,
    name,
    role,
    passkeys,
    createdAt: new Date(created_at),
    lastSeenAt: last_seen_at === null ? null : new Date(last_seen_at),
  };
}

/** A new member gets the id of the invitation, so that the passkey can name the member before. */
function userOf({ id, member, name, partner }: PartnerInvitation): PasskeyUser {
  return { id: member?.id ?? id, name, partnerName: partner.name };
}

/** Serialises changes of a partner's people, so that two at once cannot remove the last owner. */
async function lockPartner(em: EntityManager, partnerId: string): Promise<void> {
  const rows = isUuid(partnerId)
    ? await sql(em, 'select id from partner where id = ? for no key update', [partnerId])
    : [];
  if (rows.length === 0) throw new AppError('partner_not_found', 'there is no such partner');
}

/** A filter for the rows of one partner. Null is any partner. */
function ofPartner(partnerId: string | null): { partner?: string } {
  return partnerId === null ? {} : { partner: partnerId };
}

/** The caller has locked the partner, or reads only. */
async function findMember(em: EntityManager, partnerId: string | null, memberId: string): Promise<PartnerMember> {
  const where = { id: memberId, removedAt: null, ...ofPartner(partnerId) };
  const member = isUuid(memberId) ? await em.findOne(PartnerMember, where, { refresh: true }) : null;
  if (!member) throw memberNotFound();
  return member;
}

function memberNotFound(): AppError {
  return new AppError('member_not_found', 'there is no such member');
}

function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed.length < 1 || trimmed.length > 100 || /\p{Cc}/u.test(trimmed)) {
    throw fieldError('invalid_value', 'name', 'a name has 1 to 100 characters and no control characters');
  }
  return trimmed;
}
