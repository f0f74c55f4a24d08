import type { MikroORM } from '@mikro-orm/postgresql';
import {
  type ChainAdapter,
  ChainError,
  type PreparedTx,
  type Promised,
  type Reservation,
} from '../chains/chain-adapter.ts';
import type { Clock } from '../clock.ts';
import { errorMembers, type Log } from '../log.ts';
import { span } from '../tracing/tracing.ts';
import type { OnBoundary } from './boundary.ts';
import { type ChainLease, LeaseLost } from './chain-lease.ts';
import { isCovered } from './client-account.ts';
import type { Payment } from './payment.entity.ts';
import type { PaymentAttempt } from './payment-attempt.entity.ts';
import { lookSec, type PaymentFollower, showDead } from './payment-follower.ts';
import { type Built, newestOf, type PaymentTransactions, type Signed } from './payment-transactions.ts';
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
/** Payments that are taken on together. */
const groupSize = 20;
const retrySec = 2;
/** Between two looks at what may still go out, while a group is signed. */
const lookAgainMs = 1_000;
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
            and (p.state <> 'ready' or p.deposit_id is null
                 or (o.held_at is null and (p.kind = 'payout' or d.state = 'credited') and ${isCovered()}))
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
   * Takes payments of a chain as far as they can go now, while there is time. Those of a group share their transactions,
   * and are taken one by one where that fails. One that fails, or that no time is left for, is left to its next alarm.
   *
   * @throws LeaseLost when another process has the chain now.
   */
  async work(
    adapter: ChainAdapter,
    lease: ChainLease,
    ids: readonly string[],
    hasTime: () => boolean = () => true,
  ): Promise<void> {
    for (let start = 0; start < ids.length; start += groupSize) {
      const group = ids.slice(start, start + groupSize);
      if (!hasTime()) return;
      if (await this.#advanced(adapter, lease, group, hasTime)) continue;
      for (const id of group.length === 1 ? [] : group) {
        if (!hasTime()) return;
        await this.#advanced(adapter, lease, [id], hasTime);
      }
    }
  }

  /** Takes payments as far as they can go now. False when something went wrong. */
  async #advanced(
    adapter: ChainAdapter,
    lease: ChainLease,
    ids: readonly string[],
    hasTime: () => boolean,
  ): Promise<boolean> {
    const attributes = { chain: adapter.chain, 'payment.count': ids.length };
    try {
      await span('payments', { kind: 'consumer', attributes }, () => this.#advance(adapter, lease, ids, hasTime));
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      if (ids.length === 1) this.#failed(adapter, error);
      return false;
    }
  }

  #failed({ chain }: ChainAdapter, error: unknown): void {
    const { log } = this.#options;
    log.warn({ event: 'payment_failed', code: chain, ...errorMembers(error) }, 'a payment made no progress');
  }

  async #advance(
    adapter: ChainAdapter,
    lease: ChainLease,
    ids: readonly string[],
    hasTime: () => boolean,
  ): Promise<void> {
    const { writer, follower } = this.#options;
    const standing = Map.groupBy(await writer.standing(ids), ({ payment }) => payment.state);
    const at = (state: Payment['state']): readonly Standing[] => standing.get(state) ?? [];
    const prepared = [...at('prepared'), ...(await this.#prepare(adapter, lease, at('ready'), hasTime))];
    const signed = [...at('signed'), ...(await this.#sign(lease, prepared, hasTime))];
    await this.#send(adapter, lease, signed, hasTime);
    await follower.follow(adapter, lease, at('sent'), hasTime);
  }

  /** Builds the transactions, each beside those before it, and reserves what they spend. */
  async #prepare(
    adapter: ChainAdapter,
    lease: ChainLease,
    ready: readonly Standing[],
    hasTime: () => boolean,
  ): Promise<readonly Standing[]> {
    if (ready.length === 0) return [];
    const { onBoundary, transactions } = this.#options;
    const held = new Map(await transactions.held(adapter.chain));
    const built: Built[] = [];
    for (const [index, { payment }] of ready.entries()) {
      if (index > 0 && !hasTime()) break;
      const tx = await this.#build(adapter, lease, payment, held);
      if (tx === null) continue;
      built.push({ payment, tx });
      for (const resource of tx.reserves) held.set(resource, transactions.promised(payment, tx));
    }
    if (built.length === 0) return [];
    await onBoundary('payment.built');
    return transactions.store(lease, built, (row, now) => {
      row.state = 'prepared';
      noteProblem(row, null, now);
    });
  }

  /** Builds a transaction, or notes what stands in its way and returns null. */
  async #build(
    adapter: ChainAdapter,
    lease: ChainLease,
    payment: Payment,
    held: ReadonlyMap<Reservation, Promised>,
  ): Promise<PreparedTx | null> {
    const { transactions, writer } = this.#options;
    try {
      const tx = await adapter.prepare(transactions.intent(payment, payment.attempt + 1), held);
      if (!transactions.isTooDear(adapter.chain, tx)) return tx;
      await writer.problem(lease, payment.id, 'fee_too_high', retrySec * 10);
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      // A sweep that its chain refuses is decided anew, perhaps with more gas before it.
      const isOver = payment.kind === 'sweep' ? error.isOfChain : payment.depositId === null && !error.retryable;
      if (isOver) {
        await this.#drop(lease, payment, error.code);
      } else {
        await writer.problem(lease, payment.id, error.code, error.retryable ? retrySec : retrySec * 30);
        this.#failed(adapter, error);
      }
    }
    return null;
  }

  /** Ends a movement between our own addresses that cannot be made: nobody waits for it, and its coins stay. */
  async #drop(lease: ChainLease, payment: Payment, problem: string): Promise<void> {
    await this.#options.writer.change(lease, [payment], async (em, changing) => {
      const now = this.#options.clock.now();
      for (const { payment: row } of changing) {
        noteProblem(row, problem, now);
        Object.assign(row, { state: 'dead', endedAt: now, nextActionAt: null });
        await showDead(em, row, null);
      }
    });
  }

  /**
   * Has the stored transactions signed and stores the bytes. One that must not go out any more is revoked instead, which
   * is too late once the signer has signed it: an earlier process may have shown it to somebody. So are those after one
   * that is given up: they would wait behind the gap in the nonces that it leaves. Once the time is over, a signer that
   * is not there is not asked again.
   */
  async #sign(lease: ChainLease, prepared: readonly Standing[], hasTime: () => boolean): Promise<readonly Standing[]> {
    if (prepared.length === 0) return [];
    const { transactions, writer } = this.#options;
    const payments = prepared.map(({ payment }) => payment);
    let mayGoOut = await writer.mayGoOut(payments);
    let lookedAt = performance.now();
    const signed: Signed[] = [];
    let hasGap = false;
    for (const { payment, alive } of prepared) {
      if (performance.now() - lookedAt > lookAgainMs) {
        mayGoOut = await writer.mayGoOut(payments);
        lookedAt = performance.now();
      }
      const attempt = newestOf(alive);
      const isWanted = mayGoOut.has(payment.id) && !hasGap;
      const answer = await (isWanted ? transactions.sign(payment, attempt) : transactions.revoke(payment, attempt));
      if (answer === 'unavailable') {
        await writer.problem(lease, payment.id, 'signer_unavailable', retrySec);
        if (!hasTime()) break;
      } else if (answer === null || answer === 'refused') {
        hasGap = true;
        await this.#giveUp(lease, payment, attempt, answer === null ? null : 'signer_refused');
      } else {
        signed.push({ payment, attempt, tx: answer });
      }
    }
    if (signed.length === 0) return [];
    return transactions.storeSignatures(lease, signed, (row, now) => {
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
  ): Promise<void> {
    const { clock, transactions, writer } = this.#options;
    await writer.change(lease, [payment], async (em, changing) => {
      const now = clock.now();
      await transactions.neverSigned(em, attempt);
      for (const { payment: row } of changing) {
        row.state = 'ready';
        noteProblem(row, problem, now);
        row.nextActionAt = secondsAfter(now, problem === null ? retrySec : refusedSec);
      }
      await em.flush();
      await releaseReserved(em, [payment.id], now);
    });
  }

  async #send(
    adapter: ChainAdapter,
    lease: ChainLease,
    signed: readonly Standing[],
    hasTime: () => boolean,
  ): Promise<void> {
    if (signed.length === 0) return;
    await this.#options.transactions.send(adapter, lease, signed, hasTime, (row, now) => {
      row.state = 'sent';
      row.sentAt ??= now;
      row.nextActionAt = secondsAfter(now, lookSec);
    });
  }
}
