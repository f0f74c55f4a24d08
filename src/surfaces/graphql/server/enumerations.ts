import { type KeyScope, keyScopes, scopeRows } from '../../../accounts/partners/key-scope.ts';
import type { PartnerStatus } from '../../../accounts/partners/partner.entity.ts';
import type { StaffChangeName } from '../../../accounts/staff/staff-change.entity.ts';
import type { StaffRole } from '../../../accounts/staff/staff-member.entity.ts';
import type { GatewayAccount } from '../../../ledger/ledger.ts';
import type { RateType } from '../../../market/rates/quote.ts';
import type { OrderCause, OrderFact, OrderMove, OrderStatus } from '../../../orders/order-status.ts';
import { orderFacts, orderMoves } from '../../../orders/order-status.ts';
import type { DepositProblem, DepositState } from '../../../settlement/rows/deposit.entity.ts';
import type { Payment, PaymentState } from '../../../settlement/rows/payment.entity.ts';
import type { StaffAction, StaffActionName, VenueClass } from '../../../settlement/rows/staff-action.entity.ts';
import type { TradeState } from '../../../settlement/rows/trade.entity.ts';
import type { VenueMovement } from '../../../settlement/rows/venue-movement.entity.ts';
import type { DeliveryState } from '../../../webhooks/webhook-delivery.entity.ts';
import { enumOf } from './enums.ts';

export const OrderStatusEnum = enumOf<OrderStatus>('OrderStatus', 'Status of an order.', {
  waiting_deposit: 'No deposit was seen yet.',
  confirming: 'A deposit was seen and waits for its confirmations.',
  exchanging: 'The deposit is confirmed and liquidity is being bought.',
  sending: 'The payout is on its way.',
  completed: 'The payout is final on its chain.',
  expired: 'The deposit window passed without a deposit.',
  refunding: 'The deposit is on its way back.',
  refunded: 'The refund is final on its chain.',
  failed: 'The gateway takes no further step; staff decide.',
});

export const OrderCauseEnum = enumOf<OrderCause>('OrderCause', 'Why an order moved, or a fact in its history.', {
  created: 'A partner created the order.',
  ...(Object.fromEntries(
    [...Object.entries(orderMoves).map(([name, { when }]) => [name, when] as const), ...Object.entries(orderFacts)].map(
      ([name, text]) => [name, `${text.charAt(0).toUpperCase()}${text.slice(1)}.`],
    ),
  ) as Record<OrderMove | OrderFact, string>),
});

export const RateTypeEnum = enumOf<RateType>('RateType', 'When the rate of an order is decided.', {
  float: 'When the deposit is confirmed.',
  fixed: 'When the order is created.',
});

export const DepositStateEnum = enumOf<DepositState>('DepositState', 'State of a deposit.', {
  mempool: 'In the mempool, in no block yet.',
  mined: 'In a block, with too few confirmations.',
  credited: 'Confirmed, and in the ledger.',
  orphaned: 'Dropped from the mempool, or removed by a reorg.',
});

export const DepositProblemEnum = enumOf<DepositProblem>(
  'DepositProblem',
  'Why the gateway does nothing more with a deposit by itself.',
  {
    no_refund_address: 'It would be refunded, and the order has no refund address.',
    below_fee: 'It does not cover the fee of its own refund.',
    unknown_tag: 'Its tag belongs to no order.',
    unusual_kind: 'It came by a kind of transaction that pays no order, with any tag.',
    refund_failed: 'Its refund can never confirm.',
    too_many_refunds:
      'Its order has reached the limit of automatic refunds of extra deposits (`MAX_REFUNDS_PER_ORDER`).',
    late_refund_limit:
      'The partner set the refund address after the create, and such refunds are above their limit (`LATE_REFUND_LIMIT_USD`).',
    netted:
      'It replaces, wholly or in part, a used deposit that disappeared. It is refunded when that deposit returns.',
  },
);

export const PaymentKindEnum = enumOf<Payment['kind']>('PaymentKind', 'What a payment is for.', {
  payout: 'The coins that were bought.',
  refund: 'A deposit, or the rest of one, on its way back.',
  sweep: 'Coins of deposit addresses on their way to the hot wallet.',
  gas: 'Coins for the network fee of an address that is swept.',
  setup: 'It prepares the hot wallet for payments and pays no one.',
  commission: 'What a partner has earned in a month.',
});

export const PaymentLegEnum = enumOf<Payment['leg']>('PaymentLeg', 'Which part of a deposit a payment settles.', {
  main: 'The deposit itself, exchanged or refunded.',
  excess: 'The part of it that was not exchanged.',
});

export const PaymentStateEnum = enumOf<PaymentState>('PaymentState', 'State of a payment.', {
  ready: 'Decided.',
  prepared: 'Its transaction is built, and its inputs are reserved.',
  signed: 'Its signed bytes are stored.',
  sent: 'It was broadcast, perhaps more than once.',
  confirmed: 'Final on its chain.',
  dead: 'It can never confirm.',
});

export const TradeStateEnum = enumOf<TradeState>('TradeState', 'State of the exchange of an order.', {
  intended: 'Decided, and perhaps already ordered at the venue.',
  filled: 'The venue filled it.',
  abandoned: 'Abandoned before the venue filled it.',
  unwound: 'Filled, then taken over by the house, because the user gets the deposit back.',
});

export const PartnerStatusEnum = enumOf<PartnerStatus>('PartnerStatus', 'Whether a partner may use the API.', {
  active: 'Its keys work.',
  inactive: 'Its requests get 403.',
});

export const KeyScopeEnum = enumOf<KeyScopeName>(
  'KeyScope',
  'Permission of a key.',
  Object.fromEntries(keyScopes.map((scope) => [scopeName(scope), scopeRows[scope].staff])) as Record<
    KeyScopeName,
    string
  >,
);
type NameOf<Scope> = Scope extends `${infer Noun}:${infer Verb}` ? `${Noun}_${Verb}` : Scope;
/** The names of the scopes in GraphQL, from the scopes themselves. */
type KeyScopeName = NameOf<KeyScope>;

/** Turns 'orders:create' into 'orders_create', because GraphQL names have no colon. */
export function scopeName(scope: KeyScope): KeyScopeName {
  return scope.replace(':', '_') as KeyScopeName;
}

/** The scope behind a name of the schema. */
export function scopeOf(name: KeyScopeName): KeyScope {
  return name.replace('_', ':') as KeyScope;
}

export const EndpointStatusEnum = enumOf<'enabled' | 'disabled'>('EndpointStatus', 'Status of a webhook endpoint.', {
  enabled: 'Events are sent.',
  disabled: 'Nothing is sent.',
});

export const DeliveryStateEnum = enumOf<DeliveryState>('DeliveryState', 'State of a webhook delivery.', {
  pending: 'An attempt is before it.',
  delivered: 'The receiver took it.',
  failed: 'It had its last attempt.',
});

export const AmountFormEnum = enumOf<'string' | 'number'>('AmountForm', 'How amounts are written.', {
  string: 'As decimal strings.',
  number: 'As JSON numbers with exactly their digits.',
});

export const StaffRoleEnum = enumOf<StaffRole>(
  'StaffRole',
  'Role of a member. Each role has the permissions of the roles before it.',
  {
    viewer: 'Reads.',
    support: 'Writes notes, and holds orders.',
    operator: 'Runs the business: proposes and approves payments; manages partners, keys and switches of currencies.',
    admin: 'Manages staff, pricing, fees, limits and prices.',
  },
);

export const StaffActionEnum = enumOf<StaffActionName>('OrderActionKind', 'Kind of an action of staff.', {
  refund: 'Send a deposit, or the rest of one, to an address.',
  retry_payout: 'Continue the payout of a failed order.',
  mark_failed: 'End a payout or refund that was never signed.',
  hold: 'Hold the order: it takes no further step and sends no payment.',
  release: 'End a hold.',
  venue_price: 'Set the worst price for trading the rest that an exchange left at the venue.',
  resume_payouts: 'End a hold of payouts.',
  venue_opening: 'Take the balances of the account at an exchange into the books.',
  venue_classify: 'Say what an entry of an exchange is that the gateway did not make.',
  assign_deposit: 'Give a deposit without an order to an order, as if it had come with its tag.',
  commission_hold: "Hold the payment of a partner's month.",
  commission_release: 'End such a hold.',
  commission_correct: "Add to a partner's commission, or take from it.",
  commission_pay: 'Pay a month of a partner now, also below the minimum.',
  commission_cancel: 'End the payment of a month that cannot be paid. Its balance counts in the next month.',
  commission_address: "Set the address of a partner's commission, which takes effect after 72 hours.",
});

export const MovementKindEnum = enumOf<VenueMovement['kind']>(
  'VenueMovementKind',
  'Kind of a movement at an exchange.',
  {
    deposit: 'Coins that were sent to our account there.',
    withdrawal: 'Coins that were sent from our account there.',
  },
);

export const VenueClassEnum = enumOf<VenueClass>(
  'VenueClass',
  'What an entry of an exchange is that the gateway did not make.',
  {
    capital: 'Coins that the house put in or took out.',
    trading: 'A gain or loss: a trade by hand, a reward, interest.',
    cost: 'A cost of moving coins, such as a fee that the exchange kept.',
  },
);

export const StaffChangeEnum = enumOf<StaffChangeName>('StaffChangeKind', 'Kind of a change of staff.', {
  invite: 'A member is added.',
  role: 'A member gets another role.',
  token: 'A member gets a new token.',
  revoke: 'A member is revoked for good.',
});

export const StaffActionStateEnum = enumOf<StaffAction['state']>('OrderActionState', 'State of an action of staff.', {
  proposed: 'It waits for a second member.',
  done: 'It was carried out.',
  rejected: 'It was rejected or withdrawn.',
});

export const AccountEnum = enumOf<GatewayAccount | 'partner'>(
  'LedgerAccount',
  'An account of the ledger. Debits are positive.',
  {
    deposits: 'Coins on deposit addresses.',
    hot: 'The wallets that send payments.',
    client: 'Amounts owed to users.',
    venue: 'Our balance with the liquidity venue; of an exchange `venue` tells which.',
    service_fee: 'Service fees that users paid.',
    network_fee: 'Network fees that users paid.',
    network_cost: 'Fees that chains took.',
    trading:
      'What the venue gave more or less than was agreed with users, other remainders and costs of trades there, and exchanges that the house took over.',
    unclaimed: 'Remainders too small to send back.',
    suspense: 'Deposits of no order so far.',
    opening: 'Opening balances of the hot wallets and of accounts at exchanges, and capital put in or taken out later.',
    transit: 'Coins on their way between an exchange and a hot wallet.',
    treasury_cost: 'What moving coins between an exchange and hot wallets costs.',
    markup: 'The parts of the service fees that partners earned.',
    partner: 'What a partner earned by its markups.',
  },
);
