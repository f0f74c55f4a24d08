import type { MikroORM } from '@mikro-orm/postgresql';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import { inventsPrices } from '../config/checks.ts';
import { fixedRateTimes } from '../config/fixed-rates.ts';
import type { Config } from '../config/settings.ts';
import type { ExchangeAddress } from '../exchanges/exchange.ts';
import { ExchangeProcess } from '../exchanges/exchange-process.ts';
import { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import type { VenueRules } from '../market/rates/hold-windows.ts';
import { PriceBook } from '../market/rates/price-book.ts';
import { PriceOverrideService } from '../market/rates/price-override-service.ts';
import type { PriceSource } from '../market/rates/price-source.ts';
import { SharedPriceWindows } from '../market/rates/price-windows.ts';
import { ExchangePriceSource } from '../market/rates/sources/exchange-price-source.ts';
import { sandboxPriceOverrides } from '../market/rates/sources/sandbox-price-overrides.ts';
import { SandboxPriceSource } from '../market/rates/sources/sandbox-price-source.ts';
import { VenueDepth } from '../market/rates/sources/venue-depth.ts';
import type { Foundation } from './foundation.ts';
import { endPart } from './start-parts.ts';

/** The currencies, market prices for quotes, and the prices that staff set instead. */
export interface Market {
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
  readonly overrides: PriceOverrideService;
}

/** Loads the currencies and the first prices, and keeps both fresh. */
export async function openMarket(foundation: Foundation, networks: LiveNetworks, orm: MikroORM): Promise<Market> {
  const { config, clock, log, closing } = foundation;
  const catalogue = new CurrencyCatalogue(orm, log, networks);
  await catalogue.start();
  closing.add(() => catalogue.stop());
  endPart('catalogue');
  const source = openPriceSource(foundation, orm);
  const overrides = new PriceOverrideService(orm, clock);
  const prices = new PriceBook({
    clock,
    log,
    source,
    overrides: () => overrides.live(),
    windows: new SharedPriceWindows(orm),
    refreshSec: config.PRICE_REFRESH_SEC,
    maxAgeSec: config.PRICE_MAX_AGE_SEC,
    fixedWindowSec: fixedRateTimes(config).windowSec,
    fixedMaxDrift: config.FIXED_MAX_DRIFT,
    ...venueRules(config),
  });
  await prices.start(() => catalogue.coins());
  closing.add(() => prices.stop());
  endPart('prices');
  return { catalogue, prices, overrides };
}

/** Opens the price source of the settings: real exchanges, or the sandbox. */
function openPriceSource(foundation: Foundation, orm: MikroORM): PriceSource {
  const { config, outside, clock } = foundation;
  if (outside.priceSource) return outside.priceSource;
  if (inventsPrices(config)) {
    return new SandboxPriceSource(clock, config.SANDBOX_PRICE_SEED, () => sandboxPriceOverrides(orm));
  }
  return openExchangePrices(foundation);
}

/**
 * Prices of PRICE_SOURCES. A venue that is an exchange is asked for the depth of its order books as
 * well.
 */
function openExchangePrices({ config, clock, log, closing }: Foundation): PriceSource {
  const { PRICE_SOURCES, VENUE_CASH: cash } = config;
  const venue = venueWithDepth(config);
  const isAsked = venue === null || PRICE_SOURCES.some(({ name }) => name === venue.name);
  const process = new ExchangeProcess({ exchanges: isAsked ? PRICE_SOURCES : [...PRICE_SOURCES, venue], log });
  const depth =
    venue === null
      ? null
      : new VenueDepth({ clock, log, process, exchange: venue.name, cash, maxSlippage: config.MAX_SLIPPAGE });
  closing.add(() => {
    depth?.stop();
    return process.close();
  });
  return new ExchangePriceSource({
    clock,
    log,
    process,
    exchanges: PRICE_SOURCES.map(({ name }) => name),
    rules: {
      minSources: config.PRICE_MIN_SOURCES,
      outlier: config.PRICE_OUTLIER,
      disagreement: config.PRICE_DISAGREEMENT,
    },
    staleSec: config.PRICE_STALE_SEC,
    venue: depth && { depth, cash },
  });
}

/**
 * The exchange whose order books bound the limits of pairs; null where trades are not made on order
 * books. The imitated one has much depth of every coin, and none runs in an api process: limits do
 * not follow it in any role.
 */
function venueWithDepth({ VENUE, SANDBOX_VENUE }: Pick<Config, 'VENUE' | 'SANDBOX_VENUE'>): ExchangeAddress | null {
  return VENUE === null || VENUE === 'inventory' || SANDBOX_VENUE === 'on' ? null : VENUE;
}

/**
 * How limits follow the order books of the venue; nothing where trades are not made on order books.
 */
function venueRules(
  config: Pick<Config, 'VENUE' | 'SANDBOX_VENUE' | 'VENUE_CASH' | 'VENUE_DEPTH_SHARE' | 'VENUE_DEPTH_MAX_AGE_SEC'>,
): { readonly venue?: VenueRules } {
  const { VENUE_CASH: cash, VENUE_DEPTH_SHARE: depthShare, VENUE_DEPTH_MAX_AGE_SEC: depthMaxAgeSec } = config;
  return venueWithDepth(config) === null ? {} : { venue: { cash, depthShare, depthMaxAgeSec } };
}
