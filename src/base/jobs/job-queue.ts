import type { EntityManager } from '@mikro-orm/postgresql';
import { fromKysely, PgBoss } from 'pg-boss';
import { DatabaseClient } from '../db/database-client.ts';
import { errorMembers, type Log } from '../log.ts';
import { span, traceparent } from '../telemetry/tracing.ts';

/** The one queue: each job names an order that is due for a step. */
const queue = 'settle';
/** Orders per fetch. */
const batchSize = 100;
/** How long the jobs of a process that died stay locked to it. */
const expireInSeconds = 120;
/**
 * Passed on to node-postgres: a statement that takes longer is abandoned, and its connection is
 * closed. The connections of the pool must lead to the primary.
 */
const forPostgres = { query_timeout: 30_000, Client: DatabaseClient };
/** How long running jobs may take to end. */
const stopMs = 5_000;

interface SettleJob {
  readonly orderId: string;
  /** The trace of the work that woke the order, while tracing is on. */
  readonly traceparent?: string;
}

/**
 * Wakes orders by jobs on pg-boss, at least once and in no fixed order. The queue is never asked
 * what is due: the order rows say so, and a sweep adds the jobs that the queue lost. For the same
 * reason a job never retries automatically.
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
      if (!this.#stopping)
        log.warn({ event: 'jobs_failed', ...errorMembers(error) }, 'the job queue reported an error');
    });
    this.#boss.on('warning', (warning) => log.debug({ event: 'jobs_warning' }, warning.message));
  }

  /** Opens the queue, and creates its schema `pgboss` on a new database. */
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
   * Wakes orders in the caller's transaction: a rollback sends nothing. An order with a waiting job
   * gets no second one. The queue writes its own statements, and takes the transaction as a Kysely.
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

  /**
   * Handles jobs until `stop`. The handler must not throw; the sweep finds the orders that it
   * leaves undone.
   */
  async work(handle: (orderIds: readonly string[]) => Promise<void>): Promise<void> {
    const batch = (jobs: readonly { data: SettleJob }[]): Promise<void> => {
      const links = jobs.flatMap(({ data }) => data.traceparent ?? []);
      const options = { kind: 'consumer', attributes: { 'job.count': jobs.length }, links } as const;
      return span(`jobs ${queue}`, options, () => handle([...new Set(jobs.map(({ data }) => data.orderId))]));
    };
    await this.#boss.work<SettleJob>(queue, { batchSize, pollingIntervalSeconds: 1 }, batch);
  }

  /** Waits for the running jobs, then closes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    // Without an answer of the server, pg-boss would wait for ever.
    const limit = new Promise((resolve) => setTimeout(resolve, 2 * stopMs).unref());
    await Promise.race([this.#boss.stop({ graceful: true, timeout: stopMs }), limit]);
    this.#log.debug({ event: 'jobs_stopped' }, 'the job queue is closed');
  }
}
