import { formatDecimal } from '../../base/money.ts';
import type { ActionOffers, AskedOrder } from '../action-offers.ts';
import { type DepositRole, depositRole } from '../deposit-role.ts';
import type { ActionReason } from '../order-action.entity.ts';
import { actionName } from '../order-actions.ts';
import type { OrderPages } from '../order-pages.ts';
import { decimal, isoTime, type OrderView, orderLookupWith } from '../order-statements.ts';
import type { OrderMove, OrderStatus } from '../order-status.ts';
import type { OrderPolicy } from '../order-terms.ts';
import { type RefundReason, type RefundRow, refundReasonOf } from './refund-reasons.ts';
import { shownTerms, type TermsDetails } from './shown-terms.ts';

/** A deposit of an order, as its partner sees it. Amounts are plain decimal text. */
export interface DepositDetails {
  readonly txid: string;
  readonly outputIndex: number | null;
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
  readonly confirmations: number;
  readonly state: 'mempool' | 'confirming' | 'credited' | 'lost';
  readonly role: DepositRole;
  readonly seenAt: string;
  /** Why it is not refunded, where it should be. */
  readonly refundObstacle: 'no_refund_address' | 'below_fee' | 'review' | null;
  /** Where an explorer shows the transaction. Null where none does. */
  readonly explorerUrl: string | null;
}

/** A payout or a refund. The transaction is known once a block includes it. */
export interface PaymentDetails {
  readonly txid: string | null;
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
  /** The network fee that was kept. */
  readonly fee: string;
  readonly state: 'pending' | 'sent' | 'confirmed' | 'failed';
  readonly createdAt: string;
  readonly sentAt: string | null;
  readonly confirmedAt: string | null;
  /** The transaction of the deposit that is paid. */
  readonly depositTxid: string;
  /** Where it goes. Staff may refund to another address than that of the order. */
  readonly address: string;
  readonly tag: string | null;
  /** Where an explorer shows the transaction. Null where none does, or there is none yet. */
  readonly explorerUrl: string | null;
}

type StatusGroup = Exclude<OrderStatus, 'waiting_deposit' | 'confirming' | 'exchanging' | 'sending'> | Summary;
type Summary = 'waiting' | 'processing' | 'on_hold' | 'action_required';

/** A question to the partner, with what each answer would give now. */
export interface ActionRequired {
  readonly id: string;
  readonly reason: ActionReason;
  readonly deadline: string;
  /** Null while no exchange is offered. */
  readonly exchange: { readonly amountTo: string; readonly validUntil: string } | null;
  /** Null when the deposit does not cover its network's fee. */
  readonly refund: { readonly amount: string; readonly needsAddress: boolean } | null;
}

export interface OrderDetails {
  readonly orderId: string;
  readonly seq: number;
  readonly statusGroup: StatusGroup;
  readonly updatedAt: string;
  /** What the partner said at the create; null where it said nothing. */
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly policy: OrderPolicy | null;
  readonly deposits: readonly DepositDetails[];
  readonly terms: TermsDetails;
  readonly payout: PaymentDetails | null;
  readonly refunds: readonly PaymentDetails[];
  /** The class of the reason, never the rule behind it. */
  readonly hold: { readonly reason: 'chain' | 'review'; readonly since: string } | null;
  readonly failure: { readonly cause: OrderMove; readonly at: string } | null;
  /** Why it is refunded, was, or could not be. */
  readonly refundReason: RefundReason | null;
  /** The open question. Null without one, and while the order is on hold. */
  readonly actionRequired: ActionRequired | null;
  /** Whether there is one, never the address itself. */
  readonly refundAddress: 'none' | 'given' | 'set_later' | 'awaits_approval';
  /** Null while the order has no page. */
  readonly publicUrl: string | null;
  /** Null unless the order waits for its deposit. */
  readonly paymentUri: string | null;
}

/** What details need in addition to the row. */
export interface DetailsSources {
  readonly offers: ActionOffers;
  readonly pages: Pick<OrderPages, 'urlOf'>;
  /** The URI that opens a wallet with the payment that an order waits for. */
  readonly paymentUri: (order: OrderView) => string | null;
  /** How long after an order's window a deposit that came in time may still be mined. */
  readonly depositGraceSec: number;
  /** Where an explorer shows a transaction. Null where none does. */
  readonly explorerUrl: (coin: string, network: string, txid: string) => string | null;
}

const groups: Readonly<Record<OrderStatus, StatusGroup>> = {
  waiting_deposit: 'waiting',
  confirming: 'processing',
  exchanging: 'processing',
  sending: 'processing',
  completed: 'completed',
  expired: 'expired',
  refunding: 'refunding',
  refunded: 'refunded',
  failed: 'failed',
};

/** Most deposits, and most payments, that the details of an order show. */
const mostParts = 100;

/** The problem of a deposit whose refund to a late address is above the limit of such refunds. */
const aboveLateLimit = 'late_refund_limit';

/** The deposits of `o` as JSON, the main one first. */
const deposits = `(
  select coalesce(jsonb_agg(jsonb_build_object(
           'txid', s.txid, 'outputIndex', substring(s.key from ':(\\d{1,9})$')::integer, 'coin', s.coin,
           'network', s.network, 'amount', ${decimal('s.amount')},
           'confirmations', case when s.height is null then 0 when s.id = o.deposit_id then coalesce(o.deposit_confirmations, 0)
                            else greatest(0, coalesce(c.height, 0) - s.height + 1) end,
           'state', case s.state when 'mined' then 'confirming' when 'orphaned' then 'lost' else s.state end,
           'isMain', s.id is not distinct from o.deposit_id, 'arrivedAfter', ${isoTime('s.arrived_after')},
           'minedAfter', ${isoTime('s.mined_after')}, 'readAt', ${isoTime('c.read_at')},
           'seenAt', ${isoTime('s.seen_at')},
           'refundObstacle', case when s.problem in ('no_refund_address', 'below_fee') then s.problem
                                  when s.problem is not null then 'review' end) order by s.id = o.deposit_id desc nulls last, s.seen_at, s.id), '[]')
    from (select * from deposit s where s.order_id = o.id
           order by s.id = o.deposit_id desc nulls last, s.seen_at, s.id limit ${mostParts}) s
    left join chain_state c on c.chain = s.chain)`;

/** The payouts and refunds of `o` as JSON, in the order of their decisions. */
const payments = `(
  select coalesce(jsonb_agg(jsonb_build_object(
           'kind', p.kind, 'coin', p.coin, 'network', p.network, 'amount', ${decimal('p.amount')},
           'fee', ${decimal('p.fee_charged')},
           'txid', (select a.txid from payment_attempt a
                     where a.payment_id = p.id and a.mined_height is not null and a.dead_at is null
                     order by a.attempt desc limit 1),
           'state', case p.state when 'sent' then 'sent' when 'confirmed' then 'confirmed' when 'dead' then 'failed'
                                 else 'pending' end,
           'createdAt', ${isoTime('p.created_at')}, 'sentAt', ${isoTime('p.sent_at')},
           'confirmedAt', case when p.state = 'confirmed' then ${isoTime('p.ended_at')} end,
           'depositTxid', d.txid, 'address', p.address, 'tag', p.tag) order by p.number), '[]')
    from (select * from payment p where p.order_id = o.id and p.kind in ('payout', 'refund')
           order by p.number desc limit ${mostParts}) p
    join deposit d on d.id = p.deposit_id)`;

/** Reads orders with all their details, in one round trip for any number of orders. */
export const orderDetailsStatement = orderLookupWith(
  'order_details',
  `, o.event_seq as seq, ${isoTime('o.updated_at')} as "updatedAt", ${isoTime('o.held_at')} as "heldAt",
       o.hold_reason as "holdReason", last.cause, ${isoTime('last.at')} as "lastAt",
       (select c.decimals from currency c where c.coin = o.coin_to and c.network = o.network_to) as "decimalsTo",
       ${decimal('o.service_fee_quoted')} as "serviceFeeQuoted", ${decimal('o.network_fee_quoted')} as "networkFeeQuoted",
       ${decimal('t.amount_from')} as "tradeFrom", ${decimal('t.amount_to')} as "tradeTo",
       ${decimal('t.service_fee')} as "tradeServiceFee", ${decimal('t.network_fee')} as "tradeNetworkFee",
       o.recipient_address_tag as "recipientTag", o.refund_address as "refundAddress", o.refund_address_tag as "refundTag",
       o.refund_address_set_at is not null as "isLateAddress",
       last.cause = 'refund_needs_approval' or exists (
         select from deposit s where s.order_id = o.id and s.problem = '${aboveLateLimit}') as "awaitsApproval",
       o.fee_rate::text as "feeRate", m.external_id as "externalId", m.metadata, m.policy, m.markup_bps as "markupBps",
       ${decimal('m.min_amount_to')} as "minAmountTo",
       case when act.seq is not null
            then jsonb_build_object('seq', act.seq, 'reason', act.reason, 'deadline', ${isoTime('act.deadline')},
                                    'amount', ${decimal('act.amount')}, 'amountFrom', ${decimal('act.amount_from')})
       end as action,
       back.cause as "refundCause", back.answer as "refundAnswer", back.by_staff as "isRefundByStaff",
       cancelled.at is not null as "wasCancelled", ${decimal('o.min_amount')} as "minAmount",
       page.nonce as "pageNonce", page.key_version as "pageKeyVersion",
       ${deposits} as deposits, ${payments} as payments`,
  `
  join lateral (
    select e.cause, e.at from order_event e where e.order_id = o.id and e.from_status is distinct from e.to_status
     order by e.seq desc limit 1) last on true
  left join lateral (
    select e.at from order_event e where e.order_id = o.id and e.cause = 'partner_cancelled') cancelled on true
  left join lateral (
    select e.cause,
           (select a.outcome from order_action a
             where a.order_id = o.id and a.outcome in ('refund', 'deadline') order by a.seq desc limit 1) as answer,
           exists (select from order_event s where s.order_id = o.id and s.cause = 'staff_refund') as by_staff
      from order_event e
     where o.status in ('refunding', 'refunded', 'failed') and e.order_id = o.id
       and (e.from_status = 'sending' and e.to_status = 'failed'
            or e.from_status <> 'refunding' and e.to_status = 'refunding'
               and e.cause not in ('refund_resumed', 'staff_refund'))
     order by e.seq desc limit 1) back on true
  left join order_page page on page.order_id = o.id
    and (select p.order_page from partner p where p.id = o.partner_id)
  left join order_terms m on m.order_id = o.id
  left join order_action act on act.order_id = o.id and act.outcome is null
  left join trade t on t.order_id = o.id and t.state in ('intended', 'filled')`,
);

/** Where an order pays, apart from the address of its recipient. Only its partner reads them. */
export interface Destinations {
  readonly recipientTag: string | null;
  readonly refundAddress: string | null;
  readonly refundTag: string | null;
}

/** A row of the statement. */
export interface OrderDetailsRow extends OrderView, Destinations, Omit<RefundRow, 'status'> {
  /** The number of the order in its batch, from 1. */
  readonly n: number;
  readonly seq: number;
  readonly updatedAt: string;
  readonly heldAt: string | null;
  readonly holdReason: string | null;
  readonly lastAt: string;
  readonly decimalsTo: number;
  readonly serviceFeeQuoted: string;
  readonly networkFeeQuoted: string;
  readonly tradeFrom: string | null;
  readonly tradeTo: string | null;
  readonly tradeServiceFee: string | null;
  readonly tradeNetworkFee: string | null;
  /** The service fee and the markup together, as a fraction. */
  readonly feeRate: string;
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly policy: OrderPolicy | null;
  readonly markupBps: number | null;
  readonly action: OpenAction | null;
  /** The link of the page, while its partner has pages. */
  readonly pageNonce: Buffer | null;
  readonly pageKeyVersion: number | null;
  readonly isLateAddress: boolean;
  /** Whether a refund to the late address is above the limit, and waits for staff. */
  readonly awaitsApproval: boolean;
  readonly minAmount: string;
  readonly deposits: readonly DepositRow[];
  readonly payments: readonly (Omit<PaymentDetails, 'explorerUrl'> & { readonly kind: 'payout' | 'refund' })[];
}

/** A deposit of a row, with what decides its role. Times are ISO 8601 in UTC. */
interface DepositRow extends Omit<DepositDetails, 'role' | 'explorerUrl'> {
  readonly isMain: boolean;
  readonly arrivedAfter: string | null;
  readonly minedAfter: string | null;
  /** When its chain was last read to its head. */
  readonly readAt: string | null;
}

/** The open question of a row. Amounts are plain decimal text. */
interface OpenAction {
  readonly seq: number;
  readonly reason: ActionReason;
  readonly deadline: string;
  readonly amount: string;
  readonly amountFrom: string;
}

export function orderDetails(row: OrderDetailsRow, sources: DetailsSources): OrderDetails {
  const { heldAt, holdReason, status, action } = row;
  const { offers, pages, paymentUri } = sources;
  const group = action === null ? groups[status] : 'action_required';
  const payments = row.payments.map((payment) => linked(payment, sources));
  return {
    orderId: row.id,
    seq: row.seq,
    statusGroup: heldAt === null ? group : 'on_hold',
    updatedAt: row.updatedAt,
    externalId: row.externalId,
    metadata: row.metadata,
    policy: row.policy,
    deposits: row.deposits.map((deposit) => depositDetails(row, deposit, sources)),
    terms: termsOf(row),
    payout: payments.findLast(({ kind }) => kind === 'payout') ?? null,
    refunds: payments.filter(({ kind }) => kind === 'refund'),
    hold: heldAt === null ? null : { reason: holdReason === depositGone ? 'chain' : 'review', since: heldAt },
    refundReason: refundReasonOf(row),
    failure: status === 'failed' ? { cause: row.cause as OrderMove, at: row.lastAt } : null,
    actionRequired: action && heldAt === null ? actionRequired(row, action, offers) : null,
    refundAddress: refundAddressOf(row),
    publicUrl: pages.urlOf(row.id, { nonce: row.pageNonce, keyVersion: row.pageKeyVersion }),
    paymentUri: status === 'waiting_deposit' ? paymentUri(row) : null,
  };
}

function depositDetails(row: OrderDetailsRow, deposit: DepositRow, sources: DetailsSources): DepositDetails {
  const { isMain, arrivedAfter, minedAfter, readAt, ...shown } = deposit;
  const order = { ...row, expiresAt: new Date(row.expiresAt) };
  const times = { ...deposit, arrivedAfter: momentOf(arrivedAfter), minedAfter: momentOf(minedAfter) };
  const rules = { graceSec: sources.depositGraceSec, readAt: momentOf(readAt) };
  return { ...linked(shown, sources), role: depositRole(order, times, rules) };
}

interface OnChain {
  readonly coin: string;
  readonly network: string;
  readonly txid: string | null;
}

/** A deposit or a payment with the place where an explorer shows it. */
function linked<Part extends OnChain>(part: Part, { explorerUrl }: DetailsSources) {
  const { coin, network, txid } = part;
  return { ...part, explorerUrl: txid === null ? null : explorerUrl(coin, network, txid) };
}

function momentOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

function actionRequired(row: OrderDetailsRow, action: OpenAction, offers: ActionOffers): ActionRequired {
  const order: AskedOrder = { ...row, amountFrom: action.amountFrom, maxAmount: action.amountFrom };
  const offer = offers.present(order);
  const refund = offers.refundOf(order, action.amount);
  return {
    id: actionName(action),
    reason: action.reason,
    deadline: action.deadline,
    exchange: offer && {
      amountTo: formatDecimal(offer.terms.amountTo),
      validUntil: offer.validUntil.toISOString(),
    },
    refund: refund && { amount: formatDecimal(refund), needsAddress: row.refundAddress === null },
  };
}

function refundAddressOf({ refundAddress, isLateAddress, awaitsApproval }: OrderDetailsRow) {
  if (refundAddress === null) return 'none';
  if (!isLateAddress) return 'given';
  return awaitsApproval ? 'awaits_approval' : 'set_later';
}

/** The finding of the scanner that a reorg took a credited deposit away. */
const depositGone = 'deposit_reorganised';

function termsOf(row: OrderDetailsRow): TermsDetails {
  const { tradeFrom, tradeTo, rateQuoted, markupBps, feeRate, decimalsTo } = row;
  return shownTerms({
    isFinal: tradeFrom !== null && tradeTo !== null,
    amountFrom: tradeFrom ?? row.amountFromExpected,
    amountTo: tradeTo ?? row.amountToExpected,
    fees: row.tradeServiceFee ?? row.serviceFeeQuoted,
    networkFee: row.tradeNetworkFee ?? row.networkFeeQuoted,
    rateQuoted,
    markupBps,
    feeRate,
    decimals: decimalsTo,
  });
}
