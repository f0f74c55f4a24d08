import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { ExchangeProcess } from './exchanges/exchange-process.ts';
import type { Log } from './log.ts';
import type { VenueRules } from './rates/price-book.ts';
import type { PriceSource } from './rates/price-source.ts';
import { ExchangePriceSource } from './rates/sources/exchange-price-source.ts';
import { sandboxPriceOverrides } from './rates/sources/sandbox-price-overrides.ts';
import { SandboxPriceSource } from './rates/sources/sandbox-price-source.ts';
import { VenueDepth } from './rates/sources/venue-depth.ts';
import type { Surroundings } from './surroundings.ts';

export interface PriceSetup {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly orm: MikroORM;
  readonly surroundings: Surroundings;
}

/** Where prices come from, by the settings. */
export function openPriceSource({ config, clock, log, orm, surroundings }: PriceSetup): {
  readonly priceSource: PriceSource;
  readonly closePrices: () => Promise<void>;
} {
  if (surroundings.priceSource) return { priceSource: surroundings.priceSource, closePrices: async () => {} };
  if (config.PRICE_SOURCES.length === 0) {
    const overrides = () => sandboxPriceOverrides(orm);
    const priceSource = new SandboxPriceSource(clock, config.SANDBOX_PRICE_SEED, overrides);
    return { priceSource, closePrices: async () => {} };
  }
  const { PRICE_SOURCES, VENUE, VENUE_CASH: cash } = config;
  const isAsked = VENUE === null || VENUE === 'inventory' || PRICE_SOURCES.some(({ name }) => name === VENUE.name);
  const process = new ExchangeProcess({ exchanges: isAsked ? PRICE_SOURCES : [...PRICE_SOURCES, VENUE], log });
  const depth =
    VENUE === null || VENUE === 'inventory'
      ? null
      : new VenueDepth({ clock, log, process, exchange: VENUE.name, cash, maxSlippage: config.MAX_SLIPPAGE });
  const priceSource = new ExchangePriceSource({
    clock,
    log,
    process,
    exchanges: config.PRICE_SOURCES.map(({ name }) => name),
    rules: {
      minSources: config.PRICE_MIN_SOURCES,
      outlier: config.PRICE_OUTLIER,
      disagreement: config.PRICE_DISAGREEMENT,
    },
    staleSec: config.PRICE_STALE_SEC,
    venue: depth && { depth, cash },
  });
  const closePrices = (): Promise<void> => {
    depth?.stop();
    return process.close();
  };
  return { priceSource, closePrices };
}

/** How limits follow the order books of the venue; nothing where trades are not made on order books. */
export function venueRules(
  config: Pick<Config, 'VENUE' | 'VENUE_CASH' | 'VENUE_DEPTH_SHARE' | 'VENUE_DEPTH_MAX_AGE_SEC'>,
): { readonly venue?: VenueRules } {
  const { VENUE, VENUE_CASH: cash, VENUE_DEPTH_SHARE: depthShare, VENUE_DEPTH_MAX_AGE_SEC: depthMaxAgeSec } = config;
  return VENUE === null || VENUE === 'inventory' ? {} : { venue: { cash, depthShare, depthMaxAgeSec } };
}
