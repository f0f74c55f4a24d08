import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { v4 as uuidv4 } from 'uuid';
import { type ChainAdapter, ChainError } from '../chains/chain-adapter.ts';
import type { Clock } from '../clock.ts';
import type { JobQueue } from '../jobs/job-queue.ts';
import { errorMembers, type Log } from '../log.ts';
import { span } from '../tracing/tracing.ts';
import { type ChainLease, ChainLeases, LeaseLost } from './chain-lease.ts';
import type { ChainScanner } from './chain-scanner.ts';
import type { ChainTask } from './chain-task.ts';
import { forEach } from './for-each.ts';
import type { LiquidityVenue } from './liquidity-venue.ts';
import type { OrderExpiry } from './order-expiry.ts';
import type { OrderSettler } from './order-settler.ts';
import type { DuePayment, PaymentWorker } from './payment-worker.ts';

export interface SettlementWorkerOptions {
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
  /** What else is done on each chain. */
  readonly tasks: readonly ChainTask[];
  /** Between two looks at the chains. */
  readonly pollMs: number;
  readonly leaseMs: number;
}

/** Between two log lines about a chain that goes on failing. */
const quietMs = 60_000;
/** An order this long overdue was lost by the queue. */
const overdueMs = 5_000;
const sweepEveryMs = 5_000;
const expireEveryMs = 1_000;
/** Between two looks for what the venue has left to sell. */
const cashEveryMs = 5_000;
/** After an order could not be settled. */
const retryMs = 10_000;
/** Orders that one sweep takes up. */
const sweepBatch = 500;
/** How long payments go on before their chain is read again. */
const paymentsMs = 1_000;
/** Scans of a chain, and how long another is begun, before its payments get their turn. */
const maxScans = 5;
const scansMs = 5_000;
/** Between two notes of a chain that it answers. */
const noteEveryMs = 5_000;
/** Chains of a round that one process works on at a time. */
const chainsAtOnce = 4;
/** Orders that are settled together, and such groups that one process works on at a time. */
const groupSize = 20;
const groupsAtOnce = 2;

/**
 * One of any number of processes that settle orders. Chains are shared out by leases; orders are woken by jobs, and by
 * a sweep over the rows for jobs that were lost.
 */
export class SettlementWorker {
  readonly #options: SettlementWorkerOptions;
  readonly #leases: ChainLeases;
  /** When each chain was last looked at, and each task last run on it, by the process's own clock. */
  readonly #turns = new Map<string, number>();
  /** Chains that cannot be worked on at present, and when the log last said so. */
  readonly #failing = new Map<string, number>();
  readonly #loops: Promise<void>[] = [];
  /** Rounds over the chains that have not ended, and the chains that they still work on. */
  readonly #rounds = new Set<Promise<void>>();
  readonly #busy = new Set<string>();
  /** Chains whose scan waits for somebody to look: what they say of payments is not to be trusted either. */
  readonly #stopped = new Set<string>();
  #held: ChainLease[] = [];
  readonly #stop = new AbortController();

  constructor(options: SettlementWorkerOptions) {
    this.#options = options;
    this.#leases = new ChainLeases(options.orm, uuidv4(), options.leaseMs, [...options.adapters.keys()]);
  }

  /** Makes the rows of the chains. */
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

  /** Ends what is under way and gives the chains back. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
    await Promise.all(this.#rounds);
    // Best effort: without a database, the leases end by themselves.
    await this.#leases.release().catch(() => {});
  }

  /**
   * Everything that is due now, without the queue: for tests, and for whoever drives settlement by hand. Goes on while
   * one thing leads to another.
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
   * Begins a look at every chain that this process holds and that no earlier round still works on: one that takes long
   * keeps no other waiting.
   */
  async #round(budgetMs = paymentsMs): Promise<{ readonly ended: Promise<void> }> {
    const free = this.#held.filter(({ chain }) => !this.#busy.has(chain));
    if (free.length === 0) return { ended: Promise.resolve() };
    const due = await this.#options.payments.due(free.map(({ chain }) => chain));
    for (const { chain } of free) this.#busy.add(chain);
    const ended = forEach(free, chainsAtOnce, async (lease) => {
      await this.#look(lease, due.get(lease.chain) ?? [], budgetMs).finally(() => this.#busy.delete(lease.chain));
    });
    return { ended };
  }

  /**
   * One look at a chain: it is read, so that no deposit waits for payments, then payments are taken on for so long, unless
   * its scan stopped. What no time is left for stays due.
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
      await this.#answered(lease, isAtHead ? began : null, isDriven ? 0 : noteEveryMs);
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
        if (this.#isTurn(`${lease.chain} ${index}`, task.everySec * 1_000)) await task.run(adapter, lease);
      });
    }
  }

  /** Whether so long has passed since the last turn, which this one then is. */
  #isTurn(name: string, everyMs: number): boolean {
    const now = this.#options.clock.now().getTime();
    const sinceMs = now - (this.#turns.get(name) ?? Number.NEGATIVE_INFINITY);
    // A turn of the future was before the clock was set back.
    if (sinceMs >= 0 && sinceMs < everyMs) return false;
    this.#turns.set(name, now);
    return true;
  }

  /**
   * Notes that a chain could be read, which ends a failure, whichever process noted that, and when it was read to its
   * head. At least once in so long.
   */
  async #answered({ chain, fence }: ChainLease, readAt: Date | null, everyMs: number): Promise<void> {
    const { orm, log } = this.#options;
    const wasFailing = this.#failing.delete(chain);
    if (wasFailing) log.info({ event: 'chain_answers', code: chain }, 'a chain can be worked on again');
    if (!this.#isTurn(`${chain} answered`, wasFailing ? 0 : everyMs)) return;
    await orm.em.fork().execute(
      `update chain_state set failing_since = null, failure = null, read_at = coalesce(?, read_at)
        where chain = ? and fence = ?`,
      [readAt, chain, fence],
    );
  }

  /** Notes for staff since when a chain fails, and says so in the log, now and once a minute. */
  async #failed({ chain, fence }: ChainLease, error: unknown): Promise<void> {
    const { orm, clock, log } = this.#options;
    const now = clock.now();
    const said = this.#failing.get(chain);
    if (said !== undefined && now.getTime() - said < quietMs) return;
    this.#failing.set(chain, now.getTime());
    log.warn({ event: 'chain_failed', code: chain, ...errorMembers(error) }, 'a chain could not be worked on');
    const failure = error instanceof ChainError ? error.code : 'internal_error';
    await orm.em
      .fork()
      .execute(
        'update chain_state set failing_since = coalesce(failing_since, ?), failure = ? where chain = ? and fence = ?',
        [now, failure, chain, fence],
      );
  }

  /** Reads a chain to its head, if that does not take too long. */
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

  /** Does something on a chain. What goes wrong there is no concern of the other chains. */
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

  /** A process without adapters has nothing to sign with, and takes no share of the chains. */
  async #renew(): Promise<void> {
    if (this.#options.adapters.size > 0) this.#held = await this.#leases.renew();
  }

  /** Orders whose alarm is overdue are settled as if a job had come. */
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

  /** The end of the waiting of an order without a deposit is not among them: the expiry sweep has that. */
  async #dueOrders(before: Date): Promise<string[]> {
    const rows = await this.#options.orm.em.fork().execute<{ id: string }[]>(
      `select id from exchange_order o
        where next_action_at <= ?
          and (status <> 'waiting_deposit' or next_action_at < expires_at
               or exists (select from deposit d where d.order_id = o.id and d.state <> 'orphaned'))
        order by next_action_at limit ?`,
      [before, sweepBatch],
    );
    return rows.map(({ id }) => id);
  }

  /** Settles orders. One that fails keeps an alarm, and the sweep comes back to it. */
  async #settle(orderIds: readonly string[]): Promise<void> {
    const { orm, clock, settler, log } = this.#options;
    const groups = Array.from({ length: Math.ceil(orderIds.length / groupSize) }, (_, index) =>
      orderIds.slice(index * groupSize, (index + 1) * groupSize),
    );
    await forEach(groups, groupsAtOnce, async (group) => {
      for (const [orderId, error] of await settler.settle(group)) {
        log.error({ event: 'settle_failed', order_id: orderId, ...errorMembers(error) }, 'an order was not settled');
        const again = new Date(clock.now().getTime() + retryMs);
        await orm.em.fork().execute('update exchange_order set next_action_at = ? where id = ?', [again, orderId]);
      }
    });
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #loop(everyMs: number, event: string, task: () => Promise<void>): void {
    const { log } = this.#options;
    const run = async (): Promise<void> => {
      while (!this.#isStopped) {
        await task().catch((error) => log.warn({ event, ...errorMembers(error) }, 'a round of settlement failed'));
        await sleep(everyMs, undefined, { signal: this.#stop.signal }).catch(() => {});
      }
    };
    this.#loops.push(run());
  }
}
