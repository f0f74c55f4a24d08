import type { EntityManager } from '@mikro-orm/postgresql';
import { v5 as uuidv5 } from 'uuid';
import { Big, formatDecimal, minOf } from '../../base/money.ts';
import { networkById } from '../../chains/networks/networks.ts';
import { line, minus } from '../../ledger/ledger.ts';
import type { Currency } from '../../market/currencies/currency.entity.ts';
import type { Order } from '../../orders/order.entity.ts';
import { recordFact } from '../../orders/order-moves.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import { Payment } from '../rows/payment.entity.ts';
import { availableToReturn, isInDebit } from './client-account.ts';
import { countLateRefund, hasLateRoom } from './late-refunds.ts';
import type { Settling } from './settling.ts';

export interface Recipient {
  readonly address: string;
  readonly tag: string | null;
  /** The partner set the address after the create. Such refunds have a limit. */
  readonly isLate?: boolean;
}

interface NewPayment {
  readonly kind: Payment['kind'];
  readonly leg: Payment['leg'];
  readonly deposit: Deposit;
  readonly currency: Currency;
  readonly recipient: Recipient;
  readonly amount: Big;
  readonly feeCharged: Big;
}

/** The parts of a payment that are decided once and never change. */
type DecidedPayment = Pick<
  Payment,
  | 'id'
  | 'kind'
  | 'orderId'
  | 'depositId'
  | 'sources'
  | 'leg'
  | 'chain'
  | 'coin'
  | 'network'
  | 'contract'
  | 'address'
  | 'tag'
  | 'amount'
  | 'feeCharged'
> &
  Partial<Pick<Payment, 'setup'>>;

/** Creates a payment in state `ready`. */
export function persistPayment(em: EntityManager, decided: DecidedPayment, now: Date): Payment {
  const payment = em.create(Payment, {
    setup: null,
    ...decided,
    state: 'ready',
    attempt: 0,
    tries: 0,
    problem: null,
    problemSince: null,
    nextActionAt: now,
    createdAt: now,
    sentAt: null,
    endedAt: null,
    valueUsd: null,
    begunAt: null,
  });
  em.persist(payment);
  return payment;
}

/** UUID namespace of payment ids, chosen at random once. */
const namespace = '6f0c0c1e-5d0b-4c39-9a53-9d2f3f6c7a41';

/**
 * Derives the id from what is paid: the deposit's key on its chain, the leg, and the number of its
 * earlier payments. A database restored from a backup thus makes the same payment again under the
 * same id. The signer remembers that id and does not sign it twice.
 */
function paymentId(
  kind: Payment['kind'],
  leg: Payment['leg'],
  { chain, key, id }: Deposit,
  payments: readonly Payment[],
): string {
  const earlier = payments.filter((payment) => payment.depositId === id && payment.leg === leg).length;
  return uuidv5(JSON.stringify([chain, key, leg, kind, earlier]), namespace);
}

/** Decides a payment. The database refuses a second live payment of the same leg, of any kind. */
export function createPayment(
  { em, now, order, payments }: Pick<Settling, 'em' | 'now' | 'payments'> & { order: { id: string } | null },
  { kind, leg, deposit, currency, recipient, amount, feeCharged }: NewPayment,
): Payment {
  const decided: DecidedPayment = {
    id: paymentId(kind, leg, deposit, payments),
    kind,
    orderId: order?.id ?? null,
    depositId: deposit.id,
    sources: null,
    leg,
    chain: networkById(currency.network)?.chain ?? '',
    coin: currency.coin,
    network: currency.network,
    contract: currency.contract,
    address: recipient.address,
    tag: recipient.tag,
    amount: formatDecimal(amount),
    feeCharged: formatDecimal(feeCharged),
  };
  const payment = persistPayment(em, decided, now);
  payments.push(payment);
  return payment;
}

/**
 * Whether a refund is not the one that the order's status shows: of a deposit that the order
 * does not use, or of what it did not exchange.
 */
export function isExtraRefund(
  { depositId }: Pick<Order, 'depositId'>,
  payment: Pick<Payment, 'kind' | 'depositId' | 'leg'>,
): boolean {
  return payment.kind === 'refund' && !(payment.depositId === depositId && payment.leg === 'main');
}

/** Why a leg is not refunded automatically. */
type RefundObstacle = 'no_refund_address' | 'below_fee' | 'netted' | 'late_refund_limit';

/** Why an amount of a deposit would not be refunded automatically. Null when it would. */
export function refundObstacle(
  settling: Settling,
  deposit: Deposit,
  amount: Big,
  recipient: Recipient | null = refundAddress(settling),
): RefundObstacle | null {
  const fee = currencyOf(settling, deposit).networkFee;
  if (amount.lte(fee)) return 'below_fee';
  // A deposit that is not credited yet will be owed once it is.
  const isOwed = deposit.state !== 'credited' || minOf(amount, availableToReturn(settling, deposit)).gt(fee);
  if (isInDebit(settling) || !isOwed) return 'netted';
  if (!recipient) return 'no_refund_address';
  const { late, tools } = settling;
  return recipient.isLate && !hasLateRoom(late, tools.prices, deposit, amount) ? 'late_refund_limit' : null;
}

function currencyOf({ tools }: Settling, { id, coin, network }: Deposit): Currency {
  const currency = tools.catalogue.find(coin, network);
  if (!currency) throw new Error(`the currency of deposit ${id} no longer exists`);
  return currency;
}

/**
 * Refunds a leg, less the network fee, to the order's refund address or to the recipient that staff
 * gave. It refunds at most the amount that the order's account is still owed; a smaller refund
 * marks the deposit as `netted`. An order in debit refunds nothing. Returns the obstacle, without
 * any change, when there is one.
 */
export function refundLeg(
  settling: Settling,
  deposit: Deposit,
  leg: Payment['leg'],
  amount: Big,
  recipient: Recipient | null = refundAddress(settling),
): Payment | RefundObstacle {
  const obstacle = refundObstacle(settling, deposit, amount, recipient);
  if (obstacle !== null || !recipient) return obstacle ?? 'no_refund_address';
  const currency = currencyOf(settling, deposit);
  const fee = new Big(currency.networkFee);
  const owed = minOf(amount, availableToReturn(settling, deposit));
  const kept = { kind: 'refund', leg, deposit, currency, recipient } as const;
  if (owed.lt(amount)) deposit.problem = 'netted';
  const refund = createPayment(settling, { ...kept, amount: owed.minus(fee), feeCharged: fee });
  if (recipient.isLate) countLateRefund(settling, settling.tools.prices, refund, owed);
  const { em, now, order } = settling;
  if (isExtraRefund(order, refund)) recordFact(em, order, 'extra_refund_decided', { at: now });
  return refund;
}

function refundAddress({ order }: Settling): Recipient | null {
  const { refundAddress: address, refundAddressTag: tag, refundAddressSetAt } = order;
  return address === null ? null : { address, tag, isLate: refundAddressSetAt !== null };
}

/** Keeps a remainder below its refund's fee, so that the order's account is settled. */
export function keepUnclaimed({ bookings, now, order }: Settling, deposit: Deposit, amount: Big): void {
  bookings.push({
    kind: 'unclaimed',
    reference: deposit.id,
    orderId: order.id,
    at: now,
    lines: [line('client', deposit, amount), line('unclaimed', deposit, minus(amount))],
  });
}
