import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Node's own metrics of the process. They cannot be stopped, so that each process starts them only
 * once.
 */
let runtime: Registry | undefined;

function runtimeRegistry(): Registry {
  if (!runtime) {
    runtime = new Registry();
    collectDefaultMetrics({ register: runtime });
  }
  return runtime;
}

/**
 * The metrics of one process, in the form that `prom-client` makes and aggregates; they travel as
 * JSON.
 */
export type Snapshot = readonly object[];

/**
 * Methods with their own label. All others that Node's parser accepts are `_OTHER`, as in
 * OpenTelemetry's conventions.
 */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** In seconds: partners wait from milliseconds to the 15 seconds of a statement timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The labels of one request's metrics. No id of a partner, a key or an order is a label. */
interface MeasuredRequest {
  readonly method: string;
  /** A path template of the contract, or `unmatched`. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

/**
 * How a request ended: any status below 400, one of 400 to 499, or one above.
 */
type RequestOutcome = 'ok' | 'client_error' | 'server_error';

/** Requests of one endpoint, outcome and bucket since the process began. */
export interface RequestCount {
  /** Method and path template, such as 'GET /currencies'. */
  readonly endpoint: string;
  readonly outcome: RequestOutcome;
  /** Index in `requestBuckets`; its length means requests above the last bound. */
  readonly bucket: number;
  readonly requests: number;
}

/** Upper bounds of the histogram of requests, in seconds. */
export const requestBuckets: readonly number[] = buckets;

/** A pool of connections to PostgreSQL; node-postgres' `Pool` is one. */
interface ConnectionPool {
  readonly totalCount: number;
  readonly idleCount: number;
  /** Callers that wait for a connection. */
  readonly waitingCount: number;
}

const requestsName = 'http_server_request_duration_seconds';

/** The metrics of one process: requests, limits, connections, and Node's own. */
export class ProcessMetrics {
  readonly #registry = new Registry();
  readonly #requests = new Histogram({
    name: requestsName,
    help: 'Requests of partners, from the last byte of the head to the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers: [this.#registry],
  });
  readonly #limited = new Counter({
    name: 'gateway_rate_limit_requests_total',
    help: 'Requests by the tightest bucket that they counted in, and whether it let them pass.',
    labelNames: ['bucket', 'outcome'],
    registers: [this.#registry],
  });
  readonly #uninsured = new Counter({
    name: 'gateway_rate_limit_insurance_total',
    help: 'Requests that were counted in memory because Redis could not count them.',
    registers: [this.#registry],
  });
  readonly #cut = new Counter({
    name: 'gateway_connections_cut_total',
    help: 'Connections that were cut because their client left an answer untaken for 30 seconds.',
    registers: [this.#registry],
  });
  readonly #batches = new Histogram({
    name: 'gateway_batch_items',
    help: 'Requests whose work went to PostgreSQL as one statement.',
    labelNames: ['statement'],
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers: [this.#registry],
  });
  readonly #batchWaits = new Histogram({
    name: 'gateway_batch_wait_seconds',
    help: 'How long the first request of a batch waited until the statement was sent.',
    labelNames: ['statement'],
    buckets,
    registers: [this.#registry],
  });
  readonly #quotes = new Histogram({
    name: 'gateway_quote_adverse_bps',
    help: 'How much more than the market the fixed quotes gave that became orders, in basis points before fees.',
    buckets: [-200, -100, -50, -20, -10, -5, 0, 5, 10, 20, 50, 100, 200],
    registers: [this.#registry],
  });
  readonly #brokenQuotes = new Counter({
    name: 'gateway_quote_breaker_total',
    help: 'Binding quotes that were refused because their price was five percent from the market.',
    registers: [this.#registry],
  });

  readonly #slowDerivation = new Gauge({
    name: 'gateway_slow_derivation',
    help: '1 while this process derives deposit addresses in WebAssembly, as its platform has no machine code.',
    aggregator: 'max',
    registers: [this.#registry],
  });
  readonly #derivations = new Counter({
    name: 'gateway_derived_addresses_total',
    help: 'Deposit addresses of orders: derived ahead by a thread, or by their request as none was ready.',
    labelNames: ['by'],
    registers: [this.#registry],
  });

  readonly #webhookAttempts = new Counter({
    name: 'gateway_webhook_attempts_total',
    help: 'Attempts to deliver webhooks, by outcome: delivered, or what went wrong.',
    labelNames: ['outcome'],
    registers: [this.#registry],
  });
  readonly #webhookSeconds = new Histogram({
    name: 'gateway_webhook_delivery_seconds',
    help: 'From an event to its delivery at the first attempt.',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
    registers: [this.#registry],
  });
  readonly #webhooksDisabled = new Counter({
    name: 'gateway_webhook_endpoints_disabled_total',
    help: 'Webhook endpoints that were disabled because they failed for days, or are gone.',
    registers: [this.#registry],
  });

  readonly #pools = new Map<string, ConnectionPool>();

  constructor() {
    const pools = this.#pools;
    new Gauge({
      name: 'gateway_database_connections',
      help: 'Connections to PostgreSQL, by what they are for and whether they are at work.',
      labelNames: ['pool', 'state'],
      registers: [this.#registry],
      collect() {
        for (const [pool, { totalCount, idleCount }] of pools) {
          this.set({ pool, state: 'used' }, totalCount - idleCount);
          this.set({ pool, state: 'idle' }, idleCount);
        }
      },
    });
    new Gauge({
      name: 'gateway_database_waiting',
      help: 'Callers that wait for a connection to PostgreSQL at this moment.',
      labelNames: ['pool'],
      registers: [this.#registry],
      collect() {
        for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
      },
    });
  }

  /** Reports the connections of a pool from now on. */
  watchPool(
    name: 'cabinet' | 'replays' | 'requests' | 'settlement' | 'staff' | 'webhooks',
    pool: ConnectionPool,
  ): void {
    this.#pools.set(name, pool);
  }

  /** @param firstSeconds From the event, for a success at the first attempt; null otherwise. */
  observeWebhook(outcome: string, firstSeconds: number | null, isDisabled: boolean): void {
    this.#webhookAttempts.inc({ outcome });
    if (firstSeconds !== null) this.#webhookSeconds.observe(firstSeconds);
    if (isDisabled) this.#webhooksDisabled.inc();
  }

  /** Reports how many readers wait for events from now on. */
  watchWaits(count: () => number): void {
    new Gauge({
      name: 'gateway_event_waits',
      help: 'Requests and streams of partners that wait for events at this moment.',
      registers: [this.#registry],
      collect() {
        this.set(count());
      },
    });
  }

  /** Reports the doubtful blocks of chains from now on, by chain. */
  watchDoubtfulBlocks(counts: () => ReadonlyMap<string, number>): void {
    new Counter({
      name: 'gateway_chain_doubtful_blocks_total',
      help: 'Blocks that nodes told with transactions that do not match their header, by chain.',
      labelNames: ['chain'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [chain, count] of counts()) this.inc({ chain }, count);
      },
    });
  }

  observeRequest({ method, route, status, seconds }: MeasuredRequest): void {
    this.#requests.observe({ method: methods.has(method) ? method : '_OTHER', route, status }, seconds);
  }

  /** The histogram of requests, with the count of each bucket alone. */
  async requestCounts(): Promise<RequestCount[]> {
    const { values } = await this.#requests.get();
    const counts = new Map<string, RequestCount>();
    const below = new Map<string, number>();
    for (const { metricName, value, labels } of values) {
      if (metricName !== `${requestsName}_bucket`) continue;
      const { method, route, status, le } = labels as typeof labels & { readonly le: string | number };
      // The bounds of one set of labels come in their order, and each counts the ones before it.
      const series = `${method} ${route} ${status}`;
      const requests = value - (below.get(series) ?? 0);
      below.set(series, value);
      if (requests <= 0) continue;
      const bucket = le === '+Inf' ? buckets.length : buckets.indexOf(Number(le));
      const [endpoint, outcome] = [`${method} ${route}`, outcomeOf(Number(status))];
      const key = `${endpoint} ${outcome} ${bucket}`;
      const earlier = counts.get(key)?.requests ?? 0;
      counts.set(key, { endpoint, outcome, bucket, requests: earlier + requests });
    }
    return [...counts.values()];
  }

  countLimit({ bucket, allowed }: { readonly bucket: string; readonly allowed: boolean }): void {
    this.#limited.inc({ bucket, outcome: allowed ? 'allowed' : 'refused' });
  }

  observeBatch(statement: string, items: number, waitedMs: number): void {
    this.#batches.observe({ statement }, items);
    this.#batchWaits.observe({ statement }, waitedMs / 1000);
  }

  observeDerivation(isSlow: boolean): void {
    this.#slowDerivation.set(isSlow ? 1 : 0);
  }

  countDerivation(isAhead: boolean): void {
    this.#derivations.inc({ by: isAhead ? 'thread' : 'request' });
  }

  /** Observes a fixed quote that became an order. */
  observeQuote(adverseBps: number): void {
    this.#quotes.observe(adverseBps);
  }

  countQuoteBreaker(): void {
    this.#brokenQuotes.inc();
  }

  countInsurance(): void {
    this.#uninsured.inc();
  }

  countCut(): void {
    this.#cut.inc();
  }

  /** All metrics, in the form that travels between processes. */
  async snapshot(): Promise<Snapshot> {
    return [...(await this.#registry.getMetricsAsJSON()), ...(await runtimeRegistry().getMetricsAsJSON())];
  }
}

function outcomeOf(status: number): RequestOutcome {
  if (status < 400) return 'ok';
  return status < 500 ? 'client_error' : 'server_error';
}

/** The processes that share a port with this one, for the collection of metrics. */
export interface MetricsGroup {
  /** Registers the part of this process, which each gathering asks for. */
  onGather(part: () => Promise<Snapshot>): void;
  /** The parts of all processes that answer in time. */
  gather(): Promise<readonly Snapshot[]>;
}

/** Adds up the snapshots of all processes of a gateway and returns them as one text. */
export function expositionOf(snapshots: readonly Snapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics();
}
