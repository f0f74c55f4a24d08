import type { InvitationView, MemberView } from '../../../accounts/members/members.ts';
import { keyState } from '../../../accounts/members/own-keys.ts';
import type { PasskeyView } from '../../../accounts/members/passkeys.ts';
import type { ApiKey } from '../../../accounts/partners/api-key.entity.ts';
import type { Schemas } from './contract.ts';
import type { MonthView, StatementEntry } from './statements.ts';

/** A moment as RFC 3339 in UTC. */
export const text = (at: Date): string => at.toISOString();
const textOrNull = (at: Date | null): string | null => at?.toISOString() ?? null;

export function passkeyView({ id, name, createdAt, lastUsedAt }: PasskeyView): Schemas['Passkey'] {
  return { id, name, created_at: text(createdAt), last_used_at: textOrNull(lastUsedAt) };
}

export function memberView(member: MemberView): Schemas['Member'] {
  const { id, name, role, passkeys, createdAt, lastSeenAt } = member;
  return { id, name, role, passkeys, created_at: text(createdAt), last_seen_at: textOrNull(lastSeenAt) };
}

export function invitationView(invitation: InvitationView): Schemas['Invitation'] {
  const { id, name, role, isRecovery, invitedBy, createdAt, expiresAt } = invitation;
  return {
    id,
    name,
    role,
    is_recovery: isRecovery,
    invited_by: invitedBy,
    created_at: text(createdAt),
    expires_at: text(expiresAt),
  };
}

export function keyView(key: ApiKey, now: Date): Schemas['Key'] {
  return {
    key_id: key.keyId,
    label: key.label,
    last4: key.last4,
    scopes: key.scopes,
    networks: key.allowedCidrs,
    state: keyState(key, now),
    created_at: text(key.createdAt),
    expires_at: textOrNull(key.expiresAt),
    last_used_at: textOrNull(key.lastUsedAt),
  };
}

export function monthView({ month, orders, commission }: MonthView): Schemas['Month'] {
  return { month, orders, commission: [...commission] };
}

export function entryView(entry: StatementEntry): Schemas['StatementEntry'] {
  return {
    order_id: entry.orderId,
    short_id: entry.shortId,
    external_id: entry.externalId,
    completed_at: entry.completedAt,
    coin_from: entry.coinFrom,
    network_from: entry.networkFrom,
    amount_from: entry.amountFrom,
    coin_to: entry.coinTo,
    network_to: entry.networkTo,
    amount_to: entry.amountTo,
    partner_markup: entry.partnerMarkup,
  };
}
