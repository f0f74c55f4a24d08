import type { MikroORM } from '@mikro-orm/postgresql';
import { JobQueue } from '../base/jobs/job-queue.ts';
import { every, repeat, warning } from '../base/jobs/repeat.ts';
import { traced } from '../base/telemetry/tracing.ts';
import type { ChainAdapter } from '../chains/port/chain-adapter.ts';
import type { Signer } from '../chains/port/signer.ts';
import { SandboxChain } from '../chains/sandbox/sandbox-chain.ts';
import { rulesByName } from '../chains/sandbox/sandbox-rules.ts';
import { fixedRateTimes } from '../config/fixed-rates.ts';
import { Reconciliations, type ReconciliationsOptions } from '../ledger/reconciliations.ts';
import { Currency } from '../market/currencies/currency.entity.ts';
import { HistoryTurns, noteVenueBalances } from '../operations/history-turns.ts';
import type { CommissionTurns } from '../settlement/commission/commission-turns.ts';
import { OrderSettler } from '../settlement/order-settler.ts';
import { type PayoutHolds, reconcileFindings } from '../settlement/pay/payout-holds.ts';
import { PayoutWatch } from '../settlement/pay/payout-watch.ts';
import { Sweeper } from '../settlement/pay/sweeper.ts';
import { WalletSetup } from '../settlement/pay/wallet-setup.ts';
import { WalletWatch } from '../settlement/pay/wallet-watch.ts';
import type { LiquidityVenue } from '../settlement/rows/liquidity-venue.ts';
import { inventoryName } from '../settlement/rows/liquidity-venue.ts';
import { OrderExpiry } from '../settlement/rules/order-expiry.ts';
import type { SandboxVenue } from '../settlement/sandbox/sandbox-venue.ts';
import { ChainScanner } from '../settlement/scan/chain-scanner.ts';
import { InternalTransfers } from '../settlement/scan/internal-transfers.ts';
import { SettlementWorker } from '../settlement/settlement-worker.ts';
import type { StaffActions } from '../settlement/staff-actions.ts';
import type { ChainTask } from '../settlement/turns/chain-task.ts';
import type { Foundation } from './foundation.ts';
import { openChains } from './open-chains.ts';
import { openCommission } from './open-commission.ts';
import { openDatabase } from './open-database.ts';
import { openPayments } from './open-payments.ts';
import type { Requests } from './open-requests.ts';
import { openSandboxVenue } from './open-sandbox.ts';
import { openTreasury, type Treasury } from './open-treasury.ts';
import { openVenue, refuseOtherVenue } from './open-venue.ts';
import { createOrm, patientStatementMs } from './orm.ts';
import { type GatewayShared, type Services, services } from './services.ts';
import { settlementTools, staffActionsWith } from './settlement-tools.ts';
import { startWorkerTasks } from './worker-tasks.ts';

/** The running settlement: the part of the gateway that moves orders and money. */
export interface Settlement {
  readonly worker: SettlementWorker;
  readonly settler: OrderSettler;
  readonly staffActions: StaffActions;
  readonly sandbox: SandboxChain;
  /** Null without SANDBOX_VENUE. */
  readonly sandboxVenue: SandboxVenue | null;
  /** Empty in a process without a signer, which leaves the chains to other processes. */
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
  /** Null where it is switched off, or there is no chain to compare the book with. */
  readonly reconciliations: Reconciliations | null;
  readonly payoutWatch: PayoutWatch;
  readonly history: HistoryTurns;
  readonly treasury: Treasury;
  readonly commission: CommissionTurns;
}

/** What all share, and the services over the pool of settlement. */
interface SettlementSetup extends GatewayShared, Services {}

/**
 * For this many deposit windows after an order's creation, its address comes first in the search
 * for coins that only a balance shows.
 */
const compareWindows = 48;
/** How often the sandbox checks for a due block within each block interval. */
const looksPerBlock = 4;

/**
 * Builds settlement from plain constructors, and starts it with a worker's background tasks.
 *
 * @param given null in a process without a signer.
 */
export async function openSettlement(
  foundation: Foundation,
  shared: GatewayShared,
  { creation }: Requests,
  given: Signer | null,
): Promise<Settlement> {
  const { config, databaseUrl, clock, log, outside, closing } = foundation;
  const { onCrashPoint = () => {}, background = true } = outside;
  const setup = { ...shared, ...services(await openDatabase(foundation, 'settlement'), shared) };
  const { orm, holds } = setup;
  const sandbox = new SandboxChain({ orm, clock, rules: rulesByName(config.SANDBOX_RULES) });
  const signer = given && traced(outside.signer?.(given) ?? given, 'signer');
  const sandboxVenue = await openSandboxVenue(foundation, setup, orm, sandbox);
  const { venue, source } = await openOwnVenue({ ...foundation, config: sandboxVenue?.config ?? config }, setup);
  const tools = settlementTools(shared, venue);
  const adapters = signer ? await openAdapters(foundation, setup, sandbox, signer) : new Map<string, ChainAdapter>();
  const exchange = venue.name === inventoryName ? null : venue.name;
  const treasury = await openTreasury(foundation, setup, adapters, source, exchange);
  const jobs = new JobQueue(databaseUrl, log);
  await jobs.start();
  closing.add(() => jobs.stop());
  const settler = new OrderSettler({ orm, clock, log, tools, onCrashPoint, commission: shared.commissionEntries });
  const scanner = new ChainScanner({ orm, clock, log, tools, jobs, onCrashPoint });
  const { payments, limits } = openPayments(foundation, { ...setup, signer, jobs });
  const worker = new SettlementWorker({
    orm,
    clock,
    log,
    adapters,
    scanner,
    payments,
    settler,
    tasks: [...chainTasks(foundation, setup, scanner), treasury.transfers],
    venue,
    expiry: new OrderExpiry(orm, clock),
    jobs,
    pollMs: config.CHAIN_POLL_MS,
    leaseMs: config.CHAIN_LEASE_MS,
  });
  await worker.open();
  closing.add(() => worker.stop());
  if (background) await worker.start();
  if (background && shared.networks.chains('sandbox').length > 0) mineByClock(foundation, sandbox);
  const settlement: Settlement = {
    worker,
    settler,
    staffActions: staffActionsWith(shared, { orm, settler, jobs }),
    sandbox,
    sandboxVenue: sandboxVenue?.venue ?? null,
    adapters,
    reconciliations: openReconciliations(foundation, orm, adapters, holds),
    payoutWatch: new PayoutWatch({
      orm,
      clock,
      prices: shared.prices,
      holds,
      limits,
      venueLossLimitUsd: config.VENUE_LOSS_LIMIT_USD,
    }),
    history: historyTurns(foundation, setup, venue),
    treasury,
    commission: openCommission(shared, orm),
  };
  startWorkerTasks(foundation, { ...setup, ...settlement, creation });
  return settlement;
}

/** Opens the venue. It closes after all parts that trade there. */
async function openOwnVenue(
  { config, clock, log, outside, closing }: Foundation,
  { orm, prices, networks }: SettlementSetup,
) {
  const { venue: opened, source } = openVenue({ config, clock, log, orm, prices, isSandbox: networks.live.size === 0 });
  const venue = traced(outside.venue?.(opened) ?? opened, 'venue');
  await refuseOtherVenue(orm, venue);
  closing.add(() => venue.close?.());
  return { venue, source };
}

/** Null where it is switched off, or there is no chain to compare the book with. */
function openReconciliations(
  { config, databaseUrl, clock, log }: Foundation,
  orm: MikroORM,
  adapters: ReadonlyMap<string, ChainAdapter>,
  holds: PayoutHolds,
): Reconciliations | null {
  const everySec = config.RECONCILE_EVERY_SEC;
  if (everySec === 0 || adapters.size === 0) return null;
  const openReconcileOrm = (): Promise<MikroORM> =>
    createOrm({ url: databaseUrl, poolSize: 2, statementTimeoutMs: patientStatementMs });
  return new Reconciliations({
    orm,
    openReconcileOrm,
    clock,
    log,
    adapters,
    everySec,
    onCompare: (patient) => noteVenueBalances(patient, clock.now()),
    onCompared: holdDifferences(holds),
  });
}

function historyTurns(
  { config, clock }: Foundation,
  { orm, networks }: SettlementSetup,
  { name }: LiquidityVenue,
): HistoryTurns {
  return new HistoryTurns({
    orm,
    clock,
    isExchange: name !== inventoryName,
    slowestPollMs: Math.max(config.CHAIN_POLL_MS, ...[...networks.live.values()].map(({ pollMs }) => pollMs)),
    depthMaxAgeSec: config.VENUE_DEPTH_MAX_AGE_SEC + fixedRateTimes(config).windowSec,
    reconcileEverySec: config.RECONCILE_EVERY_SEC,
  });
}

/** Holds payouts of the assets in which the ledger differs. */
function holdDifferences(holds: PayoutHolds): NonNullable<ReconciliationsOptions['onCompared']> {
  return async ({ lasting, young }, em) => {
    const assets = await em.find(Currency, {}, { fields: ['coin', 'network'] });
    const { found, unseen } = reconcileFindings(lasting, young, assets);
    await holds.checked('reconciliation', found, unseen, em);
  };
}

/**
 * What live chains need in addition to scanning and paying. The sandbox's coins stay where they
 * are.
 */
function chainTasks(
  { config, clock, log }: Foundation,
  { orm, catalogue, networks }: SettlementSetup,
  scanner: ChainScanner,
): ChainTask[] {
  const live = [...networks.live];
  if (live.length === 0) return [];
  const sweepFrom = new Map(live.map(([chain, network]) => [chain, network.sweepFrom]));
  const watchSec = compareWindows * config.DEPOSIT_WINDOW_SEC;
  const transfers = new InternalTransfers({ orm, clock, log, catalogue, scanner, watchSec });
  return [
    transfers,
    new Sweeper({ orm, clock, catalogue, transfers, sweepFrom }),
    new WalletSetup({ orm, clock, catalogue }),
    new WalletWatch({ orm, clock, log, catalogue, networks: networks.live }),
  ];
}

async function openAdapters(
  foundation: Foundation,
  setup: SettlementSetup,
  sandbox: SandboxChain,
  signer: Signer,
): Promise<Map<string, ChainAdapter>> {
  const { outside, metrics } = foundation;
  const adapters = await openChains({ ...foundation, ...setup, sandbox, signer });
  const doubts = (): [string, number][] =>
    [...adapters].flatMap(([chain, { doubtfulBlocks }]) =>
      doubtfulBlocks === undefined ? [] : [[chain, doubtfulBlocks]],
    );
  metrics.watchDoubtfulBlocks(() => new Map(doubts()));
  return new Map(
    [...adapters].map(([chain, adapter]) => {
      return [chain, traced(outside.chain?.(adapter) ?? adapter, 'chain', { chain })];
    }),
  );
}

/** Makes blocks on the sandbox's chains by the clock, while they have pending work. */
function mineByClock({ config, log, closing }: Foundation, sandbox: SandboxChain): void {
  const blockMs = config.SANDBOX_BLOCK_MS;
  if (blockMs === 0) return;
  const mining = repeat({
    task: () => sandbox.mineDue(blockMs),
    rhythm: every(Math.min(250, Math.max(5, Math.floor(blockMs / looksPerBlock)))),
    onFailure: warning(log, 'sandbox_failed', 'no sandbox block was made'),
  });
  closing.add(() => mining.stop());
}
