import type { MikroORM } from '@mikro-orm/postgresql';
import { PartnerQueues } from '../base/limits/partner-queues.ts';
import { fixedRateTimes } from '../config/fixed-rates.ts';
import { Assets } from '../market/currencies/assets.ts';
import { WalletLinks } from '../market/currencies/wallet-links.ts';
import { BindingQuotes } from '../market/rates/binding-quotes.ts';
import { QuoteTokens } from '../market/rates/quote-token.ts';
import { RateService } from '../market/rates/rate-service.ts';
import { ActionOffers } from '../orders/action-offers.ts';
import { OpenOrders } from '../orders/open-orders.ts';
import { CommissionAddresses } from '../settlement/commission/commission-addresses.ts';
import { recordPartnerEvent } from '../webhooks/partner-events.ts';
import type { Foundation } from './foundation.ts';
import { requestQueues } from './open-database.ts';
import { type Market, openMarket } from './open-market.ts';
import type { GatewayShared, Shared } from './services.ts';

/** Opens what the services of all pools share: the market, rates, quotes, caps of open orders. */
export async function openShared(foundation: Foundation, shared: Shared, orm: MikroORM): Promise<GatewayShared> {
  const { config, clock, metrics } = foundation;
  const market = await openMarket(foundation, shared.networks, orm);
  const { catalogue, prices } = market;
  const assets = new Assets(shared.networks);
  const pricing = { float: config.FEE_RATE_FLOAT, fixed: config.FEE_RATE_FIXED };
  const rates = new RateService(catalogue, prices, pricing, assets);
  const queues = new PartnerQueues(requestQueues(config));
  return {
    ...shared,
    ...market,
    assets,
    commissionAddresses: new CommissionAddresses({
      catalogue,
      onChanged: (em, partnerId, data, at) =>
        recordPartnerEvent(em, { partnerId, type: 'commission.address_changed', data, at }),
    }),
    rates,
    quotes: openQuotes(foundation, { ...shared, ...market, rates }),
    offers: new ActionOffers({ clock, catalogue, prices, ...fixedRateTimes(config) }),
    wallets: new WalletLinks(catalogue, assets, shared.networks),
    queues,
    onBatch: (statement, items, waitedMs) => metrics.observeBatch(statement, items, waitedMs),
    openOrders: new OpenOrders({
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
      queues,
      processes: config.NODE_COUNT * config.API_PROCESSES,
    }),
  };
}

/** Opens the binding quotes. Their keys come from the peppers, so that all processes share them. */
function openQuotes(
  { config, clock, log, metrics }: Foundation,
  { catalogue, prices, networks, hasher, rates }: Shared & Market & { readonly rates: RateService },
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
