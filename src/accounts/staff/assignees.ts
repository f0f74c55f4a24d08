import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { AppError, notPossible } from '../../base/errors.ts';
import { isActive } from './approvals.ts';
import { isPermitted } from './permissions.ts';
import { StaffMember, type StaffRole } from './staff-member.entity.ts';

/** A member who works on an attention item. */
export interface Assignee {
  readonly staffId: string;
  readonly since: Date;
}

/** Most members of the list for a hand-over. */
const mostMembers = 200;

/**
 * Gives an attention item that has no member to one.
 *
 * @throws AppError action_not_possible when a member has it, with the name.
 */
export async function takeItem(em: EntityManager, itemId: string, assignee: Assignee): Promise<void> {
  const { staffId, since } = assignee;
  const made = await sql(
    em,
    `insert into attention_assignee (item_id, staff_id, since) values (?, ?, ?)
     on conflict (item_id) do nothing returning item_id`,
    [itemId, staffId, since],
  );
  if (made.length > 0) return;
  const holder = await holderOf(em, itemId);
  if (holder?.id === staffId) throw notPossible('you work on this item already');
  throw notPossible(actedFirst(holder));
}

/**
 * Takes an item from its member. A member releases own items, and a role with `attention:assign`
 * those of others.
 *
 * @returns the member who had it.
 * @throws AppError action_not_possible when no member has it, insufficient_role for an item of
 *   another member.
 */
export async function releaseItem(
  em: EntityManager,
  itemId: string,
  by: { readonly id: string; readonly role: StaffRole },
): Promise<{ id: string; email: string }> {
  const holder = await holderOf(em, itemId);
  if (!holder) throw notPossible('another member acted first: no member works on this item now');
  if (holder.id !== by.id && !isPermitted(by.role, 'attention:assign')) {
    throw new AppError('insufficient_role', `${holder.email} works on this item; an operator can release it`);
  }
  await sql(em, 'delete from attention_assignee where item_id = ?', [itemId]);
  return holder;
}

/**
 * Gives an item to another member.
 *
 * @param from the member who has it as far as the caller knows. Null for none.
 * @throws AppError staff_not_found for a member who cannot work on items, action_not_possible when
 *   another member has the item meanwhile.
 */
export async function handOverItem(
  em: EntityManager,
  itemId: string,
  { from, to }: { readonly from: string | null; readonly to: Assignee },
): Promise<{ id: string; email: string } | null> {
  const member = await em.findOne(StaffMember, { id: to.staffId }, { lockMode: LockMode.PESSIMISTIC_READ });
  if (!member || !isActive(member) || !isPermitted(member.role, 'attention:take')) {
    throw new AppError('staff_not_found', 'there is no active member with this id who may take attention items');
  }
  const holder = await holderOf(em, itemId);
  if ((holder?.id ?? null) !== from) throw notPossible(actedFirst(holder));
  if (holder?.id === to.staffId) throw notPossible(`${holder.email} works on this item already`);
  if (holder) {
    await sql(em, 'update attention_assignee set staff_id = ?, since = ? where item_id = ?', [
      to.staffId,
      to.since,
      itemId,
    ]);
  } else {
    await takeItem(em, itemId, to);
  }
  return holder;
}

/** The members to whom an item can be handed, by e-mail address. */
export async function possibleAssignees(em: EntityManager): Promise<StaffMember[]> {
  const members = await em.find(
    StaffMember,
    { revokedAt: null, suspendedAt: null },
    { orderBy: { email: 'asc' }, limit: mostMembers },
  );
  return members.filter((member) => isActive(member) && isPermitted(member.role, 'attention:take'));
}

/** Locks the row until the transaction ends, so that two members act one after the other. */
async function holderOf(em: EntityManager, itemId: string): Promise<{ id: string; email: string } | null> {
  const [holder] = await sql<{ id: string; email: string }>(
    em,
    `select m.id, m.email from attention_assignee a join staff_member m on m.id = a.staff_id
      where a.item_id = ? for update of a`,
    [itemId],
  );
  return holder ?? null;
}

function actedFirst(holder: { readonly email: string } | null): string {
  if (!holder) return 'another member acted first: no member works on this item now';
  return `another member acted first: ${holder.email} works on this item now`;
}
