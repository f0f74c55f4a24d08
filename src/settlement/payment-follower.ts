import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter, TxStatus } from '../chains/chain-adapter.ts';
import type { Clock } from '../clock.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { JobQueue } from '../jobs/job-queue.ts';
import { type Booking, bookAll } from '../ledger/ledger.ts';
import { errorMembers, type Log } from '../log.ts';
import type { Order } from '../orders/order.entity.ts';
import type { OnBoundary } from './boundary.ts';
import { type ChainLease, LeaseLost } from './chain-lease.ts';
import { Deposit } from './deposit.entity.ts';
import type { Payment } from './payment.entity.ts';
import { PaymentAttempt } from './payment-attempt.entity.ts';
import { bookingOfEnd, type Mined } from './payment-booking.ts';
import { newestOf, of, type PaymentTransactions, signedTx, storedAttempt } from './payment-transactions.ts';
import { type Changing, noteProblem, type PaymentWriter, releaseReserved, type Standing } from './payment-writer.ts';
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

  /** One look at each payment, while there is time. Returns those about which a look told nothing new. */
  async follow(
    adapter: ChainAdapter,
    lease: ChainLease,
    sent: readonly Standing[],
    hasTime: () => boolean,
  ): Promise<readonly string[]> {
    const seen: Seen[] = [];
    for (const standing of sent) {
      if (seen.length > 0 && !hasTime()) break;
      seen.push(await look(adapter, standing));
    }
    if (seen.length === 0) return [];
    await this.#options.onBoundary('payment.observed');
    const mined = seen.flatMap(({ payment, statuses }) => {
      const found = statuses.find(isMined);
      return found ? [{ payment, ...found }] : [];
    });
    await this.#end(
      lease,
      mined.filter(({ status }) => status.final),
    );
    const inBlock = mined.filter(({ status }) => !status.final);
    await this.#mined(lease, inBlock.filter(isNewsOfBlock));
    const waiting: Seen[] = [];
    for (const one of seen.filter(({ statuses }) => !statuses.some(isMined))) {
      const [dead] = one.statuses.flatMap(({ status }) => (status.state === 'dead' ? [status] : []));
      if (dead && one.statuses.every(({ status }) => status.state === 'dead')) {
        const isFinal = one.statuses.every(({ status }) => status.state === 'dead' && status.final);
        await this.#dead(lease, one.payment, dead.why, isFinal);
      } else {
        waiting.push(one);
      }
    }
    await this.#wait(adapter, lease, waiting, hasTime);
    return inBlock.filter((one) => !isNewsOfBlock(one)).map(({ payment }) => payment.id);
  }

  /**
   * Shows transactions to nodes that lost them, and has dearer ones take the place of those that wait too long. What
   * gets no answer is the last of it once the time is over.
   */
  async #wait(adapter: ChainAdapter, lease: ChainLease, all: readonly Seen[], hasTime: () => boolean): Promise<void> {
    const { log, transactions } = this.#options;
    const waiting: Seen[] = [];
    for (const one of all) {
      waiting.push(one);
      const unknown = one.statuses.filter(({ status }) => status.state === 'unknown').map(({ attempt }) => attempt);
      let hasAnswered = true;
      // The newest first: nodes that have it refuse those that it replaces.
      for (const attempt of unknown.toReversed()) {
        hasAnswered = (await transactions.broadcast(adapter, attempt)) && hasAnswered;
      }
      if (!hasAnswered && !hasTime()) break;
    }
    const isInMempool = ({ statuses }: Seen): boolean => statuses.some(({ status }) => status.state === 'mempool');
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
        await this.#replace(adapter, lease, payment, newestOf(alive), hasTime);
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        // The one that waits may confirm all the same.
        log.warn({ event: 'replacement_failed', ...errorMembers(error) }, 'a payment could not be replaced');
        if (!hasTime()) return;
      }
    }
  }

  /** Notes that payments are in no block yet, and that one of the transactions of each waits for one. */
  async #noteWaiting(lease: ChainLease, payments: readonly Payment[]): Promise<void> {
    await this.#options.writer.change(lease, payments, (_em, changing) => {
      const now = this.#options.clock.now();
      for (const { payment } of changing) {
        payment.nextActionAt = secondsAfter(now, lookSec);
        noteProblem(payment, null, now);
      }
    });
  }

  /** Notes since when nobody knows the fate of payments, and lets their orders look at the clock. */
  async #noteUnknown(lease: ChainLease, payments: readonly Payment[]): Promise<void> {
    const { clock, jobs, writer } = this.#options;
    const change = async (em: EntityManager, changing: readonly Changing[]): Promise<void> => {
      const now = clock.now();
      for (const { payment, order } of changing) {
        payment.nextActionAt = secondsAfter(now, lookSec);
        noteProblem(payment, 'unknown', now);
        if (order) order.nextActionAt = now;
      }
      await em.flush();
      await jobs.wake(em, ordersOf(changing));
    };
    // Only news are news to the orders.
    const isNews = ({ problem }: Payment): boolean => problem !== 'unknown';
    await writer.change(lease, payments.filter(isNews), change, true);
    await writer.change(
      lease,
      payments.filter((payment) => !isNews(payment)),
      change,
    );
  }

  /**
   * Where a payment has waited too long for a block: builds a transaction that takes the place of the newest, signs and
   * sends it, a step each, so that whoever comes after a crash goes on with it. Whatever happens to it, the ones before
   * it are watched as well.
   */
  async #replace(
    adapter: ChainAdapter,
    lease: ChainLease,
    payment: Payment,
    last: PaymentAttempt,
    hasTime: () => boolean,
  ): Promise<void> {
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
      if (tx === null || transactions.feeProblem(payment, tx) !== null) return;
      await onBoundary('payment.built');
      const [stands] = await transactions.store(lease, [{ payment, tx }]);
      if (!stands) return;
      attempt = newestOf(stands.alive);
    }
    if (attempt.raw === null) {
      const signed = await transactions.sign(payment, attempt);
      if (signed === 'unavailable') return;
      if (signed === 'refused') {
        await writer.change(lease, [payment], (em) => transactions.neverSigned(em, attempt));
        return;
      }
      const [stands] = await transactions.storeSignatures(lease, [{ payment, attempt, tx: signed }]);
      if (!stands) return;
      attempt = newestOf(stands.alive);
    }
    await transactions.send(adapter, lease, [{ payment, alive: [attempt] }], hasTime);
  }

  /** A transaction of each payment is in a block that is not final yet. */
  async #mined(lease: ChainLease, all: readonly InBlock[]): Promise<void> {
    const { clock, writer } = this.#options;
    const inBlock = new Map(all.map((one) => [one.payment.id, one]));
    await writer.change(
      lease,
      all.map(({ payment }) => payment),
      (_em, changing) => {
        const now = clock.now();
        for (const { payment, order, alive } of changing) {
          const { attempt, status } = of(inBlock, payment);
          for (const one of alive) one.minedHeight = one.attempt === attempt.attempt ? status.height : null;
          noteProblem(payment, null, now);
          payment.nextActionAt = secondsAfter(now, lookSec);
          if (order && payment.kind === 'payout' && status.success) order.payoutTxid = attempt.txid;
        }
      },
      true,
    );
  }

  /** A transaction of each payment is final: the payment ends with it, and its books are written. */
  async #end(lease: ChainLease, all: readonly InBlock[]): Promise<void> {
    if (all.length === 0) return;
    const { clock, catalogue, jobs, onBoundary, writer } = this.#options;
    const final = new Map(all.map((one) => [one.payment.id, one]));
    await writer.change(
      lease,
      all.map(({ payment }) => payment),
      async (em, changing) => {
        const now = clock.now();
        const bookings: Booking[] = [];
        for (const { payment, order, alive } of changing) {
          const { attempt, status } = of(final, payment);
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
          if (!status.success) await showDead(em, payment, order);
          bookings.push(bookingOfEnd(payment, stored, status, catalogue.gasCoin(payment.chain), now));
        }
        await em.flush();
        await releaseReserved(em, [...final.keys()], now);
        await bookAll(em, bookings);
        await jobs.wake(em, ordersOf(changing));
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
      [payment],
      async (em, changing) => {
        const now = clock.now();
        await em.execute(
          'update payment_attempt set dead_at = ?, dead_why = ?, mined_height = null where payment_id = ? and dead_at is null',
          [now, why, payment.id],
        );
        // Those that replaced one another died one death.
        const [count] = await em.execute<{ deaths: number }[]>(
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
          if (isOver) await showDead(em, row, order);
        }
        await em.flush();
        await releaseReserved(em, [payment.id], now);
        if (isOver) await jobs.wake(em, ordersOf(changing));
      },
      true,
    );
  }
}

/** A payment, and what its chain says of its transactions. */
interface Seen extends Standing {
  readonly statuses: readonly { readonly attempt: PaymentAttempt; readonly status: TxStatus }[];
}

/** A payment, and its transaction that is in a block. */
interface InBlock {
  readonly payment: Payment;
  readonly attempt: PaymentAttempt;
  readonly status: Mined;
}

/** Whether its row says something else of a payment than its chain does. */
function isNewsOfBlock({ payment, attempt, status }: InBlock): boolean {
  return attempt.minedHeight !== status.height || payment.problem !== null;
}

async function look(adapter: ChainAdapter, { payment, alive }: Standing): Promise<Seen> {
  const statuses: { attempt: PaymentAttempt; status: TxStatus }[] = [];
  for (const attempt of alive.filter(({ raw }) => raw !== null)) {
    statuses.push({ attempt, status: await adapter.status(signedTx(attempt)) });
  }
  return { payment, alive, statuses };
}

function isMined(seen: Seen['statuses'][number]): seen is Omit<InBlock, 'payment'> {
  return seen.status.state === 'mined';
}

function ordersOf(changing: readonly Changing[]): string[] {
  return [...new Set(changing.flatMap(({ order }) => (order === null ? [] : [order.id])))];
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
