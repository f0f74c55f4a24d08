import type { MikroORM } from '@mikro-orm/postgresql';
import type { Log } from '../base/log.ts';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import { drainGraceMs } from '../config/public-url.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import type { OrderCreation } from '../orders/order-creation.ts';
import type { OrderReads } from '../orders/read/order-reads.ts';
import type { CommissionAddresses } from '../settlement/commission/commission-addresses.ts';
import type { MagicOrders } from '../settlement/sandbox/magic-orders.ts';
import { bootstrap, createDemoAccess, type DemoAccess } from './bootstrap.ts';
import { type AppOptions, type Foundation, openFoundation, openTracing } from './foundation.ts';
import type { Listener } from './listener.ts';
import { openAdmission } from './open-admission.ts';
import { openDatabase } from './open-database.ts';
import { type Internal, openInternal } from './open-internal.ts';
import { openSafeNetworks } from './open-networks.ts';
import { openRequests, type Requests } from './open-requests.ts';
import { openRest } from './open-rest.ts';
import { openMagicOrders } from './open-sandbox.ts';
import type { Settlement } from './open-settlement.ts';
import { openShared } from './open-shared.ts';
import type { Signing } from './open-signing.ts';
import { openWebhookSending, type WebhookSending } from './open-webhooks.ts';
import type { GatewayShared } from './services.ts';
import { endPart, logParts } from './start-parts.ts';

/** A running gateway. */
export interface App {
  /** Base address of the public listener, without /api/v1; null for a worker, which has none. */
  readonly restUrl: string | null;
  readonly internalUrl: string;
  readonly demo: DemoAccess | null;
  readonly orm: MikroORM;
  readonly log: Log;
  readonly creation: OrderCreation;
  readonly orderReads: OrderReads;
  readonly prices: PriceBook;
  /** Null in an api process. */
  readonly settlement: Settlement | null;
  /** Null in an api process. */
  readonly webhooks: WebhookSending | null;
  /** Null in an api process, and with a real network. */
  readonly magicOrders: MagicOrders | null;
  readonly networks: LiveNetworks;
  /** Makes changes of the catalogue visible at once instead of within seconds. */
  readonly catalogue: CurrencyCatalogue;
  readonly commissionAddresses: CommissionAddresses;
  /** Reads the certificate of the public listener again. @throws what the listener throws. */
  renewCertificate(): void;
  /**
   * Drains: ready becomes false at once, and requests are still answered while load balancers and
   * clients move away. Then the work under way ends. When another process has replaced this one
   * behind the same port, ready stays true.
   */
  stop(options?: StopOptions): Promise<void>;
}

interface StopOptions {
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
  await openTracing(foundation);
  const networks = await openSafeNetworks(foundation.config);
  const orm = await openDatabase(foundation, 'requests');
  endPart('object-relational mapper');
  const { shared: base, signing } = await bootstrap(foundation, { orm, networks });
  endPart('bootstrap');
  await signing?.fillPools();
  endPart('deposit addresses');
  const shared = await openShared(foundation, base, orm);
  const requests = await openRequests(foundation, shared, orm);
  const settlement = await openWorker(foundation, shared, requests, signing);
  endPart('settlement');
  const webhooks = await openWebhookSending(foundation, shared);
  endPart('webhooks');
  const magicOrders = await openMagicOrders(foundation, shared, orm);
  const admission = await openAdmission(foundation, shared, orm);
  endPart('limits and sessions');
  const actions = settlement?.staffActions ?? null;
  const internal = await openInternal(foundation, shared, requests, { ...admission, actions });
  const rest = await openRest(foundation, shared, requests, admission);
  endPart('REST API and listeners');
  const demo = await createDemoAccess(foundation, shared, requests);
  endPart('demo access');
  logParts(foundation.log);
  const { catalogue, commissionAddresses, prices, log } = shared;
  const urls = { restUrl: rest?.url ?? null, internalUrl: internal.url };
  const { creation, orderReads } = requests;
  const own = { demo, orm, log, creation, orderReads, prices, networks, catalogue, commissionAddresses };
  const renewCertificate = (): void => rest?.renewCertificate();
  const stop = drain(foundation, internal, rest);
  return { ...urls, ...own, settlement, webhooks, magicOrders, renewCertificate, stop };
}

/** Opens settlement in a worker. An api process never loads its code. */
async function openWorker(
  foundation: Foundation,
  shared: GatewayShared,
  requests: Requests,
  signing: Signing | null,
): Promise<Settlement | null> {
  if (foundation.config.ROLE === 'api') return null;
  const { openSettlement } = await import('./open-settlement.ts');
  return openSettlement(foundation, shared, requests, signing?.signer ?? null);
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
