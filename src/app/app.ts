import type { MikroORM } from '@mikro-orm/postgresql';
import { PartnerLanes } from '../base/limits/partner-lanes.ts';
import type { Log } from '../base/log.ts';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import { ConfigError } from '../config/load-config.ts';
import { drainGraceMs } from '../config/public-url.ts';
import { Assets } from '../market/currencies/assets.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import type { OrderService } from '../orders/order-service.ts';
import type { MagicOrders } from '../settlement/sandbox/magic-orders.ts';
import { OrderPageSite } from '../surfaces/pages/order-page-site.ts';
import { bootstrap, createDemoAccess, type DemoAccess } from './bootstrap.ts';
import { type AppOptions, type Foundation, openFoundation } from './foundation.ts';
import type { Listener } from './listener.ts';
import { openAuthenticator } from './open-authenticator.ts';
import { openCabinet } from './open-cabinet.ts';
import { openCatalogue } from './open-catalogue.ts';
import { openDatabase, requestLanes } from './open-database.ts';
import { openDepositPool } from './open-deposit-pool.ts';
import { type Internal, openInternal } from './open-internal.ts';
import { openLimits } from './open-limits.ts';
import { openNetworks, unsafeSettings } from './open-networks.ts';
import { openOrders } from './open-orders.ts';
import { openPrices } from './open-prices.ts';
import { openRest } from './open-rest.ts';
import { openMagicOrders, openSandbox } from './open-sandbox.ts';
import type { Settlement, SettlementParts } from './open-settlement.ts';
import { offerStaffApi, offerStaffDatabase, openStaff } from './open-staff.ts';
import { openTracing } from './open-tracing.ts';
import { openReplays, openWebhookSending, openWebhooks, type WebhookSending } from './open-webhooks.ts';
import { endPart, logParts } from './start-parts.ts';

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
  /** Null in an api process. */
  readonly webhooks: WebhookSending | null;
  /** Null in an api process, and beside a real network. */
  readonly magicOrders: MagicOrders | null;
  readonly networks: LiveNetworks;
  /** Makes changes of the catalogue visible at once instead of within seconds. */
  readonly catalogue: CurrencyCatalogue;
  /**
   * Drains: ready becomes false at once, and requests are still answered while load balancers and
   * clients move away. Then the work under way ends. When another process has replaced this one
   * behind the same port, ready stays true.
   */
  stop(options?: StopOptions): Promise<void>;
}

export interface StopOptions {
  readonly isReplaced: boolean;
}

/**
 * Starts the gateway. Its parts are closed in reverse order: at the end, or when the start fails.
 *
 * @throws StartError when an operator must act first; ConfigError for settings that do not go
 *   together with the networks.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const foundation = openFoundation(options);
  try {
    return await openParts(foundation);
  } catch (error) {
    await foundation.closing.closeAll();
    throw error;
  }
}

/** Opens the parts in the order of their dependencies. */
async function openParts(foundation: Foundation): Promise<App> {
  const { config, log, closing } = foundation;
  await openTracing(foundation);
  const networks = await openNetworks(config);
  const unsafe = unsafeSettings(config, networks);
  if (unsafe.length > 0) throw new ConfigError(unsafe);
  const orm = await openDatabase(foundation, 'requests');
  closing.add(() => orm.close(true));
  endPart('object-relational mapper');
  const { hasher, signing } = await bootstrap(foundation, { orm, networks });
  endPart('bootstrap');
  await openDepositPool(foundation, signing);
  endPart('deposit addresses');
  const catalogue = await openCatalogue(foundation, { orm, networks });
  endPart('catalogue');
  const { prices, overrides } = await openPrices(foundation, { orm, catalogue });
  endPart('prices');
  const lanes = new PartnerLanes(requestLanes(config));
  const offered = await openOrders(foundation, { orm, lanes, catalogue, prices, networks, hasher });
  const { rates, quotes, unpaid, orders, addressChecks, partnerOrders, wallets, changes, choices, events } = offered;
  const signer = signing?.signer ?? null;
  const settlement = await openWorker(foundation, { orders, unpaid, catalogue, prices, networks, signer });
  endPart('settlement');
  const webhooks = await openWebhookSending(foundation, hasher);
  endPart('webhooks');
  const magicOrders = await openMagicOrders(foundation, { orm, catalogue, networks });
  const authenticator = openAuthenticator(foundation, { orm, hasher });
  const limiter = await openLimits(foundation);
  const staff = openStaff(foundation, { orm, hasher });
  endPart('limits and sessions');
  const database = offerStaffDatabase(foundation);
  const staffApi = offerStaffApi(foundation, {
    database,
    hasher,
    limiter,
    networks,
    catalogue,
    prices,
    overrides,
    rates,
    wallets,
    openOrders: unpaid,
    authenticator: staff.authenticator,
    actions: settlement?.staffActions ?? null,
  });
  const internal = await openInternal(foundation, {
    orm,
    prices,
    limiter,
    networks,
    staff: { ...staff, database },
    staffApi,
  });
  const assets = new Assets(networks);
  const replays = await openReplays(foundation);
  const rest = await openRest(foundation, {
    limiter,
    lanes,
    authenticator,
    catalogue,
    assets,
    rates,
    quotes,
    orders,
    partnerOrders,
    orderPageSite: new OrderPageSite(partnerOrders, wallets, foundation.clock),
    changes,
    choices,
    addressChecks,
    orm,
    events,
    webhooks: { ...openWebhooks(foundation, { orm, hasher }), replays },
    cabinet: await openCabinet(foundation, {
      hasher,
      networks,
      cabinetOrders: offered.cabinetOrders,
      replays,
      openOrders: unpaid,
      wallets,
      limiter,
    }),
    sandbox: await openSandbox(foundation, { orm, catalogue, networks }),
  });
  endPart('REST API and listeners');
  const demo = await createDemoAccess(foundation, { orm, networks, hasher });
  endPart('demo access');
  logParts(log);
  const urls = { restUrl: rest?.url ?? null, internalUrl: internal.url };
  return {
    ...urls,
    demo,
    orm,
    log,
    orders,
    prices,
    settlement,
    webhooks,
    magicOrders,
    networks,
    catalogue,
    stop: drain(foundation, internal, rest),
  };
}

/** Opens settlement in a worker. An api process never loads its code. */
async function openWorker(foundation: Foundation, parts: SettlementParts): Promise<Settlement | null> {
  if (foundation.config.ROLE === 'api') return null;
  const { openSettlement } = await import('./open-settlement.ts');
  return openSettlement(foundation, parts);
}

/** Makes the function that stops the gateway once. */
function drain({ config, closing }: Foundation, internal: Internal, rest: Listener | null): App['stop'] {
  let stopped: Promise<void> | undefined;
  const stop = async ({ isReplaced }: StopOptions): Promise<void> => {
    internal.beginDrain(isReplaced);
    rest?.beginDrain();
    await new Promise((resolve) => setTimeout(resolve, drainGraceMs(config)));
    await closing.closeAll();
  };
  return (options = { isReplaced: false }) => {
    stopped ??= stop(options);
    return stopped;
  };
}
