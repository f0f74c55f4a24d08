import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter, TxStatus } from '../chains/chain-adapter.ts';
import type { Clock } from '../clock.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { JobQueue } from '../jobs/job-queue.ts';
import { errorMembers, type Log } from '../log.ts';
import type { Order } from '../orders/order.entity.ts';
import type { OnBoundary } from './boundary.ts';
import { type ChainLease, LeaseLost } from './chain-lease.ts';
import { Deposit } from './deposit.entity.ts';
import type { Payment } from './payment.entity.ts';
import { PaymentAttempt } from './payment-attempt.entity.ts';
import { bookEnd, type Mined } from './payment-booking.ts';
import { newestOf, type PaymentTransactions, signedTx, storedAttempt } from './payment-transactions.ts';
import { noteProblem, type PaymentWriter, releaseReserved, type Standing } from './payment-writer.ts';
import { secondsAfter } from './settling.ts';

export interface PaymentFollowerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly jobs: Pick<JobQueue, 'wake'>;
  readonly onBoundary: OnBoundary;
  readonly transactions: PaymentTransactions;
  readonly writer: PaymentWriter;
}

/** Between two looks at a payment while its chain makes no block. */
export const lookSec = 5;
/** A payment that died so often is not tried again without staff. */
const maxDeaths = 3;

/**
 * Follows payments that were sent: asks the chain what became of their transactions, shows them to nodes that lost them,
 * puts dearer ones in the place of those that wait too long, and books the end.
 */
export class PaymentFollower {
  readonly #options: PaymentFollowerOptions;

  constructor(options: PaymentFollowerOptions) {
    this.#options = options;
  }

  /** One look. */
  async follow(adapter: ChainAdapter, lease: ChainLease, { payment, alive }: Standing): Promise<void> {
    const { onBoundary, log, transactions } = this.#options;
    const signed = alive.filter(({ raw }) => raw !== null);
    const seen: { attempt: PaymentAttempt; status: TxStatus }[] = [];
    for (const attempt of signed) seen.push({ attempt, status: await adapter.status(signedTx(attempt)) });
    await onBoundary('payment.observed');
    for (const { attempt, status } of seen) {
      if (status.state === 'mined') return this.#mined(lease, payment, attempt, status);
    }
    const [dead] = seen.flatMap(({ status }) => (status.state === 'dead' ? [status] : []));
    if (dead && seen.every(({ status }) => status.state === 'dead')) {
      const isFinal = seen.every(({ status }) => status.state === 'dead' && status.final);
      return this.#dead(lease, payment, dead.why, isFinal);
    }
    const unknown = seen.filter(({ status }) => status.state === 'unknown').map(({ attempt }) => attempt);
    // The newest first: nodes that have it refuse those that it replaces.
    for (const attempt of unknown.toReversed()) await transactions.broadcast(adapter, attempt);
    const isInMempool = seen.some(({ status }) => status.state === 'mempool');
    await this.#noteWaiting(lease, payment, isInMempool);
    try {
      await this.#replace(adapter, lease, payment, newestOf(alive));
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      // The one that waits may confirm all the same.
      log.warn({ event: 'replacement_failed', ...errorMembers(error) }, 'a payment could not be replaced');
    }
  }

  /** Notes that a payment is in no block yet: one of its transactions waits for one, or the node knows none of them. */
  async #noteWaiting(lease: ChainLease, payment: Payment, isInMempool: boolean): Promise<void> {
    const isWorry = !isInMempool && payment.problem !== 'unknown';
    await this.#options.writer.change(
      lease,
      payment,
      async (em, row, order) => {
        const now = this.#options.clock.now();
        row.nextActionAt = secondsAfter(now, lookSec);
        // In the mempool it is on its way; only a transaction that nobody has is a worry.
        if (isInMempool) noteProblem(row, null, now);
        else if (isWorry) await this.#worry(em, row, order);
        return [];
      },
      isWorry,
    );
  }

  /** Notes since when nobody knows the payment's fate, and lets its order look at the clock. */
  async #worry(em: EntityManager, payment: Payment, order: Order | null): Promise<void> {
    const now = this.#options.clock.now();
    noteProblem(payment, 'unknown', now);
    if (!order) return;
    order.nextActionAt = now;
    await em.flush();
    await this.#options.jobs.wake(em, [order.id]);
  }

  /**
   * Where a payment has waited too long for a block: builds a transaction that takes the place of the newest, signs and
   * sends it, a step each, so that whoever comes after a crash goes on with it. Whatever happens to it, the ones before
   * it are watched as well.
   */
  async #replace(adapter: ChainAdapter, lease: ChainLease, payment: Payment, last: PaymentAttempt): Promise<void> {
    const { orm, clock, onBoundary, transactions, writer } = this.#options;
    if (!adapter.replace || adapter.replaceAfterSec === undefined) return;
    let attempt = last;
    if (attempt.sentAt !== null) {
      const isPatient = (since: Date): boolean => clock.now() < secondsAfter(since, adapter.replaceAfterSec ?? 0);
      if (isPatient(attempt.sentAt)) return;
      // A replacement that the signer refused is dead, and another one takes as long.
      const em = orm.em.fork();
      const built = await em.findOneOrFail(PaymentAttempt, { paymentId: payment.id, attempt: payment.attempt });
      if (isPatient(built.preparedAt)) return;
      const intent = transactions.intent(payment, payment.attempt + 1);
      const held = await transactions.held(adapter.chain);
      const tx = await adapter.replace(intent, transactions.prepared(attempt), held);
      if (tx === null || transactions.isTooDear(adapter.chain, tx)) return;
      await onBoundary('payment.built');
      const stands = await transactions.store(lease, payment, tx);
      if (!stands) return;
      attempt = newestOf(stands.alive);
    }
    if (attempt.raw === null) {
      const signed = await transactions.sign(payment, attempt);
      if (signed === 'unavailable') return;
      if (signed === 'refused') {
        await writer.change(lease, payment, async (em) => {
          await transactions.neverSigned(em, attempt);
          return [];
        });
        return;
      }
      const stands = await transactions.storeSignature(lease, payment, attempt, signed);
      if (!stands) return;
      attempt = newestOf(stands.alive);
    }
    await transactions.send(adapter, lease, payment, attempt);
  }

  async #mined(lease: ChainLease, payment: Payment, attempt: PaymentAttempt, status: Mined): Promise<void> {
    if (status.final) return this.#end(lease, payment, attempt, status);
    if (attempt.minedHeight === status.height && payment.problem === null) return;
    const { clock, writer } = this.#options;
    await writer.change(
      lease,
      payment,
      async (em, row, order) => {
        const stored = await storedAttempt(em, attempt);
        stored.minedHeight = status.height;
        await em.execute(
          'update payment_attempt set mined_height = null where payment_id = ? and attempt <> ? and dead_at is null',
          [row.id, attempt.attempt],
        );
        const now = clock.now();
        noteProblem(row, null, now);
        row.nextActionAt = secondsAfter(now, lookSec);
        if (order && row.kind === 'payout' && status.success) order.payoutTxid = attempt.txid;
        return [stored];
      },
      true,
    );
  }

  /** One of its transactions is final: the payment ends with it, and its books are written. */
  async #end(lease: ChainLease, payment: Payment, attempt: PaymentAttempt, status: Mined): Promise<void> {
    const { clock, catalogue, jobs, onBoundary, writer } = this.#options;
    await writer.change(
      lease,
      payment,
      async (em, row, order) => {
        const now = clock.now();
        const stored = await storedAttempt(em, attempt);
        stored.minedHeight = status.height;
        if (!status.success) Object.assign(stored, { deadAt: now, deadWhy: 'failed' });
        row.state = status.success ? 'confirmed' : 'dead';
        noteProblem(row, status.success ? null : 'failed_on_chain', now);
        row.endedAt = now;
        row.nextActionAt = null;
        if (order && row.kind === 'payout' && status.success) order.payoutTxid = attempt.txid;
        if (order) order.nextActionAt = now;
        if (!status.success) await showDead(em, row, order);
        await em.flush();
        await em.execute(
          `update payment_attempt set dead_at = ?, dead_why = 'replaced', mined_height = null
            where payment_id = ? and attempt <> ? and dead_at is null`,
          [now, row.id, attempt.attempt],
        );
        await releaseReserved(em, row.id, now);
        await bookEnd(em, row, stored, status, catalogue.gasCoin(row.chain), now);
        if (order) await jobs.wake(em, [order.id]);
        return [stored];
      },
      true,
    );
    await onBoundary('payment.confirmed');
  }

  /** None of its transactions can ever confirm. Once that is final, another one may be built. */
  async #dead(lease: ChainLease, payment: Payment, why: 'conflict' | 'expired', isFinal: boolean): Promise<void> {
    const { clock, jobs, log, writer } = this.#options;
    if (!isFinal) return writer.problem(lease, payment.id, why, lookSec);
    log.error({ event: 'payment_dead', code: why, order_id: payment.orderId }, 'a payment can never confirm');
    await writer.change(
      lease,
      payment,
      async (em, row, order) => {
        const now = clock.now();
        await em.execute(
          'update payment_attempt set dead_at = ?, dead_why = ?, mined_height = null where payment_id = ? and dead_at is null',
          [now, why, row.id],
        );
        // Those that replaced one another died one death.
        const [count] = await em.execute<{ deaths: number }[]>(
          `select count(distinct reserves)::int as deaths from payment_attempt
            where payment_id = ? and dead_why in ('conflict', 'expired')`,
          [row.id],
        );
        const isOver = (count?.deaths ?? 0) >= maxDeaths || row.kind === 'sweep';
        row.state = isOver ? 'dead' : 'ready';
        noteProblem(row, why, now);
        row.endedAt = isOver ? now : null;
        row.nextActionAt = isOver ? null : now;
        if (isOver && order) order.nextActionAt = now;
        if (isOver) await showDead(em, row, order);
        await em.flush();
        await releaseReserved(em, row.id, now);
        if (isOver && order) await jobs.wake(em, [order.id]);
        return [];
      },
      true,
    );
  }
}

/**
 * A dead payment that no status of an order shows. A refund beside the order's own is shown by its deposit, and staff
 * decide; what a sweep did not bring is swept again.
 */
export async function showDead(
  em: EntityManager,
  { id, kind, leg, depositId }: Payment,
  order: Order | null,
): Promise<void> {
  if (kind === 'sweep') await em.execute('update deposit set swept_by = null where swept_by = ?', [id]);
  if (kind !== 'refund' || depositId === null) return;
  if (leg === 'main' && order?.depositId === depositId) return;
  const deposit = await em.findOneOrFail(Deposit, { id: depositId });
  deposit.problem = 'refund_failed';
}
