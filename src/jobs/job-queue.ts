import type { EntityManager } from '@mikro-orm/postgresql';
import { fromKysely, PgBoss } from 'pg-boss';
import { errorMembers, type Log } from '../log.ts';
import { span, traceparent } from '../tracing/tracing.ts';

/** The one queue: each job names an order that has something to do. */
const queue = 'settle';
/** Orders that one fetch takes. */
const batchSize = 50;
/** How long pending jobs of an ended process stay invisible. */
const expireInSeconds = 120;
/** Handed on to node-postgres: a statement that takes longer is given up, and its connection with it. */
const forPostgres = { query_timeout: 30_000 };
/** How long jobs under way may take to end. */
const stopMs = 5_000;

interface SettleJob {
  readonly orderId: string;
  /** Of the work that woke the order, while anything is traced. */
  readonly traceparent?: string;
}

/**
 * An alarm clock for orders, at least once and without order, on pg-boss. It is never asked what is due: the order rows
 * say so, and a sweep re-arms what the queue lost. That is why a job never retries by itself.
 */
export class JobQueue {
  readonly #boss: PgBoss;
  readonly #log: Log;
  #stopping = false;

  constructor(url: string, log: Log) {
    this.#log = log;
    this.#boss = new PgBoss({
      connectionString: url,
      application_name: 'gateway jobs',
      max: 3,
      connectionTimeoutMillis: 5_000,
      ...forPostgres,
      schedule: false,
      useListenNotify: true,
      superviseIntervalSeconds: 30,
      reindex: false,
    });
    this.#boss.on('error', (error) => {
      if (!this.#stopping) log.warn({ event: 'jobs_failed', ...errorMembers(error) }, 'the job queue has a problem');
    });
    this.#boss.on('warning', (warning) => log.debug({ event: 'jobs_warning' }, warning.message));
  }

  /** Opens the queue, and makes its schema `pgboss` on a new database. */
  async start(): Promise<void> {
    await this.#boss.start();
    await this.#boss.createQueue(queue, {
      policy: 'short',
      notify: true,
      retryLimit: 0,
      expireInSeconds,
      retentionSeconds: 86_400,
      deleteAfterSeconds: 600,
    });
  }

  /**
   * Wakes orders, in the caller's transaction: if it is rolled back, nothing was sent. An order that has a waiting job
   * gets no second one.
   */
  async wake(em: EntityManager, orderIds: readonly string[]): Promise<void> {
    if (orderIds.length === 0) return;
    const parent = traceparent();
    const origin = parent === null ? {} : { traceparent: parent };
    await this.#boss.insert(
      queue,
      orderIds.map((orderId) => ({ data: { orderId, ...origin }, singletonKey: orderId })),
      { db: fromKysely(em.getKysely()) },
    );
  }

  /** Handles jobs until stop. The handler must not throw; what it leaves undone is found by the sweep. */
  async work(handle: (orderIds: readonly string[]) => Promise<void>): Promise<void> {
    const batch = (jobs: readonly { data: SettleJob }[]): Promise<void> => {
      const links = jobs.flatMap(({ data }) => data.traceparent ?? []);
      const options = { kind: 'consumer', attributes: { 'job.count': jobs.length }, links } as const;
      return span(`jobs ${queue}`, options, () => handle([...new Set(jobs.map(({ data }) => data.orderId))]));
    };
    await this.#boss.work<SettleJob>(queue, { batchSize, pollingIntervalSeconds: 1 }, batch);
  }

  /** Lets the jobs under way end, then closes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    // Without an answer of the server it would wait for ever.
    const limit = new Promise((resolve) => setTimeout(resolve, 2 * stopMs).unref());
    await Promise.race([this.#boss.stop({ graceful: true, timeout: stopMs }), limit]);
    this.#log.debug({ event: 'jobs_stopped' }, 'the job queue is closed');
  }
}
