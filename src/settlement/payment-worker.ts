import type { MikroORM } from '@mikro-orm/postgresql';
import { type ChainAdapter, ChainError, type PreparedTx } from '../chains/chain-adapter.ts';
import type { Clock } from '../clock.ts';
import { errorMembers, type Log } from '../log.ts';
import type { OnBoundary } from './boundary.ts';
import { type ChainLease, LeaseLost } from './chain-lease.ts';
import { Payment } from './payment.entity.ts';
import { PaymentAttempt } from './payment-attempt.entity.ts';
import { lookSec, type PaymentFollower, showDead } from './payment-follower.ts';
import { newestOf, type PaymentTransactions } from './payment-transactions.ts';
import { noteProblem, type PaymentWriter, releaseReserved, type Standing } from './payment-writer.ts';
import { secondsAfter } from './settling.ts';

export interface PaymentWorkerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly onBoundary: OnBoundary;
  readonly transactions: PaymentTransactions;
  readonly writer: PaymentWriter;
  readonly follower: PaymentFollower;
}

/** Payments of a chain that one turn takes up. */
const batch = 100;
const retrySec = 2;
/** Before a signer that refused is asked again. Its limits are of a day. */
const refusedSec = 300;

/**
 * Brings payments onto their chain, each at most once. The order of things is what makes it safe: reserve what the
 * transaction spends, sign, store the bytes, and only then show them to anybody; from then on send those very bytes
 * again and ask the chain, whatever a node says. Another transaction is built only when the chain shows that the old
 * one can never confirm, or when it spends all that the old one spends, so that one of them at most can.
 */
export class PaymentWorker {
  readonly #options: PaymentWorkerOptions;

  constructor(options: PaymentWorkerOptions) {
    this.#options = options;
  }

  /**
   * The payments that are due on the chains, by chain. They come due again a little later, so that a process that ends
   * in the middle leaves them to be found.
   */
  async claim(chains: readonly string[]): Promise<Map<string, string[]>> {
    const { orm, clock } = this.#options;
    const now = clock.now();
    const rows = await orm.em.fork().execute<{ id: string; chain: string }[]>(
      `with due as (
         select p.id from payment p
           left join deposit d on d.id = p.deposit_id
           left join exchange_order o on o.id = p.order_id
          where p.chain in (select jsonb_array_elements_text(?::jsonb)) and p.next_action_at <= ?
            and (p.state <> 'ready' or p.deposit_id is null or (o.held_at is null and d.state = 'credited'))
          order by p.next_action_at, p.id limit ? for update of p skip locked
       )
       update payment p set next_action_at = ? from due where p.id = due.id returning p.id, p.chain`,
      [JSON.stringify(chains), now, batch, secondsAfter(now, retrySec)],
    );
    const byChain = Map.groupBy(rows, ({ chain }) => chain);
    return new Map([...byChain].map(([chain, due]) => [chain, due.map(({ id }) => id)]));
  }

  /** Payments of a chain that were broadcast and have not ended: each is looked at after a new block. */
  async sent(chain: string): Promise<string[]> {
    const rows = await this.#options.orm.em
      .fork()
      .execute<{ id: string }[]>(`select id from payment where chain = ? and state = 'sent' order by sent_at`, [chain]);
    return rows.map(({ id }) => id);
  }

  /**
   * Takes payments of a chain as far as they can go now, while there is time. One that fails, or that no time is left
   * for, is left to its next alarm.
   *
   * @throws LeaseLost when another process has the chain now.
   */
  async work(
    adapter: ChainAdapter,
    lease: ChainLease,
    ids: readonly string[],
    hasTime: () => boolean = () => true,
  ): Promise<void> {
    for (const id of ids) {
      if (!hasTime()) return;
      try {
        await this.advance(adapter, lease, id);
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        const { log } = this.#options;
        log.warn(
          { event: 'payment_failed', code: adapter.chain, ...errorMembers(error) },
          'a payment made no progress',
        );
      }
    }
  }

  /** Takes one payment as far as it can go now. */
  async advance(adapter: ChainAdapter, lease: ChainLease, id: string): Promise<void> {
    const em = this.#options.orm.em.fork();
    const payment = await em.findOneOrFail(Payment, { id });
    const alive = await em.find(PaymentAttempt, { paymentId: id, deadAt: null }, { orderBy: { attempt: 'asc' } });
    let stands: Standing | null = { payment, alive };
    while (stands) stands = await this.#step(adapter, lease, stands);
  }

  /** One step; what stands after it, or null when the payment rests. */
  async #step(adapter: ChainAdapter, lease: ChainLease, standing: Standing): Promise<Standing | null> {
    const { payment, alive } = standing;
    switch (payment.state) {
      case 'ready':
        return this.#prepare(adapter, lease, payment);
      case 'prepared':
        return this.#sign(lease, payment, newestOf(alive));
      case 'signed':
        return this.#send(adapter, lease, payment, newestOf(alive));
      case 'sent':
        await this.#options.follower.follow(adapter, lease, standing);
        return null;
      case 'confirmed':
      case 'dead':
        return null;
    }
  }

  /** Builds the transaction and reserves what it spends. */
  async #prepare(adapter: ChainAdapter, lease: ChainLease, payment: Payment): Promise<Standing | null> {
    const { onBoundary, transactions, writer } = this.#options;
    let tx: PreparedTx;
    try {
      const intent = transactions.intent(payment, payment.attempt + 1);
      tx = await adapter.prepare(intent, await transactions.held(adapter.chain));
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      // A sweep that its chain refuses is decided anew, perhaps with more gas before it.
      const isOver = payment.kind === 'sweep' ? error.isOfChain : payment.depositId === null && !error.retryable;
      if (isOver) return this.#drop(lease, payment, error.code);
      await writer.problem(lease, payment.id, error.code, error.retryable ? retrySec : retrySec * 30);
      throw error;
    }
    await onBoundary('payment.built');
    if (transactions.isTooDear(adapter.chain, tx)) {
      await writer.problem(lease, payment.id, 'fee_too_high', retrySec * 10);
      return null;
    }
    return transactions.store(lease, payment, tx, (row, now) => {
      row.state = 'prepared';
      noteProblem(row, null, now);
    });
  }

  /** Ends a movement between our own addresses that cannot be made: nobody waits for it, and its coins stay. */
  async #drop(lease: ChainLease, payment: Payment, problem: string): Promise<null> {
    await this.#options.writer.change(lease, payment, async (em, row) => {
      const now = this.#options.clock.now();
      noteProblem(row, problem, now);
      Object.assign(row, { state: 'dead', endedAt: now, nextActionAt: null });
      await showDead(em, row, null);
      return [];
    });
    return null;
  }

  /**
   * Has the stored transaction signed and stores the bytes. One that must not go out any more is revoked instead, which
   * is too late once the signer has signed it: an earlier process may have shown it to somebody.
   */
  async #sign(lease: ChainLease, payment: Payment, attempt: PaymentAttempt): Promise<Standing | null> {
    const { transactions, writer } = this.#options;
    const mayGoOut = await writer.mayGoOut(payment);
    const signed = await (mayGoOut ? transactions.sign(payment, attempt) : transactions.revoke(payment, attempt));
    if (signed === 'unavailable') {
      await writer.problem(lease, payment.id, 'signer_unavailable', retrySec);
      return null;
    }
    if (signed === null) return this.#giveUp(lease, payment, attempt, null);
    if (signed === 'refused') return this.#giveUp(lease, payment, attempt, 'signer_refused');
    return transactions.storeSignature(lease, payment, attempt, signed, (row, now) => {
      row.state = 'signed';
      noteProblem(row, null, now);
    });
  }

  /**
   * Drops a transaction that was never signed, and lets go of what it reserved: a nonce that is held and not used would
   * stop every later payment.
   */
  async #giveUp(
    lease: ChainLease,
    payment: Payment,
    attempt: PaymentAttempt,
    problem: 'signer_refused' | null,
  ): Promise<null> {
    const { clock, transactions, writer } = this.#options;
    await writer.change(lease, payment, async (em, row) => {
      const now = clock.now();
      await transactions.neverSigned(em, attempt);
      row.state = 'ready';
      noteProblem(row, problem, now);
      row.nextActionAt = secondsAfter(now, problem === null ? retrySec : refusedSec);
      await em.flush();
      await releaseReserved(em, row.id, now);
      return [];
    });
    return null;
  }

  async #send(adapter: ChainAdapter, lease: ChainLease, payment: Payment, attempt: PaymentAttempt): Promise<null> {
    await this.#options.transactions.send(adapter, lease, payment, attempt, (row, now) => {
      row.state = 'sent';
      row.sentAt ??= now;
      row.nextActionAt = secondsAfter(now, lookSec);
    });
    return null;
  }
}
