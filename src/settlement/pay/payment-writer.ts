import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { Order } from '../../orders/order.entity.ts';
import { leavesUs, markedFailed, Payment } from '../rows/payment.entity.ts';
import { PaymentAttempt } from '../rows/payment-attempt.entity.ts';
import { isCovered } from '../rules/client-account.ts';
import { isEarned, isPayableSql } from '../rules/partner-account.ts';
import { secondsAfter } from '../rules/settling.ts';
import { type ChainLease, guardLease } from '../turns/chain-lease.ts';
import { notHeldSql } from './payout-holds.ts';

/**
 * A payment and its transactions that may still be confirmed, oldest first, as last read or
 * written.
 */
export interface PaymentWithAttempts {
  readonly payment: Payment;
  readonly alive: readonly PaymentAttempt[];
}

/** A payment under its row lock. Its order is locked too, where the change needs it. */
export interface LockedPayment extends PaymentWithAttempts {
  readonly alive: PaymentAttempt[];
  readonly order: Order | null;
}

/** The delay before a retry, in seconds. It doubles with each try up to `mostSec`. */
export interface Backoff {
  readonly firstSec: number;
  readonly mostSec: number;
}

/**
 * Payments cannot be changed together: another transaction has locked one of them, or one has
 * changed. Nothing was written.
 */
class GroupChangeRefused extends Error {
  override readonly name = 'GroupChangeRefused';
}

/**
 * Changes payments in transactions. Each takes its locks in this order: the lease of the chain, the
 * orders' rows where the change needs them, and the payments' rows.
 */
export class PaymentWriter {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Applies a change to payments, all or none, and returns them as they are afterwards. Returns an
   * empty list without a change when a payment has moved on or must not begin. A hold, a lost
   * deposit, an account in debit, a balance that does not cover commission, or a mark of staff
   * stops a payment that is to begin. A single payment waits for its locks; several wait for none,
   * so that no two groups deadlock.
   *
   * @throws LeaseLost when another process holds the chain now.
   * @throws GroupChangeRefused when one of several has to be left out.
   */
  async change(
    lease: ChainLease,
    before: readonly Payment[],
    change: (em: EntityManager, changing: readonly LockedPayment[]) => Promise<void> | void,
    withOrder = false,
  ): Promise<readonly PaymentWithAttempts[]> {
    if (before.length === 0) return [];
    const isAlone = before.length === 1;
    return this.#orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const beginning = before.filter(({ state, problem }) => state === 'ready' && problem !== markedFailed);
      const mayBegin = await mayGoOut(em, beginning, isAlone ? '' : 'skip locked');
      const lockMode = isAlone ? LockMode.PESSIMISTIC_WRITE : LockMode.PESSIMISTIC_PARTIAL_WRITE;
      const locked = { lockMode, orderBy: { id: 'asc' } } as const;
      const orderIds = withOrder ? before.map(({ orderId }) => orderId).filter((id) => id !== null) : [];
      const orders = orderIds.length === 0 ? [] : await em.find(Order, { id: { $in: orderIds } }, locked);
      const ids = before.map(({ id }) => id);
      const payments = await em.find(Payment, { id: { $in: ids } }, locked);
      const attempts = await aliveAttempts(em, ids);
      const changing = before.flatMap(({ id, orderId, state, problem }) => {
        const payment = payments.find((row) => row.id === id);
        const order = orders.find((row) => row.id === orderId) ?? null;
        const isMarked = problem === markedFailed;
        const isStopped = state === 'ready' && (isMarked ? false : !mayBegin.has(id));
        // Staff have marked it meanwhile.
        if (!isMarked && payment?.problem === markedFailed) return [];
        const lacksOrder = withOrder && orderId !== null && order === null;
        if (payment?.state !== state || isStopped || lacksOrder) return [];
        return [{ payment, order, alive: attempts.get(id) ?? [] }];
      });
      if (changing.length === before.length) await change(em, changing);
      else if (isAlone) return [];
      else throw new GroupChangeRefused('a payment has to be left out');
      return changing;
    });
  }

  /** Records a payment's problem, since when it lasts, and the next time. */
  async problem(lease: ChainLease, id: string, problem: string, againSec: number): Promise<void> {
    await this.#orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const payment = await em.findOneOrFail(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (payment.state === 'confirmed' || payment.state === 'dead' || payment.problem === markedFailed) return;
      const now = this.#clock.now();
      noteProblem(payment, problem, now);
      payment.nextActionAt = secondsAfter(now, againSec);
    });
  }

  /** Records why a payment could not begin, and extends its backoff. */
  async refused(lease: ChainLease, id: string, problem: string, backoff: Backoff): Promise<void> {
    await this.#orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const payment = await em.findOneOrFail(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (payment.state !== 'ready' || payment.problem === markedFailed) return;
      const now = this.#clock.now();
      noteProblem(payment, problem, now);
      payment.tries += 1;
      payment.nextActionAt = secondsAfter(now, backoffSec(backoff, payment.tries));
    });
  }

  /** Postpones payments that are still due, except payments that another transaction has locked. */
  async postpone(ids: readonly string[], againSec: number): Promise<void> {
    if (ids.length === 0) return;
    const now = this.#clock.now();
    await sql(
      this.#orm.em.fork(),
      `with due as (
         select id from payment
          where id in (select jsonb_array_elements_text(?::jsonb)::uuid) and next_action_at <= ?
          for update skip locked)
       update payment p set next_action_at = ? from due where p.id = due.id`,
      [JSON.stringify(ids), now, secondsAfter(now, againSec)],
    );
  }

  /** Reads payments as they are now, in the order of the given ids. */
  async load(ids: readonly string[]): Promise<readonly PaymentWithAttempts[]> {
    const em = this.#orm.em.fork();
    const payments = await em.find(Payment, { id: { $in: [...ids] } });
    const attempts = await aliveAttempts(em, ids);
    return ids.flatMap((id) => {
      const payment = payments.find((row) => row.id === id);
      return payment ? [{ payment, alive: attempts.get(id) ?? [] }] : [];
    });
  }

  /**
   * Selects the payments that deposits or balances still cover and whose orders, months and assets
   * are not held now.
   */
  mayGoOut(payments: readonly Payment[]): Promise<ReadonlySet<string>> {
    return mayGoOut(this.#orm.em.fork(), payments, '');
  }
}

/** Reads the transactions that may still be confirmed, by payment, oldest first. */
async function aliveAttempts(em: EntityManager, ids: readonly string[]): Promise<Map<string, PaymentAttempt[]>> {
  const attempts = await em.find(
    PaymentAttempt,
    { paymentId: { $in: [...ids] }, deadAt: null },
    { orderBy: { attempt: 'asc' } },
  );
  return Map.groupBy(attempts, ({ paymentId }) => paymentId);
}

/**
 * Selects the payments that may go out. Their orders, months and assets are not held, a refund's
 * deposit is credited, and no payment leaves its order's or its partner's account in debit. Orders,
 * months and deposits stay locked until the transaction ends. A hold of the asset that opens
 * meanwhile is noticed before the payment is signed.
 */
async function mayGoOut(
  em: EntityManager,
  payments: readonly Payment[],
  locked: '' | 'skip locked',
): Promise<ReadonlySet<string>> {
  // A payment between our own addresses may always go out.
  const free = payments.filter((payment) => !leavesUs(payment)).map(({ id }) => id);
  const ofMonths = payments.filter(({ kind }) => kind === 'commission').map(({ id }) => id);
  const bound = payments.filter((payment) => leavesUs(payment) && payment.kind !== 'commission');
  const ofOrders = bound.filter(({ orderId }) => orderId !== null).map(({ id }) => id);
  const ofNobody = bound.filter(({ orderId }) => orderId === null).map(({ id }) => id);
  const settling = async (text: string, ids: readonly string[]): Promise<string[]> => {
    if (ids.length === 0) return [];
    const rows = await sql<{ id: string }>(em, `${text} ${locked}`, [JSON.stringify(ids)]);
    return rows.map(({ id }) => id);
  };
  const notHeld = await settling(
    `select p.id from payment p join exchange_order o on o.id = p.order_id join deposit d on d.id = p.deposit_id
      where p.id in (select jsonb_array_elements_text(?::jsonb)::uuid) and o.held_at is null
        and (p.kind = 'payout' or d.state = 'credited') and ${notHeldSql('p')}
      order by o.id, d.id for share of o, d`,
    ofOrders,
  );
  const payable = await settling(
    `select p.id from payment p join commission_statement m on m.payment_id = p.id
      where p.id in (select jsonb_array_elements_text(?::jsonb)::uuid) and ${isPayableSql('m')} and ${notHeldSql('p')}
      order by m.partner_id, m.month for share of m`,
    ofMonths,
  );
  return new Set([
    ...free,
    ...(await covered(em, notHeld, isCovered)),
    ...(await covered(em, payable, isEarned)),
    ...(await settling(
      `select p.id from payment p join deposit d on d.id = p.deposit_id
        where p.id in (select jsonb_array_elements_text(?::jsonb)::uuid) and d.state = 'credited'
          and ${notHeldSql('p')}
        order by d.id for share of d`,
      ofNobody,
    )),
  ]);
}

/**
 * Selects the payments that leave no account in debit, even when all of them are made. It is a
 * separate statement after the orders or months are locked, because a statement that waits for a
 * lock continues with the old account balances.
 *
 * @param isCovering SQL: whether an account covers a payment `p` and all that begin with it.
 */
async function covered(
  em: EntityManager,
  ids: readonly string[],
  isCovering: (beginning: string) => string,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await sql<{ id: string }>(
    em,
    `with beginning as materialized (select jsonb_array_elements_text(?::jsonb)::uuid as id)
     select p.id from payment p join beginning b on b.id = p.id
      where ${isCovering('q.number < p.number and q.id in (select id from beginning)')}`,
    [JSON.stringify(ids)],
  );
  return rows.map(({ id }) => id);
}

/** The delay after this many tries, in seconds. */
function backoffSec({ firstSec, mostSec }: Backoff, tries: number): number {
  // Every bound is reached before 30 doublings.
  return Math.min(mostSec, firstSec * 2 ** Math.min(30, tries - 1));
}

/** Records a problem. A problem that lasts keeps its start time. */
export function noteProblem(payment: Payment, problem: string | null, at: Date): void {
  if (payment.problem === problem) return;
  payment.problem = problem;
  payment.problemSince = problem === null ? null : at;
}

/**
 * Releases the reservations of payments. The chain itself refuses a spent input or nonce from now
 * on.
 */
export async function releaseReserved(em: EntityManager, paymentIds: readonly string[], at: Date): Promise<void> {
  await sql(
    em,
    `update payment_reservation set released_at = ?
      where payment_id in (select jsonb_array_elements_text(?::jsonb)::uuid) and released_at is null`,
    [at, JSON.stringify(paymentIds)],
  );
}
