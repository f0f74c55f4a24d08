import { Field, ID, ObjectType } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import type { AuditEntry } from '../../accounts/staff/audit/audit-entry.entity.ts';
import { enumOf } from './server/enums.ts';
import type { Loaders } from './server/loaders.ts';

@ObjectType('AuditObject', { description: 'The object of an action, as people know it.' })
export class AuditObjectType {
  @Field(() => String, {
    description: 'Name of a partner, short id of an order, e-mail address of a member. Else the id of the object.',
  })
  name!: string;

  @Field(() => ID, { nullable: true, description: 'The order, when the object is one or belongs to one.' })
  orderId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The partner, when the object is one or belongs to one.' })
  partnerId!: string | null;
}

type AuditStep = 'proposed' | 'approved' | 'rejected' | 'withdrawn';

const AuditStepEnum = enumOf<AuditStep>('AuditStep', 'What an action did with a proposal.', {
  proposed: 'The member proposed it. Nothing happened yet.',
  approved: 'A second member approved it, and it was carried out.',
  rejected: 'A second member rejected it.',
  withdrawn: 'Its own member withdrew it.',
});

@ObjectType('AuditProposal', { description: 'The proposal that an action made or decided.' })
export class AuditProposalType {
  @Field(() => AuditStepEnum, { description: 'What was done with it.' })
  step!: AuditStep;

  @Field(() => String, { description: "What is proposed: 'retry_payout', 'invite'." })
  what!: string;
}

const none = { orderId: null, partnerId: null };

/** Names an object by the rows that its kind has. Null when the row is gone. */
type Naming = (id: string, loaders: Loaders) => Promise<AuditObjectType | null>;

const naming: Readonly<Record<string, Naming>> = {
  order: orderName,
  partner: async (id, { partner }) => {
    const found = await partner.load(id);
    return found && { ...none, name: found.name, partnerId: id };
  },
  staff: async (id, { staffMember }) => {
    const found = await staffMember.load(id);
    return found && { ...none, name: found.email };
  },
  member: async (id, loaders) => {
    const found = await loaders.partnerMember.load(id);
    return found && ofPartner(found.name, found.partnerId, loaders);
  },
  key: async (id, loaders) => {
    const found = await loaders.key.load(id);
    return found && ofPartner(`${found.label || 'key'} …${found.last4}`, found.partner.id, loaders);
  },
  webhook: async (id, loaders) => {
    const found = await loaders.webhook.load(id);
    return found && ofPartner(found.url, found.partner.id, loaders);
  },
  hold: async (id, { hold }) => {
    const found = await hold.load(id);
    return (
      found && { ...none, name: found.coin === null ? 'all payouts' : `payouts of ${found.coin} ${found.network}` }
    );
  },
  deposit: async (id, loaders) => {
    const found = await loaders.deposit.load(id);
    if (!found) return null;
    const order = found.orderId === null ? null : await orderName(found.orderId, loaders);
    const amount = `deposit of ${found.coin} on ${found.network}`;
    return { ...none, ...order, name: order ? `${amount}, ${order.name}` : amount };
  },
  attention: async (id, loaders) => {
    const [kind = '', subject = ''] = id.split(':', 2);
    const order = isUuid(subject) ? await orderName(subject, loaders) : null;
    const what = kind.replaceAll('_', ' ');
    return { ...none, ...order, name: order ? `${what}, ${order.name}` : what };
  },
};

/** Kinds whose objects have an id of another form. */
const namedByText: ReadonlySet<string> = new Set(['key', 'attention']);

/** The object of an entry with its name. An object of an unknown kind keeps its id. */
export async function auditObject({ target }: AuditEntry, loaders: Loaders): Promise<AuditObjectType> {
  const at = target.indexOf(':');
  const [kind, id] = [target.slice(0, Math.max(0, at)), target.slice(at + 1)];
  const name = namedByText.has(kind) || isUuid(id) ? naming[kind] : undefined;
  return (await name?.(id, loaders)) ?? { ...none, name: id };
}

async function orderName(id: string, { order }: Loaders): Promise<AuditObjectType | null> {
  const found = await order.load(id);
  return found && { ...none, name: found.shortId, orderId: found.shortId };
}

async function ofPartner(name: string, partnerId: string, { partner }: Loaders): Promise<AuditObjectType> {
  const owner = await partner.load(partnerId);
  return { ...none, name: owner ? `${name} of ${owner.name}` : name, partnerId };
}

/** What an entry did with a proposal. Null for an action that was carried out without one. */
export async function auditProposal(entry: AuditEntry, loaders: Loaders): Promise<AuditProposalType | null> {
  const { action, change, state } = entry.after ?? {};
  const found = isUuid(action)
    ? await loaders.staffAction.load(String(action))
    : isUuid(change)
      ? await loaders.staffChange.load(String(change))
      : null;
  if (!found) return null;
  const what = 'action' in found ? found.action : found.change;
  if (entry.operation.endsWith('Approve')) return { step: 'approved', what };
  if (entry.operation.endsWith('Reject')) {
    return { step: found.proposedBy === entry.staffId ? 'withdrawn' : 'rejected', what };
  }
  return (state ?? 'proposed') === 'proposed' ? { step: 'proposed', what } : null;
}
