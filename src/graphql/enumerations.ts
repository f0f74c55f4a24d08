import type { Account } from '../ledger/ledger.ts';
import type { OrderMove, OrderStatus } from '../orders/order-status.ts';
import { orderMoves } from '../orders/order-status.ts';
import type { KeyScope } from '../partners/key-scope.ts';
import type { PartnerStatus } from '../partners/partner.entity.ts';
import type { RateType } from '../rates/quote.ts';
import type { DepositProblem, DepositState } from '../settlement/deposit.entity.ts';
import type { Payment, PaymentState } from '../settlement/payment.entity.ts';
import type { StaffAction, StaffActionName } from '../settlement/staff-action.entity.ts';
import type { TradeState } from '../settlement/trade.entity.ts';
import type { StaffChangeName } from '../staff/staff-change.entity.ts';
import type { StaffRole } from '../staff/staff-member.entity.ts';
import { enumOf } from './enums.ts';

export const OrderStatusEnum = enumOf<OrderStatus>('OrderStatus', 'Where an order stands.', {
  waiting_deposit: 'No deposit was seen yet.',
  confirming: 'A deposit was seen and waits for its confirmations.',
  exchanging: 'The deposit is confirmed and liquidity is being bought.',
  sending: 'The payout is on its way.',
  completed: 'The payout is final on its chain.',
  expired: 'The deposit window passed without a deposit.',
  refunding: 'The deposit is on its way back.',
  refunded: 'The refund is final on its chain.',
  failed: 'Nothing more happens by itself; staff decide.',
});

export const OrderCauseEnum = enumOf<'created' | OrderMove>('OrderCause', 'Why an order moved.', {
  created: 'A partner created the order.',
  ...(Object.fromEntries(
    Object.entries(orderMoves).map(([name, { when }]) => [name, `${when.charAt(0).toUpperCase()}${when.slice(1)}.`]),
  ) as Record<OrderMove, string>),
});

export const RateTypeEnum = enumOf<RateType>('RateType', 'When the rate of an order is decided.', {
  float: 'When the deposit is confirmed.',
  fixed: 'When the order is created.',
});

export const DepositStateEnum = enumOf<DepositState>('DepositState', 'Where a deposit stands.', {
  mempool: 'Seen, in no block yet.',
  mined: 'In a block, short of its confirmations.',
  credited: 'Confirmed, and in the ledger.',
  orphaned: 'Gone again: dropped, or reorganised away.',
});

export const DepositProblemEnum = enumOf<DepositProblem>(
  'DepositProblem',
  'Why nothing more is done with a deposit by itself.',
  {
    no_refund_address: 'It would be refunded, and there is no refund address.',
    below_fee: 'It does not cover the fee of its own refund.',
    unknown_tag: 'Its tag belongs to no order.',
    refund_failed: 'Its refund is dead.',
    too_many_refunds: 'Enough extra deposits of its order were refunded by themselves (`MAX_REFUNDS_PER_ORDER`).',
    netted: 'It stands in, wholly or in part, for a used deposit that is gone; it is refunded when that returns.',
  },
);

export const PaymentKindEnum = enumOf<Payment['kind']>('PaymentKind', 'What a payment is for.', {
  payout: 'The coins that were bought.',
  refund: 'A deposit, or a rest of it, on its way back.',
  sweep: 'Coins of deposit addresses on their way to the hot wallet.',
  gas: 'Coins for the fee of an address that is swept.',
});

export const PaymentLegEnum = enumOf<Payment['leg']>('PaymentLeg', 'Which part of a deposit a payment settles.', {
  main: 'The deposit itself, exchanged or refunded.',
  excess: 'What of it was not exchanged.',
});

export const PaymentStateEnum = enumOf<PaymentState>('PaymentState', 'Where a payment stands.', {
  ready: 'Decided.',
  prepared: 'Its transaction is built, and what it spends is reserved.',
  signed: 'Its bytes are stored.',
  sent: 'It was broadcast, perhaps more than once.',
  confirmed: 'Final on its chain.',
  dead: 'It can never confirm.',
});

export const TradeStateEnum = enumOf<TradeState>('TradeState', 'Where the exchange of an order stands.', {
  intended: 'Decided, and perhaps asked of the venue.',
  filled: 'The venue filled it.',
  abandoned: 'Given up before the venue filled it.',
  unwound: 'Filled, then taken into our own book, because the user gets the deposit back.',
});

export const PartnerStatusEnum = enumOf<PartnerStatus>('PartnerStatus', 'Whether a partner may use the API.', {
  active: 'Its keys work.',
  inactive: 'Its requests are answered 403.',
});

export const KeyScopeEnum = enumOf<KeyScopeName>('KeyScope', 'What a key may do.', {
  orders_create: 'Create orders.',
  orders_read: 'Read orders.',
  rates_read: "Get quotes with the partner's own pricing.",
});
type KeyScopeName = 'orders_create' | 'orders_read' | 'rates_read';

/** GraphQL names have no colon: 'orders_create' for 'orders:create'. */
export function scopeName(scope: KeyScope): KeyScopeName {
  return scope.replace(':', '_') as KeyScopeName;
}

/** The scope that a name of the schema stands for. */
export function scopeOf(name: KeyScopeName): KeyScope {
  return name.replace('_', ':') as KeyScope;
}

export const StaffRoleEnum = enumOf<StaffRole>(
  'StaffRole',
  'What a member may do; each may do what those before it may.',
  {
    viewer: 'Reads.',
    support: 'Writes notes, and holds orders.',
    operator: 'Runs the business: proposes and approves what moves money, partners, keys, switches of currencies.',
    admin: 'Staff, pricing, fees, limits and prices.',
  },
);

export const StaffActionEnum = enumOf<StaffActionName>('OrderActionKind', 'What staff do to an order.', {
  refund: 'Send a deposit, or a rest of it, to an address.',
  retry_payout: 'Make the payout of a failed order go on.',
  mark_failed: 'End a payout or refund that was never signed.',
  hold: 'Let the order not go on, and no payment of it go out.',
  release: 'End a hold.',
  venue_price: 'Set the worst price at which what an exchange left at the venue is traded.',
  resume_payouts: 'End a hold of payouts.',
});

export const StaffChangeEnum = enumOf<StaffChangeName>('StaffChangeKind', 'What is changed of staff.', {
  invite: 'A member is added.',
  role: 'A member gets another role.',
  token: 'A member gets a new token.',
  revoke: 'A member is shut out for good.',
});

export const StaffActionStateEnum = enumOf<StaffAction['state']>(
  'OrderActionState',
  'Where an action of staff stands.',
  {
    proposed: 'It waits for a second member.',
    done: 'It was carried out.',
    rejected: 'It was turned down, or withdrawn.',
  },
);

export const AccountEnum = enumOf<Account>('LedgerAccount', 'An account of the book. Debits are positive.', {
  deposits: 'Coins on deposit addresses.',
  hot: 'The wallets that pay.',
  client: 'What users are owed.',
  venue: 'Our balance with the liquidity venue.',
  service_fee: 'Service fees that users paid.',
  network_fee: 'Network fees that users paid.',
  network_cost: 'What chains took.',
  trading:
    'What the venue gave more or less than was agreed with users, what else trades left or cost there, and exchanges that we took back.',
  unclaimed: 'Remainders too small to send back.',
  suspense: "Deposits that are nobody's yet.",
  opening: 'What the hot wallets began with.',
});
