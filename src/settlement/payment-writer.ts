import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import { Order } from '../orders/order.entity.ts';
import { type ChainLease, guardLease } from './chain-lease.ts';
import { Payment } from './payment.entity.ts';
import type { PaymentAttempt } from './payment-attempt.entity.ts';
import { secondsAfter } from './settling.ts';

/** A payment and its transactions that may still confirm, oldest first, as they were read or written last. */
export interface Standing {
  readonly payment: Payment;
  readonly alive: readonly PaymentAttempt[];
}

/**
 * Changes payments in transactions that hold the fence of the chain's lease, the order's lock where the change needs it,
 * and the payment's, in this order.
 */
export class PaymentWriter {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Applies a change, which returns the transactions that are alive after it. Does nothing, and returns null, when the
   * payment has moved on meanwhile, or when it is about to begin and must not: a hold or the loss of its deposit stops it.
   *
   * @throws LeaseLost when another process has the chain now.
   */
  async change(
    lease: ChainLease,
    before: Payment,
    change: (em: EntityManager, payment: Payment, order: Order | null) => Promise<PaymentAttempt[]>,
    withOrder = false,
  ): Promise<Standing | null> {
    const { id, orderId, state } = before;
    return this.#orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      if (state === 'ready' && !(await mayGoOut(em, before))) return null;
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      const order = withOrder && orderId !== null ? await em.findOneOrFail(Order, { id: orderId }, { lockMode }) : null;
      const payment = await em.findOneOrFail(Payment, { id }, { lockMode });
      if (payment.state !== state) return null;
      return { payment, alive: await change(em, payment, order) };
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

  /** Whether what a payment settles is credited and its order not held, at this moment. */
  mayGoOut(payment: Payment): Promise<boolean> {
    return mayGoOut(this.#orm.em.fork(), payment);
  }
}

/** Whether what a payment settles is credited and its order not held, kept so until the transaction ends. */
async function mayGoOut(em: EntityManager, { orderId, depositId }: Payment): Promise<boolean> {
  if (depositId === null) return true;
  const rows =
    orderId === null
      ? await em.execute<unknown[]>(`select id from deposit where id = ? and state = 'credited' for share`, [depositId])
      : await em.execute<unknown[]>(
          `select o.id from exchange_order o join deposit d on d.id = ?
            where o.id = ? and o.held_at is null and d.state = 'credited' for share of o, d`,
          [depositId, orderId],
        );
  return rows.length > 0;
}

/** A problem that lasts keeps its beginning. */
export function noteProblem(payment: Payment, problem: string | null, at: Date): void {
  if (payment.problem === problem) return;
  payment.problem = problem;
  payment.problemSince = problem === null ? null : at;
}

/** Lets go of what a payment reserved: the chain itself refuses a spent resource from now on. */
export async function releaseReserved(em: EntityManager, paymentId: string, at: Date): Promise<void> {
  await em.execute('update payment_reservation set released_at = ? where payment_id = ? and released_at is null', [
    at,
    paymentId,
  ]);
}
