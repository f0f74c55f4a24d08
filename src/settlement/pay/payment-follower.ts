import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import type { JobQueue } from '../../base/jobs/job-queue.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import type { ChainAdapter, TxStatus } from '../../chains/port/chain-adapter.ts';
import { type Booking, bookAll } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { Order } from '../../orders/order.entity.ts';
import { Deposit } from '../rows/deposit.entity.ts';
import type { Payment } from '../rows/payment.entity.ts';
import { PaymentAttempt } from '../rows/payment-attempt.entity.ts';
import { secondsAfter } from '../rules/settling.ts';
import { type ChainLease, LeaseLost } from '../turns/chain-lease.ts';
import type { ChainTurn } from '../turns/chain-turn.ts';
import type { OnCrashPoint } from '../turns/crash-point.ts';
import { bookingOfEnd, type Mined } from './payment-booking.ts';
import { entryOf, newestOf, type PaymentTransactions, signedTx, storedAttempt } from './payment-transactions.ts';
import {
  type LockedPayment,
  noteProblem,
  type PaymentWithAttempts,
  type PaymentWriter,
  releaseReserved,
} from './payment-writer.ts';

export interface PaymentFollowerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly jobs: Pick<JobQueue, 'wake'>;
  readonly onCrashPoint: OnCrashPoint;
  readonly transactions: PaymentTransactions;
  readonly writer: PaymentWriter;
}

/** Seconds between two checks of a payment while its chain has no new block. */
export const pollSec = 5;
/** Deaths after which a payment is not retried without staff. */
const maxDeaths = 3;

/**
 * Follows sent payments. It reads the status of their transactions, rebroadcasts the ones that
 * nodes lost, and books the outcome. A transaction that waits too long is replaced by one with a
 * higher fee (RBF).
 */
export class PaymentFollower {
  readonly #options: PaymentFollowerOptions;

  constructor(options: PaymentFollowerOptions) {
    this.#options = options;
  }

  /**
   * Checks each payment once: all of them where the chain tells their statuses in one request, and
   * otherwise while there is time. Returns the payments without news.
   */
  async follow(turn: ChainTurn, sent: readonly PaymentWithAttempts[]): Promise<readonly string[]> {
    const { adapter, lease, hasTime } = turn;
    const seen = await observe(adapter, sent, hasTime);
    if (seen.length === 0) return [];
    await this.#options.onCrashPoint('payment.observed');
    const mined = seen.flatMap(({ payment, statuses }) => {
      const found = statuses.find(isMined);
      return found ? [{ payment, ...found }] : [];
    });
    await this.#end(
      lease,
      mined.filter(({ status }) => status.final),
    );
    const inBlock = mined.filter(({ status }) => !status.final);
    await this.#mined(lease, inBlock.filter(differsFromRow));
    const waiting: ObservedPayment[] = [];
    for (const one of seen.filter(({ statuses }) => !statuses.some(isMined))) {
      const [dead] = one.statuses.flatMap(({ status }) => (status.state === 'dead' ? [status] : []));
      if (dead && one.statuses.every(({ status }) => status.state === 'dead')) {
        const isFinal = one.statuses.every(({ status }) => status.state === 'dead' && status.final);
        await this.#dead(lease, one.payment, dead.why, isFinal);
      } else {
        waiting.push(one);
      }
    }
    await this.#followWaiting(turn, waiting);
    return inBlock.filter((one) => !differsFromRow(one)).map(({ payment }) => payment.id);
  }

  /**
   * Rebroadcasts lost transactions, and replaces transactions that wait too long. Once the time is
   * over, it stops after the first broadcast without an answer.
   */
  async #followWaiting(turn: ChainTurn, all: readonly ObservedPayment[]): Promise<void> {
    const { adapter, lease, hasTime } = turn;
    const { log, transactions } = this.#options;
    const waiting: ObservedPayment[] = [];
    for (const one of all) {
      waiting.push(one);
      const unknown = one.statuses.filter(({ status }) => status.state === 'unknown').map(({ attempt }) => attempt);
      let hasAnswered = true;
      // The newest first: a node that has it refuses the ones it replaces.
      for (const attempt of unknown.toReversed()) {
        hasAnswered = (await transactions.broadcast(adapter, attempt)) && hasAnswered;
      }
      if (!hasAnswered && !hasTime()) break;
    }
    const isInMempool = ({ statuses }: ObservedPayment): boolean =>
      statuses.some(({ status }) => status.state === 'mempool');
    await this.#noteWaiting(
      lease,
      waiting.filter(isInMempool).map(({ payment }) => payment),
    );
    await this.#noteUnknown(
      lease,
      waiting.filter((one) => !isInMempool(one)).map(({ payment }) => payment),
    );
    for (const { payment, alive } of waiting) {
      try {
        await this.#replace(turn, payment, newestOf(alive));
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        // The waiting transaction may still be confirmed.
        log.warn({ event: 'replacement_failed', ...errorMembers(error) }, 'a payment could not be replaced');
        if (!hasTime()) return;
      }
    }
  }

  /** Records that payments are in no block, and that one transaction of each is in the mempool. */
  async #noteWaiting(lease: ChainLease, payments: readonly Payment[]): Promise<void> {
    await this.#options.writer.change(lease, payments, (_em, changing) => {
      const now = this.#options.clock.now();
      for (const { payment } of changing) {
        payment.nextActionAt = secondsAfter(now, pollSec);
        noteProblem(payment, null, now);
      }
    });
  }

  /**
   * Records since when the status of payments is unknown, and wakes their orders to check their
   * deadlines.
   */
  async #noteUnknown(lease: ChainLease, payments: readonly Payment[]): Promise<void> {
    const { clock, jobs, writer } = this.#options;
    const change = async (em: EntityManager, changing: readonly LockedPayment[]): Promise<void> => {
      const now = clock.now();
      for (const { payment, order } of changing) {
        payment.nextActionAt = secondsAfter(now, pollSec);
        noteProblem(payment, 'unknown', now);
        if (order) order.nextActionAt = now;
      }
      await em.flush();
      await jobs.wake(em, ordersOf(changing));
    };
    // Orders are woken only for a new problem.
    const isNews = ({ problem }: Payment): boolean => problem !== 'unknown';
    await writer.change(lease, payments.filter(isNews), change, true);
    await writer.change(
      lease,
      payments.filter((payment) => !isNews(payment)),
      change,
    );
  }

  /**
   * Replaces the newest transaction of a payment that has waited too long for a block. It builds,
   * signs and sends the replacement in separate steps, so that another process continues after a
   * crash. The earlier transactions are followed as well, even if the replacement fails.
   */
  async #replace(turn: ChainTurn, payment: Payment, last: PaymentAttempt): Promise<void> {
    const { adapter, lease } = turn;
    const { orm, clock, onCrashPoint, transactions, writer } = this.#options;
    if (!adapter.replace || adapter.replaceAfterSec === undefined) return;
    let attempt = last;
    if (attempt.sentAt !== null) {
      const isTooEarly = (since: Date): boolean => clock.now() < secondsAfter(since, adapter.replaceAfterSec ?? 0);
      if (isTooEarly(attempt.sentAt)) return;
      // A replacement that the signer refused is dead. The next one waits the full time again.
      const em = orm.em.fork();
      const built = await em.findOneOrFail(PaymentAttempt, { paymentId: payment.id, attempt: payment.attempt });
      if (isTooEarly(built.preparedAt)) return;
      const intent = transactions.intent(payment, payment.attempt + 1);
      const held = await transactions.held(adapter.chain);
      const tx = await adapter.replace(intent, transactions.prepared(attempt), held);
      if (tx === null || transactions.feeProblem(payment, tx) !== null) return;
      await onCrashPoint('payment.built');
      const [stands] = await transactions.store(lease, [{ payment, tx }]);
      if (!stands) return;
      attempt = newestOf(stands.alive);
    }
    if (attempt.raw === null) {
      const signed = await transactions.sign(payment, attempt);
      if (signed === 'unavailable') return;
      if (signed === null || signed === 'refused') {
        await writer.change(lease, [payment], (em) => transactions.neverSigned(em, attempt));
        return;
      }
      const [stands] = await transactions.storeSignatures(lease, [{ payment, attempt, tx: signed }]);
      if (!stands) return;
      attempt = newestOf(stands.alive);
    }
    await transactions.send(turn, [{ payment, alive: [attempt] }]);
  }

  /** Records that a transaction of each payment is in a block that is not final yet. */
  async #mined(lease: ChainLease, all: readonly InBlock[]): Promise<void> {
    const { clock, writer } = this.#options;
    const inBlock = new Map(all.map((one) => [one.payment.id, one]));
    await writer.change(
      lease,
      all.map(({ payment }) => payment),
      (_em, changing) => {
        const now = clock.now();
        for (const { payment, order, alive } of changing) {
          const { attempt, status } = entryOf(inBlock, payment);
          for (const one of alive) one.minedHeight = one.attempt === attempt.attempt ? status.height : null;
          noteProblem(payment, null, now);
          payment.nextActionAt = secondsAfter(now, pollSec);
          if (order && payment.kind === 'payout' && status.success) order.payoutTxid = attempt.txid;
        }
      },
      true,
    );
  }

  /** Ends payments with a final transaction, and books the outcome. */
  async #end(lease: ChainLease, all: readonly InBlock[]): Promise<void> {
    if (all.length === 0) return;
    const { clock, catalogue, jobs, onCrashPoint, writer } = this.#options;
    const final = new Map(all.map((one) => [one.payment.id, one]));
    await writer.change(
      lease,
      all.map(({ payment }) => payment),
      async (em, changing) => {
        const now = clock.now();
        const bookings: Booking[] = [];
        for (const { payment, order, alive } of changing) {
          const { attempt, status } = entryOf(final, payment);
          const stored = storedAttempt(alive, attempt);
          stored.minedHeight = status.height;
          if (!status.success) Object.assign(stored, { deadAt: now, deadWhy: 'failed' });
          for (const other of alive.filter((one) => one !== stored)) {
            Object.assign(other, { deadAt: now, deadWhy: 'replaced', minedHeight: null });
          }
          payment.state = status.success ? 'confirmed' : 'dead';
          noteProblem(payment, status.success ? null : (status.problem ?? 'failed_on_chain'), now);
          payment.endedAt = now;
          payment.nextActionAt = null;
          if (order && payment.kind === 'payout' && status.success) order.payoutTxid = attempt.txid;
          if (order) order.nextActionAt = now;
          if (!status.success) await showDeadPayment(em, payment, order);
          bookings.push(bookingOfEnd(payment, stored, status, catalogue.gasCoin(payment.chain), now));
        }
        await em.flush();
        await releaseReserved(em, [...final.keys()], now);
        await bookAll(em, bookings);
        await jobs.wake(em, ordersOf(changing));
      },
      true,
    );
    await onCrashPoint('payment.confirmed');
  }

  /**
   * Handles a payment of which no transaction can ever be confirmed. Once that is final, another
   * transaction may be built.
   */
  async #dead(lease: ChainLease, payment: Payment, why: 'conflict' | 'expired', isFinal: boolean): Promise<void> {
    const { clock, jobs, log, writer } = this.#options;
    if (!isFinal) return writer.problem(lease, payment.id, why, pollSec);
    log.error({ event: 'payment_dead', code: why, order_id: payment.orderId }, 'a payment can never be confirmed');
    await writer.change(
      lease,
      [payment],
      async (em, changing) => {
        const now = clock.now();
        const alive = { paymentId: payment.id, deadAt: null };
        await em.nativeUpdate(PaymentAttempt, alive, { deadAt: now, deadWhy: why, minedHeight: null });
        // Transactions that replaced one another count as one death.
        const [count] = await sql<{ deaths: number }>(
          em,
          `select count(distinct reserves)::int as deaths from payment_attempt
            where payment_id = ? and dead_why in ('conflict', 'expired')`,
          [payment.id],
        );
        const isOver = (count?.deaths ?? 0) >= maxDeaths || payment.kind === 'sweep';
        for (const { payment: row, order } of changing) {
          row.state = isOver ? 'dead' : 'ready';
          noteProblem(row, why, now);
          row.endedAt = isOver ? now : null;
          row.nextActionAt = isOver ? null : now;
          if (isOver && order) order.nextActionAt = now;
          if (isOver) await showDeadPayment(em, row, order);
        }
        await em.flush();
        await releaseReserved(em, [payment.id], now);
        if (isOver) await jobs.wake(em, ordersOf(changing));
      },
      true,
    );
  }
}

/** A payment, and the chain's status of its transactions. */
interface ObservedPayment extends PaymentWithAttempts {
  readonly statuses: readonly { readonly attempt: PaymentAttempt; readonly status: TxStatus }[];
}

/** A payment, and its transaction in a block. */
interface InBlock {
  readonly payment: Payment;
  readonly attempt: PaymentAttempt;
  readonly status: Mined;
}

/** Whether the payment's row differs from its chain. */
function differsFromRow({ payment, attempt, status }: InBlock): boolean {
  return attempt.minedHeight !== status.height || payment.problem !== null;
}

/**
 * Reads the status of all transactions of the payments, in one request where the chain has one.
 * Otherwise it stops after a payment once the time is over.
 */
async function observe(
  adapter: ChainAdapter,
  sent: readonly PaymentWithAttempts[],
  hasTime: () => boolean,
): Promise<readonly ObservedPayment[]> {
  if (sent.length === 0) return [];
  const signed = sent.map(({ alive }) => alive.filter(({ raw }) => raw !== null));
  const all = signed.flat();
  const together = await adapter.statusAll?.(all.map(signedTx));
  // A status is found by its place, and must never be taken for that of another transaction.
  if (together && together.length !== all.length) throw new Error(`${adapter.chain} did not tell a status of each`);
  const told = new Map(all.map((attempt, index) => [attempt, together?.[index]]));
  const seen: ObservedPayment[] = [];
  for (const [index, { payment, alive }] of sent.entries()) {
    if (!together && seen.length > 0 && !hasTime()) break;
    const statuses: { attempt: PaymentAttempt; status: TxStatus }[] = [];
    for (const attempt of signed[index] ?? []) {
      statuses.push({ attempt, status: told.get(attempt) ?? (await adapter.status(signedTx(attempt))) });
    }
    seen.push({ payment, alive, statuses });
  }
  return seen;
}

function isMined(seen: ObservedPayment['statuses'][number]): seen is Omit<InBlock, 'payment'> {
  return seen.status.state === 'mined';
}

function ordersOf(changing: readonly LockedPayment[]): string[] {
  return [...new Set(changing.flatMap(({ order }) => (order === null ? [] : [order.id])))];
}

/**
 * Shows the death of a payment that no order status shows. A refund besides the order's own is
 * marked on its deposit, and staff decide. The deposits of a dead sweep become free for the next
 * one.
 */
export async function showDeadPayment(
  em: EntityManager,
  { id, kind, leg, depositId }: Payment,
  order: Order | null,
): Promise<void> {
  if (kind === 'sweep') {
    // Of a deposit of many outputs, a later sweep may have taken the last ones.
    await sql(
      em,
      `update deposit set swept_by = null
        where id in (select id from deposit where swept_by = ?
                      union
                     select o.deposit_id from payment p cross join unnest(p.sources) as s (key)
                       join deposit_part o on o.chain = p.chain and o.key = s.key
                      where p.id = ?)`,
      [id, id],
    );
  }
  if (kind !== 'refund' || depositId === null) return;
  if (leg === 'main' && order?.depositId === depositId) return;
  const deposit = await em.findOneOrFail(Deposit, { id: depositId });
  deposit.problem = 'refund_failed';
}
