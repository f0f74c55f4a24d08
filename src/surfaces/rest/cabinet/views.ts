import type { InvitationView, MemberView } from '../../../accounts/members/members.ts';
import { keyState } from '../../../accounts/members/own-keys.ts';
import type { PasskeyView } from '../../../accounts/members/passkeys.ts';
import type { ApiKey } from '../../../accounts/partners/api-key.entity.ts';
import type { WalletLinks } from '../../../market/currencies/wallet-links.ts';
import type { OrderView } from '../../../orders/order-statements.ts';
import type {
  ActionRequired,
  DepositDetails,
  OrderDetails,
  PaymentDetails,
} from '../../../orders/read/order-details.ts';
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

export function orderView(
  order: OrderView,
  details: Pick<OrderDetails, 'externalId' | 'hold' | 'actionRequired' | 'terms'> | null,
): Schemas['Order'] {
  return {
    id: order.id,
    short_id: order.shortId,
    external_id: details?.externalId ?? null,
    status: order.status as Schemas['OrderStatus'],
    is_held: details?.hold != null,
    is_asked: details?.actionRequired != null,
    coin_from: order.coinFrom,
    network_from: order.networkFrom,
    // Both amounts are of the exchange once it is known: another amount may arrive, and rates move.
    amount_from: details?.terms.amountFrom ?? order.amountFromExpected,
    coin_to: order.coinTo,
    network_to: order.networkTo,
    amount_to: details?.terms.amountTo ?? order.amountToExpected,
    rate_type: order.rateType,
    created_at: order.createdAt,
    expires_at: order.expiresAt,
  };
}

/** An open question, with what each answer would give now. */
export function actionView({ id, reason, deadline, exchange, refund }: ActionRequired): Schemas['ActionRequired'] {
  return {
    id,
    reason,
    deadline,
    exchange: exchange && { amount_to: exchange.amountTo, valid_until: exchange.validUntil },
    refund: refund && { amount: refund.amount, needs_address: refund.needsAddress },
  };
}

/** Where explorers show something of a chain. Null where none does. */
export type Explorers = Pick<WalletLinks, 'explorerUrl'>;

export function paymentView(payment: PaymentDetails, explorers: Explorers): Schemas['Payment'] {
  const { txid, coin, network, amount, fee, state, address, tag, sentAt, confirmedAt } = payment;
  return {
    txid,
    coin,
    network,
    amount,
    fee,
    state,
    address,
    tag,
    explorer_url: txid === null ? null : explorers.explorerUrl(coin, network, 'transaction', txid),
    sent_at: sentAt,
    confirmed_at: confirmedAt,
  };
}

export function depositView(deposit: DepositDetails, explorers: Explorers): Schemas['Deposit'] {
  const { txid, coin, network, amount, confirmations, state, role, seenAt } = deposit;
  return {
    txid,
    coin,
    network,
    amount,
    confirmations,
    state,
    role,
    explorer_url: explorers.explorerUrl(coin, network, 'transaction', txid),
    seen_at: seenAt,
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
