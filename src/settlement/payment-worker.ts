import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import {
  type ChainAdapter,
  ChainError,
  type PreparedTx,
  type Promised,
  type Reservation,
} from '../chains/chain-adapter.ts';
import type { Clock } from '../clock.ts';
import { errorMembers, type Log } from '../log.ts';
import { Big } from '../money.ts';
import { span } from '../tracing/tracing.ts';
import type { OnBoundary } from './boundary.ts';
import { type ChainLease, LeaseLost } from './chain-lease.ts';
import { isCovered } from './client-account.ts';
import type { FeeRoom, FeeShares } from './fee-shares.ts';
import type { Payment } from './payment.entity.ts';
import type { PaymentAttempt } from './payment-attempt.entity.ts';
import { lookSec, type PaymentFollower, showDead } from './payment-follower.ts';
import { type Built, newestOf, type PaymentTransactions, type Signed } from './payment-transactions.ts';
import {
  type Backoff,
  type Changing,
  noteProblem,
  type PaymentWriter,
  releaseReserved,
  type Standing,
} from './payment-writer.ts';
import { notHeldSql } from './payout-holds.ts';
import { NoRoom, type PayoutLimits } from './payout-limits.ts';
import { secondsAfter } from './settling.ts';

export interface PaymentWorkerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly onBoundary: OnBoundary;
  readonly transactions: PaymentTransactions;
  readonly writer: PaymentWriter;
  readonly follower: PaymentFollower;
  readonly feeShares: FeeShares;
  /** After which a payment is given up that its recipient or its token refuses. */
  readonly giveUpSec: number;
  readonly limits: PayoutLimits;
}

/** A payment that is due. */
export interface DuePayment {
  readonly id: string;
  /** It could not begin before, so that the others go first. */
  readonly isRetry: boolean;
}

/** How long payments are taken on. */
export interface WorkTime {
  readonly budgetMs: number;
  readonly isStopped: () => boolean;
}

/** Payments of a chain that one turn takes up, of those that failed before and of the others each. */
const batch = 100;
/** The part of a turn that payments get which failed before, while there are others. */
const retryPart = 0.25;
/** Payments that are taken on together. */
const groupSize = 20;
const retrySec = 2;
/** Between two looks at what may still go out, while a group is signed. */
const lookAgainMs = 1_000;
/** Before a signer that refused is asked again. Its limits are of a day. */
const refusedSec = 300;
/** For what another payment, a deposit or the market mends. */
const ours: Backoff = { firstSec: retrySec, mostSec: 60 };
/** For what the recipient, the token or the amount decides: the same payment can be made to fail at any time, for ever. */
const theirs: Backoff = { firstSec: retrySec, mostSec: 600 };
/** What is wrong with the wallet that pays, or with fees, and not with the payment. */
const ownTroubles: ReadonlySet<string> = new Set([
  'insufficient_funds',
  'no_gas',
  'hot_wallet_low',
  'stale_outputs',
  'fee_above_maximum',
]);

/** The payments that may be taken on: what has begun, and what nothing holds. */
const mayGoOn = `(p.state <> 'ready' or p.deposit_id is null
  or (o.held_at is null and (p.kind = 'payout' or d.state = 'credited') and ${isCovered()} and ${notHeldSql('p')}))`;
const isRetry = `(p.state = 'ready' and p.tries > 0)`;

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
   * The payments that are due on the chains of this process, by chain: those that could not begin before after all
   * others, and each kind in the order in which it came due, without those that another transaction has locked. Nothing
   * is changed, so that what a turn has no time for keeps its place, and a process that ends in the middle leaves all to
   * be found.
   */
  async due(chains: readonly string[]): Promise<Map<string, DuePayment[]>> {
    const { orm, clock } = this.#options;
    const now = clock.now();
    const of = (kind: string): string =>
      `(select * from (select p.id, p.next_action_at, p.number, ${isRetry} as "isRetry"
          from payment p
          left join deposit d on d.id = p.deposit_id
          left join exchange_order o on o.id = p.order_id
         where p.chain = c.chain and p.next_action_at <= ? and ${kind} and ${mayGoOn}
         order by p.next_action_at, p.number limit ${batch} for update of p skip locked) as one)`;
    const rows = await orm.em.fork().execute<(DuePayment & { chain: string })[]>(
      `select c.chain, due.id, due."isRetry"
         from jsonb_array_elements_text(?::jsonb) as c (chain)
        cross join lateral (${of(`not ${isRetry}`)} union all ${of(isRetry)}) as due
        order by due."isRetry", due.next_action_at, due.number`,
      [JSON.stringify(chains), now, now],
    );
    return Map.groupBy(rows, ({ chain }) => chain);
  }

  /** Payments of a chain that were broadcast and have not ended: each is looked at after a new block. */
  async sent(chain: string): Promise<string[]> {
    const rows = await this.#options.orm.em
      .fork()
      .execute<{ id: string }[]>(`select id from payment where chain = ? and state = 'sent' order by sent_at`, [chain]);
    return rows.map(({ id }) => id);
  }

  /**
   * Takes payments of a chain as far as they can go now, while there is time. What failed before comes last, and gets no
   * more than its part of the time: the recipients of such payments choose how long they go on failing. At least one
   * payment of either kind is taken.
   *
   * @throws LeaseLost when another process has the chain now.
   */
  async work(
    adapter: ChainAdapter,
    lease: ChainLease,
    due: readonly DuePayment[],
    { budgetMs, isStopped }: WorkTime,
  ): Promise<void> {
    const [retries, others] = [due.filter((one) => one.isRetry), due.filter((one) => !one.isRetry)];
    const isShared = retries.length > 0 && others.length > 0;
    const turn = async (some: readonly DuePayment[], ms: number): Promise<void> => {
      const until = performance.now() + ms;
      const hasTime = (): boolean => !isStopped() && performance.now() < until;
      const ids = some.map(({ id }) => id);
      if (ids.length > 0 && !isStopped()) await this.#turn(adapter, lease, ids, hasTime);
    };
    await turn(others, isShared ? budgetMs * (1 - retryPart) : budgetMs);
    await turn(retries, isShared ? budgetMs * retryPart : budgetMs);
  }

  /** Those of a group share their transactions, and are taken one by one where that fails. */
  async #turn(adapter: ChainAdapter, lease: ChainLease, ids: readonly string[], hasTime: () => boolean): Promise<void> {
    for (let start = 0; start < ids.length; start += groupSize) {
      const group = ids.slice(start, start + groupSize);
      if (start > 0 && !hasTime()) return;
      if (await this.#advanced(adapter, lease, group, hasTime)) continue;
      for (const id of group.length === 1 ? [] : group) {
        if (!hasTime()) return;
        await this.#advanced(adapter, lease, [id], hasTime);
      }
    }
  }

  /**
   * Takes payments as far as they can go now. False when something went wrong. A step gives each payment that it takes
   * its next time; what no time was left for stays due.
   */
  async #advanced(
    adapter: ChainAdapter,
    lease: ChainLease,
    ids: readonly string[],
    hasTime: () => boolean,
  ): Promise<boolean> {
    const { writer } = this.#options;
    const attributes = { chain: adapter.chain, 'payment.count': ids.length };
    try {
      const unchanged = await span('payments', { kind: 'consumer', attributes }, () =>
        this.#advance(adapter, lease, ids, hasTime),
      );
      await writer.postpone(unchanged, retrySec);
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      // Those of a group are taken one by one at once.
      if (ids.length > 1) return false;
      this.#failed(adapter, error);
      await writer.postpone(ids, retrySec);
      return false;
    }
  }

  #failed({ chain }: ChainAdapter, error: unknown): void {
    const { log } = this.#options;
    log.warn({ event: 'payment_failed', code: chain, ...errorMembers(error) }, 'a payment made no progress');
  }

  /** Returns the payments about which a look told nothing new. */
  async #advance(
    adapter: ChainAdapter,
    lease: ChainLease,
    ids: readonly string[],
    hasTime: () => boolean,
  ): Promise<readonly string[]> {
    const { writer, follower } = this.#options;
    const standing = Map.groupBy(await writer.standing(ids), ({ payment }) => payment.state);
    const at = (state: Payment['state']): readonly Standing[] => standing.get(state) ?? [];
    const prepared = [...at('prepared'), ...(await this.#prepare(adapter, lease, at('ready'), hasTime))];
    const signed = [...at('signed'), ...(await this.#sign(lease, prepared, hasTime))];
    await this.#send(adapter, lease, signed, hasTime);
    return follower.follow(adapter, lease, at('sent'), hasTime);
  }

  /** Builds the transactions, each beside those before it, and reserves what they spend. */
  async #prepare(
    adapter: ChainAdapter,
    lease: ChainLease,
    due: readonly Standing[],
    hasTime: () => boolean,
  ): Promise<readonly Standing[]> {
    if (due.length === 0) return [];
    const { onBoundary, transactions, limits } = this.#options;
    const ready = await limits.withRoom(due);
    if (ready.length === 0) return [];
    const held = new Map(await transactions.held(adapter.chain));
    const room = await this.#options.feeShares.room(
      adapter.chain,
      ready.map(({ payment }) => payment),
    );
    const built: Built[] = [];
    for (const [index, { payment }] of ready.entries()) {
      if (index > 0 && !hasTime()) break;
      const tx = await this.#build(adapter, lease, payment, held, room);
      if (tx === null) continue;
      built.push({ payment, tx });
      room.take(payment, transactions.fee(adapter.chain, tx));
      for (const resource of tx.reserves) held.set(resource, transactions.promised(payment, tx));
    }
    if (built.length === 0) return [];
    await onBoundary('payment.built');
    try {
      return await transactions.store(lease, built, (row, now) => {
        row.state = 'prepared';
        noteProblem(row, null, now);
      });
    } catch (error) {
      const [only, ...others] = built;
      // Several are tried again one by one: some of them may have room.
      if (!(error instanceof NoRoom) || !only || others.length > 0) throw error;
      await limits.wait(lease, only.payment, error);
      return [];
    }
  }

  /** Builds a transaction, or notes what stands in its way and returns null. */
  async #build(
    adapter: ChainAdapter,
    lease: ChainLease,
    payment: Payment,
    held: ReadonlyMap<Reservation, Promised>,
    room: FeeRoom,
  ): Promise<PreparedTx | null> {
    const { transactions, writer } = this.#options;
    try {
      // A share that is used up costs the node no question.
      const hasRoom = room.has(payment, new Big('0'));
      const tx = hasRoom ? await adapter.prepare(transactions.intent(payment, payment.attempt + 1), held) : null;
      const hasShare = tx !== null && room.has(payment, transactions.fee(adapter.chain, tx));
      const problem = hasShare ? transactions.feeProblem(payment, tx) : 'fee_share';
      if (problem === null) return tx;
      await writer.refused(lease, payment.id, problem, problem === 'fee_share' ? theirs : ours);
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      // A sweep that its chain refuses is decided anew, perhaps with more gas before it.
      const isOver = payment.kind === 'sweep' ? error.isOfChain : payment.depositId === null && !error.retryable;
      if (isOver) {
        await this.#drop(lease, payment, error.code);
      } else {
        await this.#refused(lease, payment, error);
        this.#failed(adapter, error);
      }
    }
    return null;
  }

  /** What a node failed with counts as no try: the payment is not to wait longer, or behind others, for it. */
  async #refused(lease: ChainLease, payment: Payment, { code, isOfChain, retryable }: ChainError): Promise<void> {
    const { clock, giveUpSec, writer } = this.#options;
    const { id, problem, problemSince } = payment;
    if (retryable && !isOfChain) return writer.problem(lease, id, code, retrySec);
    if (ownTroubles.has(code)) return writer.refused(lease, id, code, ours);
    const isHopeless =
      problem === code && problemSince !== null && clock.now() >= secondsAfter(problemSince, giveUpSec);
    await (isHopeless ? this.#drop(lease, payment, code) : writer.refused(lease, id, code, theirs));
  }

  /** Ends a payment that cannot be made and that no signer has signed. Its order, where there is one, goes on from there. */
  async #drop(lease: ChainLease, payment: Payment, problem: string): Promise<void> {
    const end = async (em: EntityManager, changing: readonly Changing[]): Promise<void> => {
      const now = this.#options.clock.now();
      for (const { payment: row, order } of changing) {
        noteProblem(row, problem, now);
        Object.assign(row, { state: 'dead', endedAt: now, nextActionAt: null });
        if (order) order.nextActionAt = now;
        await showDead(em, row, order);
      }
    };
    await this.#options.writer.change(lease, [payment], end, true);
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
      row.tries = 0;
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
    const { clock, transactions, writer, limits } = this.#options;
    await writer.change(lease, [payment], async (em, changing) => {
      const now = clock.now();
      await transactions.neverSigned(em, attempt);
      await limits.uncount(
        em,
        changing.map(({ payment: row }) => row),
      );
      for (const { payment: row } of changing) {
        row.state = 'ready';
        if (problem !== null) row.tries += 1;
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
