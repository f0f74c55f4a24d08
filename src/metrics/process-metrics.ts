import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Verdict } from '../limits/limiter.ts';

/** What Node says of a process. It is one whatever runs in it, and cannot be stopped, so it is collected once. */
let runtime: Registry | undefined;

function runtimeRegistry(): Registry {
  if (!runtime) {
    runtime = new Registry();
    collectDefaultMetrics({ register: runtime });
  }
  return runtime;
}

/** The metrics of one process as `prom-client` makes them and adds them up; they travel as JSON. */
export type Snapshot = readonly object[];

/** Methods that are told apart; anything else that Node's parser lets through is `_OTHER`, as in OpenTelemetry's conventions. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A partner waits from milliseconds to the 15 seconds of a statement. In seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What one request was, for its metrics. No id of a partner, a key or an order is a label. */
export interface MeasuredRequest {
  readonly method: string;
  /** A template of the contract, or `unmatched`. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

/** Connections to PostgreSQL that a process shares among what it does; node-postgres' `Pool` is one. */
export interface ConnectionPool {
  readonly totalCount: number;
  readonly idleCount: number;
  /** Those that wait for a connection. */
  readonly waitingCount: number;
}

/** The counters of one process: requests, limits, connections, and what Node says of itself. */
export class ProcessMetrics {
  readonly #registry = new Registry();
  readonly #requests = new Histogram({
    name: 'http_server_request_duration_seconds',
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
      help: 'What waits for a connection to PostgreSQL at this moment.',
      labelNames: ['pool'],
      registers: [this.#registry],
      collect() {
        for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
      },
    });
  }

  /** Tells of these connections from now on. */
  watchPool(name: 'requests' | 'settlement' | 'staff', pool: ConnectionPool): void {
    this.#pools.set(name, pool);
  }

  observeRequest({ method, route, status, seconds }: MeasuredRequest): void {
    this.#requests.observe({ method: methods.has(method) ? method : '_OTHER', route, status }, seconds);
  }

  countLimit({ bucket, allowed }: Verdict): void {
    this.#limited.inc({ bucket, outcome: allowed ? 'allowed' : 'refused' });
  }

  countInsurance(): void {
    this.#uninsured.inc();
  }

  countCut(): void {
    this.#cut.inc();
  }

  /** All of it, as it travels between processes. */
  async snapshot(): Promise<Snapshot> {
    return [...(await this.#registry.getMetricsAsJSON()), ...(await runtimeRegistry().getMetricsAsJSON())];
  }
}

/** The processes that share a port with this one, as far as metrics are concerned. */
export interface MetricsGroup {
  /** Gives this process's part whenever one of them gathers. */
  onGather(part: () => Promise<Snapshot>): void;
  /** The parts of all processes that give one in time. */
  gather(): Promise<readonly Snapshot[]>;
}

/** The snapshots of all processes of a gateway as one text, counters and histograms added up. */
export function expositionOf(snapshots: readonly Snapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics();
}
