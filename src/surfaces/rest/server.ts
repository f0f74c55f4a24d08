import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Authenticator } from '../../accounts/partners/authenticator.ts';
import type { RefusalCounter } from '../../accounts/partners/key-refusals.ts';
import { AppError } from '../../base/errors.ts';
import { addressPrefix, addressReader, unknownClientWarning } from '../../base/limits/client-address.ts';
import type { Limiter } from '../../base/limits/limiter.ts';
import type { PartnerQueues } from '../../base/limits/partner-queues.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import type { ProcessMetrics } from '../../base/telemetry/process-metrics.ts';
import { isTracing, span } from '../../base/telemetry/tracing.ts';
import type { Config } from '../../config/settings.ts';
import type { Assets } from '../../market/currencies/assets.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { BindingQuotes } from '../../market/rates/binding-quotes.ts';
import type { RateService } from '../../market/rates/rate-service.ts';
import type { AddressChecks } from '../../orders/address-checks.ts';
import type { OrderCreation } from '../../orders/order-creation.ts';
import type { OrderService } from '../../orders/order-service.ts';
import type { FeedWatch } from '../../orders/read/feed-watch.ts';
import type { OrderReads } from '../../orders/read/order-reads.ts';
import type { PartnerEvents } from '../../orders/read/partner-events.ts';
import { isOrderPage, type OrderPageSite } from '../pages/order-page-site.ts';
import { sendAnswer, sendError } from './api/answer.ts';
import { openApi } from './api/api.ts';
import { Call } from './api/call.ts';
import { type Client, clientReader } from './api/client.ts';
import type { StreamTimes } from './api/event-stream.ts';
import type { EventWaits } from './api/event-waits.ts';
import type { CabinetServices } from './cabinet/cabinet-parts.ts';
import { orderPages } from './order-page.ts';
import { listAssetsHandler } from './partner/assets.ts';
import { invalidKey, presentedKey } from './partner/authenticate.ts';
import { type CommissionParts, commissionHandlers } from './partner/commission.ts';
import { apiRoot, sharedContract } from './partner/contract.ts';
import { getCoinIconHandler, listCurrenciesHandler } from './partner/currencies.ts';
import { getDocumentHandler } from './partner/docs.ts';
import { type EventParts, listEventsHandler, streamEventsHandler } from './partner/events.ts';
import type { Handlers, Refusals } from './partner/handler.ts';
import { NearbyRows, operationRows } from './partner/operations.ts';
import {
  actOnOrderHandler,
  cancelOrderHandler,
  changeOrderHandler,
  renewOrderPageHandler,
  revokeOrderPageHandler,
  setRefundAddressHandler,
} from './partner/order-changes.ts';
import { getOrderDetailsHandler, listOrderEventsHandler, listOrdersHandler } from './partner/order-lists.ts';
import { createOrderHandler, createOrderRefusal, getOrderHandler } from './partner/orders.ts';
import { listPairsHandler, listPairsRefusal } from './partner/pairs.ts';
import { actingForKeys, authorize, PartnerDoor, toAnswer } from './partner/partner-door.ts';
import { getPublicStatusHandler } from './partner/public-status.ts';
import { createQuoteHandler, createQuoteRefusal, getQuoteHandler } from './partner/quotes.ts';
import { RateLimit } from './partner/rate-limit.ts';
import { getRateHandler, getRateRefusal } from './partner/rates.ts';
import { type SandboxParts, sandboxHandlers, sandboxPaths } from './partner/sandbox.ts';
import {
  validateAddressHandler,
  validateAddressRefusal,
  validateOrderHandler,
  validateOrderRefusal,
} from './partner/validations.ts';
import { type WebhookParts, webhookHandlers } from './partner/webhooks.ts';

interface RestDependencies extends WebhookParts, SandboxParts, CommissionParts {
  /** The turns of partners at the connections of requests. */
  readonly queues: PartnerQueues;
  readonly config: Config;
  readonly log: Log;
  readonly limiter: Limiter;
  readonly authenticator: Authenticator;
  readonly catalogue: CurrencyCatalogue;
  readonly assets: Assets;
  readonly rates: RateService;
  readonly quotes: BindingQuotes;
  readonly creation: OrderCreation;
  readonly orderReads: OrderReads;
  readonly orderPageSite: OrderPageSite;
  readonly orderService: OrderService;
  readonly addressChecks: AddressChecks;
  readonly events: PartnerEvents;
  readonly feedWatch: FeedWatch;
  readonly eventWaits: EventWaits;
  readonly streamTimes: StreamTimes;
  /** Null where it is switched off. */
  readonly cabinet: CabinetServices | null;
  readonly metrics: ProcessMetrics;
  readonly refusals: Pick<RefusalCounter, 'count'>;
  /** Whether each answer is checked by its contract. */
  readonly checksAnswers: boolean;
}

/**
 * Makes the public listener, which serves /api/v1 and the pages of orders. Each request of the API
 * goes through the same steps: id, HTTPS, key and limits, contract, handler. Any failure ends in
 * the one error answer.
 */
export async function createRestListener(dependencies: RestDependencies): Promise<RequestListener> {
  const { config, log, limiter, authenticator, queues, metrics, refusals } = dependencies;
  const rateLimit = new RateLimit(config, limiter, authenticator);
  const api = await openApi({
    document: sharedContract(),
    root: apiRoot,
    ignoreTrailingSlashes: true,
    absent: dependencies.sandbox === null ? [sandboxPaths] : [],
    door: (shapes) => new PartnerDoor(rateLimit, queues, new NearbyRows(shapes)),
    handlers: handlersOf(dependencies),
    refusals: bodyRefusalsOf(dependencies),
    toAnswer,
    checksAnswers: dependencies.checksAnswers,
  });
  const pageAnswer = orderPages(dependencies.orderPageSite, rateLimit, queues, log);
  const cabinet = await openCabinet(dependencies);
  const clientOf = clientReader(addressReader(config.TRUSTED_PROXIES, unknownClientWarning(log)));
  const warnOfProxy = proxyWarning(log);

  const answer = async (call: Call): Promise<void> => {
    try {
      requireHttps(call.client);
      if (isOrderPage(call.path)) return sendAnswer(call, await pageAnswer(call));
      if (cabinet && isCabinet(call)) return sendAnswer(call, await cabinet(call));
      sendAnswer(call, await api(call));
    } catch (error) {
      sendError(call, error, log);
    } finally {
      observe(call);
    }
  };
  const observe = (call: Call): void => {
    const { method, route, res, startedAt } = call;
    if (call.caller?.kind === 'key') refusals.count(call.caller.keyId, res.statusCode);
    metrics.observeRequest({ method, route, status: res.statusCode, seconds: (performance.now() - startedAt) / 1000 });
  };
  const serve = (call: Call): Promise<void> => (isTracing() ? tracedAnswer(call, answer) : answer(call));
  return (req, res) => {
    const client = clientOf(req);
    const call = new Call(req, res, requestId(req.headers['x-request-id'], client), client);
    if (req.headers['x-forwarded-for'] !== undefined) warnOfProxy(client);
    if (log.isLevelEnabled('info')) res.on('close', () => logCall(log, call));
    void serve(call);
  };
}

/** The handler of each operation of the partner contract. */
function handlersOf(dependencies: RestDependencies): Handlers {
  const { catalogue, assets, rates, quotes, creation, addressChecks, orderReads, orderService } = dependencies;
  const eventParts = eventPartsOf(dependencies);
  const acting = actingForKeys(dependencies.queues);
  return {
    listCurrencies: listCurrenciesHandler(catalogue),
    getCoinIcon: getCoinIconHandler(catalogue),
    getRate: getRateHandler(rates),
    createQuote: createQuoteHandler(quotes),
    getQuote: getQuoteHandler(quotes, creation),
    listAssets: listAssetsHandler(catalogue, assets),
    listPairs: listPairsHandler({ catalogue, assets, rates }),
    validateAddress: validateAddressHandler(addressChecks),
    validateOrder: validateOrderHandler(creation),
    createOrder: createOrderHandler(creation),
    getOrder: getOrderHandler(orderReads),
    listOrders: listOrdersHandler(orderReads),
    getOrderDetails: getOrderDetailsHandler(orderReads),
    listOrderEvents: listOrderEventsHandler(orderReads),
    changeOrder: changeOrderHandler(orderService, orderReads),
    setRefundAddress: setRefundAddressHandler(orderService, orderReads),
    actOnOrder: actOnOrderHandler(orderService, orderReads, acting),
    cancelOrder: cancelOrderHandler(orderService, orderReads),
    renewOrderPage: renewOrderPageHandler(orderService, orderReads),
    revokeOrderPage: revokeOrderPageHandler(orderService, orderReads),
    listEvents: listEventsHandler(eventParts),
    streamEvents: streamEventsHandler(eventParts, dependencies.streamTimes),
    ...webhookHandlers(dependencies, acting),
    ...commissionHandlers(dependencies, acting),
    ...sandboxHandlers(dependencies),
    getPublicStatus: getPublicStatusHandler(orderReads),
    getDocument: getDocumentHandler(sharedContract()),
  };
}

/** What operations find wrong in a request whose body the contract refuses. */
function bodyRefusalsOf({ creation, quotes, addressChecks, rates }: RestDependencies): Refusals {
  return {
    createOrder: createOrderRefusal(creation),
    createQuote: createQuoteRefusal(quotes),
    validateOrder: validateOrderRefusal(creation),
    validateAddress: validateAddressRefusal(addressChecks),
    getRate: getRateRefusal(rates),
    listPairs: listPairsRefusal(rates),
  };
}

function eventPartsOf({ events, feedWatch, eventWaits, authenticator, queues, log }: RestDependencies): EventParts {
  return {
    read: (partnerId, request) => queues.work(partnerId, () => events.read(partnerId, request)),
    watch: feedWatch,
    waits: eventWaits,
    recheck: async (call) => {
      const presented = presentedKey(call);
      const { key } = presented.kind === 'key' ? presented : { key: null };
      call.caller = key && (await authenticator.authenticate(key, call.client.address));
      call.authFailure = invalidKey();
      authorize(operationRows.listEvents, call);
    },
    onStreamFailure: (error) =>
      log.warn({ event: 'event_stream_failed', ...errorMembers(error) }, 'a stream of events ended'),
  };
}

/** Loads the cabinet's code only where it is switched on. */
async function openCabinet({ cabinet, config, limiter, checksAnswers }: RestDependencies) {
  if (!cabinet) return null;
  const { cabinetSite } = await import('./cabinet/cabinet-site.ts');
  return cabinetSite({ services: cabinet, config, limiter, origin: cabinet.origin, checksAnswers });
}

/** Whether a request is for the cabinet. */
function isCabinet({ path }: Call): boolean {
  return path === '/cabinet' || path.startsWith('/cabinet/');
}

/** Answers a request within a span. The caller's trace is continued only behind a trusted proxy. */
function tracedAnswer(call: Call, answer: (call: Call) => Promise<void>): Promise<void> {
  const { method, id, client } = call;
  const attributes = { 'http.request.method': method, 'request.id': id };
  const parent = client.isBehindProxy ? call.header('traceparent') : undefined;
  return span(method, { kind: 'server', attributes, parent }, async (opened) => {
    await answer(call);
    const { route, res, caller, errorCode } = call;
    opened.rename(`${method} ${route}`);
    opened.set({ 'http.route': route, 'http.response.status_code': res.statusCode });
    if (caller?.kind === 'key') opened.set({ 'partner.id': caller.partner.id });
    if (errorCode !== null && res.statusCode >= 500) opened.fail(errorCode);
  });
}

const acceptableRequestId = /^[A-Za-z0-9_-]{8,64}$/;

/** Returns the request id. An inbound id is kept only from a trusted proxy. */
function requestId(inbound: string | string[] | undefined, { isBehindProxy }: Client): string {
  return isBehindProxy && typeof inbound === 'string' && acceptableRequestId.test(inbound) ? inbound : randomUUID();
}

/**
 * Refuses plain HTTP except from this machine. A redirect would teach clients to send keys in clear
 * text.
 */
function requireHttps({ isSecure, isLocal }: Client): void {
  if (isSecure || isLocal) return;
  const detail = 'this API is served over HTTPS only; use https:// and replace the key that you sent';
  throw new AppError('https_required', detail);
}

function logCall(log: Log, { res, req, id, route, startedAt, client, caller, errorCode }: Call): void {
  log.info(
    {
      event: 'request',
      request_id: id,
      method: req.method,
      route,
      status: res.writableEnded ? res.statusCode : 499,
      ms: Math.round((performance.now() - startedAt) * 100) / 100,
      ip_prefix: addressPrefix(client.address),
      ...(caller?.kind === 'key' ? { partner_id: caller.partner.id, key_id: caller.keyId } : {}),
      ...(errorCode ? { code: errorCode } : {}),
    },
    'request',
  );
}

/**
 * Makes the function that warns once about a proxy on this machine that TRUSTED_PROXIES does not
 * name.
 */
function proxyWarning(log: Log): (client: Client) => void {
  let warned = false;
  return ({ isBehindProxy, isLocal }) => {
    if (warned || isBehindProxy || !isLocal) return;
    warned = true;
    const advice = 'X-Forwarded-For came from this machine and was ignored; a proxy here belongs in TRUSTED_PROXIES';
    log.warn({ event: 'untrusted_proxy', setting: 'TRUSTED_PROXIES' }, advice);
  };
}
