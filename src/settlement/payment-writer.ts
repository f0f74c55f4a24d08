import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import { Order } from '../orders/order.entity.ts';
import { type ChainLease, guardLease } from './chain-lease.ts';
import { isCovered } from './client-account.ts';
import { Payment } from './payment.entity.ts';
import { PaymentAttempt } from './payment-attempt.entity.ts';
import { notHeldSql } from './payout-holds.ts';
import { secondsAfter } from './settling.ts';

/** A payment and its transactions that may still confirm, oldest first, as they were read or written last. */
export interface Standing {
  readonly payment: Payment;
  readonly alive: readonly PaymentAttempt[];
}

/** A payment under its lock, with its order, under its own, where the change needs it. */
export interface Changing extends Standing {
  readonly alive: PaymentAttempt[];
  readonly order: Order | null;
}

/** How long something waits before it is tried again: longer each time, up to a bound. */
export interface Backoff {
  readonly firstSec: number;
  readonly mostSec: number;
}

/** Payments cannot be changed together: somebody has locked one of them, or it is not what it was. Nothing was written. */
export class NotTogether extends Error {
  override readonly name = 'NotTogether';
}

/**
 * Changes payments in transactions that hold the fence of the chain's lease, the orders' locks where the change needs
 * them, and the payments', in this order.
 */
export class PaymentWriter {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Applies a change to payments, all or none, and returns how they stand after it. Does nothing, and returns nothing,
   * when a payment has moved on meanwhile, or when it is about to begin and must not: a hold, the loss of its deposit or
   * an account in debit stops it. One payment waits for its locks; several wait for none, so that no two groups wait for each other.
   *
   * @throws LeaseLost when another process has the chain now; NotTogether when one of several has to be left out.
   */
  async change(
    lease: ChainLease,
    before: readonly Payment[],
    change: (em: EntityManager, changing: readonly Changing[]) => Promise<void> | void,
    withOrder = false,
  ): Promise<readonly Standing[]> {
    if (before.length === 0) return [];
    const isAlone = before.length === 1;
    return this.#orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const beginning = before.filter(({ state }) => state === 'ready');
      const mayBegin = await mayGoOut(em, beginning, isAlone ? '' : 'skip locked');
      const lockMode = isAlone ? LockMode.PESSIMISTIC_WRITE : LockMode.PESSIMISTIC_PARTIAL_WRITE;
      const locked = { lockMode, orderBy: { id: 'asc' } } as const;
      const orderIds = withOrder ? before.map(({ orderId }) => orderId).filter((id) => id !== null) : [];
      const orders = orderIds.length === 0 ? [] : await em.find(Order, { id: { $in: orderIds } }, locked);
      const ids = before.map(({ id }) => id);
      const payments = await em.find(Payment, { id: { $in: ids } }, locked);
      const attempts = await aliveAttempts(em, ids);
      const changing = before.flatMap(({ id, orderId, state }) => {
        const payment = payments.find((row) => row.id === id);
        const order = orders.find((row) => row.id === orderId) ?? null;
        const isStopped = state === 'ready' && !mayBegin.has(id);
        const lacksOrder = withOrder && orderId !== null && order === null;
        if (payment?.state !== state || isStopped || lacksOrder) return [];
        return [{ payment, order, alive: attempts.get(id) ?? [] }];
      });
      if (changing.length === before.length) await change(em, changing);
      else if (isAlone) return [];
      else throw new NotTogether('a payment has to be left out');
      return changing;
    });
  }

  /** Notes what stands in a payment's way, since when, and lets it rest. */
  async problem(lease: ChainLease, id: string, problem: string, againSec: number): Promise<void> {
    await this.#orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const payment = await em.findOneOrFail(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (payment.state === 'confirmed' || payment.state === 'dead') return;
      const now = this.#clock.now();
      noteProblem(payment, problem, now);
      payment.nextActionAt = secondsAfter(now, againSec);
    });
  }

  /** Notes why a payment could not begin, and lets it wait longer than the last time. */
  async refused(lease: ChainLease, id: string, problem: string, backoff: Backoff): Promise<void> {
    await this.#orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const payment = await em.findOneOrFail(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (payment.state !== 'ready') return;
      const now = this.#clock.now();
      noteProblem(payment, problem, now);
      payment.tries += 1;
      payment.nextActionAt = secondsAfter(now, waitSec(backoff, payment.tries));
    });
  }

  /** Lets payments that are still due wait for so long, but for those that another transaction has locked. */
  async postpone(ids: readonly string[], againSec: number): Promise<void> {
    if (ids.length === 0) return;
    const now = this.#clock.now();
    await this.#orm.em.fork().execute(
      `with due as (
         select id from payment
          where id in (select jsonb_array_elements_text(?::jsonb)::uuid) and next_action_at <= ?
          for update skip locked)
       update payment p set next_action_at = ? from due where p.id = due.id`,
      [JSON.stringify(ids), now, secondsAfter(now, againSec)],
    );
  }

  /** How payments stand at this moment, in the order of their ids here. */
  async standing(ids: readonly string[]): Promise<readonly Standing[]> {
    const em = this.#orm.em.fork();
    const payments = await em.find(Payment, { id: { $in: [...ids] } });
    const attempts = await aliveAttempts(em, ids);
    return ids.flatMap((id) => {
      const payment = payments.find((row) => row.id === id);
      return payment ? [{ payment, alive: attempts.get(id) ?? [] }] : [];
    });
  }

  /** The payments that deposits still cover and whose orders and assets are not held, at this moment. */
  mayGoOut(payments: readonly Payment[]): Promise<ReadonlySet<string>> {
    return mayGoOut(this.#orm.em.fork(), payments, '');
  }
}

/** Transactions that may still confirm, by payment, oldest first. */
async function aliveAttempts(em: EntityManager, ids: readonly string[]): Promise<Map<string, PaymentAttempt[]>> {
  const attempts = await em.find(
    PaymentAttempt,
    { paymentId: { $in: [...ids] }, deadAt: null },
    { orderBy: { attempt: 'asc' } },
  );
  return Map.groupBy(attempts, ({ paymentId }) => paymentId);
}

/**
 * The payments that may go out: their orders and assets are not held, a refund's deposit is credited, and no payment of an
 * order leaves the order's account in debit. Orders and deposits are kept so until the transaction ends. A hold of the asset
 * that comes meanwhile is noticed before the payment is signed.
 */
async function mayGoOut(
  em: EntityManager,
  payments: readonly Payment[],
  locked: '' | 'skip locked',
): Promise<ReadonlySet<string>> {
  // What settles no deposit always may.
  const free = payments.filter(({ depositId }) => depositId === null).map(({ id }) => id);
  const bound = payments.filter(({ depositId }) => depositId !== null);
  const ofOrders = bound.filter(({ orderId }) => orderId !== null).map(({ id }) => id);
  const ofNobody = bound.filter(({ orderId }) => orderId === null).map(({ id }) => id);
  const settling = async (sql: string, ids: readonly string[]): Promise<string[]> => {
    if (ids.length === 0) return [];
    const rows = await em.execute<{ id: string }[]>(`${sql} ${locked}`, [JSON.stringify(ids)]);
    return rows.map(({ id }) => id);
  };
  const notHeld = await settling(
    `select p.id from payment p join exchange_order o on o.id = p.order_id join deposit d on d.id = p.deposit_id
      where p.id in (select jsonb_array_elements_text(?::jsonb)::uuid) and o.held_at is null
        and (p.kind = 'payout' or d.state = 'credited') and ${notHeldSql('p')}
      order by o.id, d.id for share of o, d`,
    ofOrders,
  );
  return new Set([
    ...free,
    ...(await covered(em, notHeld)),
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
 * Those of the payments that leave no account in debit, also when all of them are made. A statement of its own after the
 * orders are locked, because a statement that waits for a lock goes on with the accounts as they were before.
 */
async function covered(em: EntityManager, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await em.execute<{ id: string }[]>(
    `with beginning as materialized (select jsonb_array_elements_text(?::jsonb)::uuid as id)
     select p.id from payment p join beginning b on b.id = p.id
      where ${isCovered('q.number < p.number and q.id in (select id from beginning)')}`,
    [JSON.stringify(ids)],
  );
  return rows.map(({ id }) => id);
}

/** How long to wait after so many tries, in seconds. */
export function waitSec({ firstSec, mostSec }: Backoff, tries: number): number {
  // Beyond 30 doublings every bound is reached.
  return Math.min(mostSec, firstSec * 2 ** Math.min(30, tries - 1));
}

/** A problem that lasts keeps its beginning. */
export function noteProblem(payment: Payment, problem: string | null, at: Date): void {
  if (payment.problem === problem) return;
  payment.problem = problem;
  payment.problemSince = problem === null ? null : at;
}

/** Lets go of what payments reserved: the chain itself refuses a spent resource from now on. */
export async function releaseReserved(em: EntityManager, paymentIds: readonly string[], at: Date): Promise<void> {
  await em.execute(
    `update payment_reservation set released_at = ?
      where payment_id in (select jsonb_array_elements_text(?::jsonb)::uuid) and released_at is null`,
    [at, JSON.stringify(paymentIds)],
  );
}
