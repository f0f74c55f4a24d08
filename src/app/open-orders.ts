import type { MikroORM } from '@mikro-orm/postgresql';
import type { KeyHasher } from '../accounts/partners/secret-key.ts';
import type { PartnerLanes } from '../base/limits/partner-lanes.ts';
import type { Log } from '../base/log.ts';
import type { ProcessMetrics } from '../base/telemetry/process-metrics.ts';
import { DepositAddresses } from '../chains/addresses/deposit-addresses.ts';
import { pointAddition } from '../chains/addresses/point-addition.ts';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import { fixedRateTimes } from '../config/fixed-rates.ts';
import { publicUrl } from '../config/public-url.ts';
import { Assets } from '../market/currencies/assets.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import { WalletLinks } from '../market/currencies/wallet-links.ts';
import { BindingQuotes } from '../market/rates/binding-quotes.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import { QuoteTokens } from '../market/rates/quote-token.ts';
import { RateService } from '../market/rates/rate-service.ts';
import { ActionOffers } from '../orders/action-offers.ts';
import { AddressChecks } from '../orders/address-checks.ts';
import { LockedChanges } from '../orders/locked-changes.ts';
import { OpenOrders } from '../orders/open-orders.ts';
import { OrderChanges } from '../orders/order-changes.ts';
import { OrderChoices } from '../orders/order-choices.ts';
import { OrderPages, pagePurpose } from '../orders/order-pages.ts';
import { OrderService } from '../orders/order-service.ts';
import type { OrderView } from '../orders/order-statements.ts';
import { cursorPurpose, ListCursors } from '../orders/read/list-cursor.ts';
import { PartnerEvents } from '../orders/read/partner-events.ts';
import { PartnerOrders } from '../orders/read/partner-orders.ts';
import type { Foundation } from './foundation.ts';

export interface OrderParts {
  readonly orm: MikroORM;
  /** The turns of partners at the connections of requests. */
  readonly lanes: PartnerLanes;
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
  readonly networks: LiveNetworks;
  readonly hasher: KeyHasher;
}

/** The services that quote rates and create orders. */
export interface Orders {
  readonly rates: RateService;
  readonly quotes: BindingQuotes;
  readonly orders: OrderService;
  readonly addressChecks: AddressChecks;
  readonly unpaid: OpenOrders;
  readonly partnerOrders: PartnerOrders;
  /** The services of the cabinet, on connections that are not those of requests. */
  readonly cabinetOrders: (orm: MikroORM) => Pick<Orders, 'partnerOrders' | 'choices'>;
  readonly wallets: WalletLinks;
  readonly changes: OrderChanges;
  readonly choices: OrderChoices;
  readonly events: PartnerEvents;
}

/** Opens the services for partners: rates, limits of unpaid orders, orders. */
export async function openOrders(foundation: Foundation, parts: OrderParts): Promise<Orders> {
  const { config, clock, log, metrics } = foundation;
  const { orm, lanes, catalogue, prices, hasher } = parts;
  const pricing = { float: config.FEE_RATE_FLOAT, fixed: config.FEE_RATE_FIXED };
  const assets = new Assets(parts.networks);
  const rates = new RateService(catalogue, prices, pricing, assets);
  const quotes = openQuotes(foundation, parts, rates);
  const addresses = new DepositAddresses(orm, {
    onDerived: (isAhead) => metrics.countDerivation(isAhead),
    onThreadEnd: (reason) => {
      const advice = 'the thread that derives deposit addresses ahead has ended; requests derive them for 10 seconds';
      log.warn({ event: 'derivation_thread_ended', detail: reason }, advice);
    },
  });
  foundation.closing.add(() => addresses.close());
  await addresses.load();
  await tellOfDerivation(log, metrics);
  const unpaid = new OpenOrders({
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
    maxDrift: config.FIXED_MAX_DRIFT,
    lanes,
    processes: config.NODE_COUNT * config.API_PROCESSES,
  });
  const pages = new OrderPages(hasher.derivedKeys(pagePurpose), publicUrl(config));
  const orders = new OrderService({
    orm,
    clock,
    rates,
    addresses,
    openOrders: unpaid,
    quotes,
    pages,
    depositWindowSec: config.DEPOSIT_WINDOW_SEC,
    shortIdPrefix: config.SHORT_ID_PREFIX,
    lanes,
    onQuoteUsed: (partnerId, adverse) => {
      const adverseBps = Number.parseInt(adverse.times('10000').toFixed(0), 10);
      metrics.observeQuote(adverseBps);
      log.info({ event: 'quote_used', partner_id: partnerId, adverse_bps: adverseBps }, 'a quote became an order');
    },
    onBatch: (statement, items, waitedMs) => metrics.observeBatch(statement, items, waitedMs),
  });
  const offers = new ActionOffers({ clock, catalogue, prices, ...fixedRateTimes(config) });
  const cursors = new ListCursors(hasher.derivedKeys(cursorPurpose));
  const wallets = new WalletLinks(catalogue, assets, parts.networks);
  const reader = {
    offers,
    pages,
    paymentUri: (order: OrderView) => wallets.paymentUri(order),
    cursors,
    depositGraceSec: config.DEPOSIT_GRACE_SEC,
  };
  const partnerOrders = new PartnerOrders({ ...reader, orm });
  const events = new PartnerEvents(orm, cursors);
  const addressChecks = new AddressChecks(orm, catalogue);
  const locked = new LockedChanges(orm, clock);
  const changes = new OrderChanges({ changes: locked, catalogue, openOrders: unpaid, pages });
  const choices = new OrderChoices({ changes: locked, offers });
  const cabinetOrders: Orders['cabinetOrders'] = (own) => ({
    partnerOrders: new PartnerOrders({ ...reader, orm: own }),
    choices: new OrderChoices({ changes: new LockedChanges(own, clock), offers }),
  });
  return {
    rates,
    quotes,
    orders,
    addressChecks,
    unpaid,
    partnerOrders,
    cabinetOrders,
    wallets,
    changes,
    choices,
    events,
  };
}

/** Opens the binding quotes. Their keys come from the peppers, so that all processes share them. */
function openQuotes(
  { config, clock, log, metrics }: Foundation,
  { catalogue, prices, networks, hasher }: OrderParts,
  rates: RateService,
): BindingQuotes {
  return new BindingQuotes({
    clock,
    catalogue,
    prices,
    rates,
    tokens: new QuoteTokens(hasher.derivedKeys('binding quotes')),
    environment: networks.areOfValue ? 'live' : 'test',
    ...fixedRateTimes(config),
    maxMarkupBps: config.MAX_MARKUP_BPS,
    restricted: config.RESTRICTED_COUNTRIES,
    onBreaker: ({ from, to }) => {
      metrics.countQuoteBreaker();
      const detail = `${from.coin}-${to.coin}`;
      log.warn({ event: 'quote_breaker', detail }, 'a held price is far from the market and was refused');
    },
  });
}

/** Orders cost more than twice the CPU time on a platform without machine code for secp256k1. */
async function tellOfDerivation(log: Log, metrics: ProcessMetrics): Promise<void> {
  const { engine } = await pointAddition;
  metrics.observeDerivation(engine !== 'native');
  if (engine === 'native') return;
  const advice = 'deposit addresses are derived in WebAssembly, at twice the time: secp256k1 has no machine code here';
  log.warn({ event: 'slow_derivation', code: `${process.platform} ${process.arch}` }, advice);
}
