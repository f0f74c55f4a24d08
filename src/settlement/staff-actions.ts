import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { requireApprover } from '../accounts/staff/approvals.ts';
import type { Clock } from '../base/clock.ts';
import { brokenConstraint } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { AppError, notPossible } from '../base/errors.ts';
import type { JobQueue } from '../base/jobs/job-queue.ts';
import { Big } from '../base/money.ts';
import { Order } from '../orders/order.entity.ts';
import { holdOrder, type MoveDetails, moveOrder, releaseOrder } from '../orders/order-moves.ts';
import {
  type CommissionDecisions,
  type CommissionSubject,
  commissionOf,
  type StoredCommission,
} from './commission/commission-decisions.ts';
import { assignDeposit, evidenceOf, lockChainOf } from './deposit-assignment.ts';
import type { OrderSettler } from './order-settler.ts';
import { refuseUnknownHold, resumePayouts } from './pay/payout-holds.ts';
import { Deposit } from './rows/deposit.entity.ts';
import { markedFailed } from './rows/payment.entity.ts';
import { PaymentAttempt } from './rows/payment-attempt.entity.ts';
import { StaffAction, type StaffActionName, staffActions, type VenueClass } from './rows/staff-action.entity.ts';
import { isInDebit } from './rules/client-account.ts';
import { decidePayout } from './rules/exchange.ts';
import { currentPayment } from './rules/pay.ts';
import { createPayment, type Recipient } from './rules/payments.ts';
import type { Settling } from './rules/settling.ts';
import { refund, refundUnassignedDeposit, setRecipient } from './staff-refunds.ts';
import { priceOf, setVenuePrice } from './trade/venue-price.ts';
import {
  classifyVenueEntry,
  lockVenueAccount,
  openVenueAccount,
  type StoredSubject,
  subjectOf,
  type VenueSubject,
} from './treasury/venue-decisions.ts';

/** A staff member's request for an action. */
export interface StaffProposal {
  readonly action: StaffActionName;
  /** The proposing staff member. */
  readonly staffId: string;
  /**
   * The order; for a refund also one of its deposits, or a deposit without an order. For an
   * assignment the order that gets the deposit.
   */
  readonly orderId?: string;
  readonly depositId?: string;
  /** The payout hold to end, in place of an order. */
  readonly holdId?: string;
  /** Ends that hold although its cause persists. */
  readonly acknowledges?: boolean;
  /** The recipient of a refund. */
  readonly recipient?: Recipient;
  /** What proves whose deposit it is. Needed for a deposit without an order. */
  readonly evidence?: string;
  /** For the actions on the account at an exchange. */
  readonly venue?: string;
  readonly venueSubject?: VenueSubject;
  readonly class?: VenueClass;
  /** For the actions on the commission of a partner. */
  readonly commission?: CommissionSubject;
  /** For `venue_price`: the venue's cash coin for one coin, as a decimal string. */
  readonly price?: string;
  readonly reason: string;
}

/** Actions that move money take effect only once a second member approves. */
const needsApproval: Readonly<Record<StaffActionName, boolean>> = {
  refund: true,
  retry_payout: true,
  release: true,
  venue_price: true,
  hold: false,
  mark_failed: false,
  resume_payouts: true,
  venue_opening: true,
  venue_classify: true,
  assign_deposit: true,
  commission_hold: false,
  commission_release: true,
  commission_correct: true,
  commission_pay: true,
  commission_cancel: true,
  commission_address: true,
};

/** The actions that are proposals first. */
export const proposedActions = staffActions.filter((action) => needsApproval[action]);

export interface StaffActionsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly settler: OrderSettler;
  readonly jobs: Pick<JobQueue, 'wake'>;
  readonly commission: CommissionDecisions;
}

/**
 * Carries out staff actions. Each action is a row with its reason and its actors, written
 * in the transaction that carries it out.
 */
export class StaffActions {
  readonly #options: StaffActionsOptions;

  constructor(options: StaffActionsOptions) {
    this.#options = options;
  }

  /**
   * Carries out an action, or stores it for a second member's approval when it moves money. An
   * action that could not be carried out now is refused now.
   *
   * @throws AppError action_not_possible, order_not_found, deposit_not_found, partner_not_found, or
   * the fault of the address.
   */
  async propose(proposal: StaffProposal, outer: EntityManager = this.#options.orm.em.fork()): Promise<StaffAction> {
    const { clock } = this.#options;
    const reason = proposal.reason.trim();
    if (reason === '' || reason.length > 1000) {
      throw new AppError('invalid_value', 'a reason of 1 to 1000 characters is needed');
    }
    return outer.transactional(async (em) => {
      const now = clock.now();
      if (proposal.holdId !== undefined) await refuseUnknownHold(em, proposal.holdId);
      if (proposal.venue !== undefined) await lockVenueAccount(em, proposal.venue);
      if (proposal.action === 'assign_deposit') await lockChainOf(em, proposal.depositId ?? null);
      const { holdId, venue, commission } = proposal;
      const concernsOrder = holdId === undefined && venue === undefined && commission === undefined;
      const orderId = concernsOrder ? await orderOf(em, proposal) : null;
      // Locked before the row that refers to it is written. Two proposals would else wait for each
      // other.
      if (orderId !== null) await sql(em, 'select from exchange_order where id = ? for update', [orderId]);
      const action = em.create(StaffAction, {
        id: uuidv7(),
        action: proposal.action,
        orderId,
        depositId: proposal.depositId ?? null,
        holdId: proposal.holdId ?? null,
        acknowledges: proposal.acknowledges ?? false,
        price: proposal.action === 'venue_price' ? priceOf(proposal.price) : null,
        venue: proposal.venue ?? null,
        ...noSubject,
        ...(proposal.action === 'venue_classify' ? subjectOf(proposal.venueSubject ?? {}) : {}),
        ...(commission === undefined ? {} : await commissionOf(em, commission)),
        class: proposal.class ?? null,
        evidence: null,
        reason,
        state: 'proposed',
        proposedBy: proposal.staffId,
        proposedAt: now,
        decidedBy: null,
        decidedAt: null,
      });
      if (proposal.action === 'refund')
        await setRecipient(em, this.#options.settler.tools.catalogue, action, proposal.recipient);
      if (proposal.action === 'assign_deposit' || (proposal.action === 'refund' && orderId === null))
        action.evidence = evidenceOf(proposal.evidence);
      em.persist(action);
      await writeOnce(em);
      if (needsApproval[action.action]) await this.#rehearse(em, action);
      else await this.#carryOut(em, action, proposal.staffId);
      return action;
    });
  }

  /**
   * Carries out another member's proposal.
   *
   * @throws AppError as `requireApprover` does.
   * @throws AppError action_not_possible when it was decided before, or the order has changed
   * since.
   */
  async approve(
    actionId: string,
    staffId: string,
    outer: EntityManager = this.#options.orm.em.fork(),
  ): Promise<StaffAction> {
    return outer.transactional(async (em) => {
      const action = await this.#open(em, actionId);
      await requireApprover(em, {
        approver: staffId,
        proposer: action.proposedBy,
        permission: action.venue === null && action.partnerId === null ? 'actions:decide' : 'treasury:decide',
        now: this.#options.clock.now(),
      });
      await this.#carryOut(em, action, staffId);
      return action;
    });
  }

  /** Rejects a proposal, or withdraws it. */
  async reject(
    actionId: string,
    staffId: string,
    outer: EntityManager = this.#options.orm.em.fork(),
  ): Promise<StaffAction> {
    return outer.transactional(async (em) => {
      const action = await this.#open(em, actionId);
      action.state = 'rejected';
      action.decidedBy = staffId;
      action.decidedAt = this.#options.clock.now();
      return action;
    });
  }

  async #open(em: EntityManager, id: string): Promise<StaffAction> {
    const action = await em.findOne(StaffAction, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!action) throw new AppError('action_not_found', 'there is no such proposal');
    if (action.state !== 'proposed')
      throw notPossible(`another member acted first: this was decided before, and is ${action.state}`);
    return action;
  }

  /**
   * Checks whether an approval would succeed now, by carrying the action out and rolling it back.
   * It uses its own entities but the caller's connection: waiting for a second one while holding
   * the first could exhaust the pool.
   */
  async #rehearse(outer: EntityManager, action: StaffAction): Promise<void> {
    const undo = new Error('the rehearsal is over');
    const rehearsal = outer.fork({ clear: true, keepTransactionContext: true }).transactional(async (em) => {
      await this.#effect(em, action, action.proposedBy);
      await em.flush();
      throw undo;
    });
    await rehearsal.catch((error) => {
      if (error !== undo) throw error;
    });
  }

  async #carryOut(em: EntityManager, action: StaffAction, staffId: string): Promise<void> {
    const { clock, jobs } = this.#options;
    await this.#effect(em, action, staffId);
    action.state = 'done';
    action.decidedBy = staffId;
    action.decidedAt = clock.now();
    await em.flush();
    if (action.orderId !== null) await jobs.wake(em, [action.orderId]);
  }

  async #effect(em: EntityManager, action: StaffAction, staffId: string): Promise<void> {
    if (action.holdId !== null) {
      const now = this.#options.clock.now();
      return resumePayouts(em, action.holdId, { ...action, decidedBy: staffId, now });
    }
    if (action.venue !== null) {
      const now = this.#options.clock.now();
      if (action.action === 'venue_opening') return openVenueAccount(em, action, now);
      return classifyVenueEntry(em, action, now);
    }
    if (action.partnerId !== null) return this.#options.commission.carryOut(em, action, this.#options.clock.now());
    if (action.orderId === null)
      return refundUnassignedDeposit(em, action, this.#options.settler.tools.catalogue, this.#options.clock.now());
    if (action.action === 'assign_deposit') await lockChainOf(em, action.depositId);
    const settling = await this.#options.settler.open(em, action.orderId, action.depositId);
    if (!settling) throw new AppError('order_not_found', 'there is no such order');
    const details = { at: settling.now, actor: `staff:${staffId}`, detail: action.reason };
    switch (action.action) {
      case 'refund':
        await refund(settling, action, details);
        break;
      case 'retry_payout':
        retryPayout(settling, details);
        break;
      case 'mark_failed':
        await markFailed(settling, details);
        break;
      case 'hold':
        hold(settling, details);
        break;
      case 'release':
        release(settling, action, details);
        break;
      case 'venue_price':
        await setVenuePrice(settling, action);
        break;
      case 'assign_deposit':
        await assignDeposit(settling, action.depositId);
        break;
    }
    settling.order.nextActionAt = settling.now;
  }
}

const noSubject: StoredSubject & StoredCommission = {
  movementKind: null,
  reference: null,
  coin: null,
  amount: null,
  partnerId: null,
  month: null,
  network: null,
  corrects: null,
  address: null,
  tag: null,
  oldIsLost: false,
};

async function orderOf(em: EntityManager, { action, orderId, depositId }: StaffProposal): Promise<string | null> {
  const isAssigned = action === 'assign_deposit';
  if (depositId !== undefined || isAssigned) {
    const deposit = depositId === undefined ? null : await em.findOne(Deposit, { id: depositId });
    if (!deposit || (!isAssigned && orderId !== undefined && deposit.orderId !== orderId)) {
      throw new AppError('deposit_not_found', 'there is no such deposit');
    }
    if (!isAssigned) return deposit.orderId;
  }
  if (orderId === undefined || (await em.count(Order, { id: orderId })) === 0) {
    throw new AppError('order_not_found', 'there is no such order');
  }
  return orderId;
}

/** Writes a proposal. Only one of a kind may be open, because two would be carried out twice. */
async function writeOnce(em: EntityManager): Promise<void> {
  try {
    await em.flush();
  } catch (error) {
    if (brokenConstraint(error) !== 'staff_action_open_once') throw error;
    throw new AppError('already_exists', 'the same is proposed already; approve or reject that first', {
      cause: error,
    });
  }
}

/**
 * Continues the payout of a failed order: the same payment while it may still be confirmed, a new
 * one once it is dead.
 */
function retryPayout(settling: Settling, details: MoveDetails): void {
  const { em, order, deposits, payments, tools, trade } = settling;
  if (order.status !== 'failed') throw notPossible(`the order is ${order.status}; only a failed one can be retried`);
  const deposit = deposits.find(({ id }) => id === order.depositId);
  const currency = tools.catalogue.find(order.coinTo, order.networkTo);
  if (trade?.state !== 'filled' || !deposit || !currency) throw notPossible('nothing was exchanged for this order');
  if (isInDebit(settling)) throw notPossible("the order's account is in debit: a deposit that it used was lost");
  const payout = currentPayment(payments.filter(({ kind }) => kind === 'payout'));
  moveOrder(em, order, 'staff_retry', details);
  if (payout && payout.state !== 'dead') {
    payout.problem = null;
    payout.problemSince = null;
    return;
  }
  if (!payout) {
    decidePayout(settling, trade);
    return;
  }
  const recipient = { address: order.recipientAddress, tag: order.recipientAddressTag };
  const amount = new Big(trade.amountTo);
  createPayment(settling, {
    kind: 'payout',
    leg: 'main',
    deposit,
    currency,
    recipient,
    amount,
    feeCharged: new Big('0'),
  });
}

/**
 * Ends a payment that was never signed, so that staff can decide again. A trade first ends at its
 * venue. A payment of which transactions were signed and died ends once the chain, asked again,
 * calls them dead, and the order with it.
 */
async function markFailed(settling: Settling, details: MoveDetails): Promise<void> {
  const { em, order, payments, now } = settling;
  if (order.status === 'exchanging') {
    order.exchangeDeadline = now;
    return;
  }
  if (order.status !== 'sending' && order.status !== 'refunding') {
    throw notPossible(`the order is ${order.status} and cannot be marked as failed`);
  }
  let isAsked = false;
  // Refunds of other deposits go on.
  const own = payments.filter(({ depositId, leg }) => depositId === order.depositId && leg === 'main');
  for (const payment of own.filter(({ state }) => state !== 'dead')) {
    await em.refresh(payment, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (payment.state === 'prepared') {
      throw notPossible(
        `its ${payment.kind} is at the signer, which may have signed it; hold the order, and try again when the payment is ready`,
      );
    }
    if (payment.state !== 'ready') throw notPossible(`its ${payment.kind} is ${payment.state} and may still arrive`);
    payment.problem = markedFailed;
    payment.problemSince = now;
    const mayHavePaid = await em.count(PaymentAttempt, { paymentId: payment.id, raw: { $ne: null } });
    if (mayHavePaid > 0) {
      payment.nextActionAt = now;
      isAsked = true;
      continue;
    }
    payment.state = 'dead';
    payment.endedAt = now;
    payment.nextActionAt = null;
  }
  if (isAsked) return;
  moveOrder(em, order, order.status === 'sending' ? 'staff_stopped' : 'staff_failed', details);
}

const resting: readonly string[] = ['completed', 'refunded'];

function hold({ em, order }: Settling, details: MoveDetails): void {
  if (resting.includes(order.status)) throw notPossible(`the order is ${order.status}; there is nothing to hold`);
  if (order.heldAt !== null) throw notPossible('the order is held already');
  holdOrder(em, order, 'staff', details);
}

function release({ em, order }: Settling, { proposedAt }: StaffAction, details: MoveDetails): void {
  if (order.heldAt === null) throw notPossible('the order is not held');
  // The approval concerned the earlier hold, not the present one.
  if (order.heldAt > proposedAt) throw notPossible('the order was held anew since this was proposed; propose it again');
  releaseOrder(em, order, details);
}
