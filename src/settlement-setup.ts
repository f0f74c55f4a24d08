import type { MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter } from './chains/chain-adapter.ts';
import type { LiveNetworks } from './chains/live-networks.ts';
import { SandboxChain } from './chains/sandbox/sandbox-chain.ts';
import type { Signer } from './chains/signer.ts';
import { openChains } from './chains-setup.ts';
import type { Clock } from './clock.ts';
import { type Config, payoutRules } from './config.ts';
import type { CurrencyCatalogue } from './currencies/currency-catalogue.ts';
import { createOrm, patientStatementMs } from './db/orm.ts';
import { JobQueue } from './jobs/job-queue.ts';
import type { LedgerAsset } from './ledger/ledger.ts';
import { Reconciliations, type ReconciliationsOptions } from './ledger/reconciliations.ts';
import { errorMembers, type Log } from './log.ts';
import type { PriceBook } from './rates/price-book.ts';
import { ChainScanner } from './settlement/chain-scanner.ts';
import type { ChainTask } from './settlement/chain-task.ts';
import { FeeShares } from './settlement/fee-shares.ts';
import { InternalTransfers } from './settlement/internal-transfers.ts';
import { OrderExpiry } from './settlement/order-expiry.ts';
import { OrderSettler } from './settlement/order-settler.ts';
import { PaymentFollower } from './settlement/payment-follower.ts';
import { PaymentTransactions } from './settlement/payment-transactions.ts';
import { PaymentWorker } from './settlement/payment-worker.ts';
import { PaymentWriter } from './settlement/payment-writer.ts';
import { PayoutHolds, reconcileFindings } from './settlement/payout-holds.ts';
import { PayoutLimits } from './settlement/payout-limits.ts';
import { PayoutWatch } from './settlement/payout-watch.ts';
import { SettlementWorker } from './settlement/settlement-worker.ts';
import { StaffActions } from './settlement/staff-actions.ts';
import { Sweeper } from './settlement/sweeper.ts';
import { WalletWatch } from './settlement/wallet-watch.ts';
import { settlementTools } from './settlement-tools.ts';
import { StartError } from './start-error.ts';
import type { Surroundings } from './surroundings.ts';
import { traced } from './tracing/tracing.ts';
import { openVenue, refuseOtherVenue } from './venue-setup.ts';

/** The running half of the gateway that moves orders and money. */
export interface Settlement {
  readonly worker: SettlementWorker;
  readonly settler: OrderSettler;
  readonly staffActions: StaffActions;
  readonly sandbox: SandboxChain;
  /** Empty where nothing can be signed, and so the chains are left to other processes. */
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
  /** Null where it is switched off, or no chain is at hand to compare the book with. */
  readonly reconciliations: Reconciliations | null;
  readonly payoutWatch: PayoutWatch;
  close(): Promise<void>;
}

export interface SettlementOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
  readonly networks: LiveNetworks;
  readonly signer: Signer | null;
  readonly surroundings: Surroundings;
}

/** So many deposit windows after an order was made, coins that only its balance shows are looked for first. */
const compareWindows = 48;
/** How often the sandbox looks whether a block is due, for each block interval. */
const looksPerBlock = 4;

/** Builds settlement from plain constructors and starts it. */
export async function openSettlement(options: SettlementOptions): Promise<Settlement> {
  const { config, databaseUrl, orm, clock, log, catalogue, surroundings } = options;
  const { onBoundary = () => {}, background = true } = surroundings;
  const sandbox = new SandboxChain({ orm, clock });
  const signer = options.signer && traced(surroundings.signer?.(options.signer) ?? options.signer, 'signer');
  const opened = openVenue(options);
  const venue = traced(surroundings.venue?.(opened) ?? opened, 'venue');
  await refuseOtherVenue(orm, venue);
  const tools = settlementTools(options, venue);
  const adapters = signer ? await openAdapters(options, sandbox, signer) : new Map<string, ChainAdapter>();
  const jobs = new JobQueue(databaseUrl, log);
  await jobs.start();
  const settler = new OrderSettler({ orm, clock, log, tools, onBoundary });
  const scanner = new ChainScanner({ orm, clock, log, tools, jobs, onBoundary });
  const writer = new PaymentWriter(orm, clock);
  const limits = new PayoutLimits({ orm, clock, prices: options.prices, rules: payoutRules(config) });
  const holds = new PayoutHolds(orm, clock, log);
  const transactions = new PaymentTransactions({
    orm,
    clock,
    log,
    catalogue,
    signer: signer ?? unavailable,
    writer,
    onBoundary,
    limits,
    maxFeeFactor: config.MAX_FEE_FACTOR,
    refundFeeFactor: config.REFUND_FEE_FACTOR,
    prices: options.prices,
  });
  const feeShares = new FeeShares({
    orm,
    clock,
    networks: options.networks.live,
    parts: {
      refunds: config.FEE_SHARE_REFUNDS,
      sweeps: config.FEE_SHARE_SWEEPS,
      partner: config.FEE_SHARE_PARTNER,
    },
  });
  const follower = new PaymentFollower({ orm, clock, log, catalogue, jobs, onBoundary, transactions, writer });
  const worker = new SettlementWorker({
    orm,
    clock,
    log,
    adapters,
    scanner,
    payments: new PaymentWorker({
      orm,
      clock,
      log,
      onBoundary,
      transactions,
      writer,
      follower,
      limits,
      feeShares,
      giveUpSec: config.PAYMENT_GIVE_UP_SEC,
    }),
    settler,
    tasks: chainTasks(options, scanner),
    venue,
    expiry: new OrderExpiry(orm, clock),
    jobs,
    pollMs: config.CHAIN_POLL_MS,
    leaseMs: config.CHAIN_LEASE_MS,
  });
  await worker.open();
  if (background) await worker.start();
  const everySec = config.RECONCILE_EVERY_SEC;
  const openPatient = (): Promise<MikroORM> =>
    createOrm({ url: databaseUrl, poolSize: 2, statementTimeoutMs: patientStatementMs });
  const isReconciling = everySec > 0 && adapters.size > 0;
  const isMining = background && options.networks.chains('sandbox').length > 0;
  const stopMining = isMining ? mineByClock(sandbox, config.SANDBOX_BLOCK_MS, log) : () => {};
  return {
    worker,
    settler,
    staffActions: new StaffActions({ orm, clock, settler, jobs }),
    sandbox,
    adapters,
    reconciliations: isReconciling
      ? new Reconciliations({ orm, openPatient, clock, log, adapters, everySec, onCompared: holdDifferences(holds) })
      : null,
    payoutWatch: new PayoutWatch({
      orm,
      clock,
      prices: options.prices,
      holds,
      limits,
      venueLossLimitUsd: config.VENUE_LOSS_LIMIT_USD,
    }),
    close: async () => {
      await stopMining();
      await worker.stop();
      await jobs.stop();
      await venue.close?.();
    },
  };
}

/** Holds payouts of the assets in which the book differs. */
function holdDifferences(holds: PayoutHolds): NonNullable<ReconciliationsOptions['onCompared']> {
  return async (lasting, em) => {
    const assets = await em.execute<LedgerAsset[]>('select coin, network from currency');
    const { found, unseen } = reconcileFindings(lasting, assets);
    await holds.looked('reconciliation', found, unseen, em);
  };
}

/** What live chains need beside scanning and paying. The sandbox's coins stay where they are. */
function chainTasks(
  { config, orm, clock, log, catalogue, networks }: SettlementOptions,
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
    new WalletWatch({ orm, clock, log, catalogue, networks: networks.live }),
  ];
}

/** A worker without keys has no chains, so nothing is ever asked of this. */
const noSigner = (): Promise<never> => Promise.reject(new StartError('this process has no signer'));
const unavailable: Signer = { sign: noSigner, revoke: noSigner, hotWallet: noSigner };

async function openAdapters(
  options: SettlementOptions,
  sandbox: SandboxChain,
  signer: Signer,
): Promise<Map<string, ChainAdapter>> {
  const { surroundings } = options;
  const adapters = await openChains({ ...options, sandbox, signer, onProgress: surroundings.onProgress ?? (() => {}) });
  return new Map(
    [...adapters].map(([chain, adapter]) => {
      return [chain, traced(surroundings.chain?.(adapter) ?? adapter, 'chain', { chain })];
    }),
  );
}

/** Makes blocks on the sandbox's chains by the clock, as long as they have something to do. Returns how to stop. */
function mineByClock(sandbox: SandboxChain, blockMs: number, log: Log): () => Promise<void> {
  if (blockMs === 0) return async () => {};
  let running: Promise<unknown> = Promise.resolve();
  let idle = true;
  const timer = setInterval(
    () => {
      if (!idle) return;
      idle = false;
      running = sandbox
        .mineDue(blockMs)
        .catch((error) => log.warn({ event: 'sandbox_failed', ...errorMembers(error) }, 'no sandbox block was made'))
        .finally(() => {
          idle = true;
        });
    },
    Math.min(250, Math.max(5, Math.floor(blockMs / looksPerBlock))),
  ).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
