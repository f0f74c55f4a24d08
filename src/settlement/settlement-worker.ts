import type { MikroORM } from '@mikro-orm/postgresql';
import { v4 as uuidv4 } from 'uuid';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import type { JobQueue } from '../base/jobs/job-queue.ts';
import { type Repeated, repeat, warning, withPause } from '../base/jobs/repeat.ts';
import { errorMembers, type Log } from '../base/log.ts';
import { span } from '../base/telemetry/tracing.ts';
import { type ChainAdapter, ChainError } from '../chains/port/chain-adapter.ts';
import type { OrderSettler } from './order-settler.ts';
import type { DuePayment, PaymentWorker } from './pay/payment-worker.ts';
import type { LiquidityVenue } from './rows/liquidity-venue.ts';
import type { OrderExpiry } from './rules/order-expiry.ts';
import type { ChainScanner } from './scan/chain-scanner.ts';
import { forEachConcurrently } from './turns/bounded-concurrency.ts';
import { type ChainLease, ChainLeases, LeaseLost } from './turns/chain-lease.ts';
import type { ChainTask } from './turns/chain-task.ts';

interface SettlementWorkerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
  readonly scanner: ChainScanner;
  readonly payments: PaymentWorker;
  readonly settler: OrderSettler;
  readonly venue: LiquidityVenue;
  readonly expiry: OrderExpiry;
  readonly jobs: JobQueue;
  /** Further tasks on each chain. */
  readonly tasks: readonly ChainTask[];
  /** Milliseconds between two checks of the chains. */
  readonly pollMs: number;
  readonly leaseMs: number;
}

/** Milliseconds between two log lines about a chain that keeps failing. */
const quietMs = 60_000;
/** An order this long overdue was lost by the job queue. */
const overdueMs = 5_000;
const sweepEveryMs = 5_000;
const expireEveryMs = 1_000;
/** Milliseconds between two checks for positions at the venue. */
const cashEveryMs = 5_000;
/**
 * Milliseconds until an order that could not be settled is retried. The pause is as long as it has
 * failed, within these bounds.
 */
const retryMs = { least: 10_000, most: 600_000 };
/** Orders that one sweep reads. */
const sweepBatch = 500;
/** Time for a chain's payments before the chain is read again. */
const paymentsMs = 1_000;
/** Time for a task of a chain before the chain's payments are looked at again. */
const taskMs = 500;
/** Most scans of a chain before its payments, and how long further scans may begin. */
const maxScans = 5;
const scansMs = 5_000;
/** Minimum milliseconds between two records that chains answer. */
const noteEveryMs = 5_000;
/** Chains that one process works on concurrently. */
const chainsAtOnce = 4;
/** Orders that are settled together, and such groups that one process settles concurrently. */
const groupSize = 50;
const groupsAtOnce = 2;
/** Minimum milliseconds between two reads of a chain's due payments. */
const dueEveryMs = 100;

/** A chain answered to the holder of its lease. */
interface ChainAnswer extends ChainLease {
  /** When the scan began that read the chain to its head. Null when it did not reach the head. */
  readonly readAt: Date | null;
  /** What keeps its payments from becoming final. */
  readonly obstacle: string | null;
}

/**
 * One of any number of processes that settle orders. Leases share out the chains. Jobs wake orders,
 * and a sweep over the rows replaces lost jobs.
 */
export class SettlementWorker {
  readonly #options: SettlementWorkerOptions;
  readonly #leases: ChainLeases;
  /** When each chain was last checked and each task last run on it, by the process's own clock. */
  readonly #turns = new Map<string, number>();
  /** Failing chains, and when the log last reported each. */
  readonly #failing = new Map<string, number>();
  readonly #loops: Repeated[] = [];
  /** Rounds over the chains that have not ended, and the chains that they still work on. */
  readonly #rounds = new Set<Promise<void>>();
  readonly #busy = new Set<string>();
  /** Answers of chains that are not stored yet. */
  readonly #answers = new Map<string, ChainAnswer>();
  /** Chains whose scan waits for staff. What their nodes say of payments is not trusted either. */
  readonly #stopped = new Set<string>();
  #held: ChainLease[] = [];
  #isStopped = false;

  constructor(options: SettlementWorkerOptions) {
    this.#options = options;
    this.#leases = new ChainLeases(options.orm, uuidv4(), options.leaseMs, [...options.adapters.keys()]);
  }

  /** Creates the rows of the chains. */
  async open(): Promise<void> {
    await this.#leases.open();
  }

  /** Works until `stop`. */
  async start(): Promise<void> {
    const { jobs, expiry, venue, pollMs, leaseMs } = this.#options;
    await jobs.work((orderIds) => this.#settle(orderIds));
    await this.#renew();
    this.#loop(leaseMs / 3, 'leases_failed', () => this.#renew());
    this.#loop(pollMs, 'chains_failed', async () => {
      const { ended } = await this.#round();
      this.#rounds.add(ended);
      void ended.finally(() => this.#rounds.delete(ended));
    });
    this.#loop(expireEveryMs, 'expiry_sweep_failed', () => expiry.sweep());
    this.#loop(sweepEveryMs, 'order_sweep_failed', () => this.#sweep());
    if (venue.settleCash) this.#loop(cashEveryMs, 'venue_cash_failed', async () => venue.settleCash?.());
  }

  /** Finishes the work in progress and releases the chains. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await Promise.all(this.#rounds);
    // Best effort: without a database, the leases expire by themselves.
    await this.#leases.release().catch(() => {});
  }

  /**
   * Does everything that is due now, without the queue, until no order is due. For tests and for
   * driving settlement by hand.
   */
  async tick(): Promise<void> {
    const { expiry, clock } = this.#options;
    for (let turn = 0; turn < 20; turn++) {
      await this.#renew();
      const { ended } = await this.#round(Number.POSITIVE_INFINITY);
      await ended;
      await expiry.sweep();
      const due = await this.#dueOrders(clock.now());
      await this.#settle(due);
      if (due.length === 0) return;
    }
  }

  /**
   * Begins a check of every chain that this process holds and that no earlier round still works on.
   * A slow chain thus delays no other.
   */
  async #round(budgetMs = paymentsMs): Promise<{ readonly ended: Promise<void> }> {
    const free = this.#held.filter(({ chain }) => !this.#busy.has(chain));
    if (free.length === 0) return { ended: Promise.resolve() };
    const isDriven = budgetMs !== paymentsMs;
    const due = await this.#duePayments(free, isDriven);
    for (const { chain } of free) this.#busy.add(chain);
    const looked = forEachConcurrently(free, chainsAtOnce, async (lease) => {
      await this.#look(lease, due.get(lease.chain) ?? [], budgetMs).finally(() => this.#busy.delete(lease.chain));
    });
    return { ended: looked.then(() => this.#noteAnswers(isDriven)) };
  }

  /**
   * The due payments by chain, in one statement. None of a chain whose payments were read a moment
   * ago: they stay due.
   */
  async #duePayments(leases: readonly ChainLease[], isDriven: boolean): Promise<ReadonlyMap<string, DuePayment[]>> {
    const now = performance.now();
    const chains = leases
      .map(({ chain }) => chain)
      .filter((chain) => this.#isTurn(`payments ${chain}`, isDriven ? 0 : dueEveryMs, now));
    return chains.length === 0 ? new Map() : this.#options.payments.due(chains);
  }

  /**
   * Checks a chain: scans it first, so that no deposit waits for payments, and then works on
   * payments within the budget. A stopped scan allows no payments. Payments without time stay due.
   */
  async #look(lease: ChainLease, due: readonly DuePayment[], budgetMs: number): Promise<void> {
    const { payments, tasks } = this.#options;
    const isDriven = budgetMs !== paymentsMs;
    let hasMoved = false;
    await this.#onChain(lease, async (adapter) => {
      if (!this.#isTurn(lease.chain, isDriven ? 0 : (adapter.pollMs ?? 0))) return;
      const began = this.#options.clock.now();
      const { isAtHead, isStopped, ...scanned } = await this.#scan(adapter, lease);
      hasMoved = scanned.hasMoved;
      if (isStopped) this.#stopped.add(lease.chain);
      else this.#stopped.delete(lease.chain);
      await this.#answered(lease, isAtHead ? began : null, adapter.obstacle ?? null);
    });
    if (this.#stopped.has(lease.chain)) return;
    if (due.length > 0 || hasMoved) {
      await this.#onChain(lease, async (adapter) => {
        const known = new Set(due.map(({ id }) => id));
        const sent = hasMoved ? (await payments.sent(lease.chain)).filter((id) => !known.has(id)) : [];
        const all = [...due, ...sent.map((id) => ({ id, isRetry: false }))];
        await payments.work(adapter, lease, all, { budgetMs, isStopped: () => this.#isStopped });
      });
    }
    for (const [index, task] of tasks.entries()) {
      await this.#onChain(lease, async (adapter) => {
        const name = `${lease.chain} ${index}`;
        if (!this.#isTurn(name, task.everySec * 1_000)) return;
        const until = performance.now() + taskMs;
        const hasTime = (): boolean => isDriven || (!this.#isStopped && performance.now() < until);
        if ((await task.run(adapter, lease, hasTime)) === 'more') this.#turns.delete(name);
      });
    }
  }

  /** Whether `everyMs` has passed since the last turn. If so, records this turn. */
  #isTurn(name: string, everyMs: number, now = this.#options.clock.now().getTime()): boolean {
    const sinceMs = now - (this.#turns.get(name) ?? Number.NEGATIVE_INFINITY);
    // A turn with a future time predates a clock correction.
    if (sinceMs >= 0 && sinceMs < everyMs) return false;
    this.#turns.set(name, now);
    return true;
  }

  /**
   * Notes that a chain answered, when it was read to its head, and what its payments wait for. The
   * end of a failure is stored at once.
   */
  async #answered(lease: ChainLease, readAt: Date | null, obstacle: string | null): Promise<void> {
    const { chain, fence } = lease;
    const answer = { chain, fence, readAt, obstacle };
    this.#answers.set(chain, answer);
    if (!this.#failing.delete(chain)) return;
    this.#options.log.info({ event: 'chain_answers', code: chain }, 'a chain can be worked on again');
    await this.#storeAnswers([answer], '');
  }

  /**
   * Stores what the chains answered since the last time, in one statement, at most once in
   * `noteEveryMs`. This ends failures that any process recorded. It waits for no lock: the row of a
   * chain that another transaction has locked is stored the next time.
   */
  async #noteAnswers(isDriven: boolean): Promise<void> {
    if (this.#answers.size === 0) return;
    if (!this.#isTurn('answers', isDriven ? 0 : noteEveryMs, performance.now())) return;
    const { log } = this.#options;
    const answers = [...this.#answers.values()];
    try {
      await this.#storeAnswers(answers, isDriven ? '' : 'skip locked');
    } catch (error) {
      log.warn({ event: 'answers_failed', ...errorMembers(error) }, 'the answers of chains could not be stored');
    }
  }

  async #storeAnswers(answers: readonly ChainAnswer[], locked: '' | 'skip locked'): Promise<void> {
    const stored = await sql<{ chain: string }>(
      this.#options.orm.em.fork(),
      `with answer as (
         select s.chain, a.read_at, a.obstacle
           from jsonb_to_recordset(?::jsonb) as a (chain text, fence bigint, read_at timestamptz, obstacle text)
           join chain_state s on s.chain = a.chain and s.fence = a.fence
          order by s.chain for update of s ${locked}
       )
       update chain_state s
          set failing_since = case when a.obstacle is not null then coalesce(s.failing_since, ?) end,
              failure = a.obstacle, read_at = coalesce(a.read_at, s.read_at)
         from answer a where s.chain = a.chain returning s.chain`,
      [
        JSON.stringify(answers.map(({ readAt, ...answer }) => ({ ...answer, read_at: readAt }))),
        this.#options.clock.now(),
      ],
    );
    const isDone = new Set(stored.map(({ chain }) => chain));
    for (const answer of answers) {
      const isHeld = this.#held.some(({ chain, fence }) => chain === answer.chain && fence === answer.fence);
      const isNewest = this.#answers.get(answer.chain) === answer;
      if (isNewest && (isDone.has(answer.chain) || !isHeld)) this.#answers.delete(answer.chain);
    }
  }

  /** Records since when a chain fails, for staff, and logs it at once and then once a minute. */
  async #failed({ chain, fence }: ChainLease, error: unknown): Promise<void> {
    const { orm, clock, log } = this.#options;
    const now = clock.now();
    const said = this.#failing.get(chain);
    if (said !== undefined && now.getTime() - said < quietMs) return;
    this.#failing.set(chain, now.getTime());
    log.warn({ event: 'chain_failed', code: chain, ...errorMembers(error) }, 'a chain could not be worked on');
    const failure = error instanceof ChainError ? error.code : 'internal_error';
    await sql(
      orm.em.fork(),
      `update chain_state set failing_since = coalesce(failing_since, ?), failure = ?, failed_at = ?, failed_as = ?
          where chain = ? and fence = ?`,
      [now, failure, now, failure, chain, fence],
    );
  }

  /** Scans a chain to its head, within the limits on scans and time. */
  async #scan(
    adapter: ChainAdapter,
    lease: ChainLease,
  ): Promise<{ hasMoved: boolean; isAtHead: boolean; isStopped: boolean }> {
    const { scanner } = this.#options;
    const until = performance.now() + scansMs;
    let result = await scanner.scan(adapter, lease);
    const hasMoved = result === 'at_head' || result === 'more';
    for (let scans = 1; result === 'more' && scans < maxScans && performance.now() < until; scans++) {
      if (this.#isStopped) break;
      result = await scanner.scan(adapter, lease);
    }
    const isAtHead = result === 'unchanged' || result === 'at_head';
    return { hasMoved, isAtHead, isStopped: result === 'stopped' };
  }

  /** Works on a chain. An error there does not affect the other chains. */
  async #onChain(lease: ChainLease, work: (adapter: ChainAdapter) => Promise<void>): Promise<void> {
    const { adapters, scanner, log } = this.#options;
    const adapter = adapters.get(lease.chain);
    if (!adapter) return;
    try {
      await work(adapter);
    } catch (error) {
      scanner.forget(lease.chain);
      if (error instanceof LeaseLost) {
        this.#held = this.#held.filter(({ chain }) => chain !== lease.chain);
        log.info({ event: 'lease_lost', code: lease.chain }, 'another process took a chain over');
        return;
      }
      await this.#failed(lease, error).catch(() => {});
    }
  }

  /** A process without adapters cannot sign, and takes no share of the chains. */
  async #renew(): Promise<void> {
    if (this.#options.adapters.size > 0) this.#held = await this.#leases.renew();
  }

  /** Settles overdue orders as if a job had come. */
  async #sweep(): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const overdue = await this.#dueOrders(new Date(clock.now().getTime() - overdueMs));
      const attributes = { 'order.count': overdue.length };
      if (overdue.length > 0)
        await span('overdue orders', { kind: 'consumer', attributes }, () => this.#settle(overdue));
      if (overdue.length < sweepBatch || this.#isStopped) return;
    }
  }

  /**
   * Reads the due orders. Orders without a deposit at the end of their window belong to the expiry
   * sweep.
   */
  async #dueOrders(before: Date): Promise<string[]> {
    const rows = await sql<{ id: string }>(
      this.#options.orm.em.fork(),
      `select id from exchange_order o
        where next_action_at <= ?
          and (status <> 'waiting_deposit' or next_action_at < expires_at
               or exists (select from deposit d where d.order_id = o.id and d.state <> 'orphaned'))
        order by next_action_at limit ?`,
      [before, sweepBatch],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Settles orders. A failed order gets a new time, later and later, and the sweep retries it. One
   * that goes on failing is overdue for staff (`attention`).
   */
  async #settle(orderIds: readonly string[]): Promise<void> {
    const { orm, clock, settler, log } = this.#options;
    const groups = Array.from({ length: Math.ceil(orderIds.length / groupSize) }, (_, index) =>
      orderIds.slice(index * groupSize, (index + 1) * groupSize),
    );
    await forEachConcurrently(groups, groupsAtOnce, async (group) => {
      for (const [orderId, error] of await settler.settle(group)) {
        log.error({ event: 'settle_failed', order_id: orderId, ...errorMembers(error) }, 'an order was not settled');
        const now = clock.now();
        await sql(
          orm.em.fork(),
          `update exchange_order set failing_since = coalesce(failing_since, ?),
                  next_action_at = ?::timestamptz
                    + greatest(interval '${retryMs.least} ms', least(interval '${retryMs.most} ms', ?::timestamptz - coalesce(failing_since, ?)))
            where id = ?`,
          [now, now, now, now, orderId],
        );
      }
    });
  }

  #loop(pauseMs: number, event: string, task: () => Promise<void>): void {
    const onFailure = warning(this.#options.log, event, 'a round of settlement failed');
    this.#loops.push(repeat({ task, rhythm: withPause(pauseMs), onFailure }));
  }
}
