import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { validate as isUuid } from 'uuid';
import { sql } from '../../base/db/sql.ts';
import { AppError, notPossible } from '../../base/errors.ts';
import { Big, floorTo, formatDecimal, isStorable, minOf, parseDecimal } from '../../base/money.ts';
import { book, type LedgerAsset, line, minus } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { CommissionStatement } from '../rows/commission-statement.entity.ts';
import { markedFailed, Payment } from '../rows/payment.entity.ts';
import { PaymentAttempt } from '../rows/payment-attempt.entity.ts';
import type { StaffAction } from '../rows/staff-action.entity.ts';
import { type CommissionAddresses, lockPartner } from './commission-addresses.ts';
import type { CommissionEntries } from './commission-entries.ts';
import type { CommissionProblem } from './commission-payments.ts';

// What members of staff decide about the commission of a partner. Each runs in the caller's
// transaction.

/** What a proposal about the commission of a partner names. */
export interface CommissionSubject {
  readonly partnerId: string;
  /** '2026-11', of an action on one month. */
  readonly month?: string;
  /** The asset of a correction or of an address. */
  readonly asset?: LedgerAsset;
  /** Of a correction, as a decimal string: positive for the partner. */
  readonly amount?: string;
  /** The entry that a correction is about. */
  readonly corrects?: string;
  readonly address?: string;
  readonly tag?: string | null;
  /** The partner has lost the address in effect, so nothing is paid to it any more. */
  readonly oldIsLost?: boolean;
}

/** What a proposal stores of its subject. */
export type StoredCommission = Pick<
  StaffAction,
  'partnerId' | 'month' | 'coin' | 'network' | 'amount' | 'corrects' | 'address' | 'tag' | 'oldIsLost'
>;

export interface CommissionDecisionsOptions {
  readonly catalogue: Pick<CurrencyCatalogue, 'find'>;
  readonly entries: CommissionEntries;
  readonly addresses: Pick<CommissionAddresses, 'request'>;
}

/**
 * Reads the subject of a proposal.
 *
 * @throws AppError partner_not_found, not_found for an entry, invalid_value.
 */
export async function commissionOf(
  em: EntityManager,
  { partnerId, month, asset, amount, corrects, address, tag, oldIsLost }: CommissionSubject,
): Promise<StoredCommission> {
  const [partner] = isUuid(partnerId) ? await sql(em, 'select from partner where id = ?', [partnerId]) : [];
  if (!partner) throw new AppError('partner_not_found', 'there is no such partner');
  const correction = amount === undefined ? null : parseDecimal(amount);
  if (amount !== undefined && (correction === null || correction.eq('0') || !isStorable(correction))) {
    throw new AppError('invalid_value', 'amount is a decimal number other than 0, with at most 18 places');
  }
  if (corrects !== undefined) {
    const [entry] = isUuid(corrects)
      ? await sql(em, 'select from commission_entry where id = ? and partner_id = ?', [corrects, partnerId])
      : [];
    if (!entry) throw new AppError('not_found', 'the partner has no such entry');
  }
  return {
    partnerId,
    month: month === undefined ? null : firstDayOf(month),
    coin: asset?.coin ?? null,
    network: asset?.network ?? null,
    amount: correction && formatDecimal(correction),
    corrects: corrects ?? null,
    address: address?.trim() ?? null,
    tag: tag?.trim() || null,
    oldIsLost: oldIsLost ?? false,
  };
}

/**
 * The first day of a month: '2026-11-01' for '2026-11'.
 *
 * @throws AppError invalid_value
 */
export function firstDayOf(month: string): string {
  if (!/^20\d\d-(0[1-9]|1[0-2])$/.test(month)) {
    throw new AppError('invalid_value', "a month is written as a year and a month, such as '2026-11'");
  }
  return `${month}-01`;
}

/** Carries out what members decide. */
export class CommissionDecisions {
  readonly #options: CommissionDecisionsOptions;

  constructor(options: CommissionDecisionsOptions) {
    this.#options = options;
  }

  /** @throws AppError action_not_possible, or the fault of the address. */
  async carryOut(em: EntityManager, action: StaffAction, now: Date): Promise<void> {
    switch (action.action) {
      case 'commission_correct':
        return this.#correct(em, action, now);
      case 'commission_address':
        return this.#setAddress(em, action, now);
      case 'commission_hold':
        return hold(await lockMonth(em, action), action, now);
      case 'commission_release':
        return release(await lockMonth(em, action), action);
      case 'commission_pay':
        await lockPartner(em, action.partnerId ?? '');
        return this.#pay(em, await lockMonth(em, action), action, now);
      case 'commission_cancel':
        await lockPartner(em, action.partnerId ?? '');
        return cancel(em, action, now);
      default:
        throw new Error(`${action.action} concerns no commission`);
    }
  }

  async #correct(em: EntityManager, action: StaffAction, now: Date): Promise<void> {
    const { id, partnerId, coin, network, amount, corrects, reason } = action;
    if (partnerId === null || coin === null || network === null || amount === null) {
      throw new Error('the correction names no amount');
    }
    const asset = { coin, network };
    if (!this.#options.catalogue.find(coin, network)) {
      throw new AppError('currency_not_found', `there is no ${coin} on ${network}`);
    }
    const { entries } = this.#options;
    const { month } = await entries.openMonth(em, partnerId, now);
    await refuseClosed(em, partnerId, month);
    await entries.add(em, [
      { partnerId, month, at: now, kind: 'correction', ...asset, amount, corrects, actionId: id, reason },
    ]);
    await book(em, {
      kind: 'commission_correction',
      reference: id,
      orderId: null,
      at: now,
      lines: [line(`partner:${partnerId}`, asset, minus(amount)), line('trading', asset, amount)],
    });
  }

  async #setAddress(em: EntityManager, action: StaffAction, now: Date): Promise<void> {
    const { id, partnerId, coin, network, address, tag, oldIsLost } = action;
    if (partnerId === null || coin === null || network === null || address === null) {
      throw new Error('the proposal names no address');
    }
    const requested = { partnerId, coin, network, address, tag, actionId: id, oldIsLost, now };
    await this.#options.addresses.request(em, requested);
  }

  /**
   * Lets a month be paid now. Of a payable month it ends what waits for staff: a hold, an inactive
   * partner, payments that died. A payment that waits because the partner is inactive goes on. A
   * month below the minimum becomes payable when it is the partner's last closed one.
   */
  async #pay(em: EntityManager, month: CommissionStatement, action: StaffAction, now: Date): Promise<void> {
    if (month.state === 'rolled') month.due = formatDecimal(await this.#rolledDue(em, month));
    else if (month.state !== 'payable') throw notPayable(month);
    refuseLaterHold(month, action);
    if (month.problem !== null && notByStaff.includes(month.problem)) {
      throw notPossible(`'${month.problem}' keeps the payment back, and no decision ends that`);
    }
    const payment = month.paymentId === null ? null : await em.findOne(Payment, { id: month.paymentId });
    const isInactive = (await sql(em, inactive, [month.partnerId])).length > 0;
    const waits = payment?.state === 'ready' && isInactive && !month.approvedInactive;
    if (payment && payment.state !== 'dead' && !waits) {
      throw notPossible(`a payment of this month is ${payment.state} and may still arrive; it cannot be paid twice`);
    }
    month.state = 'payable';
    month.approvedAt = now;
    month.approvedInactive = isInactive;
    month.problem = null;
    month.heldAt = null;
    month.holdReason = null;
  }

  /**
   * What a partner is owed at the end of its last closed month and still now, without what other
   * months pay.
   */
  async #rolledDue(em: EntityManager, { partnerId, month, coin, network, figures }: CommissionStatement): Promise<Big> {
    const [sums] = await sql<{ later: string | null; balance: string; due: string }>(
      em,
      `select (select min(to_char(month, 'YYYY-MM')) from commission_statement
                where partner_id = ? and month > ?::date and state <> 'open') as later,
              (select coalesce(sum(amount), 0)::text from commission_entry
                where partner_id = ? and coin = ? and network = ?) as balance,
              (select coalesce(sum(due), 0)::text from commission_statement
                where partner_id = ? and coin = ? and network = ? and state = 'payable') as due`,
      [partnerId, month, partnerId, coin, network, partnerId, coin, network],
    );
    if (!sums) throw new Error('the sums of a partner have no row');
    if (sums.later !== null) throw notPossible(`what was not paid then is part of ${sums.later}; pay that month`);
    const currency = this.#options.catalogue.find(coin, network);
    if (!currency) throw notPossible(`${coin} on ${network} is no longer a currency`);
    const closing = figures?.find((one) => one.coin === coin && one.network === network)?.closing ?? '0';
    // A correction since then may have made it smaller.
    const owed = minOf(new Big(closing), new Big(sums.balance)).minus(sums.due);
    const due = floorTo(owed, currency.decimals);
    if (due.lte(currency.networkFee)) {
      throw notPossible(`what is owed, ${formatDecimal(owed)} ${coin}, does not exceed the fee of its network`);
    }
    return due;
  }
}

const inactive = `select from partner where id = ? and status = 'inactive'`;

/** Problems that only the asset, the address or the fee can end. */
const notByStaff: readonly string[] = [
  'no_asset',
  'no_address',
  'address_lost',
  'below_fee',
] satisfies CommissionProblem[];

async function lockMonth(em: EntityManager, { partnerId, month }: StaffAction): Promise<CommissionStatement> {
  if (partnerId === null || month === null) throw new Error('the proposal names no month');
  const found = await em.findOne(
    CommissionStatement,
    { partnerId, month },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (!found) throw new AppError('not_found', `the partner has no month ${month.slice(0, 7)}`);
  return found;
}

/** Waits for a closing that is under way. A clock that is minutes late names a closed month. */
async function refuseClosed(em: EntityManager, partnerId: string, month: string): Promise<void> {
  const open = await sql(
    em,
    `select from commission_statement where partner_id = ? and month = ?::date and state = 'open' for share`,
    [partnerId, month],
  );
  if (open.length === 0) throw notPossible(`${month.slice(0, 7)} is closed; try again once the next month has begun`);
}

function hold(month: CommissionStatement, { reason }: StaffAction, now: Date): void {
  if (month.state !== 'payable') throw notPayable(month);
  if (month.heldAt !== null) throw notPossible('the month is held already');
  month.heldAt = now;
  month.holdReason = reason;
}

function release(month: CommissionStatement, action: StaffAction): void {
  if (month.heldAt === null) throw notPossible('the month is not held');
  refuseLaterHold(month, action);
  month.heldAt = null;
  month.holdReason = null;
}

/**
 * Ends the payment of a month that cannot be paid: nothing is due for it any more, so that its
 * balance counts in the next month that is closed. The payment is locked first, as the steps of
 * payments do.
 */
async function cancel(em: EntityManager, action: StaffAction, now: Date): Promise<void> {
  const [known] = await sql<{ id: string }>(
    em,
    `select p.id from commission_statement s join payment p on p.id = s.payment_id
      where s.partner_id = ? and s.month = ?::date for update of p`,
    [action.partnerId, action.month],
  );
  const month = await lockMonth(em, action);
  if (month.state !== 'payable') throw notPayable(month);
  if (month.paymentId !== (known?.id ?? null)) throw notPossible('a payment of this month was decided now; try again');
  const payment = month.paymentId === null ? null : await em.findOneOrFail(Payment, month.paymentId, { refresh: true });
  if (payment !== null && payment.state !== 'dead') {
    const isSigned = (await em.count(PaymentAttempt, { paymentId: payment.id, raw: { $ne: null } })) > 0;
    if (payment.state !== 'ready' || isSigned) {
      throw notPossible(`a payment of this month is ${isSigned ? 'signed' : payment.state} and may still arrive`);
    }
    Object.assign(payment, {
      state: 'dead',
      problem: markedFailed,
      problemSince: now,
      endedAt: now,
      nextActionAt: null,
    });
    // The database lets no month go whose payment may arrive.
    await em.flush();
  }
  const nothing = { due: null, problem: null, heldAt: null, holdReason: null, approvedAt: null };
  Object.assign(month, { ...nothing, state: 'rolled', approvedInactive: false });
}

/** An approval concerns the hold that the proposer saw. */
function refuseLaterHold({ heldAt }: CommissionStatement, { proposedAt }: StaffAction): void {
  if (heldAt !== null && heldAt > proposedAt) {
    throw notPossible('the month was held again since this was proposed; propose it again');
  }
}

function notPayable({ month, state }: CommissionStatement): AppError {
  return notPossible(`${month.slice(0, 7)} is ${state}, and has nothing to pay`);
}
