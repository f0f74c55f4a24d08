import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { AppError, notPossible } from '../base/errors.ts';
import { Big } from '../base/money.ts';
import { type Contracts, payableAddress } from '../orders/destination.ts';
import { Order } from '../orders/order.entity.ts';
import { type MoveDetails, moveOrder } from '../orders/order-moves.ts';
import { refuseFunding } from './deposit-assignment.ts';
import { Deposit } from './rows/deposit.entity.ts';
import { Payment } from './rows/payment.entity.ts';
import type { StaffAction } from './rows/staff-action.entity.ts';
import { unwindTrade } from './rules/exchange.ts';
import { createPayment, type Recipient, refundLeg } from './rules/payments.ts';
import { unreturnedPart } from './rules/refund.ts';
import type { SettlementTools, Settling } from './rules/settling.ts';

/** Checks the address of a refund, and stores it with the deposit of the proposal. */
export async function setRecipient(
  em: EntityManager,
  catalogue: Contracts,
  action: StaffAction,
  recipient: Recipient | undefined,
): Promise<void> {
  const order = action.orderId === null ? null : await em.findOneOrFail(Order, { id: action.orderId });
  const depositId = action.depositId ?? order?.depositId ?? null;
  const deposit = depositId === null ? null : await em.findOne(Deposit, { id: depositId });
  if (!deposit) throw notPossible('this order has no deposit to refund');
  action.depositId = deposit.id;
  if (!recipient) throw new AppError('missing_field', 'a refund needs the address that it goes to');
  Object.assign(action, await payableAddress(em, catalogue, deposit.network, recipient));
}

function recipientOf({ address, tag }: StaffAction): Recipient {
  if (address === null) throw new Error('the refund has no address');
  return { address, tag };
}

/** Refunds a deposit, or its part that was not exchanged, to the address that staff gave. */
export async function refund(settling: Settling, action: StaffAction, details: MoveDetails): Promise<void> {
  const { em, order, deposits, payments, trade } = settling;
  const deposit = deposits.find(({ id }) => id === action.depositId);
  if (!deposit) throw new AppError('deposit_not_found', 'there is no such deposit');
  if (deposit.state !== 'credited') throw notPossible('the deposit is not confirmed on its chain');
  const isMain = deposit.id === order.depositId;
  const exchanged = isMain && (trade?.state === 'filled' || trade?.state === 'unwound') ? trade : null;
  if (isMain && order.status === 'failed') {
    refuseLive(payments, deposit.id, 'main');
    if (exchanged?.state === 'filled') await unwindTrade(settling, exchanged);
    moveOrder(em, order, 'staff_refund', details);
    // The part that was not exchanged is a separate leg, decided together with the payout. It keeps
    // its problem, which this refund does not solve.
    const hasRest = exchanged !== null && payments.some(({ kind }) => kind === 'payout');
    if (!hasRest) deposit.problem = null;
    pay(settling, deposit, 'main', new Big(hasRest ? exchanged.amountFrom : deposit.amount), action);
    return;
  }
  if (deposit.problem === null) {
    throw notPossible(`the order is ${order.status} and handles this deposit without staff`);
  }
  const { leg, amount } = unreturnedPart(settling, deposit);
  if (leg === null) throw notPossible('all of this deposit is paid, or on its way; it cannot be paid twice');
  deposit.problem = null;
  pay(settling, deposit, leg, amount, action);
}

function refuseLive(payments: readonly Payment[], depositId: string, leg: Payment['leg']): void {
  const live = payments.find(
    (payment) => payment.depositId === depositId && payment.leg === leg && payment.state !== 'dead',
  );
  if (live)
    throw notPossible(`a ${live.kind} of this deposit is ${live.state} and may still arrive; it cannot be paid twice`);
}

function pay(settling: Settling, deposit: Deposit, leg: Payment['leg'], amount: Big, action: StaffAction): void {
  const made = refundLeg(settling, deposit, leg, amount, recipientOf(action));
  if (made === 'netted') {
    throw notPossible("the order's account is owed nothing more in this coin: a deposit that it used was lost");
  }
  if (typeof made === 'string') throw notPossible("the amount does not cover its network's fee");
}

/** Refunds a deposit without an order, by a payment without one. */
export async function refundUnassignedDeposit(
  em: EntityManager,
  action: StaffAction,
  catalogue: SettlementTools['catalogue'],
  now: Date,
): Promise<void> {
  const deposit = await em.findOne(Deposit, { id: action.depositId ?? '' }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!deposit || action.action !== 'refund') throw new AppError('deposit_not_found', 'there is no such deposit');
  if (deposit.orderId !== null) throw notPossible('the deposit was assigned to an order since; refund it there');
  refuseFunding(deposit);
  if (deposit.state !== 'credited') throw notPossible('the deposit is not confirmed on its chain');
  const payments = await em.find(Payment, { depositId: deposit.id });
  refuseLive(payments, deposit.id, 'main');
  const currency = catalogue.find(deposit.coin, deposit.network);
  if (!currency) throw notPossible(`${deposit.coin} on ${deposit.network} is no longer a currency`);
  const fee = new Big(currency.networkFee);
  const amount = new Big(deposit.amount).minus(fee);
  if (amount.lte('0')) throw notPossible("the amount does not cover its network's fee");
  const settling = { em, now, payments, order: null };
  const recipient = recipientOf(action);
  createPayment(settling, { kind: 'refund', leg: 'main', deposit, currency, recipient, amount, feeCharged: fee });
  deposit.problem = null;
}
