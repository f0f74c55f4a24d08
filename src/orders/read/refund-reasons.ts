import type { MovesTo, OrderMove } from '../order-status.ts';

/** A move that leads to a refund. Staff refund an order whose payout has failed. */
type RefundCause =
  | Exclude<MovesTo<'refunding'>, 'refund_resumed' | 'staff_refund'>
  | 'payout_failed'
  | 'payout_unknown'
  | 'staff_stopped';

/** Why an order is refunded, or was. */
export interface RefundReason {
  readonly cause: RefundCause;
  /** How the question to the partner ended. Null where it was not asked. */
  readonly answer: 'refund' | 'deadline' | null;
  /** Whether staff decided the refund. */
  readonly isByStaff: boolean;
  readonly wasCancelled: boolean;
  /** The smallest payout that the order accepts, as decimal text. Null without one. */
  readonly minAmountTo: string | null;
}

/** What the words of a reason name. Amounts are plain decimal text. */
interface RefundedOrder {
  readonly coinFrom: string;
  readonly coinTo: string;
  readonly amountFromExpected: string;
  readonly partnerName: string;
}

type Words = (order: RefundedOrder, reason: RefundReason) => string;

const belowLeast: Words = ({ coinTo }, { minAmountTo }) =>
  `At the price of the moment, the exchange would have given less than ${
    minAmountTo === null
      ? 'the order promises at least'
      : `the ${minAmountTo} ${coinTo} that the order promises at least`
  }.`;

const words: Readonly<Record<RefundCause, Words>> = {
  below_minimum: () => 'The payment is less than the smallest amount that can be exchanged.',
  rate_expired: () => 'The payment came after its fixed rate had ended.',
  underpaid: ({ amountFromExpected, coinFrom }) =>
    `The payment is less than the ${amountFromExpected} ${coinFrom} of the order.`,
  overpaid: ({ amountFromExpected, coinFrom }) =>
    `The payment is more than the ${amountFromExpected} ${coinFrom} of the order.`,
  price_moved: belowLeast,
  late_deposit: ({ partnerName }, { wasCancelled }) =>
    wasCancelled
      ? `The payment came after ${partnerName} had cancelled the order.`
      : 'The payment came after the time to pay.',
  exchange_deadline: () => 'The payment could not be exchanged at a fair price in time.',
  exchange_below_min: belowLeast,
  payout_failed: ({ coinTo }) => `The ${coinTo} could not be sent.`,
  payout_unknown: ({ coinTo }) => `The ${coinTo} could not be sent.`,
  staff_stopped: ({ coinTo }) => `Our team has stopped the sending of the ${coinTo}.`,
};

/** Causes that come from a policy of the order, where the partner was not asked. */
const agreed: ReadonlySet<RefundCause> = new Set(['underpaid', 'overpaid']);

/**
 * Why an order is refunded, in sentences for its user and its partner. They tell nothing of rules,
 * prices and people of the gateway.
 */
export function refundSentences(reason: RefundReason, order: RefundedOrder): string[] {
  return [words[reason.cause](order, reason), ...decision(reason, order)];
}

function decision({ cause, answer, isByStaff }: RefundReason, { partnerName }: RefundedOrder): string[] {
  if (answer === 'refund') return [`${partnerName} has chosen to return it.`];
  if (answer === 'deadline') return ['No choice was made in time, so it is returned.'];
  if (isByStaff) return ['Our team has decided to return the payment.'];
  return agreed.has(cause) ? [`${partnerName} has such payments returned.`] : [];
}

/** The part of a row that tells why an order is refunded. */
export interface RefundRow {
  readonly status: string;
  /** The cause of the last move. */
  readonly cause: string;
  readonly refundCause: string | null;
  readonly refundAnswer: 'refund' | 'deadline' | null;
  readonly isRefundByStaff: boolean | null;
  readonly wasCancelled: boolean;
  readonly minAmountTo: string | null;
}

/** Causes that end a payout and not a refund. */
const payoutEnds: ReadonlySet<string> = new Set<OrderMove>(['payout_failed', 'payout_unknown', 'staff_stopped']);

/** Null for an order that was not to be refunded. */
export function refundReasonOf(row: RefundRow): RefundReason | null {
  const { status, cause, refundCause, refundAnswer, isRefundByStaff, wasCancelled, minAmountTo } = row;
  if (refundCause === null || (status === 'failed' && payoutEnds.has(cause))) return null;
  return {
    cause: refundCause as RefundCause,
    answer: refundAnswer,
    isByStaff: isRefundByStaff ?? false,
    wasCancelled,
    minAmountTo,
  };
}
