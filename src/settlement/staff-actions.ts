import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { requireApprover } from '../accounts/staff/approvals.ts';
import type { Clock } from '../base/clock.ts';
import { brokenConstraint } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import type { JobQueue } from '../base/jobs/job-queue.ts';
import { Big } from '../base/money.ts';
import { checkAddress } from '../chains/addresses/address.ts';
import { DepositAddress } from '../chains/addresses/deposit-address.entity.ts';
import { keyForms } from '../chains/addresses/key-forms.ts';
import { isOwnAddress } from '../chains/addresses/own-address.ts';
import { networkById } from '../chains/networks/networks.ts';
import { book, line, minus } from '../ledger/ledger.ts';
import { type Contracts, contractFault } from '../orders/destination.ts';
import { Order } from '../orders/order.entity.ts';
import { holdOrder, moveOrder, releaseOrder } from '../orders/order-moves.ts';
import type { OrderSettler } from './order-settler.ts';
import { refuseUnknownHold, resumePayouts } from './pay/payout-holds.ts';
import { Deposit } from './rows/deposit.entity.ts';
import { markedFailed, Payment } from './rows/payment.entity.ts';
import { PaymentAttempt } from './rows/payment-attempt.entity.ts';
import { StaffAction, type StaffActionName, staffActions, type VenueClass } from './rows/staff-action.entity.ts';
import { isInDebit } from './rules/client-account.ts';
import { depositReference } from './rules/credit.ts';
import { decidePayout, unwindTrade } from './rules/exchange.ts';
import { currentPayment } from './rules/pay.ts';
import { createPayment, type Recipient, refundLeg } from './rules/payments.ts';
import { unreturnedPart } from './rules/refund.ts';
import type { Settling } from './rules/settling.ts';
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
  /** Ends that hold although its cause stands. */
  readonly acknowledges?: boolean;
  /** The recipient of a refund. */
  readonly recipient?: Recipient;
  /** What proves whose deposit it is. Needed for a deposit without an order. */
  readonly evidence?: string;
  /** For the actions on the account at an exchange. */
  readonly venue?: string;
  readonly venueSubject?: VenueSubject;
  readonly class?: VenueClass;
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
};

/** The actions that are proposals first. */
export const proposedActions = staffActions.filter((action) => needsApproval[action]);

export interface StaffActionsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly settler: OrderSettler;
  readonly jobs: Pick<JobQueue, 'wake'>;
}

/**
 * Carries out staff actions on orders. Each action is a row with its reason and its actors, written
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
   * @throws AppError action_not_possible, order_not_found, deposit_not_found, or the fault of the
   * address.
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
      const concernsOrder = proposal.holdId === undefined && proposal.venue === undefined;
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
        address: null,
        tag: null,
        price: proposal.action === 'venue_price' ? priceOf(proposal.price) : null,
        venue: proposal.venue ?? null,
        ...(proposal.action === 'venue_classify' ? subjectOf(proposal.venueSubject ?? {}) : noSubject),
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
        action.evidence = evidenceOf(proposal);
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
        permission: action.venue === null ? 'actions:decide' : 'treasury:decide',
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
    if (action.orderId === null) return refundUnassignedDeposit(em, action, this.#options);
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

const noSubject: StoredSubject = { movementKind: null, reference: null, coin: null, amount: null };

type Details = Parameters<typeof moveOrder>[3];

function notPossible(detail: string): AppError {
  return new AppError('action_not_possible', detail);
}

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

async function setRecipient(
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
  const check = checkAddress(deposit.network, recipient.address, recipient.tag);
  if (!check.ok) throw new AppError(check.code, `the ${check.field}: ${check.detail}`);
  const contract = contractFault(catalogue, deposit.network, check.address);
  if (contract !== null) throw new AppError('invalid_address', `the address: this ${contract}`);
  const [own] = await sql<{ own: boolean }>(
    em,
    `select ${isOwnAddress('forms.given')} as own from (select ?::text as given) as forms`,
    [keyForms(deposit.network, check.address)],
  );
  if (own?.own) throw new AppError('own_address', "this is an address of this service; give the user's own");
  action.address = check.address;
  action.tag = check.tag;
}

function recipientOf({ address, tag }: StaffAction): Recipient {
  if (address === null) throw new Error('the refund has no address');
  return { address, tag };
}

/** Refunds a deposit, or its part that was not exchanged, to the address that staff gave. */
async function refund(settling: Settling, action: StaffAction, details: Details): Promise<void> {
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

/** @throws AppError missing_field without evidence, invalid_value for too much of it. */
function evidenceOf({ evidence = '' }: StaffProposal): string {
  const text = evidence.trim();
  if (text === '') {
    throw new AppError(
      'missing_field',
      'a deposit without an order needs evidence: what proves whose it is, such as a signed message or the account at the sending exchange',
    );
  }
  if (text.length > mostEvidence)
    throw new AppError('invalid_value', `evidence has at most ${mostEvidence} characters`);
  return text;
}

/** Characters of evidence. */
const mostEvidence = 4_000;

/**
 * Keeps scans of a deposit's chain from storing anything before the transaction ends. A scan locks
 * the order of each deposit that it changes, so the order must not change between. It is locked
 * before any order, as a scan does.
 */
async function lockChainOf(em: EntityManager, depositId: string | null): Promise<void> {
  await sql(
    em,
    'select from chain_state where chain = (select chain from deposit where id = ?::uuid) for no key update',
    [depositId],
  );
}

/**
 * Assigns a deposit without an order to an order, as if it had come with the order's tag. The next
 * steps judge it by its time, coin and amount. A deposit is assigned only once: one that already
 * has an order is refused.
 */
async function assignDeposit(settling: Settling, depositId: string | null): Promise<void> {
  const { em, order, now } = settling;
  const deposit = await em.findOne(Deposit, { id: depositId ?? '' }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!deposit) throw new AppError('deposit_not_found', 'there is no such deposit');
  if (deposit.orderId !== null) throw notPossible('the deposit belongs to an order already');
  if (deposit.purpose !== 'order') throw notPossible('the deposit is funding of the hot wallet');
  if (deposit.state !== 'credited') throw notPossible('the deposit is not confirmed on its chain');
  const address = await em.findOne(DepositAddress, { id: order.depositAddress.id });
  if (address?.address !== deposit.address || networkById(order.networkFrom)?.chain !== deposit.chain) {
    throw notPossible('the deposit came to another address than that of the order');
  }
  // Otherwise a user could make an order at a good rate for coins that came long before.
  if (deposit.arrivedBy < order.createdAt) {
    throw notPossible('the deposit came before the order was made; return it to its owner');
  }
  const [payment] = await em.find(Payment, { depositId: deposit.id }, { limit: 1 });
  if (payment)
    throw notPossible(`a return of the deposit was decided before, and is ${payment.state}; return it again`);
  deposit.orderId = order.id;
  deposit.problem = null;
  await book(em, {
    kind: 'deposit_assigned',
    reference: depositReference(deposit),
    orderId: order.id,
    at: now,
    lines: [line('suspense', deposit, deposit.amount), line('client', deposit, minus(deposit.amount))],
  });
}

/** Refunds a deposit without an order, by a payment without one. */
async function refundUnassignedDeposit(
  em: EntityManager,
  action: StaffAction,
  { clock, settler }: StaffActionsOptions,
): Promise<void> {
  const deposit = await em.findOne(Deposit, { id: action.depositId ?? '' }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!deposit || action.action !== 'refund') throw new AppError('deposit_not_found', 'there is no such deposit');
  if (deposit.orderId !== null) throw notPossible('the deposit was assigned to an order since; refund it there');
  if (deposit.state !== 'credited') throw notPossible('the deposit is not confirmed on its chain');
  const payments = await em.find(Payment, { depositId: deposit.id });
  refuseLive(payments, deposit.id, 'main');
  const currency = settler.tools.catalogue.find(deposit.coin, deposit.network);
  if (!currency) throw notPossible(`${deposit.coin} on ${deposit.network} is no longer a currency`);
  const fee = new Big(currency.networkFee);
  const amount = new Big(deposit.amount).minus(fee);
  if (amount.lte('0')) throw notPossible("the amount does not cover its network's fee");
  const settling = { em, now: clock.now(), payments, order: null };
  const recipient = recipientOf(action);
  createPayment(settling, { kind: 'refund', leg: 'main', deposit, currency, recipient, amount, feeCharged: fee });
  deposit.problem = null;
}

/**
 * Continues the payout of a failed order: the same payment while it may still be confirmed, a new
 * one once it is dead.
 */
function retryPayout(settling: Settling, details: Details): void {
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
 * Ends a payment that was never signed, so that staff can decide anew. A trade first ends at its
 * venue. A payment of which transactions were signed and died ends once the chain, asked again,
 * calls them dead, and the order with it.
 */
async function markFailed(settling: Settling, details: Details): Promise<void> {
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

function hold({ em, order }: Settling, details: Details): void {
  if (resting.includes(order.status)) throw notPossible(`the order is ${order.status}; there is nothing to hold`);
  if (order.heldAt !== null) throw notPossible('the order is held already');
  holdOrder(em, order, 'staff', details);
}

function release({ em, order }: Settling, { proposedAt }: StaffAction, details: Details): void {
  if (order.heldAt === null) throw notPossible('the order is not held');
  // The approval concerned the earlier hold, not the present one.
  if (order.heldAt > proposedAt) throw notPossible('the order was held anew since this was proposed; propose it again');
  releaseOrder(em, order, details);
}
