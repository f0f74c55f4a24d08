import type { InvitationView, MemberView } from '../../../accounts/members/members.ts';
import { keyState } from '../../../accounts/members/own-keys.ts';
import type { PasskeyView } from '../../../accounts/members/passkeys.ts';
import type { ApiKey } from '../../../accounts/partners/api-key.entity.ts';
import type { ShownAddress } from '../../../settlement/commission/commission-addresses.ts';
import type { Schemas } from './contract.ts';

/** The name of a passkey whose owner named none. */
export const usualPasskeyName = 'Passkey';

/** A moment as RFC 3339 in UTC. */
export const text = (at: Date): string => at.toISOString();
const textOrNull = (at: Date | null): string | null => at?.toISOString() ?? null;

/** What the browser's part of a passkey ceremony takes. */
export function optionsView(options: object): Schemas['WebAuthnOptions'] {
  return options as Schemas['WebAuthnOptions'];
}

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

export function addressView(row: ShownAddress): Schemas['CommissionAddress'] {
  return {
    id: row.id,
    coin: row.coin,
    network: row.network,
    address: row.address,
    tag: row.tag,
    state: row.cancelledAt ? 'cancelled' : row.tookEffectAt ? 'effective' : 'waiting',
    old_is_lost: row.oldIsLost,
    requested_by: row.requestedBy,
    requested_at: text(row.requestedAt),
    effective_at: text(row.effectiveAt),
    took_effect_at: textOrNull(row.tookEffectAt),
    cancelled_at: textOrNull(row.cancelledAt),
  };
}
