import type { MikroORM } from '@mikro-orm/postgresql';
import { bootstrap, createDemoAccess, type DemoAccess } from './bootstrap.ts';
import { DepositAddresses } from './chains/deposit-addresses.ts';
import type { LiveNetworks } from './chains/live-networks.ts';
import { fillMissingKeyForms } from './chains/missing-key-forms.ts';
import { refuseOtherChains } from './chains-setup.ts';
import { systemClock } from './clock.ts';
import { type Config, ConfigError, payoutRules } from './config.ts';
import { CurrencyCatalogue } from './currencies/currency-catalogue.ts';
import { type LimiterLock, takeLimiterLock } from './db/limiter-lock.ts';
import { createOrm } from './db/orm.ts';
import type { StaffApi } from './graphql/staff-api.ts';
import { staffApiOnDemand } from './graphql/staff-api-on-demand.ts';
import { createInternalListener } from './internal/server.ts';
import { Limiter } from './limits/limiter.ts';
import { type Listener, type ListenerOptions, listen } from './listener.ts';
import { createLog, errorMembers, type Log } from './log.ts';
import { type MetricsGroup, ProcessMetrics } from './metrics/process-metrics.ts';
import { openNetworks, unsafeSettings } from './networks-setup.ts';
import { FixedResults } from './orders/fixed-results.ts';
import { OpenOrders } from './orders/open-orders.ts';
import { OrderService } from './orders/order-service.ts';
import { Authenticator } from './partners/authenticator.ts';
import { openPriceSource, venueRules } from './price-setup.ts';
import { PriceBook } from './rates/price-book.ts';
import { PriceOverrideService } from './rates/price-override-service.ts';
import { SharedPriceWindows } from './rates/price-windows.ts';
import { RateService } from './rates/rate-service.ts';
import { OrderStats } from './reports/order-stats.ts';
import { createRestListener } from './rest/server.ts';
import type { Settlement } from './settlement-setup.ts';
import { StaffAuthenticator } from './staff/staff-authenticator.ts';
import { StaffService } from './staff/staff-service.ts';
import { StaffSessions } from './staff/staff-sessions.ts';
import { StartError } from './start-error.ts';
import { endPart, logParts } from './start-parts.ts';
import type { Surroundings } from './surroundings.ts';

export interface AppOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  /** The database is our own embedded one. */
  readonly embedded: boolean;
  /** The api processes that share this one's ports; alone unless given. */
  readonly group?: MetricsGroup | null;
  readonly surroundings?: Surroundings;
}

/** A running gateway. */
export interface App {
  /** Base address of the public listener, without /api/v1; null for a worker, which has none. */
  readonly restUrl: string | null;
  readonly internalUrl: string;
  readonly demo: DemoAccess | null;
  readonly orm: MikroORM;
  readonly log: Log;
  readonly orders: OrderService;
  readonly prices: PriceBook;
  /** Null in an api process. */
  readonly settlement: Settlement | null;
  readonly networks: LiveNetworks;
  /** Makes changes of the catalogue visible at once instead of within seconds. */
  readonly catalogue: CurrencyCatalogue;
  /**
   * Drains: ready goes false at once, requests are still answered while load balancers and clients turn away, then
   * what is under way ends. Where another process has taken its place behind the same port, ready stays true.
   */
  stop(options?: StopOptions): Promise<void>;
}

export interface StopOptions {
  readonly isReplaced: boolean;
}

const lastUsedFlushMs = 60_000;
const forgetOldMs = 600_000;
const rollUpMs = 3_000;
const fixedResultsMs = 60_000;
/** How often a worker looks whether the book is due to be reconciled. */
const reconcileLookMs = 30_000;
/** How often a worker looks whether payouts have to be held. */
const payoutWatchMs = 10_000;
const inFlightMs = 15_000;
/** How long a request waits for a row that another holds: the same create sent twice at once. */
const requestLockMs = 2_000;
/** A statement of a request that takes longer is given up, so that no answer keeps a partner waiting for 10 seconds. */
const requestStatementMs = 5_000;
/** A question of staff that takes longer is given up. */
const staffStatementMs = 5_000;

/**
 * Builds the gateway from plain constructors, in order of dependency, and starts it.
 *
 * @throws StartError when an operator must act first; ConfigError for settings that do not go together with the networks.
 */
export async function startApp({ config, databaseUrl, embedded, group, surroundings = {} }: AppOptions): Promise<App> {
  const { clock = systemClock, onProgress = () => {}, onStatement } = surroundings;
  const log = createLog(config.LOG_LEVEL, surroundings.logStream);
  const servesPartners = config.ROLE !== 'worker';
  // What was opened is closed in reverse order, at the end or when the start fails half way.
  const closing: (() => unknown)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        log.error({ event: 'close_failed', ...errorMembers(error) }, 'something could not be closed');
      }
    }
  };

  try {
    if (config.OTEL_EXPORTER_OTLP_ENDPOINT !== null) {
      const { openTracing } = await import('./tracing/open-telemetry.ts');
      const tracing = openTracing({
        endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
        ratio: Number(config.OTEL_TRACES_SAMPLER_ARG),
        role: config.ROLE,
      });
      closing.push(() => tracing.close());
    }
    const networks = await openNetworks(config);
    const unsafe = unsafeSettings(config, networks);
    if (unsafe.length > 0) throw new ConfigError(unsafe);
    const metrics = new ProcessMetrics();
    group?.onGather(() => metrics.snapshot());
    const orm = await createOrm({
      url: databaseUrl,
      onPool: (pool) => metrics.watchPool('requests', pool),
      poolSize: config.DATABASE_POOL_SIZE,
      lockTimeoutMs: requestLockMs,
      statementTimeoutMs: requestStatementMs,
      ...(onStatement ? { onStatement } : {}),
    });
    closing.push(() => orm.close(true));
    endPart('object-relational mapper');
    const { hasher, signing } = await bootstrap({
      config,
      orm,
      url: databaseUrl,
      networks,
      embedded,
      clock,
      log,
      onProgress,
      refuseOthers: () => refuseOtherChains(orm, networks),
    });
    endPart('bootstrap');
    if (signing) {
      const { pool, close } = signing;
      closing.push(() => close());
      const made = await pool.open();
      if (made > 0) onProgress(`made ${made} deposit addresses for networks without public derivation`);
      pool.start();
      closing.push(() => pool.stop());
    }
    endPart('deposit addresses');

    const catalogue = new CurrencyCatalogue(orm, log, networks);
    await catalogue.start();
    closing.push(() => catalogue.stop());
    endPart('catalogue');

    const { priceSource, closePrices } = openPriceSource({ config, clock, log, orm, surroundings });
    closing.push(closePrices);
    const overrides = new PriceOverrideService(orm, clock);
    const prices = new PriceBook({
      clock,
      log,
      source: priceSource,
      overrides: () => overrides.live(),
      windows: new SharedPriceWindows(orm),
      refreshSec: config.PRICE_REFRESH_SEC,
      maxAgeSec: config.PRICE_MAX_AGE_SEC,
      fixedHoldSec: config.FIXED_RATE_HOLD_SEC,
      fixedMaxDrift: config.FIXED_MAX_DRIFT,
      ...venueRules(config),
    });
    await prices.start(() => catalogue.coins());
    closing.push(() => prices.stop());
    endPart('prices');

    const rates = new RateService(catalogue, prices, {
      float: config.FEE_RATE_FLOAT,
      fixed: config.FEE_RATE_FIXED,
    });
    const addresses = new DepositAddresses(orm);
    await addresses.load();
    const openOrders = new OpenOrders({
      orm,
      clock,
      prices,
      depositWindowSec: config.DEPOSIT_WINDOW_SEC,
      caps: {
        orders: config.MAX_OPEN_ORDERS,
        fixedUsd: config.MAX_FIXED_EXPOSURE_USD,
        fixedDayUsd: config.MAX_FIXED_DAY_USD,
        fixedAllUsd: config.MAX_FIXED_ALL_USD,
        floatUsd: config.MAX_FLOAT_EXPOSURE_USD,
        floatAllUsd: config.MAX_FLOAT_ALL_USD,
      },
      processes: config.NODE_COUNT * config.API_PROCESSES,
    });
    const orders = new OrderService({
      orm,
      clock,
      rates,
      addresses,
      openOrders,
      depositWindowSec: config.DEPOSIT_WINDOW_SEC,
      shortIdPrefix: config.SHORT_ID_PREFIX,
    });

    const every = (ms: number, event: string, task: () => Promise<unknown>): void => {
      const timer = setInterval(() => {
        task().catch((error) => log.warn({ event, ...errorMembers(error) }, 'a housekeeping task failed'));
      }, ms).unref();
      closing.push(() => clearInterval(timer));
    };
    let settlement: Settlement | null = null;
    if (config.ROLE !== 'api') {
      // Settlement is much code, which an api process never runs.
      const { openSettlement } = await import('./settlement-setup.ts');
      const workerOrm = await createOrm({
        url: databaseUrl,
        onPool: (pool) => metrics.watchPool('settlement', pool),
        poolSize: config.WORKER_POOL_SIZE,
        ...(onStatement ? { onStatement } : {}),
      });
      closing.push(() => workerOrm.close(true));
      settlement = await openSettlement({
        config,
        databaseUrl,
        orm: workerOrm,
        clock,
        log,
        catalogue,
        prices,
        networks,
        signer: signing?.signer ?? null,
        surroundings,
      });
      const { close } = settlement;
      closing.push(() => close());
      every(forgetOldMs, 'forget_answers_failed', () => orders.forgetOldAnswers());
      every(forgetOldMs, 'forget_turnover_failed', () => openOrders.forgetOld());
      let filling: Promise<number> | null = null;
      every(forgetOldMs, 'key_forms_failed', () => {
        filling ??= fillMissingKeyForms(workerOrm).finally(() => {
          filling = null;
        });
        return filling;
      });
      if (surroundings.background !== false) {
        const stats = new OrderStats(workerOrm);
        every(rollUpMs, 'roll_up_failed', () => stats.rollUp());
        const results = new FixedResults(workerOrm, clock);
        every(fixedResultsMs, 'fixed_results_failed', () => results.rollUp());
        const { reconciliations, payoutWatch } = settlement;
        every(payoutWatchMs, 'payout_watch_failed', () => payoutWatch.runIfDue());
        if (reconciliations) {
          const lookMs = Math.min(reconcileLookMs, config.RECONCILE_EVERY_SEC * 1000);
          every(lookMs, 'reconcile_failed', () => reconciliations.runIfDue());
        }
      }
    }
    endPart('settlement');

    const authenticator = new Authenticator(orm, hasher, clock);
    closing.push(() => authenticator.flushUsed());
    every(lastUsedFlushMs, 'last_used_failed', () => authenticator.flushUsed());

    const limiter = new Limiter({
      metrics,
      redisUrl: config.REDIS_URL,
      nodeCount: config.NODE_COUNT * config.API_PROCESSES,
      log,
      ...(surroundings.limiterPrefix === undefined ? {} : { keyPrefix: surroundings.limiterPrefix }),
    });
    closing.push(() => limiter.close());
    if (servesPartners) {
      const lock = await limiterLock(config, databaseUrl, log);
      closing.push(() => lock.release());
    }
    if (!(await limiter.ready(1_000))) onProgress('Redis does not answer; limits count in memory until it does');

    const staffAuthenticator = new StaffAuthenticator(orm, hasher, clock);
    const sessions = new StaffSessions(orm, staffAuthenticator, clock);
    const members = new StaffService(orm, hasher, clock, config.OIDC_ISSUER !== null);
    every(forgetOldMs, 'forget_sessions_failed', () => sessions.forgetOld());
    endPart('limits and sessions');

    let staffApi: StaffApi | null = null;
    if (servesPartners) {
      let staffOrm: MikroORM | undefined;
      closing.push(() => staffOrm?.close(true));
      staffApi = staffApiOnDemand(async () => {
        const { openStaffApi } = await import('./staff-setup.ts');
        staffOrm ??= await createOrm({
          url: databaseUrl,
          onPool: (pool) => metrics.watchPool('staff', pool),
          poolSize: config.STAFF_POOL_SIZE,
          statementTimeoutMs: staffStatementMs,
          ...(onStatement ? { onStatement } : {}),
        });
        return openStaffApi({
          config,
          orm: staffOrm,
          clock,
          log,
          hasher,
          limiter,
          networks,
          authenticator: staffAuthenticator,
          catalogue,
          prices,
          overrides,
          rates,
          actions: settlement?.staffActions ?? null,
        });
      }, log);
    }

    let draining = false;
    const internal = await listen(
      createInternalListener({
        config,
        log,
        orm,
        clock,
        prices,
        metrics,
        payoutRules: payoutRules(config),
        gather: group ? () => group.gather() : null,
        isDraining: () => draining,
        staff: staffApi && { limiter, authenticator: staffAuthenticator, sessions, members, graphql: staffApi.handler },
      }),
      {
        host: config.INTERNAL_HOST,
        port: config.INTERNAL_PORT,
        tls: null,
        ...(staffApi ? { upgrade: staffApi.upgrade } : {}),
        ...refusalsTold(log, metrics),
      },
    );
    closing.push(() => internal.close(1_000));
    if (staffApi) closing.push(staffApi.stop);
    const rest = servesPartners
      ? await listenPublicly(
          config,
          await createRestListener({ config, log, limiter, authenticator, catalogue, rates, orders, metrics }),
          refusalsTold(log, metrics),
        )
      : null;
    if (rest) closing.push(() => rest.close(inFlightMs));
    endPart('REST API and listeners');

    const demo = servesPartners ? await createDemoAccess({ orm, url: databaseUrl, clock, networks }, hasher) : null;
    endPart('demo access');
    logParts(log);
    let stopped: Promise<void> | undefined;
    const drain = async ({ isReplaced }: StopOptions): Promise<void> => {
      draining = !isReplaced;
      internal.beginDrain();
      rest?.beginDrain();
      await new Promise((resolve) => setTimeout(resolve, config.DRAIN_GRACE_MS));
      await closeAll();
    };
    return {
      restUrl: rest?.url ?? null,
      internalUrl: internal.url,
      demo,
      orm,
      log,
      orders,
      prices,
      settlement,
      networks,
      catalogue,
      stop: (options = { isReplaced: false }) => {
        stopped ??= drain(options);
        return stopped;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function listenPublicly(
  config: Config,
  app: Parameters<typeof listen>[0],
  told: Pick<ListenerOptions, 'onRefused' | 'onUnread'>,
): Promise<Listener> {
  const { HOST: host, PORT: port, TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  return listen(app, {
    host,
    port,
    tls: certFile !== null && keyFile !== null ? { certFile, keyFile } : null,
    ...told,
  });
}

/** What a listener refuses or cuts by itself, told in the log and the metrics. */
function refusalsTold(log: Log, metrics: ProcessMetrics): Pick<ListenerOptions, 'onRefused' | 'onUnread'> {
  return {
    onRefused: ({ requestId, code, status }) =>
      log.info({ event: 'request_refused', request_id: requestId, code, status }, 'refused before any route'),
    onUnread: () => metrics.countCut(),
  };
}

async function limiterLock(config: Config, url: string, log: Log): Promise<LimiterLock> {
  const lock = await takeLimiterLock(url, config.REDIS_URL !== null, log);
  if (lock) return lock;
  throw new StartError(
    config.REDIS_URL === null
      ? 'another gateway process uses this database, and without REDIS_URL each would count its own limits; set REDIS_URL for both (for example redis://127.0.0.1:6379), or stop the other'
      : 'a gateway process without REDIS_URL uses this database and counts limits by itself; set REDIS_URL for it as well, or stop it',
  );
}
