import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big } from '../../base/money.ts';
import { span } from '../../base/telemetry/tracing.ts';
import { type ChainAdapter, ChainError, type PreparedTx, type Reservation } from '../../chains/port/chain-adapter.ts';
import { furtherBuildMs } from '../../chains/port/further-attempts.ts';
import { leavesUs, leavesUsSql, markedFailed, type Payment } from '../rows/payment.entity.ts';
import type { PaymentAttempt } from '../rows/payment-attempt.entity.ts';
import { isCovered } from '../rules/client-account.ts';
import { isEarned, isPayableSql } from '../rules/partner-account.ts';
import { secondsAfter } from '../rules/settling.ts';
import { smaller } from '../turns/bounded-concurrency.ts';
import { type ChainLease, LeaseLost } from '../turns/chain-lease.ts';
import type { ChainTurn } from '../turns/chain-turn.ts';
import type { OnCrashPoint } from '../turns/crash-point.ts';
import { endDead } from './dead-payments.ts';
import { type EarlierAttempts, type Retry, releaseAfterDeath } from './earlier-attempts.ts';
import type { FeeHeadroom, FeeShares } from './fee-shares.ts';
import { type PaymentFollower, pollSec } from './payment-follower.ts';
import {
  type Built,
  newestOf,
  type PaymentTransactions,
  type PromisedBy,
  type Signed,
} from './payment-transactions.ts';
import {
  type Backoff,
  type LockedPayment,
  noteProblem,
  type PaymentWithAttempts,
  type PaymentWriter,
  releaseReserved,
} from './payment-writer.ts';
import { notHeldSql } from './payout-holds.ts';
import { PayoutLimitExceeded, type PayoutLimits } from './payout-limits.ts';
import { pastExpiry } from './signed-attempts.ts';

export interface PaymentWorkerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly onCrashPoint: OnCrashPoint;
  readonly transactions: PaymentTransactions;
  readonly earlier: EarlierAttempts;
  readonly writer: PaymentWriter;
  readonly follower: PaymentFollower;
  readonly feeShares: FeeShares;
  /** Seconds after which a payment that its recipient or its token refuses is abandoned. */
  readonly giveUpSec: number;
  readonly limits: PayoutLimits;
}

export interface DuePayment {
  readonly id: string;
  /** It failed to begin before, so the others go first. */
  readonly isRetry: boolean;
}

/** The time limit of one round of payments. */
export interface WorkTime {
  readonly budgetMs: number;
  readonly isStopped: () => boolean;
}

/** Payments of a chain that one turn reads, for retries and for the others each. */
const batch = 100;
/** Fraction of a turn's time for retries, while there are other payments. */
const retryPart = 0.25;
/** Payments that share a transaction. */
const groupSize = 50;
const retrySec = 2;
/** Milliseconds between two checks of which payments may still go out, while a group is signed. */
const lookAgainMs = 1_000;
/** Seconds until a signer that refused is asked again. Its limits are daily. */
const refusedSec = 300;
/** Backoff for problems that another payment, a deposit or the market resolves. */
const ownBackoff: Backoff = { firstSec: retrySec, mostSec: 60 };
/**
 * Backoff for problems that the recipient, the token or the amount causes. Such a payment can be
 * made to fail at any time, for ever.
 */
const userBackoff: Backoff = { firstSec: retrySec, mostSec: 600 };
/**
 * Problems of the hot wallet, of its signer, of fees or of nodes, and attempts that may have paid.
 * They end no payment, however long they last.
 */
const endlessProblems: ReadonlySet<string> = new Set([
  'earlier_may_confirm',
  'insufficient_funds',
  'no_gas',
  'no_ticket',
  'no_channel',
  'hot_wallet_low',
  'stale_outputs',
  'fee_above_maximum',
  'permission_changed',
  'unconfirmed_refusal',
  'nodes_disagree',
  'signer_unavailable',
]);

/** Stands for the partner of payments that concern no partner. */
const noPartner = '00000000-0000-0000-0000-000000000000';
const firstOfAll = { others: noPartner, retries: noPartner };
/**
 * SQL: payments that may continue. They have begun, or staff end them, or they stay within our own
 * addresses, or no hold, lost deposit or missing balance stops them. `case` makes PostgreSQL look
 * for holds first: thousands of payments may wait for the end of one.
 */
const mayGoOn = `(p.state <> 'ready' or p.problem = '${markedFailed}' or not ${leavesUsSql('p')}
  or case when p.kind = 'commission' then ${isPayableSql('m')}
          else o.held_at is null and (p.kind = 'payout' or d.state = 'credited') end
     and case when not ${notHeldSql('p')} then false when p.kind = 'commission' then ${isEarned()}
              else ${isCovered()} end)`;
const isRetry = `(p.state = 'ready' and p.tries > 0)`;

/**
 * Sends payments to their chain, each at most once. The order of the steps makes it safe: reserve
 * what the transaction spends, sign, store the bytes, and only then broadcast. From then on the
 * worker rebroadcasts the same bytes and checks the chain. No answer of a node changes that.
 *
 * The worker builds another transaction in two cases only. In one, the chain shows that the old
 * transaction can never be confirmed. In the other, the new one spends all inputs of the old one,
 * so that at most one can be confirmed.
 */
export class PaymentWorker {
  readonly #options: PaymentWorkerOptions;
  /** By chain, the partners whose payments came first in the last turn. */
  readonly #first = new Map<string, typeof firstOfAll>();

  constructor(options: PaymentWorkerOptions) {
    this.#options = options;
  }

  /**
   * Reads the due payments on this process's chains, by chain. Retries come last. Within each kind
   * partners take turns, and each partner's payments go by due time. Another partner is first each
   * time, so that a payment that takes a whole round delays each other partner by one round.
   * Commission counts as a payment of its partner. All other payments without an order count as one
   * partner. Payments that another transaction has locked are skipped. Nothing is changed, so that
   * a payment without time in this turn keeps its place, and a crash loses none.
   */
  async due(chains: readonly string[]): Promise<Map<string, DuePayment[]>> {
    const { orm, clock } = this.#options;
    const now = clock.now();
    // Locks and window functions need separate levels of a query.
    const of = (kind: string, first: string): string =>
      `(select * from (select fair.*, fair.partner > c.${first} as "isNext"
          from (select p.id, p.next_action_at, p.number, ${isRetry} as "isRetry", one.partner,
                       row_number() over (partition by one.partner order by p.next_action_at, p.number) as turn
                  from payment p
                  left join deposit d on d.id = p.deposit_id
                  left join exchange_order o on o.id = p.order_id
                  left join commission_statement m on p.kind = 'commission' and m.payment_id = p.id
                 cross join lateral (select coalesce(o.partner_id, m.partner_id, '${noPartner}') as partner) as one
                 where p.chain = c.chain and p.next_action_at <= ? and ${kind} and ${mayGoOn}) as fair
          join payment p on p.id = fair.id
         order by fair.turn, "isNext" desc, fair.partner limit ${batch} for update of p skip locked) as taken)`;
    const rows = await sql<DuePayment & { chain: string; partner: string }>(
      orm.em.fork(),
      `select c.chain, due.id, due."isRetry", due.partner
         from jsonb_to_recordset(?::jsonb) as c (chain text, others uuid, retries uuid)
        cross join lateral (${of(`not ${isRetry}`, 'others')} union all ${of(isRetry, 'retries')}) as due
        order by due."isRetry", due.turn, due."isNext" desc, due.partner`,
      [JSON.stringify(chains.map((chain) => ({ chain, ...(this.#first.get(chain) ?? firstOfAll) }))), now, now],
    );
    const byChain = Map.groupBy(rows, ({ chain }) => chain);
    for (const [chain, its] of byChain) {
      const { others, retries } = this.#first.get(chain) ?? firstOfAll;
      this.#first.set(chain, {
        others: its.find((one) => !one.isRetry)?.partner ?? others,
        retries: its.find((one) => one.isRetry)?.partner ?? retries,
      });
    }
    return byChain;
  }

  /**
   * Lists the payments of a chain that were broadcast and have not ended. Each is checked after a
   * new block.
   */
  async sent(chain: string): Promise<string[]> {
    const rows = await sql<{ id: string }>(
      this.#options.orm.em.fork(),
      `select id from payment where chain = ? and state = 'sent' order by sent_at`,
      [chain],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Moves payments of a chain as far as they can go now, while there is time. Retries come last,
   * and get at most their fraction of the time, because the recipients of such payments decide how
   * long they keep failing. At least one payment of either kind is taken.
   *
   * @throws LeaseLost when another process holds the chain now.
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
      if (ids.length > 0 && !isStopped()) await this.#takeGroups({ adapter, lease, hasTime }, ids);
    };
    await turn(others, isShared ? budgetMs * (1 - retryPart) : budgetMs);
    await turn(retries, isShared ? budgetMs * retryPart : budgetMs);
  }

  /**
   * Payments of a group share their database transactions. When that fails, the group is taken in
   * smaller parts, down to single payments.
   */
  async #takeGroups(turn: ChainTurn, ids: readonly string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += groupSize) {
      if (start > 0 && !turn.hasTime()) return;
      await this.#takeGroup(turn, ids.slice(start, start + groupSize));
    }
  }

  async #takeGroup(turn: ChainTurn, group: readonly string[]): Promise<void> {
    if ((await this.#advanced(turn, group)) || group.length === 1) return;
    for (const some of smaller(group, group)) {
      if (!turn.hasTime()) return;
      await this.#takeGroup(turn, some);
    }
  }

  /**
   * Moves payments as far as they can go now. Returns false after an error. A step gives each
   * payment that it takes its next time; the others stay due.
   */
  async #advanced(turn: ChainTurn, ids: readonly string[]): Promise<boolean> {
    const { writer } = this.#options;
    const { adapter } = turn;
    const attributes = { chain: adapter.chain, 'payment.count': ids.length };
    try {
      const unchanged = await span('payments', { kind: 'consumer', attributes }, () => this.#advance(turn, ids));
      await writer.postpone(unchanged, retrySec);
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      // Smaller parts of the group are taken at once.
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

  /** Returns the payments without news. */
  async #advance(turn: ChainTurn, ids: readonly string[]): Promise<readonly string[]> {
    const { writer, follower } = this.#options;
    const byState = Map.groupBy(await writer.load(ids), ({ payment }) => payment.state);
    const at = (state: Payment['state']): readonly PaymentWithAttempts[] => byState.get(state) ?? [];
    const prepared = [...at('prepared'), ...(await this.#prepare(turn, at('ready')))];
    const signed = [...at('signed'), ...(await this.#sign(turn, prepared))];
    await this.#send(turn, signed);
    return follower.follow(turn, at('sent'));
  }

  /** Builds the transactions, each with those before it in mind, and reserves what they spend. */
  async #prepare(turn: ChainTurn, due: readonly PaymentWithAttempts[]): Promise<readonly PaymentWithAttempts[]> {
    if (due.length === 0) return [];
    const { adapter, lease, hasTime } = turn;
    const { onCrashPoint, transactions, limits } = this.#options;
    const [marked, others] = [due.filter(isMarked), due.filter((one) => !isMarked(one))];
    await this.#options.earlier.end(turn, marked);
    const retries = await this.#options.earlier.retries(turn, await limits.withRoom(others));
    const ready = await this.#onFreshHead(turn, retries);
    if (ready.length === 0) return [];
    const held = new Map(await transactions.held(adapter.chain));
    const room = await this.#options.feeShares.room(
      adapter.chain,
      ready.map(({ payment }) => payment),
    );
    const built: Built[] = [];
    for (const [index, retry] of ready.entries()) {
      const { payment } = retry;
      if (index > 0 && !hasTime()) break;
      const tx = await this.#build(turn, retry, held, room);
      if (tx === null) continue;
      built.push({ payment, tx });
      room.take(payment, transactions.fee(adapter.chain, tx));
      for (const resource of tx.reserves) held.set(resource, transactions.promised(payment, tx));
    }
    if (built.length === 0) return [];
    await onCrashPoint('payment.built');
    try {
      return await transactions.store(lease, built, (row, now) => {
        row.state = 'prepared';
        noteProblem(row, null, now);
      });
    } catch (error) {
      const [only, ...others] = built;
      // Several payments are retried one by one, because some of them may have room.
      if (!(error instanceof PayoutLimitExceeded) || !only || others.length > 0) throw error;
      await limits.wait(lease, only.payment, error);
      return [];
    }
  }

  /**
   * Selects the payments for which the head is new enough, where transactions expire. One that is
   * built on an old head would expire before the chain goes on, and an outage would use up
   * attempts. The signer refuses a further attempt that states an old head, where attempts do not
   * exclude each other.
   */
  async #onFreshHead({ adapter, lease }: ChainTurn, ready: readonly Retry[]): Promise<readonly Retry[]> {
    const { clock, writer } = this.#options;
    const { traits, stalledAfterSec } = adapter;
    const isFurther = ({ earlier }: Retry): boolean => earlier.length > 0 && !traits.exclusive;
    const isAsked = stalledAfterSec > 0 || ready.some(isFurther);
    if (ready.length === 0 || traits.death.expiry === 'none' || !isAsked) return ready;
    const { timeMs } = await adapter.head();
    if (timeMs === undefined) return ready;
    const ageMs = clock.now().getTime() - timeMs;
    const isStalled = stalledAfterSec > 0 && ageMs > stalledAfterSec * 1_000;
    const waits = (one: Retry): boolean => isStalled || (isFurther(one) && Math.abs(ageMs) > furtherBuildMs);
    for (const { payment } of ready.filter(waits)) await writer.problem(lease, payment.id, 'chain_stalled', retrySec);
    return ready.filter((one) => !waits(one));
  }

  /** Builds a transaction. Without one, records the problem and returns null. */
  async #build(
    { adapter, lease }: ChainTurn,
    retry: Retry,
    held: ReadonlyMap<Reservation, PromisedBy>,
    room: FeeHeadroom,
  ): Promise<PreparedTx | null> {
    const { transactions, writer } = this.#options;
    const { payment, earlier } = retry;
    // This attempt may use what the payment still holds.
    const others = earlier.length === 0 ? held : new Map([...held].filter(([, one]) => one.paymentId !== payment.id));
    try {
      // An exhausted fee share needs no request to the node.
      const hasRoom = room.has(payment, new Big('0'));
      const intent = transactions.intent(payment, payment.attempt + 1);
      const tx = hasRoom ? await adapter.prepare(intent, others, earlier) : null;
      const hasShare = tx !== null && room.has(payment, transactions.fee(adapter.chain, tx));
      const problem = hasShare ? transactions.feeProblem(payment, tx) : 'fee_share';
      if (problem === null) return tx;
      await writer.refused(lease, payment.id, problem, problem === 'fee_share' ? userBackoff : ownBackoff);
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      // A sweep that its chain refuses is decided again, perhaps with more gas before it.
      const isOver = payment.kind === 'sweep' ? error.isOfChain : !leavesUs(payment) && !error.retryable;
      if (isOver && retry.areDead) {
        await this.#drop(lease, payment, error.code);
      } else {
        await this.#refused(lease, retry, error);
        this.#failed(adapter, error);
      }
    }
    return null;
  }

  /**
   * Records a chain error. A node's failure does not count as a try, so that the payment does not
   * wait longer or behind others for it.
   */
  async #refused(lease: ChainLease, retry: Retry, { code, isOfChain, retryable }: ChainError): Promise<void> {
    const { clock, giveUpSec, writer } = this.#options;
    const { payment, areDead } = retry;
    const { id, problem, problemSince } = payment;
    if (retryable && !isOfChain) return writer.problem(lease, id, code, retrySec);
    if (endlessProblems.has(code)) return writer.refused(lease, id, code, ownBackoff);
    const isHopeless =
      problem === code && problemSince !== null && clock.now() >= secondsAfter(problemSince, giveUpSec);
    await (isHopeless && areDead ? this.#drop(lease, payment, code) : writer.refused(lease, id, code, userBackoff));
  }

  /**
   * Ends a payment that cannot be made, and of which no signed transaction can be confirmed. Its
   * order, if any, continues from there.
   */
  async #drop(lease: ChainLease, payment: Payment, problem: string): Promise<void> {
    const end = async (em: EntityManager, changing: readonly LockedPayment[]): Promise<void> => {
      const now = this.#options.clock.now();
      await endDead(em, changing, problem, now);
      await em.flush();
      await releaseReserved(em, [payment.id], now);
    };
    await this.#options.writer.change(lease, [payment], end, true);
  }

  /**
   * Requests signatures for the stored transactions and stores the bytes. A transaction that must
   * not go out any more, or that has expired, is revoked instead. Once the signer has signed it,
   * revoking is too late, because an earlier process may have broadcast it. Transactions after an
   * abandoned one are revoked too, because they would wait behind its nonce gap. Only a refusal
   * counts as a try: a revoked transaction is built again after `retrySec`. Once the time is over,
   * an unavailable signer is not asked again.
   */
  async #sign(turn: ChainTurn, prepared: readonly PaymentWithAttempts[]): Promise<readonly PaymentWithAttempts[]> {
    if (prepared.length === 0) return [];
    const { adapter, lease, hasTime } = turn;
    const { transactions, writer } = this.#options;
    const payments = prepared.map(({ payment }) => payment);
    const newest = prepared.map(({ alive }) => newestOf(alive));
    const expired = await pastExpiry(adapter, this.#options.clock.now(), newest);
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
      const isWanted = mayGoOut.has(payment.id) && !hasGap && !expired.has(attempt) && !this.#isLate(adapter, attempt);
      const answer = await (isWanted ? transactions.sign(payment, attempt) : transactions.revoke(payment, attempt));
      if (answer === 'unavailable') {
        await writer.problem(lease, payment.id, 'signer_unavailable', retrySec);
        if (!hasTime()) break;
      } else if (answer === null || answer === 'refused') {
        hasGap = true;
        await this.#giveUp(turn, payment, attempt, answer === null ? null : 'signer_refused');
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
   * Whether the signer may refuse an attempt because the head that it states is old by now. It is
   * built again at once, in place of a refusal.
   */
  #isLate({ traits }: ChainAdapter, { attempt, preparedAt }: PaymentAttempt): boolean {
    if (traits.exclusive || attempt === 1) return false;
    return this.#options.clock.now().getTime() - preparedAt.getTime() > furtherBuildMs;
  }

  /**
   * Drops a transaction that was never signed, and releases its reservations. A nonce that is
   * reserved but not used would block every later payment. What an expired attempt before it
   * reserved stays.
   */
  async #giveUp(
    { adapter, lease }: ChainTurn,
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
      await releaseAfterDeath(em, payment, adapter.traits.exclusive, now);
    });
  }

  async #send(turn: ChainTurn, signed: readonly PaymentWithAttempts[]): Promise<void> {
    if (signed.length === 0) return;
    await this.#options.transactions.send(turn, signed, (row, now) => {
      row.state = 'sent';
      row.sentAt ??= now;
      row.nextActionAt = secondsAfter(now, pollSec);
    });
  }
}

function isMarked({ payment }: PaymentWithAttempts): boolean {
  return payment.problem === markedFailed;
}
