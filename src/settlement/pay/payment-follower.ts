import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import type { JobQueue } from '../../base/jobs/job-queue.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import { type Booking, bookAll } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { Payment } from '../rows/payment.entity.ts';
import { PaymentAttempt } from '../rows/payment-attempt.entity.ts';
import { secondsAfter } from '../rules/settling.ts';
import { type ChainLease, LeaseLost } from '../turns/chain-lease.ts';
import type { ChainTurn } from '../turns/chain-turn.ts';
import type { OnCrashPoint } from '../turns/crash-point.ts';
import {
  deathOf,
  hasNoFurther,
  isExcluded,
  isMined,
  type ObservedPayment,
  observe,
  outlookOf,
  statusesOf,
} from './attempt-status.ts';
import type { CommissionMonths, PaidCommission } from './commission-months.ts';
import { endDead, showDeadPayment } from './dead-payments.ts';
import { type EarlierAttempts, noteRevived, releaseAfterDeath, storeStatuses } from './earlier-attempts.ts';
import { bookingOfEnd } from './payment-booking.ts';
import { entryOf, newestOf, type PaymentTransactions } from './payment-transactions.ts';
import {
  type LockedPayment,
  noteProblem,
  type PaymentWithAttempts,
  type PaymentWriter,
  releaseReserved,
} from './payment-writer.ts';
import { furtherAt, pastExpiry } from './signed-attempts.ts';

export interface PaymentFollowerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly jobs: Pick<JobQueue, 'wake'>;
  readonly onCrashPoint: OnCrashPoint;
  readonly transactions: PaymentTransactions;
  readonly earlier: EarlierAttempts;
  readonly writer: PaymentWriter;
  readonly commission: CommissionMonths;
}

/** Seconds between two checks of a payment while its chain has no new block. */
export const pollSec = 5;

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
    const seen = await this.#withEarlier(adapter, await observe(adapter, sent, hasTime));
    if (seen.length === 0) return [];
    await this.#options.onCrashPoint('payment.observed');
    const byOutlook = Map.groupBy(seen, ({ statuses }) => outlookOf(statuses));
    const failed = byOutlook.get('failed') ?? [];
    const lost = await this.#lostOf(adapter, failed);
    await this.#end(turn, [...(byOutlook.get('paid') ?? []), ...failed.filter((one) => !lost.includes(one))]);
    for (const one of lost) await this.#lost(turn, one);
    const inBlock = byOutlook.get('in_block') ?? [];
    await this.#mined(lease, inBlock.filter(differsFromRow));
    const waiting: ObservedPayment[] = [];
    for (const outlook of ['dead', 'dying', 'waiting'] as const) {
      for (const one of byOutlook.get(outlook) ?? []) {
        const living = one.statuses.filter(({ attempt }) => attempt.deadAt === null);
        const ofLiving = outlookOf(living);
        if (ofLiving === 'dead') await this.#dead(turn, one, outlook === 'dead');
        else if (ofLiving === 'dying') await this.#notFinal(lease, one);
        else waiting.push(one);
      }
    }
    await this.#followWaiting(turn, waiting);
    return inBlock.filter((one) => !differsFromRow(one)).map(({ payment }) => payment.id);
  }

  /**
   * Adds the earlier attempts of payments that are about to end, asked again. One of them may be in
   * a block, although it counted as dead. An attempt that a confirmed one excludes is not asked.
   */
  async #withEarlier(adapter: ChainAdapter, seen: readonly ObservedPayment[]): Promise<readonly ObservedPayment[]> {
    const isEnding = ({ payment, alive, statuses }: ObservedPayment): boolean =>
      payment.attempt > alive.length && ['paid', 'failed', 'dead'].includes(outlookOf(statuses));
    const ending = seen.filter(isEnding);
    if (ending.length === 0) return seen;
    const earlier = await this.#options.earlier.read(ending.map(({ payment }) => payment));
    const asked = await statusesOf(
      adapter,
      ending.flatMap(({ payment, statuses }) =>
        (earlier.get(payment.id) ?? []).filter((attempt) => !isExcluded(attempt, statuses.filter(isMined))),
      ),
    );
    const added = Map.groupBy(asked, ({ attempt }) => attempt.paymentId);
    for (const { payment } of ending) {
      if (added.get(payment.id)?.some(isMined)) noteRevived(this.#options.log, payment);
    }
    return seen.map((one) => ({ ...one, statuses: [...(added.get(one.payment.id) ?? []), ...one.statuses] }));
  }

  /**
   * Rebroadcasts the same bytes of transactions that a node lost or does not show, until they
   * expire. Replaces transactions that wait too long. Once the time is over, it stops after the
   * first broadcast without an answer.
   */
  async #followWaiting(turn: ChainTurn, all: readonly ObservedPayment[]): Promise<void> {
    const { adapter, lease, hasTime } = turn;
    const { clock, log, transactions } = this.#options;
    const lost = (one: ObservedPayment): PaymentAttempt[] =>
      one.statuses
        .filter(({ status }) => status.state === 'unknown' || status.state === 'waiting')
        .map(({ attempt }) => attempt);
    const expired = await pastExpiry(adapter, clock.now(), all.flatMap(lost));
    const waiting: ObservedPayment[] = [];
    for (const one of all) {
      waiting.push(one);
      let hasAnswered = true;
      // The newest first: a node that has it refuses the ones it replaces.
      for (const attempt of lost(one).toReversed()) {
        if (expired.has(attempt)) continue;
        hasAnswered = (await transactions.broadcast(adapter, attempt)) && hasAnswered;
      }
      if (!hasAnswered && !hasTime()) break;
    }
    const isKnown = ({ statuses }: ObservedPayment): boolean =>
      statuses.some(({ status }) => status.state === 'mempool' || status.state === 'waiting');
    await this.#noteWaiting(
      lease,
      waiting.filter(isKnown).map(({ payment }) => payment),
    );
    await this.#noteUnknown(
      lease,
      waiting.filter((one) => !isKnown(one)).map(({ payment }) => payment),
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

  /** Records that payments are in no block, and that one transaction of each is known to wait. */
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
      const [stored] = await transactions.store(lease, [{ payment, tx }]);
      if (!stored) return;
      attempt = newestOf(stored.alive);
    }
    if (attempt.raw === null) {
      const signed = await transactions.sign(payment, attempt);
      if (signed === 'unavailable') return;
      if (signed === null || signed === 'refused') {
        await writer.change(lease, [payment], (em) => transactions.neverSigned(em, attempt));
        return;
      }
      const [stored] = await transactions.storeSignatures(lease, [{ payment, attempt, tx: signed }]);
      if (!stored) return;
      attempt = newestOf(stored.alive);
    }
    await transactions.send(turn, [{ payment, alive: [attempt] }]);
  }

  /** Records that a transaction of each payment is in a block, and that not everything is final. */
  async #mined(lease: ChainLease, all: readonly ObservedPayment[]): Promise<void> {
    const { clock, writer } = this.#options;
    const inBlock = new Map(all.map((one) => [one.payment.id, one]));
    await writer.change(
      lease,
      all.map(({ payment }) => payment),
      async (em, changing) => {
        const now = clock.now();
        for (const { payment, order, alive } of changing) {
          const { statuses } = entryOf(inBlock, payment);
          await storeStatuses(em, alive, statuses);
          noteProblem(payment, null, now);
          payment.nextActionAt = secondsAfter(now, pollSec);
          const success = statuses.filter(isMined).findLast(({ status }) => status.success);
          if (order && payment.kind === 'payout' && success) order.payoutTxid = success.attempt.txid;
        }
      },
      true,
    );
  }

  /**
   * Ends payments of which a transaction is finally in a block, and books the outcome. When two
   * moved the amount, the second one is not booked: it stays a difference of the reconciliation.
   */
  async #end({ adapter, lease }: ChainTurn, all: readonly ObservedPayment[]): Promise<void> {
    if (all.length === 0) return;
    const { clock, catalogue, commission, jobs, log, onCrashPoint, writer } = this.#options;
    const { sweepFee } = adapter.traits;
    const ending = new Map(all.map((one) => [one.payment.id, one]));
    await writer.change(
      lease,
      all.map(({ payment }) => payment),
      async (em, changing) => {
        const now = clock.now();
        const bookings: Booking[] = [];
        const confirmed: PaidCommission[] = [];
        const months = await commission.months(
          em,
          changing.map(({ payment }) => payment),
        );
        for (const { payment, order, alive } of changing) {
          const mined = entryOf(ending, payment).statuses.filter(isMined);
          const paid = mined.findLast(({ status }) => status.success);
          const isTwice = mined.filter(({ status }) => status.success).length > 1;
          await storeStatuses(em, alive, mined);
          for (const one of alive.filter(({ attempt }) => !mined.some((other) => other.attempt.attempt === attempt))) {
            Object.assign(one, { deadAt: now, deadWhy: 'replaced', minedHeight: null });
          }
          for (const { attempt } of mined.filter(({ status }) => !status.success)) {
            const row = await em.findOneOrFail(PaymentAttempt, { paymentId: payment.id, attempt: attempt.attempt });
            Object.assign(row, { deadAt: attempt.deadAt ?? now, deadWhy: 'failed' });
          }
          const failure = mined.find(({ status }) => status.problem !== undefined)?.status.problem ?? 'failed_on_chain';
          payment.state = paid ? 'confirmed' : 'dead';
          noteProblem(payment, paid ? (isTwice ? 'paid_twice' : null) : failure, now);
          payment.endedAt = now;
          payment.nextActionAt = null;
          if (isTwice) log.error({ event: 'payment_paid_twice', payment_id: payment.id }, 'a payment was paid twice');
          if (order && payment.kind === 'payout' && paid) order.payoutTxid = paid.attempt.txid;
          if (order) order.nextActionAt = now;
          if (!paid) await showDeadPayment(em, payment, order);
          else if (paid.attempt.txid !== null) confirmed.push({ payment, txid: paid.attempt.txid });
          const gas = catalogue.gasCoin(payment.chain);
          const partnerId = months.get(payment.id)?.partnerId;
          for (const { attempt, status } of mined.filter((one) => one === paid || !one.status.success)) {
            bookings.push(bookingOfEnd(payment, attempt, status, gas, now, { sweepFee, partnerId }));
          }
        }
        await em.flush();
        await releaseReserved(em, [...ending.keys()], now);
        await bookAll(em, bookings);
        await commission.paid(em, months, confirmed, now);
        await jobs.wake(em, ordersOf(changing));
      },
      true,
    );
    await onCrashPoint('payment.confirmed');
  }

  /**
   * Selects the payments that may go on although an attempt is finally in a block and failed: what
   * it reserved was used by a stranger. If an earlier attempt, which counts as dead, reserved the
   * same, it may have used it, and people decide.
   */
  async #lostOf(
    { traits }: Pick<ChainAdapter, 'traits'>,
    failed: readonly ObservedPayment[],
  ): Promise<readonly ObservedPayment[]> {
    const lost = failed.filter(
      ({ payment, statuses }) =>
        payment.attempt < traits.furtherAttempts && statuses.every((one) => isMined(one) && one.status.lost === true),
    );
    if (lost.length === 0) return [];
    const earlier = await this.#options.earlier.read(lost.map(({ payment }) => payment));
    return lost.filter(({ payment, statuses }) => {
      const mined = statuses.filter(isMined);
      return !(earlier.get(payment.id) ?? []).some((attempt) => isExcluded(attempt, mined));
    });
  }

  /** Books the fee of attempts that lost what they reserved, and has another attempt built. */
  async #lost({ adapter, lease }: ChainTurn, { payment, statuses }: ObservedPayment): Promise<void> {
    const { clock, catalogue, log, writer } = this.#options;
    const { exclusive, sweepFee } = adapter.traits;
    log.error({ event: 'payment_lost', payment_id: payment.id }, 'a stranger used what a payment reserved');
    await writer.change(
      lease,
      [payment],
      async (em, changing) => {
        const now = clock.now();
        const gas = catalogue.gasCoin(payment.chain);
        const mined = statuses.filter(isMined);
        for (const { payment: row, alive } of changing) {
          await storeStatuses(em, alive, mined);
          for (const one of alive) Object.assign(one, { deadAt: now, deadWhy: 'failed' });
          noteProblem(row, 'conflict', now);
          Object.assign(row, { state: 'ready', nextActionAt: now });
        }
        await em.flush();
        await releaseAfterDeath(em, payment, exclusive, now);
        await bookAll(
          em,
          mined.map(({ attempt, status }) => bookingOfEnd(payment, attempt, status, gas, now, { sweepFee })),
        );
      },
      true,
    );
  }

  /** Records that no living transaction of a payment can confirm, while a reorg may undo that. */
  #notFinal(lease: ChainLease, { payment, statuses }: ObservedPayment): Promise<void> {
    const why = statuses.map(deathOf).find((one) => one !== null) ?? 'conflict';
    return this.#options.writer.problem(lease, payment.id, why, pollSec);
  }

  /**
   * Handles a payment of which all living transactions are finally dead. Another one is built, or
   * the payment ends. It ends only when its earlier transactions are finally dead as well.
   */
  async #dead({ adapter, lease }: ChainTurn, observed: ObservedPayment, areAllDead: boolean): Promise<void> {
    const { clock, jobs, log, writer } = this.#options;
    const { payment, statuses } = observed;
    const { traits } = adapter;
    const isOver = hasNoFurther(observed, traits);
    if (isOver && !areAllDead) return this.#notFinal(lease, observed);
    const deaths = new Map(statuses.map((one) => [one.attempt.attempt, deathOf(one)]));
    const code = [...deaths.values()].findLast((one) => one !== null) ?? 'conflict';
    log.error({ event: 'payment_dead', code, order_id: payment.orderId }, 'a payment can never be confirmed');
    await writer.change(
      lease,
      [payment],
      async (em, changing) => {
        const now = clock.now();
        for (const { payment: row, alive } of changing) {
          for (const one of alive) {
            Object.assign(one, { deadAt: now, deadWhy: deaths.get(one.attempt) ?? code, minedHeight: null });
          }
          if (isOver) continue;
          noteProblem(row, code, now);
          Object.assign(row, { state: 'ready', nextActionAt: furtherAt(alive, traits.exclusive, now) });
        }
        if (isOver) await endDead(em, changing, code, now);
        await em.flush();
        if (!isOver) return releaseAfterDeath(em, payment, traits.exclusive, now);
        await releaseReserved(em, [payment.id], now);
        await jobs.wake(em, ordersOf(changing));
      },
      true,
    );
  }
}

/** Whether the payment's rows differ from its chain. */
function differsFromRow({ payment, statuses }: ObservedPayment): boolean {
  const differs = statuses.filter(isMined).some(({ attempt, status }) => {
    return attempt.minedHeight !== status.height || attempt.deadAt !== null;
  });
  return differs || payment.problem !== null;
}

function ordersOf(changing: readonly LockedPayment[]): string[] {
  return [...new Set(changing.flatMap(({ order }) => (order === null ? [] : [order.id])))];
}
